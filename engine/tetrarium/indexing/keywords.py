"""Keyword scores: FTS5 retrieves, the unmodified `rank_bm25.BM25Okapi` scores.

BM25Okapi alone reads every document for every question (204 ms of CPU at 100,000 memories, and a full
rebuild for each new one). Here a BM25Okapi object is made for the candidates only, with the corpus-wide
idf and average length put in, and its own `get_scores` runs: the same scores to 1e-9, 32 times faster at
10,000 memories (measured). The library's floor for negative idf needs the mean idf of the vocabulary;
a histogram of document frequencies gives it exactly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from tetrarium.config import Settings
from tetrarium.model import Float64, Int32

_EPSILON = 0.25
"""BM25Okapi's own floor: this share of the mean idf stands in for a negative one."""


class KeywordStatistics:
    """Document frequencies, lengths and idf of the memories that keyword search can find."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._frequency: dict[str, int] = {}
        self._histogram: Counter[int] = Counter()
        self._mean_idf: float | None = None
        self.documents = 0
        self.total_length = 0

    def load(self, frequencies: dict[str, int], *, documents: int, total_length: int) -> None:
        """Start from a whole index: term → memories that hold it."""
        if max(frequencies.values(), default=0) > documents:
            # A damaged memory is left out of the space, but its words still stand in the full-text index.
            frequencies = {term: min(held, documents) for term, held in frequencies.items()}
        self._frequency = frequencies
        self._histogram = Counter(frequencies.values())
        self.documents, self.total_length, self._mean_idf = documents, total_length, None

    def add(self, tokens: Sequence[str]) -> None:
        """Count one more memory."""
        self._count(tokens, +1)

    def remove(self, tokens: Sequence[str]) -> None:
        """Take one memory out again."""
        self._count(tokens, -1)

    @property
    def terms(self) -> int:
        return len(self._frequency)

    def frequency(self, term: str) -> int:
        """Memories that hold the term."""
        return self._frequency.get(term, 0)

    def rarity(self, term: str) -> float:
        """log(N / df) of a term, at least 0; a term that no memory holds is as rare as one that one memory holds."""
        return max(0.0, math.log((self.documents + 1) / max(1, self.frequency(term))))

    def idf(self, term: str) -> float | None:
        """BM25Okapi's idf with its floor, or None for a term that no memory holds."""
        held = self._frequency.get(term)
        if not held:
            return None
        idf = self._raw_idf(held)
        return idf if idf >= 0 else _EPSILON * self._mean()

    def rare(self, terms: Iterable[str]) -> list[str]:
        """The terms worth fetching candidates by: known and not frequent; at least the rarest known one.

        A frequent word matches most of the memories and says little; leaving it out here (it still counts
        in the score) makes the fetch about 60 to 100 times cheaper (measured). Nor are more words fetched by
        once the rarer ones match enough: what a fetch costs is bounded, however large the space.
        """
        known = sorted({t for t in terms if t in self._frequency}, key=lambda t: (self._frequency[t], t))
        share = int(self._settings.frequent_term_share * self.documents)
        cap = max(self._settings.frequent_term_floor, min(share, self._settings.frequent_term_ceiling))
        chosen: list[str] = []
        matches = 0
        for term in known:
            held = self._frequency[term]
            if chosen and (held > cap or matches + held > self._settings.fetched_matches):
                break
            chosen.append(term)
            matches += held
        return chosen

    def scores(self, terms: Sequence[str], documents: Sequence[str], lengths: Sequence[int] | Int32) -> Float64:
        """(n,) BM25 of each document for these query terms.

        documents: tokens, each between two blanks of its own (`spaced`); lengths: how many tokens each has.
        """
        if not documents or not terms:
            return np.zeros(len(documents))
        known = [(term, f" {term} ", idf) for term in set(terms) if (idf := self.idf(term)) is not None]
        bm25 = BM25Okapi.__new__(BM25Okapi)
        bm25.k1, bm25.b, bm25.epsilon = self._settings.bm25_k1, self._settings.bm25_b, _EPSILON
        bm25.corpus_size = len(documents)
        bm25.avgdl = self.total_length / max(1, self.documents)
        bm25.doc_len = lengths
        bm25.doc_freqs = [{t: held for t, word, _ in known if (held := text.count(word))} for text in documents]
        bm25.idf = {term: idf for term, _, idf in known}
        return np.asarray(bm25.get_scores([term for term in terms if term in bm25.idf]), np.float64)

    def best_reachable(self, terms: Iterable[str]) -> float:
        """The score of a memory that held every term over and over: what this question could reach at best.

        A term that no memory holds counts as the rarest one, so that a question whose words do not occur
        reaches little and leans on meaning.
        """
        unseen = self._raw_idf(0)
        idfs = (self.idf(term) for term in set(terms))
        return sum((self._settings.bm25_k1 + 1) * (unseen if idf is None else idf) for idf in idfs) or 1.0

    def _raw_idf(self, held: int) -> float:
        return math.log(self.documents - held + 0.5) - math.log(held + 0.5)

    def _mean(self) -> float:
        if self._mean_idf is None:
            held = np.fromiter((h for h, n in self._histogram.items() if n), np.float64)
            count = np.fromiter((n for n in self._histogram.values() if n), np.float64)
            idf = np.log(self.documents - held + 0.5) - np.log(held + 0.5)
            self._mean_idf = float((idf * count).sum() / max(1, len(self._frequency)))
        return self._mean_idf

    def _count(self, tokens: Sequence[str], step: int) -> None:
        for term in set(tokens):
            before = self._frequency.get(term, 0)
            after = before + step
            if before:
                self._histogram[before] -= 1
            if after > 0:
                self._frequency[term] = after
                self._histogram[after] += 1
            else:
                self._frequency.pop(term, None)
        self.documents += step
        self.total_length += step * len(tokens)
        self._mean_idf = None


def spaced(tokens: str) -> str:
    """Space-separated tokens with a blank on either side of each: a term is then counted by searching the text."""
    return f" {tokens.replace(' ', '  ')} " if tokens else ""
