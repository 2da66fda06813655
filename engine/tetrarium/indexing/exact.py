"""Exact search: one float32 matrix, one product.

Rows are only ever appended, so a background reader of the matrix sees a row whole or not at all; a
removed row is wiped to zeros and marked dead, and when a fifth of the rows is dead they are closed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tetrarium.config import Settings
from tetrarium.errors import InvalidInput
from tetrarium.model import Bool, Float32, Int64

if TYPE_CHECKING:
    from tetrarium.indexing.hnsw import IndexRecord

_FIRST_CAPACITY = 1_024
_GATHER_SHARE = 5
"""Copying rows costs about five times reading them in place: a larger part is scanned whole and masked."""


class ExactIndex:
    """The `VectorIndex` that scans. Memory: 4·d bytes a row, and 8 bytes a num."""

    def __init__(self, dimension: int, settings: Settings) -> None:
        self._dimension = dimension
        self._dead_share = settings.hnsw_dead_share
        self._matrix: Float32 = np.zeros((_FIRST_CAPACITY, dimension), np.float32)
        self._nums: Int64 = np.full(_FIRST_CAPACITY, -1, np.int64)  # of each row; −1 = dead
        self._rows: Int64 = np.full(_FIRST_CAPACITY, -1, np.int64)  # of each num; −1 = none
        self._end = 0
        self._live = 0

    @property
    def kind(self) -> str:
        return "exact"

    @property
    def note(self) -> str:
        return "exact search; hnswlib is not installed"

    @property
    def dimension(self) -> int:
        return self._dimension

    def __len__(self) -> int:
        return self._live

    def __contains__(self, num: object) -> bool:
        return isinstance(num, int | np.integer) and bool(0 <= num < len(self._rows) and self._rows[num] >= 0)

    def add(self, num: int, vector: Float32) -> None:
        self.add_many([num], vector[None, :])

    def add_many(self, nums: Sequence[int] | Int64, matrix: Float32) -> None:
        wanted = np.asarray(nums, np.int64)
        if matrix.shape != (len(wanted), self._dimension):
            raise InvalidInput(
                f"Vectors of shape {matrix.shape} do not fit {len(wanted)} memories in {self._dimension} dimensions."
            )
        if not len(wanted):
            return
        if wanted.min() < 0:
            raise InvalidInput("A memory's number is not negative.")
        for num in self._held(wanted):
            self.remove(int(num))
        self._make_room(len(wanted), int(wanted.max()))
        end = self._end + len(wanted)
        self._matrix[self._end : end] = matrix
        self._nums[self._end : end] = wanted
        self._rows[wanted] = np.arange(self._end, end)
        self._end = end
        self._live += len(wanted)

    def remove(self, num: int) -> None:
        if num not in self:
            return
        row = self._rows[num]
        self._matrix[row] = 0.0
        self._nums[row] = -1
        self._rows[num] = -1
        self._live -= 1
        if self._end > _FIRST_CAPACITY and self._end - self._live > self._dead_share * self._end:
            self._close_up()

    def search(self, query: Float32, k: int, allowed: Bool | None = None) -> tuple[Int64, Float32]:
        if allowed is None:
            return self._scan(query, k, self._nums[: self._end] >= 0)
        rows = self._rows_of(self._held(np.flatnonzero(allowed)))
        if len(rows) * _GATHER_SHARE <= self._end:
            return _best(self._matrix[rows] @ query, self._nums[rows], k)
        mask = np.zeros(self._end, np.bool_)
        mask[rows] = True
        return self._scan(query, k, mask)

    def cosines(self, query: Float32, nums: Sequence[int] | Int64) -> Float32:
        rows = self._rows_of(np.asarray(nums, np.int64))
        found = self._matrix[rows] @ query
        found[rows < 0] = np.nan
        return np.asarray(found, np.float32)

    def vectors(self, nums: Sequence[int] | Int64) -> Float32:
        rows = self._rows_of(np.asarray(nums, np.int64))
        found: Float32 = self._matrix[rows]
        found[rows < 0] = 0.0
        return found

    def live(self) -> tuple[Int64, Float32]:
        """Every live num in the order of its row, and copies of their vectors."""
        nums = self._nums[: self._end]
        alive = nums >= 0
        return nums[alive], self._matrix[: self._end][alive]

    def rebuild(self) -> None:
        self._close_up()

    def save(self, path: Path, *, seq: int, model: str) -> IndexRecord | None:
        """Nothing: reading the vectors from the store is all there is to it."""
        return None

    def load(self, path: Path, record: IndexRecord, *, seq: int, model: str) -> bool:
        """False: there is nothing that a file could spare."""
        return False

    def close(self) -> None:
        """Nothing runs in the background."""

    def _scan(self, query: Float32, k: int, mask: Bool) -> tuple[Int64, Float32]:
        scores = self._matrix[: self._end] @ query
        if not mask.all():
            scores[~mask] = -np.inf
        return _best(scores, self._nums[: self._end], min(k, int(mask.sum())))

    def _rows_of(self, nums: Int64) -> Int64:
        """Row of each num, −1 for one that has none."""
        rows = np.full(len(nums), -1, np.int64)
        known = (nums >= 0) & (nums < len(self._rows))
        rows[known] = self._rows[nums[known]]
        return rows

    def _held(self, nums: Int64) -> Int64:
        return nums[self._rows_of(nums) >= 0]

    def _make_room(self, more: int, largest: int) -> None:
        if self._end + more > len(self._matrix):
            capacity = max(2 * len(self._matrix), self._end + more)
            matrix = np.zeros((capacity, self._dimension), np.float32)
            matrix[: self._end] = self._matrix[: self._end]
            self._matrix = matrix
            self._nums = _grown(self._nums, capacity)
        if largest >= len(self._rows):
            self._rows = _grown(self._rows, max(2 * len(self._rows), largest + 1))

    def _close_up(self) -> None:
        nums, vectors = self.live()
        capacity = max(_FIRST_CAPACITY, len(nums) + len(nums) // 4)
        self._matrix = np.zeros((capacity, self._dimension), np.float32)
        self._matrix[: len(nums)] = vectors
        self._nums = np.full(capacity, -1, np.int64)
        self._nums[: len(nums)] = nums
        self._rows[:] = -1
        self._rows[nums] = np.arange(len(nums))
        self._end = len(nums)


def _grown(numbers: Int64, capacity: int) -> Int64:
    grown = np.full(capacity, -1, np.int64)
    grown[: len(numbers)] = numbers
    return grown


def _best(scores: Float32, nums: Int64, k: int) -> tuple[Int64, Float32]:
    """The k highest, best first, equal ones by num."""
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    chosen = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    order = chosen[np.lexsort((nums[chosen], -scores[chosen]))]
    return nums[order], np.asarray(scores[order], np.float32)
