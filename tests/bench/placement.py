"""Placement quality and cost: does a component become a topic, and does a placement stay cheap?

    python tests/bench/placement.py --memories m.jsonl --labels l.jsonl --vectors x.npy

memories: one JSON object a line with `keywords`; labels: one with `topic`; vectors: (n, d) float32, unit
length, row i for line i. The memories are placed in order, each after looking at the nearest earlier ones.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarium.config import DEFAULTS
from tetrarium.geometry.clusters import cluster_name
from tetrarium.geometry.lattice import are_apart, centres, vertices
from tetrarium.geometry.placement import Geometry
from tetrarium.geometry.places import connected_components
from tetrarium.geometry.similarity import DEFAULT_CALIBRATION, Calibration, calibrate, similarity
from tetrarium.model import Float32, Float64, Int32, Int64

CANDIDATES = 16  # from each of vectors and keywords
RELATIVES = 16  # kept of both together


@dataclass(frozen=True, slots=True)
class Corpus:
    vectors: Float32  # (n, d), rounded to float16 as the store does
    keywords: list[list[int]]  # ids, by memory
    words: list[str]  # by keyword id
    topics: Int64  # (n,)


def load(memories: Path, labels: Path, vectors: Path, limit: int) -> Corpus:
    rows = [json.loads(line) for line in memories.read_text("utf-8").splitlines()[:limit]]
    topics = [json.loads(line)["topic"] for line in labels.read_text("utf-8").splitlines()[:limit]]
    ids: dict[str, int] = {}
    keywords = [[ids.setdefault(word, len(ids)) for word in row["keywords"]] for row in rows]
    stored = np.load(vectors)[:limit].astype(np.float16).astype(np.float32)
    return Corpus(stored, keywords, list(ids), np.unique(topics, return_inverse=True)[1])


class Keywords:
    """Rarity-weighted keyword cosines over the memories seen so far, exactly."""

    def __init__(self, corpus: Corpus) -> None:
        self._flat = np.array([k for ids in corpus.keywords for k in ids])
        self._ends = np.cumsum([len(ids) for ids in corpus.keywords])
        self._postings: list[list[int]] = [[] for _ in corpus.words]
        self.frequency = np.zeros(len(corpus.words))
        self.seen = 0

    def add(self, ids: list[int]) -> None:
        for k in ids:
            self._postings[k].append(self.seen)
            self.frequency[k] += 1
        self.seen += 1

    def weights(self) -> Float64:
        weights: Float64 = np.log1p(self.seen / np.maximum(self.frequency, 1))
        return weights

    def cosines(self, ids: list[int], weights: Float64) -> Float64:
        squares = weights**2
        starts = np.r_[0, self._ends[: self.seen - 1]]
        norms = np.add.reduceat(squares[self._flat[: self._ends[self.seen - 1]]], starts)
        shared = np.zeros(self.seen)
        for k in ids:
            shared[self._postings[k]] += squares[k]
        cosines: Float64 = shared / np.sqrt(norms * squares[ids].sum())
        return cosines


def measured(corpus: Corpus, keywords: Keywords, seed: int = 0) -> Calibration:
    rng = np.random.default_rng(seed)
    ones, others = rng.integers(keywords.seen, size=(2, 4000))
    ones, others = ones[ones != others], others[ones != others]
    weights = keywords.weights()
    squares = weights**2
    norm = [np.sqrt(squares[ids].sum()) for ids in corpus.keywords[: keywords.seen]]
    shared = np.array(
        [
            squares[list(set(corpus.keywords[a]) & set(corpus.keywords[b]))].sum() / (norm[a] * norm[b])
            for a, b in zip(ones, others, strict=True)
        ]
    )
    cosines = np.einsum("nd,nd->n", corpus.vectors[ones], corpus.vectors[others])
    return calibrate(cosines, shared)


def adjusted_rand(one: Int64, other: Int64) -> float:
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)

    def pairs(counts: Any) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, left, right = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    chance = left * right / pairs(np.array([len(one)]))
    return (both - chance) / ((left + right) / 2 - chance)


def rank_correlation(one: NDArray[Any], other: NDArray[Any]) -> float:
    ranks = [np.argsort(np.argsort(x)).astype(float) for x in (one, other)]
    return float(np.corrcoef(ranks)[0, 1])


def meaning_in_space(corpus: Corpus, voxels: Int32, component: Int64) -> tuple[float, float]:
    """Rank correlation of cosine distance and distance in space: within the largest component, and over all."""
    rng = np.random.default_rng(1)
    spots = centres(voxels)

    def correlation(rows: Int64) -> float:
        a, b = rng.choice(rows, (2, 20_000))
        a, b = a[a != b], b[a != b]
        apart = np.linalg.norm(spots[a] - spots[b], axis=1)
        return rank_correlation(1 - np.einsum("nd,nd->n", corpus.vectors[a], corpus.vectors[b]), apart)

    largest = np.flatnonzero(component == np.bincount(component).argmax())
    return correlation(largest), correlation(np.arange(len(component)))


def median_gap(geometry: Geometry) -> float:
    """Median distance between the centres of neighbouring components of eight members or more, in edges."""
    spots = np.array([c.centre for c in geometry.places.components.values() if len(c.members) >= 8]) / np.sqrt(2)
    if len(spots) < 2:
        return 0.0
    apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(np.median(apart.min(axis=1)))


def run(corpus: Corpus) -> None:
    n = len(corpus.vectors)
    geometry = Geometry(
        DEFAULTS,
        DEFAULT_CALIBRATION,
        lambda nums: corpus.vectors[list(nums)],
        lambda nums: [corpus.keywords[num] for num in nums],
    )
    keywords, cost, merged = Keywords(corpus), np.zeros(n), np.zeros(n)
    same_topic = np.zeros((n, 2), bool)  # of the nearest memory by cosine, by the mix
    due: float = DEFAULTS.calibration_start
    for num in range(n):
        vector, ids = corpus.vectors[num], corpus.keywords[num]
        if num == due:
            geometry.calibration = measured(corpus, keywords)
            due *= 2
        relatives: list[tuple[int, float]] = []
        weights = keywords.weights()
        if num:
            by_vector, by_keywords = corpus.vectors[:num] @ vector, keywords.cosines(ids, weights)
            nearest = np.union1d(
                np.argsort(-by_vector, kind="stable")[:CANDIDATES], np.argsort(-by_keywords, kind="stable")[:CANDIDATES]
            )
            close = similarity(by_vector[nearest], by_keywords[nearest], geometry.calibration)
            best = np.argsort(-close, kind="stable")[:RELATIVES]
            same_topic[num] = corpus.topics[[by_vector.argmax(), nearest[best[0]]]] == corpus.topics[num]
            relatives = list(zip(nearest[best].tolist(), close[best].tolist(), strict=True))
        weighted = dict(zip(ids, weights[ids].tolist(), strict=True))
        started = time.process_time_ns()
        placement = geometry.plan(vector, weighted, relatives)
        geometry.add(num, placement, vector, ids)
        cost[num] = (time.process_time_ns() - started) / 1e6
        merged[num] = placement.merged_vertices
        keywords.add(ids)

    voxels = np.array([geometry.places.voxel_of(num) for num in range(n)], np.int32)
    component = np.array([geometry.places.component_of[num] for num in range(n)])
    labels = np.unique(component, return_inverse=True)[1]
    sizes = np.bincount(labels)
    table = np.zeros((labels.max() + 1, corpus.topics.max() + 1))
    np.add.at(table, (labels, corpus.topics), 1)
    points = np.unique(vertices(voxels).reshape(-1, 3).round(3), axis=0)
    searched = connected_components(voxels)
    agree = len(np.unique(np.stack([searched, labels]), axis=1).T) == len(sizes) == searched.max() + 1
    within, overall = meaning_in_space(corpus, voxels, labels)

    again = Geometry(DEFAULTS, geometry.calibration, lambda nums: corpus.vectors[list(nums)], lambda _: [])
    began = time.perf_counter()
    again.load(np.arange(n), voxels, component)
    loading = time.perf_counter() - began
    tracemalloc.start()
    again.load(np.arange(n), voxels, component)
    ram = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()

    tenth = max(1, n // 10)
    print(f"memories                      {n}")
    print(f"overlaps                      {n - len(np.unique(voxels, axis=0))}")
    print(f"vertices, all ε apart         {geometry.places.vertex_count}, {are_apart(points)}")
    print(f"components as searched        {agree}")
    print(f"topics, components, of ≥ 8    {table.shape[1]}, {len(sizes)}, {(sizes >= 8).sum()}")
    print(
        f"nearest of same topic         {same_topic[1:, 0].mean():.1%} by cosine, {same_topic[1:, 1].mean():.1%} by the mix"
    )
    print(f"purity                        {table.max(axis=1).sum() / n:.3f}")
    print(f"adjusted Rand                 {adjusted_rand(labels, corpus.topics):.3f}")
    print(f"lone memories                 {(sizes == 1).sum() / n:.2%}")
    print(f"merged vertices a placement   {merged.mean():.2f}")
    print(f"rank correlation within, all  {within:.2f}, {overall:.2f}")
    print(f"median gap, radius (edges)    {median_gap(geometry):.1f}, {np.abs(voxels).max() / np.sqrt(2):.0f}")
    print(f"CPU ms median first, last 10 % {np.median(cost[:tenth]):.3f}, {np.median(cost[-tenth:]):.3f}")
    print(f"CPU ms mean, p99, max         {cost.mean():.3f}, {np.percentile(cost, 99):.3f}, {cost.max():.1f}")
    print(f"RAM MB of places, load ms     {ram:.1f}, {loading * 1e3:.0f}")
    frequency = dict(zip(corpus.words, keywords.frequency.astype(int).tolist(), strict=True))
    for number, size in sorted(geometry.places.components.items(), key=lambda item: -len(item[1].members))[:5]:
        counts = {corpus.words[k]: c for k, c in geometry.keyword_counts(number).items()}
        print(f"  {len(size.members):5} {cluster_name(counts, frequency, n)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("memories", "labels", "vectors"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=None)
    given = parser.parse_args()
    run(load(given.memories, given.labels, given.vectors, given.limit))


if __name__ == "__main__":
    main()
