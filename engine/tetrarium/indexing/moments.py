"""How the cosines of a query are spread over all memories of a language, without looking at them.

With s = Σ x and S = Σ x xᵀ over the unit vectors of a language, the cosines q·x of any query have mean
q·s/n and mean square qᵀS q/n: exact, in O(d²), however many memories there are. The ranking divides by
this spread, since a model's cosines of two languages cannot be compared as they are (measured).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tetrarium.model import Float32, Float64

_CHUNK = 4_096
"""Rows turned into float64 at once."""


class Moments(NamedTuple):
    """Mean and standard deviation of cosines, and over how many memories they go."""

    mean: float
    std: float
    size: int


class _Sums:
    """n, Σ x and Σ x xᵀ of one language. Memory: 8·d² bytes (1.2 MB at 384 dimensions)."""

    __slots__ = ("count", "first", "second")

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self.first: Float64 = np.zeros(dimension)
        self.second: Float64 = np.zeros((dimension, dimension))


class LanguageMoments:
    """Running sums per language code. Not for two threads at once."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._languages: dict[str, _Sums] = {}
        self._waiting: list[tuple[str, Float32]] = []

    def add(self, language: str, vector: Float32) -> None:
        """Count one vector (d,) in. The d² sums wait for the next question: many stores then cost one product."""
        self._waiting.append((language, vector))
        if len(self._waiting) >= _CHUNK:
            self._count_waiting()

    def remove(self, language: str, vector: Float32) -> None:
        """Count one vector (d,) out; it must be the very vector that was counted in."""
        self._count_waiting()
        sums = self._languages[language]
        x = vector.astype(np.float64)
        sums.count -= 1
        sums.first -= x
        sums.second -= np.outer(x, x)
        if sums.count == 0:
            del self._languages[language]

    def bulk(self, languages: Sequence[str], matrix: Float32) -> None:
        """Count many vectors in. languages: n codes; matrix: (n, d)."""
        codes = np.asarray(languages, dtype=object)
        for language in dict.fromkeys(languages):
            rows = np.flatnonzero(codes == language)
            sums = self._languages.setdefault(language, _Sums(self._dimension))
            for start in range(0, len(rows), _CHUNK):
                x = matrix[rows[start : start + _CHUNK]].astype(np.float64)
                sums.count += len(x)
                sums.first += x.sum(axis=0)
                sums.second += x.T @ x

    def count(self, language: str) -> int:
        """Vectors of that language."""
        self._count_waiting()
        sums = self._languages.get(language)
        return sums.count if sums else 0

    def of(self, language: str, query: Float32) -> Moments:
        """The spread of the query's cosine (d,) over that language; (0, 0, 0) when no memory has it."""
        self._count_waiting()
        sums = self._languages.get(language)
        return _spread([sums] if sums else [], query)

    def of_all(self, query: Float32) -> Moments:
        """The same over every memory, whatever its language."""
        self._count_waiting()
        return _spread(list(self._languages.values()), query)

    def _count_waiting(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.bulk([language for language, _ in waiting], np.stack([vector for _, vector in waiting]))


def _spread(groups: Sequence[_Sums], query: Float32) -> Moments:
    count = sum(group.count for group in groups)
    if not count:
        return Moments(0.0, 0.0, 0)
    q = query.astype(np.float64)
    mean = sum(float(q @ group.first) for group in groups) / count
    square = sum(float(q @ group.second @ q) for group in groups) / count
    return Moments(mean, max(square - mean * mean, 0.0) ** 0.5, count)
