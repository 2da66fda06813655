"""The octet lattice: every unit voxel holds one regular tetrahedron.

S1 asks for regular tetrahedra of edge 1 that grow together through shared vertices. Inverting a
tetrahedron through its own centre, as S1's formula reads, shares no vertex and overlaps half the volume;
mirroring in faces never closes. Inverting through an edge's midpoint (shares 2 vertices) or through a
vertex (shares 1) generates one lattice, the alternated cubic honeycomb: vertices are the integer points
with an even coordinate sum, voxel (i, j, k) holds the tetrahedron on its four even corners, and its
orientation is the parity of i + j + k. World units are integers / √2, so every edge is 1. Two different
voxels never interpenetrate, and two different vertices are at least 1 apart: merging vertices within
ε is exact.

A voxel or a vertex travels as one packed integer ("key") where there are many look-ups: keys order like
(i, j, k), and a neighbour is one addition away.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarium.errors import InvalidInput
from tetrarium.model import Float32, Int32, Int64, UInt8

Voxel = tuple[int, int, int]

WORLD_UNITS_PER_STEP = 1 / math.sqrt(2)
"""Length of one lattice step in world units (edges)."""

EPSILON = 0.05
"""Vertices nearer than this, in edges, are one vertex (S1). Distinct vertices of the lattice are 20 times as far apart."""

REACH = (1 << 20) - 1024
"""Largest coordinate of a place, lattice units; a key holds 21 bits an axis, the margin keeps neighbours inside."""

_BITS = 21
_BIAS = 1 << 20  # even, so that it leaves parities alone


def _step(i: int, j: int, k: int) -> int:
    return (i << 2 * _BITS) + (j << _BITS) + k


_UNIT_CUBE = tuple(product((0, 1), repeat=3))
CORNERS: tuple[tuple[int, ...], tuple[int, ...]] = (
    tuple(_step(*c) for c in _UNIT_CUBE if sum(c) % 2 == 0),
    tuple(_step(*c) for c in _UNIT_CUBE if sum(c) % 2 == 1),
)
"""Steps from a voxel's key to its four vertices, by the voxel's parity."""

AROUND_VERTEX: tuple[int, ...] = tuple(-_step(*c) for c in _UNIT_CUBE)
"""Steps from a vertex to the eight voxels that have it."""

AROUND_VOXEL: tuple[int, ...] = tuple(_step(*c) for c in product((-1, 0, 1), repeat=3) if any(c))
"""Steps to the 26 voxels round one: 6 share an edge, 16 a vertex, 4 nothing."""


CELL = 8
"""Edge of a cell in lattice units: a coarse grid over the voxels, for questions about empty space."""

_CELL_BITS = ~_step(CELL - 1, CELL - 1, CELL - 1)


def cell(key: int) -> int:
    """The cell of a voxel: the key of its lowest voxel."""
    return key & _CELL_BITS


def block(half: int) -> tuple[int, ...]:
    """Steps to every voxel of the cube of edge 2 · half + 1 round one."""
    return tuple(_step(*c) for c in product(range(-half, half + 1), repeat=3))


def shell(radius: int) -> tuple[int, ...]:
    """Steps to the surface of the cube of edge 2 · radius + 1 round a voxel."""
    span = range(-radius, radius + 1)
    return tuple(_step(*c) for c in product(span, repeat=3) if max(map(abs, c)) == radius)


def pack(voxel: Voxel) -> int:
    """The key of a voxel or vertex whose coordinates lie within REACH."""
    i, j, k = voxel
    return _step(i + _BIAS, j + _BIAS, k + _BIAS)


def unpack(key: int) -> Voxel:
    """The voxel or vertex of a key."""
    mask = (1 << _BITS) - 1
    return (key >> 2 * _BITS) - _BIAS, (key >> _BITS & mask) - _BIAS, (key & mask) - _BIAS


def corner_keys(key: int) -> tuple[int, int, int, int]:
    """Keys of the four vertices of a voxel."""
    a, b, c, d = CORNERS[(key >> 2 * _BITS ^ key >> _BITS ^ key) & 1]
    return key + a, key + b, key + c, key + d


def pack_all(points: NDArray[np.integer[Any]]) -> Int64:
    """Keys of voxels or vertices. points: (…, 3) integers, lattice units. Raises InvalidInput beyond REACH."""
    wide = points.astype(np.int64)
    if wide.size and np.abs(wide).max() > REACH:
        raise InvalidInput("A place lies outside the lattice.", advice=f"Coordinates go up to {REACH}.")
    wide += _BIAS
    keys: Int64 = (wide[..., 0] << 2 * _BITS) + (wide[..., 1] << _BITS) + wide[..., 2]
    return keys


def parity(voxels: Int32) -> UInt8:
    """Orientation of each tetrahedron, 0 or 1. voxels: (n, 3) int32, lattice units."""
    odd: UInt8 = (voxels.sum(axis=1) & 1).astype(np.uint8)
    return odd


def corners(voxels: Int32) -> Int32:
    """The four vertices of each voxel, (n, 4, 3) int32, lattice units. voxels: (n, 3) int32."""
    even = np.array([c for c in _UNIT_CUBE if sum(c) % 2 == 0], np.int32)
    odd = np.array([c for c in _UNIT_CUBE if sum(c) % 2 == 1], np.int32)
    offsets = np.where(parity(voxels)[:, None, None] == 0, even, odd)
    return (voxels[:, None, :] + offsets).astype(np.int32)


def vertices(voxels: Int32) -> Float32:
    """The four vertices of each tetrahedron, (n, 4, 3) float32, world units. voxels: (n, 3) int32."""
    return (corners(voxels) * WORLD_UNITS_PER_STEP).astype(np.float32)


def centres(voxels: Int32) -> Float32:
    """The centre of each tetrahedron, (n, 3) float32, world units. voxels: (n, 3) int32."""
    return ((voxels + 0.5) * WORLD_UNITS_PER_STEP).astype(np.float32)


def snap(points: NDArray[np.floating[Any]], epsilon: float = EPSILON) -> Int32:
    """The lattice vertices that foreign positions mean, (n, 3) int32. points: (n, 3), world units.

    Raises InvalidInput when a point lies farther than `epsilon` (world units) from every vertex.
    """
    nearest: Int32 = np.rint(points / WORLD_UNITS_PER_STEP).astype(np.int32)
    off = np.linalg.norm(nearest * WORLD_UNITS_PER_STEP - points, axis=1) > epsilon
    off |= nearest.sum(axis=1) % 2 == 1
    if off.any():
        raise InvalidInput(
            f"{int(off.sum())} of {len(points)} positions are no vertices of the lattice.",
            advice=f"Vertices lie at even integer points / √2, within {epsilon:g}.",
        )
    return nearest


def are_apart(points: NDArray[np.floating[Any]], epsilon: float = EPSILON) -> bool:
    """Whether no two of the points, (m, 3) in world units, are nearer than `epsilon`.

    Points in cells of edge `epsilon` can only be that near within one cell or between touching cells.
    """
    cells = np.floor(points / epsilon).astype(np.int64)
    cells -= cells.min(axis=0, initial=0)
    span = cells.max(axis=0, initial=0) + 3
    ids = (cells[:, 0] * span[1] + cells[:, 1]) * span[2] + cells[:, 2]
    order = np.argsort(ids, kind="stable")
    ids, points = ids[order], points[order].astype(np.float64)
    for i, j, k in product((-1, 0, 1), repeat=3):
        wanted = ids + (i * span[1] + j) * span[2] + k
        first, last = np.searchsorted(ids, wanted, "left"), np.searchsorted(ids, wanted, "right")
        for a in np.flatnonzero(last > first):
            others = np.arange(first[a], last[a])
            distances = np.linalg.norm(points[others[others != a]] - points[a], axis=1)
            if (distances < epsilon).any():
                return False
    return True
