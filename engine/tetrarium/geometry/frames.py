"""A frame turns meaning into a place: the three main directions of some vectors, laid onto their sites.

Fitted once for a set of things that already have places and turned onto these (Kabsch), so that a
newcomer's projection lands where its relatives are and nothing that stands has to move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.model import Float32, Float64

LEAST = 8
"""Things from which on three directions mean something."""

SAMPLE = 256
"""Most things a fit looks at; the main directions of more are the same."""

_SPREAD = 0.416
"""Standard deviation of n sites round their centre, in pitches · ∛n (measured on grown components)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """mean: (d,) float64; axes: (3, d) float64, projections have unit deviation; centre: (3,) float64, lattice units."""

    mean: Float64
    axes: Float64
    centre: Float64

    def target(self, vector: Float32, count: int, pitch: float) -> Float64:
        """Where a vector belongs, (3,) lattice units, among `count` things that stand about `pitch` apart."""
        place: Float64 = self.centre + self.axes @ (vector - self.mean) * (_SPREAD * pitch * count ** (1 / 3))
        return place


def fit(vectors: Float32, sites: Float64) -> Frame:
    """The frame of things with vectors (m, d) and sites (m, 3) in lattice units, m ≥ LEAST."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    spread = vectors - mean
    # The m × m products have the same main directions as the d × d ones, and m is small.
    strength, along = np.linalg.eigh(spread @ spread.T)
    strength, along = np.maximum(strength[-3:], 1e-12), along[:, -3:]
    axes = (spread.T @ along / np.sqrt(strength)).T
    projections = spread @ axes.T
    centre = sites.mean(axis=0)
    left, _, right = np.linalg.svd(projections.T @ (sites - centre))
    turned = (left @ right).T @ axes
    return Frame(mean, turned / max(float(projections.std()), 1e-9), centre)
