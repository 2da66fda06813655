"""Everything derived from the store, kept up together: columns, keyword statistics, vectors, language moments.

`version` is the last change of the store that they hold. They are loaded whole at open, then follow the
change log; a store of one's own, one of another process and a replay take the same path.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.embedding import Spreads
from tetrarium.indexing.keywords import KeywordStatistics
from tetrarium.indexing.moments import LanguageMoments
from tetrarium.indexing.passages import LONG, PassageIndex
from tetrarium.indexing.table import Codes, MemoryTable
from tetrarium.indexing.vectors import VectorIndex, open_index
from tetrarium.model import Bool, Float32, Float64, IndexRow, Int64

_POSTINGS = 4_000
"""A keyword of more memories than this adds to a similarity but is not walked for new ones: placing stays O(1)."""


class Indexes:
    """The derived state of one space."""

    def __init__(self, settings: Settings, dimension: int, usual: Spreads | None = None) -> None:
        self.table = MemoryTable()
        self.keywords = KeywordStatistics(settings)
        self.vectors: VectorIndex = open_index(settings, dimension)
        self.passages = PassageIndex(dimension)
        self.unread: set[int] = set()
        """Numbers of long memories whose parts are not embedded yet."""
        self.moments = LanguageMoments(dimension)
        self._usual = usual or {}
        self._language_floor = settings.language_floor
        self.keyword_codes = Codes()
        self.version = 0

    def load(
        self,
        rows: Iterable[IndexRow],
        frequencies: dict[str, int],
        nums: Int64,
        matrix: Float32,
        passages: dict[int, Float32],
        *,
        version: int,
    ) -> None:
        """Take a whole store over. nums: (n,), matrix: (n, d) unit rows of the memories that have a vector; passages:
        number → (parts, d) of those that have parts."""
        self.table.load(rows)
        for num, parts in passages.items():
            self.passages.put(num, parts)
        long = np.flatnonzero(self.table.present & (self.table.budget_tokens > LONG)).tolist()
        self.unread = {num for num in long if num not in self.passages}
        self.keywords.load(frequencies, documents=len(self.table), total_length=int(self.table.length.sum()))
        self.vectors.add_many(nums, matrix)
        self.moments.bulk([self._language(num) for num in nums], matrix)
        self.version = version

    def put(self, row: IndexRow, vector: Float32 | None, parts: Float32 | None = None) -> None:
        """A memory is new or has changed; `vector` is its embedding of the space's model, if it has one; `parts` those
        of its parts (parts, d)."""
        self.drop(row.num)
        self.table.put(row)
        self.keywords.add(row.tokens.split(" ") if row.tokens else ())
        if vector is not None:
            self.vectors.add(row.num, vector)
            self.moments.add(row.language, vector)
        if parts is not None:
            self.passages.put(row.num, parts)
        elif row.budget_tokens > LONG:
            self.unread.add(row.num)

    def drop(self, num: int) -> None:
        """A memory is gone from the space."""
        if num >= self.table.capacity or not self.table.present[num]:
            return
        self.keywords.remove(self.table.tokens[num].split())
        if num in self.vectors:
            self.moments.remove(self._language(num), self.vectors.vectors([num])[0])
            self.vectors.remove(num)
        self.passages.drop(num)
        self.unread.discard(num)
        self.table.remove(num)

    def rarity(self, keyword: str) -> float:
        """log(1 + N / df) of a keyword that memories carry."""
        held = len(self.table.by_keyword.get(keyword, ()))
        return math.log1p(len(self.table) / max(1, held))

    def nearest(self, vector: Float32, k: int, allowed: Bool) -> Int64:
        """Numbers of the k memories nearest as a whole and of the k nearest by one of their parts, in no order.

        allowed: (m,) indexed by num.
        """
        whole = self.vectors.search(vector, k, allowed)[0]
        return np.union1d(whole, self.passages.search(vector, k, allowed)) if len(self.passages) else whole

    def cosines(self, vector: Float32, nums: Int64) -> Float64:
        """(n,) cosine of each of these memories, or of its nearest part where that is nearer; NaN without a vector."""
        cosines = self.vectors.cosines(vector, nums).astype(np.float64)
        owners, best = self.passages.best(vector)
        if len(owners):
            at = np.minimum(np.searchsorted(owners, nums), len(owners) - 1)
            cosines = np.fmax(cosines, np.where(owners[at] == nums, best[at], np.nan))
        return cosines

    def cosine_spread(self, asked: str, kept: str, vector: Float32) -> tuple[float, float]:
        """Mean and deviation of a question's cosines over the memories of one language.

        asked, kept: languages of the question and of the memories. The usual spread of the model weighs as much as
        `language_floor` memories, so that the first Chinese memory of an English space is not lost; where the
        model has none for these languages, the whole space stands in.
        """
        own = self.moments.of(kept, vector)
        usual = self.usual_spread(asked, kept)
        if usual is None:
            if own.size < self._language_floor:
                own = self.moments.of_all(vector)
            return own.mean, own.std
        share = own.size / (own.size + self._language_floor)
        mean = share * own.mean + (1 - share) * usual[0]
        return mean, math.sqrt(share * own.std**2 + (1 - share) * usual[1] ** 2)

    def usual_spread(self, asked: str, kept: str) -> tuple[float, float] | None:
        """Mean and deviation of the cosines that the model gives a question and memories that have nothing in common."""
        return self._usual.get(asked, {}).get(kept)

    def keyword_weights(self, keywords: Iterable[str]) -> dict[int, float]:
        """A memory's keywords as a sparse vector: keyword code → rarity."""
        return {self.keyword_codes.code(word): self.rarity(word) for word in keywords}

    def keyword_ids(self, nums: Sequence[int]) -> list[tuple[int, ...]]:
        """Keyword codes of memories."""
        return [tuple(self.keyword_codes.code(word) for word in self.table.keywords[num]) for num in nums]

    def keyword_cosines(self, keywords: Iterable[str], others: Sequence[Iterable[str]]) -> Float64:
        """(n,) cosine of one set of keywords with each of n others, every keyword weighted by its rarity."""
        own = set(keywords)
        sets = [set(words) for words in others]
        weight = {word: self.rarity(word) ** 2 for word in own.union(*sets)}
        length = sum(weight[word] for word in own)
        cosines = np.zeros(len(sets))
        for i, words in enumerate(sets):
            shared = sum(weight[word] for word in own & words)
            if shared:
                cosines[i] = shared / math.sqrt(length * sum(weight[word] for word in words))
        return cosines

    def relatives(self, vector: Float32 | None, keywords: Iterable[str], most: int) -> tuple[Int64, Float64, Float64]:
        """The memories nearest in meaning: (n,) numbers, cosines and keyword cosines.

        The union of the `most` nearest by vector and the `most` nearest by keywords, silent ones aside.
        """
        words = tuple(keywords)
        live = self.table.present & ~self.table.silent
        near = self._sharing_keywords(words, live, most)
        if vector is not None:
            near = np.union1d(near, self.vectors.search(vector, most, live)[0])
        cosines = np.zeros(len(near)) if vector is None else self.vectors.cosines(vector, near).astype(np.float64)
        shared = self.keyword_cosines(words, [self.table.keywords[num] for num in near.tolist()])
        return near, np.nan_to_num(cosines), shared

    def _sharing_keywords(self, keywords: Iterable[str], live: Bool, most: int) -> Int64:
        """(≤ most,) live memories that share the most keyword weight, newer ones first among equals.

        A keyword of very many memories counts, but fetches nobody new: the cost stays O(1).
        """
        by_keyword = self.table.by_keyword
        words = sorted(set(keywords) & by_keyword.keys(), key=lambda word: (len(by_keyword[word]), word))
        holders = [
            np.fromiter(by_keyword[w], np.int64) for w in words if len(by_keyword[w]) <= _POSTINGS or w == words[0]
        ]
        if not holders:
            return np.empty(0, np.int64)
        weights = [np.full(len(nums), self.rarity(word) ** 2) for word, nums in zip(words, holders, strict=False)]
        nums, position = np.unique(np.concatenate(holders), return_inverse=True)
        shared = np.bincount(position, np.concatenate(weights))
        overlap: Float64 = np.where(live[nums], shared, 0.0)
        for word in words[len(holders) :]:
            held = by_keyword[word]
            top = np.flatnonzero(overlap >= np.partition(overlap, -min(most, len(overlap)))[-min(most, len(overlap))])
            overlap[top] += self.rarity(word) ** 2 * np.fromiter((n in held for n in nums[top].tolist()), np.float64)
        order = np.lexsort((-nums, -overlap))[:most]
        return nums[order[overlap[order] > 0]]

    def _language(self, num: int) -> str:
        name: str = self.table.languages.names[int(self.table.language[num])]
        return name
