"""hnswlib with its traps closed: labels of our own, a measured `ef`, a build in a thread of its own.

What hnswlib 0.8 does when it is used the plain way, and what is done here instead (all measured):

* adding over a live label leaves a ghost that still answers → every version of a vector has a label of
  its own, num + version · 2⁴⁰; the old one is marked, and at a fifth dead the graph is built anew;
* recall hangs on the vectors: isotropic ones need ten times the `ef` of texts → after every build and
  load, 50 points between stored vectors are searched both ways, and `ef` is doubled until recall@10 is
  as the settings ask, and once more; a graph that does not get there is not `good`;
* searching while inserting is not safe → a graph belongs to one thread at a time.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.exact import ExactIndex
from tetrarium.model import Float32, Int64

log = logging.getLogger(__name__)

VERSION_SHIFT = 40
NUM_MASK = (1 << VERSION_SHIFT) - 1
"""The part of a label that is the memory's num."""

_BUILD_CHUNK = 256
_PROBES = 50
_CHECKED_NEIGHBOURS = 10
_SEED = 20


class Graph:
    """An hnswlib index with labels of our own. On one thread at a time."""

    def __init__(self, index: Any, settings: Settings) -> None:
        self._index = index
        self._settings = settings
        self._versions: dict[int, int] = {}  # of nums that had a vector before
        self._live: set[int] = set()
        self.ef = settings.hnsw_ef_floor
        self.recall = 0.0

    @classmethod
    def empty(cls, dimension: int, capacity: int, settings: Settings) -> Graph:
        import hnswlib

        index = hnswlib.Index(space="ip", dim=dimension)
        index.init_index(
            max_elements=capacity, M=settings.hnsw_m, ef_construction=settings.hnsw_ef_construction, random_seed=_SEED
        )
        return cls(index, settings)

    @classmethod
    def read(cls, path: Path, exact: ExactIndex, settings: Settings) -> Graph:
        """A saved graph whose live vectors are those of `exact`. Raises RuntimeError when they are not."""
        import hnswlib

        index = hnswlib.Index(space="ip", dim=exact.dimension)
        index.load_index(str(path))
        graph = cls(index, settings)
        for label in index.get_ids_list():
            num = label & NUM_MASK
            graph._versions[num] = max(graph._versions.get(num, 0), label >> VERSION_SHIFT)
        nums, vectors = exact.live()
        graph._live.update(nums.tolist())
        if not graph._live <= graph._versions.keys():
            raise RuntimeError("memories are missing in it")
        for num in graph._versions.keys() - graph._live:
            graph._versions[num] += 1
        graph.check(nums, vectors)
        return graph

    @property
    def dead(self) -> int:
        return int(self._index.get_current_count()) - len(self._live)

    @property
    def good(self) -> bool:
        return self.recall >= self._settings.hnsw_recall

    def add(self, nums: Int64, vectors: Float32) -> None:
        """nums: (n,) that have no live vector; vectors: (n, d) unit rows."""
        full = self._index.get_current_count() + len(nums)
        if full > self._index.get_max_elements():
            self._index.resize_index(full + full // 2)
        labels = np.array([self._label(num) for num in nums.tolist()], np.uint64)
        self._index.add_items(vectors, labels, num_threads=1)
        self._live.update(nums.tolist())

    def sync(self, num: int, exact: ExactIndex) -> None:
        """Make the graph say of a memory what the exact rows say."""
        if num in self._live:
            self._index.mark_deleted(self._label(num))
            self._live.remove(num)
            self._versions[num] = self._versions.get(num, 0) + 1
        if num in exact:
            self.add(np.array([num], np.int64), exact.vectors([num]))

    def nearest(self, query: Float32, k: int, ef: int, passes: Callable[[int], bool] | None = None) -> Int64:
        """Up to k nums. Raises RuntimeError when fewer than k are in reach with this `ef`."""
        self._index.set_ef(ef)
        labels, _ = self._index.knn_query(query, k=k, num_threads=1, filter=passes)
        return np.asarray(labels[0] & np.uint64(NUM_MASK), np.int64)

    def check(self, nums: Int64, vectors: Float32) -> None:
        """Measure recall, and widen `ef` until it is as the settings ask or at the ceiling."""
        k = min(_CHECKED_NEIGHBOURS, len(nums))
        probes = _between(vectors, min(_PROBES, len(nums)))
        scores = probes @ vectors.T
        nearest = [set(nums[np.argpartition(row, len(row) - k)[len(row) - k :]].tolist()) for row in scores]
        while True:
            found = [self._share_found(probe, near, k) for probe, near in zip(probes, nearest, strict=True)]
            self.recall = float(np.mean(found))
            if self.good or self.ef >= self._settings.hnsw_ef_ceiling:
                break
            self.ef *= 2
        # A question may be unlike anything stored: 0.98 between stored vectors was 0.89 for random directions.
        self.ef = min(2 * self.ef, self._settings.hnsw_ef_ceiling)

    def write(self, path: Path) -> None:
        try:
            self._index.save_index(str(path))
        except RuntimeError as error:
            raise OSError(f"'{path.name}' cannot be written ({error})") from error
        with path.open("rb+") as file:
            os.fsync(file.fileno())

    def _label(self, num: int) -> int:
        return num | self._versions.get(num, 0) << VERSION_SHIFT

    def _share_found(self, query: Float32, nearest: set[int], k: int) -> float:
        try:
            found = self.nearest(query, k, self.ef)
        except RuntimeError:
            return 0.0
        return len(nearest.intersection(found.tolist())) / k


class GraphBuild(threading.Thread):
    """Builds and checks a graph from copies; `graph` is its result, None when it was stopped or failed."""

    def __init__(self, nums: Int64, vectors: Float32, settings: Settings) -> None:
        super().__init__(name="hnsw-build", daemon=True)
        self._nums = nums
        self._vectors = vectors
        self._settings = settings
        self._stopped = threading.Event()
        self.graph: Graph | None = None

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        nums, vectors = self._nums, self._vectors
        try:
            graph = Graph.empty(vectors.shape[1], len(nums) + len(nums) // 4 + 1, self._settings)
            for start in range(0, len(nums), _BUILD_CHUNK):
                if self._stopped.is_set():
                    return
                graph.add(nums[start : start + _BUILD_CHUNK], vectors[start : start + _BUILD_CHUNK])
            graph.check(nums, vectors)
        except (RuntimeError, MemoryError):
            log.exception("the HNSW graph could not be built")
            return
        self.graph = graph


def _between(vectors: Float32, count: int) -> Float32:
    """Unit vectors half-way between pairs of stored ones, spread evenly: (count, d), none of them stored."""
    first = np.linspace(0, len(vectors) - 1, count).astype(np.int64)
    middle = vectors[first] + vectors[(first + len(vectors) // 2) % len(vectors)]
    return np.asarray(middle / np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-9), np.float32)
