"""Nearest memories among many: an HNSW graph over the rows of an exact index.

A filter is a Python call per node, and slow where few pass: such a search is exact. So is one for which
the graph has too few live neighbours in reach ("cannot return contiguous 2D array"). A saved file has no
checksum, and hnswlib takes a flipped bit or another dimension without a word: the caller keeps an
`IndexRecord`, and a file that does not fit it is never opened.

Building takes a minute at 100,000 vectors, so a thread of its own does it on a copy, and exact search (or
the old graph) answers meanwhile. The graph never leaves the lane once it is taken over.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.exact import ExactIndex
from tetrarium.indexing.graph import NUM_MASK, Graph, GraphBuild
from tetrarium.model import Bool, Float32, Int64

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """What a cache file must be; the store keeps it as text.

    count: live vectors; seq: last change of the store that the file holds; length: bytes.
    """

    count: int
    seq: int
    dimension: int
    model: str
    length: int
    blake2b: str

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> IndexRecord:
        """Raises ValueError or TypeError for a text that is no record."""
        return cls(**json.loads(text))


class HnswIndex:
    """The `VectorIndex` that scans up to `Settings.exact_limit` vectors and walks a graph above."""

    def __init__(self, dimension: int, settings: Settings) -> None:
        self._settings = settings
        self._exact = ExactIndex(dimension, settings)
        self._graph: Graph | None = None
        self._build: GraphBuild | None = None
        self._changed: set[int] = set()  # nums touched since the running build took its copy
        self._refused_size = 0
        self._remark = ""

    @property
    def kind(self) -> str:
        self._take_over()
        return "hnsw" if self._graph else "exact"

    @property
    def note(self) -> str:
        self._take_over()
        if self._graph:
            state = f"HNSW: recall@10 {self._graph.recall:.2f} at ef {self._graph.ef}, {self._graph.dead} dead"
        else:
            state = f"exact search; HNSW above {self._settings.exact_limit} memories"
        building = "building a new graph" if self._build else ""
        return "; ".join(part for part in (state, building, self._remark) if part)

    @property
    def dimension(self) -> int:
        return self._exact.dimension

    def __len__(self) -> int:
        return len(self._exact)

    def __contains__(self, num: object) -> bool:
        return num in self._exact

    def add(self, num: int, vector: Float32) -> None:
        self.add_many([num], vector[None, :])

    def add_many(self, nums: Sequence[int] | Int64, matrix: Float32) -> None:
        self._exact.add_many(nums, matrix)
        for num in map(int, nums):
            self._touched(num)
        self._tend()

    def remove(self, num: int) -> None:
        if num not in self._exact:
            return
        self._exact.remove(num)
        self._touched(num)
        self._tend()

    def search(self, query: Float32, k: int, allowed: Bool | None = None) -> tuple[Int64, Float32]:
        self._tend()
        found = self._walk(query, min(k, len(self)), allowed) if self._graph and k > 0 else None
        if found is None:
            return self._exact.search(query, k, allowed)
        cosines = self._exact.cosines(query, found)
        order = np.lexsort((found, -cosines))
        return found[order], cosines[order]

    def cosines(self, query: Float32, nums: Sequence[int] | Int64) -> Float32:
        return self._exact.cosines(query, nums)

    def vectors(self, nums: Sequence[int] | Int64) -> Float32:
        return self._exact.vectors(nums)

    def rebuild(self) -> None:
        self._graph = None
        self._stop_build()
        self._exact.rebuild()
        self._tend()

    def save(self, path: Path, *, seq: int, model: str) -> IndexRecord | None:
        """Raises OSError when the file cannot be written; what was there before then still stands."""
        self._take_over()
        if self._graph is None:
            return None
        fresh = path.with_name(path.name + ".new")
        try:
            self._graph.write(fresh)
            length, digest = fresh.stat().st_size, _digest(fresh)
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
        return IndexRecord(len(self), seq, self.dimension, model, length, digest)

    def load(self, path: Path, record: IndexRecord, *, seq: int, model: str) -> bool:
        try:
            misfit = self._misfit(path, record, seq, model)
            graph = None if misfit else Graph.read(path, self._exact, self._settings)
        except (OSError, RuntimeError) as error:
            misfit, graph = f"cannot be read ({error})", None
        if graph and not graph.good:
            misfit = f"finds {graph.recall:.2f} of the nearest"
        if misfit or not graph:
            self._remark = f"saved index refused: it {misfit}"
            log.info("saved index %s refused: it %s", path.name, misfit)
            return False
        self._stop_build()
        self._graph = graph
        self._remark = ""
        return True

    def close(self) -> None:
        self._stop_build()

    def settle(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for a running build and take it over; False when it still runs."""
        if self._build:
            self._build.join(timeout)
        self._take_over()
        return self._build is None

    def _walk(self, query: Float32, k: int, allowed: Bool | None) -> Int64 | None:
        """Nums that the graph finds, in no order; None where exact search is the better way."""
        graph, settings = self._graph, self._settings
        assert graph is not None
        passes = None
        if allowed is not None:
            few = max(settings.exact_subset, settings.exact_subset_share * len(self))
            if np.count_nonzero(allowed) <= few:
                return None
            passes = _passes(allowed)
        ef = max(2 * k, graph.ef)
        while ef <= settings.hnsw_ef_ceiling:
            try:
                return graph.nearest(query, k, ef, passes)
            except RuntimeError:  # too few live neighbours in reach
                ef *= 2
        return None

    def _touched(self, num: int) -> None:
        if self._graph:
            self._graph.sync(num, self._exact)
        if self._build:
            self._changed.add(num)

    def _tend(self) -> None:
        """Take a finished build over, and start one where the size or the dead ask for it."""
        self._take_over()
        if self._build:
            return
        size = len(self)
        if self._graph and size <= self._settings.exact_limit // 2:
            self._graph = None
        elif self._graph:
            if self._graph.dead > self._settings.hnsw_dead_share * (size + self._graph.dead):
                self._start_build()
        elif size > max(self._settings.exact_limit, self._refused_size):
            self._start_build()

    def _start_build(self) -> None:
        self._changed.clear()
        self._build = GraphBuild(*self._exact.live(), self._settings)
        self._build.start()

    def _stop_build(self) -> None:
        if self._build:
            self._build.stop()
            self._build.join()
            self._build = None

    def _take_over(self) -> None:
        if self._build is None or self._build.is_alive():
            return
        graph, self._build = self._build.graph, None
        if graph is None or not graph.good:
            why = f"recall@10 {graph.recall:.2f} only" if graph else "it could not be built"
            self._remark = f"HNSW is left out: {why}"
            self._refused_size = 2 * len(self)
            self._graph = None
            return
        for num in self._changed:
            graph.sync(num, self._exact)
        self._changed.clear()
        self._graph = graph
        self._remark = ""

    def _misfit(self, path: Path, record: IndexRecord, seq: int, model: str) -> str:
        if (record.dimension, record.model) != (self.dimension, model):
            return "belongs to another model"
        if (record.seq, record.count) != (seq, len(self)):
            return "belongs to another state of the store"
        if path.stat().st_size != record.length or _digest(path) != record.blake2b:
            return "is damaged"
        return ""


def _passes(allowed: Bool) -> Callable[[int], bool]:
    open_doors = allowed.tolist()
    end = len(open_doors)

    def passes(label: int) -> bool:
        num = label & NUM_MASK
        return num < end and open_doors[num]

    return passes


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
