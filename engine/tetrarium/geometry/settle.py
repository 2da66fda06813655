"""Better places inside one cluster: the same voxels, given out anew.

Memories are placed one after the other and never moved, so an early one may stand far from relatives that came
later. Settling gives the voxels of a cluster out again: it starts where the memories stand, and swaps two of them
whenever that brings both nearer to their nearest in meaning. The set of voxels stays, so every invariant does;
nothing outside the cluster notices.
"""

from __future__ import annotations

import numpy as np

from tetrarium.model import Float32, Int32, Int64

NEAREST = 10
"""Relatives that pull at a memory."""

MOST = 8_192
"""Members of a cluster that is settled at once; the nearest of a larger one would take minutes to find."""

ROUNDS = 400
"""Rounds of swaps; each offers every memory one."""

_BLOCK = 1_024
_SEED = 20_261_130


def nearest(rows: Float32, k: int = NEAREST) -> Int64:
    """(n, k) positions of the k most similar others of each row; k < n. rows: products are similarities."""
    found = np.empty((len(rows), k), np.int64)
    for start in range(0, len(rows), _BLOCK):
        products = rows[start : start + _BLOCK] @ rows.T
        products[np.arange(len(products)), np.arange(start, start + len(products))] = -np.inf
        found[start : start + _BLOCK] = np.argpartition(-products, k - 1, axis=1)[:, :k]
    return found


def settled(rows: Float32, voxels: Int32, rounds: int = ROUNDS) -> Int64:
    """Which voxel each memory should have: (n,) positions in `voxels`, a permutation. Deterministic.

    rows: (n, f) as of `meaning.rows_of`; voxels: (n, 3), voxel i is where memory i stands.
    """
    count = len(rows)
    at = np.arange(count)
    if count <= NEAREST:
        return at
    pulls = _both_ways(nearest(rows))
    rng = np.random.default_rng(_SEED)
    spots = voxels.astype(np.float32)
    for _ in range(rounds):
        order = rng.permutation(count)
        one, other = order[: count // 2], order[count // 2 : 2 * (count // 2)]
        here, there = spots[at[one]], spots[at[other]]
        gain = _stress(pulls, spots, at, one, here) - _stress(pulls, spots, at, one, there)
        gain += _stress(pulls, spots, at, other, there) - _stress(pulls, spots, at, other, here)
        # Half of the good swaps a round: two that share relatives may spoil each other.
        take = (gain > 1e-3) & (rng.random(len(gain)) < 0.5)
        at[one[take]], at[other[take]] = at[other[take]], at[one[take]]
    return at


def _both_ways(near: Int64) -> Int64:
    """(n, k + k') relatives that a memory has, and those that have it (up to k of these; itself fills the rest)."""
    count, k = near.shape
    back = np.tile(np.arange(count)[:, None], (1, k))
    filled = np.zeros(count, np.int64)
    for source, target in zip(np.repeat(np.arange(count), k).tolist(), near.ravel().tolist(), strict=True):
        if filled[target] < k:
            back[target, filled[target]] = source
            filled[target] += 1
    return np.hstack([near, back])


def _stress(pulls: Int64, spots: Float32, at: Int64, who: Int64, where: Float32) -> Float32:
    """(m,) sum of the distances from `where` to the relatives of `who`."""
    offsets = spots[at[pulls[who]]] - where[:, None, :]
    total: Float32 = np.sqrt(np.einsum("mkc,mkc->mk", offsets, offsets)).sum(axis=1)
    return total
