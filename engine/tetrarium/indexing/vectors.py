"""Nearest memories by meaning: one seam, two implementations.

`ExactIndex` scans a float32 matrix: perfect recall, free filters and deletion, no file; up to about
50,000 memories it is also fast enough (measured). `HnswIndex` puts an HNSW graph over the same rows
when there are more, where hnswlib is installed. Both are derived from the store and disposable.

A memory is known here by its `num`, the small positive integer that the store gives it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tetrarium.config import Settings
from tetrarium.indexing.exact import ExactIndex
from tetrarium.indexing.hnsw import HnswIndex, IndexRecord
from tetrarium.indexing.moments import LanguageMoments, Moments
from tetrarium.model import Bool, Float32, Int64

__all__ = ["ExactIndex", "HnswIndex", "IndexRecord", "LanguageMoments", "Moments", "VectorIndex", "open_index"]


class VectorIndex(Protocol):
    """What both indexes do. One thread at a time (the lane is the lock)."""

    @property
    def kind(self) -> str:
        """What answers now: "exact" or "hnsw"."""

    @property
    def note(self) -> str:
        """One sentence for people on why it is so."""

    @property
    def dimension(self) -> int: ...

    def __len__(self) -> int:
        """Live vectors."""

    def __contains__(self, num: object) -> bool: ...

    def add(self, num: int, vector: Float32) -> None:
        """Take a unit vector (d,) for a memory; an earlier one of that memory goes."""

    def add_many(self, nums: Sequence[int] | Int64, matrix: Float32) -> None:
        """Take many at once. nums: (n,) distinct; matrix: (n, d) unit rows."""

    def remove(self, num: int) -> None:
        """Drop a memory's vector and wipe it from the matrix; nothing happens when there is none."""

    def search(self, query: Float32, k: int, allowed: Bool | None = None) -> tuple[Int64, Float32]:
        """The k nearest memories, best first; fewer when fewer are live or allowed.

        query: (d,) unit; allowed: (m,) indexed by num, a num beyond its end is not allowed.
        Returns nums (≤ k,) and their cosines, exact in both implementations; equal cosines by num.
        """

    def cosines(self, query: Float32, nums: Sequence[int] | Int64) -> Float32:
        """Cosine of each of these memories; NaN for one without a vector. (n,) float32."""

    def vectors(self, nums: Sequence[int] | Int64) -> Float32:
        """Copies of their vectors, a row of zeros for a memory without one. (n, d) float32."""

    def rebuild(self) -> None:
        """Drop and build anew whatever may still hold removed vectors (permanent erasure; the caller deletes
        the cache file too)."""

    def save(self, path: Path, *, seq: int, model: str) -> IndexRecord | None:
        """Write what is dear to rebuild to a cache file; the caller stores the record. None: nothing to save.

        seq: last change of the store that the index holds; model: the embedder's `name`.
        """

    def load(self, path: Path, record: IndexRecord, *, seq: int, model: str) -> bool:
        """Take a cache file over, after `add_many` of what the store has; else refuse it and say why in `note`.

        It is taken only when length and hash are the record's, and the record's seq, model, dimension and
        count those of now. A refused file may be deleted.
        """

    def close(self) -> None:
        """End work in the background."""


def open_index(settings: Settings, dimension: int) -> VectorIndex:
    """An empty index for vectors of this dimension: the one that may grow into HNSW where hnswlib is installed."""
    if importlib.util.find_spec("hnswlib") is None:
        return ExactIndex(dimension, settings)
    return HnswIndex(dimension, settings)
