"""A map of whole clusters: those that mean nearly the same stand near each other.

A component starts where the map of the moment has it, beside what stands already; after hundreds of starts in
whatever order, distance between clusters says little (rank correlation near 0, tests/bench/space_meaning.py). The
layout moves clusters as they are, each by one even lattice vector, so that no place inside one changes: main
directions of their meanings, spread over a ball of even density, turned onto where they stand, pushed apart until
each has its gap and half its radius to grow.
"""

from __future__ import annotations

import numpy as np

from tetrarium.geometry.lattice import CELL, cell, pack_all
from tetrarium.model import Float32, Float64, Int32

LEAST = 4
"""Clusters from which on a map means something."""

SAMPLE = 8
"""Members that stand for a cluster."""

WORDS = 2_048
"""Keywords that get a column when whole clusters are compared."""

_FILLED = 0.25
"""Share of the ball that the clusters' own balls take; denser ones have to be pushed too far (measured)."""

_ROUNDS = 60
_PUSHES = 30
_PUSHED = 1_500
"""Clusters up to which all pairs are pushed apart; with more, the last step alone keeps them apart."""


def spread(meanings: Float32 | Float64, weights: Float64, radii: Float64, centres: Float64) -> Float64:
    """Where clusters belong, (c, 3) lattice units round the origin, as balls that hardly overlap.

    meanings: (c, f), products are similarities; weights: (c,), how much each one says about the directions;
    radii: (c,) room that each one wants; centres: (c, 3) where they stand, which decides the turn.
    """
    mean = np.average(meanings, axis=0, weights=weights)
    around = (meanings - mean) * np.sqrt(weights)[:, None]
    _, _, axes = np.linalg.svd(around, full_matrices=False)
    flat = ((meanings - mean) @ axes[:3].T).astype(np.float64)
    flat = np.pad(flat, ((0, 0), (0, 3 - flat.shape[1])))
    flat /= np.maximum(np.sqrt(np.average(flat**2, axis=0, weights=weights)), 1e-9)
    left, _, right = np.linalg.svd(flat.T @ (centres - centres.mean(axis=0)))
    spots = _even(flat @ (left @ right), radii)
    if len(spots) <= _PUSHED:
        spots = _matched(spots, meanings)
        for _ in range(_PUSHES):
            spots += _push(spots, radii)
    return spots


def snapped(spots: Float64, clusters: list[Int32], gap_cells: tuple[int, ...]) -> list[Int32]:
    """The even vectors that bring clusters to their spots, or outward to where nothing else is within the gap.

    spots: (c, 3) lattice units; clusters: voxels of each, (m, 3); gap_cells: steps to the cells that must be empty.
    """
    taken: set[int] = set()
    vectors: list[Int32] = [np.zeros(3, np.int32)] * len(clusters)
    for at in np.argsort(np.linalg.norm(spots, axis=1), kind="stable").tolist():
        length = float(np.linalg.norm(spots[at]))
        out = spots[at] / length if length > 1e-6 else np.array([0.6, 0.64, 0.48])
        away = 0
        while True:
            vector: Int32 = np.rint(spots[at] + away * out - clusters[at].mean(axis=0)).astype(np.int32)
            vector[2] += int(vector.sum()) & 1
            cells = {cell(key) for key in pack_all(clusters[at] + vector).tolist()}
            if not any(one + step in taken for one in cells for step in gap_cells):
                break
            away += CELL // 2
        taken |= cells
        vectors[at] = vector
    return vectors


def _even(flat: Float64, radii: Float64) -> Float64:
    """Directions stay; distances from the middle are given out so that the balls fill a ball evenly."""
    length = np.linalg.norm(flat, axis=1)
    order = np.argsort(length, kind="stable")
    volume = np.cumsum(radii[order] ** 3) - radii[order] ** 3 / 2
    away = np.empty(len(flat))
    away[order] = np.cbrt(volume / _FILLED)
    spots: Float64 = flat / np.maximum(length, 1e-9)[:, None] * away[:, None]
    return spots


def _matched(spots: Float64, meanings: Float32 | Float64) -> Float64:
    """Moved so that distances follow the order of dissimilarities (metric scaling by majorisation)."""
    count = len(spots)
    alike = (meanings @ meanings.T).astype(np.float64)
    one, other = np.triu_indices(count, 1)
    # The least alike are as far apart as the map is wide; in between by rank, since only the order means something.
    offsets = spots[one] - spots[other]
    lengths = np.sort(np.linalg.norm(offsets, axis=1))
    wanted = np.zeros((count, count))
    wanted[one, other] = lengths[np.argsort(np.argsort(-alike[one, other], kind="stable"), kind="stable")]
    wanted += wanted.T
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        ratio = wanted / np.maximum(apart, 1e-6)
        np.fill_diagonal(ratio, 0)
        spots = (spots * ratio.sum(axis=1)[:, None] - ratio @ spots) / count
    return spots


def _push(spots: Float64, radii: Float64) -> Float64:
    """(c, 3) how far each goes so that overlapping balls part; half of the way a round."""
    offsets = spots[:, None] - spots[None]
    apart = np.linalg.norm(offsets, axis=2)
    np.fill_diagonal(apart, np.inf)
    overlap = np.maximum(radii[:, None] + radii[None] - apart, 0) / 2
    moved: Float64 = (offsets * (overlap / np.maximum(apart, 1e-6))[..., None]).sum(axis=1) / 2
    return moved
