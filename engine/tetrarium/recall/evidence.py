"""Does this space know what a question is about? Evidence for it, and the words that carry the subject.

Cosine alone cannot tell: a model gives the nearest of 10,000 notes a fair cosine to anything. Words alone cannot
either: "How do volcanoes form?" shares *form* with every space. So each word of a question weighs what it tells in
general – its surprise under the model's own vocabulary, nats over that of everyday words; a name more – and the
evidence is how far the nearest memory lies above unrelated texts, plus the share of that weight which the space
knows. A small space knows few words of anything, so there the share leans on a prior; likewise for a question in a
language that hardly any memory has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.indexes import Indexes
from tetrarium.indexing.synonyms import Synonyms
from tetrarium.indexing.tokens import CJK_RUN, STOP_WORDS, tokenize
from tetrarium.model import Float64, Int64

EVERYDAY, EVERYDAY_CJK = 10.0, 9.5
"""Nats of the most everyday words of a question (name, find, work; 的 aside): what is above tells of a subject."""

LEAST_WEIGHT, MOST_WEIGHT = 0.3, 8.0
"""Nats that a word counts at least and at most."""

NAME_WEIGHT = 7.0
"""Nats that a capitalised word inside a question counts at least: whom or what it is about, however common the name."""

KNOWN_PRIOR = 0.6
"""Share of a question's weight that counts as known where a space is too small to tell."""

PRIOR_MEMORIES = 100
"""Memories that the prior weighs as much as."""

FOREIGN_KNOWN = 0.45
"""Share that counts as known at least for a question in a language of hardly any memory: its words are not there."""

FOREIGN_SHARE = 0.05
"""Share of the memories under which a language counts as foreign to a space."""

Pieces = Callable[[str], Sequence[tuple[str, float]]]
"""A text cut into the pieces of the model's vocabulary, each with its surprise in nats; nothing without a model."""

_RUN = re.compile(r"[^\W_]+(?:[_./:@+#-]{1,3}[^\W_]+)*")
_FIRST_WORD = re.compile(r"\W*(\w+)")
_NUMBER = re.compile(r"[\d.,]+(?:st|nd|rd|th)?")
_TIMES = frozenset(
    [
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
        *("november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("today", "yesterday", "tomorrow", "day", "days", "week", "weeks", "month", "months", "year", "years"),
        *("date", "time"),
    ]
)
"""Words of time: memories know when they were stored, and seldom say it."""


@dataclass(frozen=True, slots=True)
class SubjectWord:
    """One word that a question is about. weight: nats; terms: its tokens; all_terms: whether all of them have to be
    known (the pairs of a Chinese word) or one is enough; synonyms: tokens of words that mean the same."""

    weight: float
    terms: tuple[str, ...]
    all_terms: bool
    synonyms: tuple[str, ...]


def subject_of(text: str, pieces: Pieces, synonyms: Synonyms) -> tuple[SubjectWord, ...]:
    """The words of a question that tell what it is about, in order."""
    first = _FIRST_WORD.match(text)
    words: list[SubjectWord] = []
    for match in _RUN.finditer(text):
        run = match.group()
        at = 0
        for part in CJK_RUN.finditer(run):
            words += _alphabetic(run[at : part.start()], first, pieces, synonyms)
            words += _cjk(part.group(), pieces, synonyms)
            at = part.end()
        words += _alphabetic(run[at:], first, pieces, synonyms)
    return tuple(words)


def evidence_for(
    subject: Sequence[SubjectWord],
    language: str,
    cosines: Float64 | None,
    nums: Int64,
    indexes: Indexes,
    settings: Settings,
) -> float | None:
    """How much speaks for this space knowing a subject: deviations by which the nearest of the candidates lies above
    what the model gives unrelated texts, plus the weighted share of the subject that the space knows.

    cosines: (n,) of the question and the candidates `nums`. None without them, and where the model's usual spread is
    unknown. The space's own spread would hide an absent subject: a question on sourdough is far from *all* notes on
    software.
    """
    if cosines is None:
        return None
    kept = indexes.table.language[nums]
    nearest = [
        (float(np.nanmax(cosines[kept == code], initial=-1.0)) - usual[0]) / usual[1]
        for code in np.unique(kept).tolist()
        if (usual := indexes.usual_spread(language, indexes.table.languages.names[code]))
    ]
    if not nearest:
        return None
    return max(nearest) + settings.known_weight * known_share(subject, language, indexes)


def known_share(subject: Sequence[SubjectWord], language: str, indexes: Indexes) -> float:
    """0 … 1: of the weight of a subject, what this space knows by word or synonym; leaning on the prior."""
    total = sum(word.weight for word in subject)
    if not total:
        return KNOWN_PRIOR
    share = sum(word.weight for word in subject if _knows(word, indexes)) / total
    size = len(indexes.table)
    if indexes.moments.count(language) < FOREIGN_SHARE * size:
        share = max(share, FOREIGN_KNOWN)
    trusted = size / (size + PRIOR_MEMORIES)
    return trusted * share + (1 - trusted) * KNOWN_PRIOR


def _knows(word: SubjectWord, indexes: Indexes) -> bool:
    known = indexes.keywords.frequency
    held = all(map(known, word.terms)) if word.all_terms else any(map(known, word.terms))
    return held or any(map(known, word.synonyms))


def _alphabetic(part: str, first: re.Match[str] | None, pieces: Pieces, synonyms: Synonyms) -> list[SubjectWord]:
    terms = tuple(tokenize(part)) if part else ()
    if not terms or part.casefold() in _TIMES or _NUMBER.fullmatch(part):
        return []
    weight = _weight(sum(surprise for _, surprise in pieces(part)) - EVERYDAY)
    named = part[0].isupper() and not part.isupper() and not (first and part == first[1])
    weight = max(weight, NAME_WEIGHT) if named else weight
    return [SubjectWord(weight, terms, False, synonyms.expand(part, terms))]


def _cjk(run: str, pieces: Pieces, synonyms: Synonyms) -> list[SubjectWord]:
    found = []
    for piece, surprise in pieces(run):
        core = "".join(c for c in piece if c not in STOP_WORDS and c.isalnum())
        if core:
            terms = tuple(t for t in tokenize(core) if len(t) > 1 or len(core) == 1)
            found.append(SubjectWord(_weight(surprise - EVERYDAY_CJK), terms, True, synonyms.expand(core, terms)))
    return found


def _weight(nats: float) -> float:
    return min(max(nats, LEAST_WEIGHT), MOST_WEIGHT)
