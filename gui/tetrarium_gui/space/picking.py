"""Which memory lies under a pixel: bounding spheres for all, exact triangles for the few that remain.

On the processor, without OpenGL: 3 ms for 100,000 memories, never a pipeline stall, and the same answer
as an identity buffer (measured).
"""

from __future__ import annotations

import numpy as np

from tetrarium.model import Bool, Float64
from tetrarium_gui.space.scene import CIRCUMRADIUS, FACES, WORLD, Scene, corners


def pick(scene: Scene, origin: Float64, direction: Float64, away: Bool | None = None) -> int:
    """Row of the nearest tetrahedron that the ray meets, -1 for none. `direction`: a unit vector; `away`: (n,) not shown."""
    if not len(scene):
        return -1
    relative = scene.centres - origin.astype(np.float32)
    along = relative @ direction.astype(np.float32)
    off_squared = np.einsum("ij,ij->i", relative, relative) - along * along
    met = (off_squared < CIRCUMRADIUS**2 * 1.01) & (along > 0)
    near = np.flatnonzero(met if away is None else met & ~away)
    if not len(near):
        return -1
    distances = _nearest_triangle(corners(scene.voxels[near]) * np.float64(WORLD), origin, direction)
    best = int(np.argmin(distances))
    return int(near[best]) if np.isfinite(distances[best]) else -1


def _nearest_triangle(tetrahedra: Float64, origin: Float64, direction: Float64) -> Float64:
    """(n,) distance along the ray to each of (n, 4, 3) tetrahedra, infinite where it misses (Möller–Trumbore)."""
    triangles = tetrahedra[:, FACES]  # (n, 4 faces, 3 corners, 3)
    a, b, c = triangles[:, :, 0], triangles[:, :, 1], triangles[:, :, 2]
    edge_b, edge_c = b - a, c - a
    p = np.cross(direction, edge_c)
    determinant = np.einsum("nfi,nfi->nf", edge_b, p)
    safe = np.where(np.abs(determinant) < 1e-12, np.inf, determinant)
    from_a = origin - a
    u = np.einsum("nfi,nfi->nf", from_a, p) / safe
    q = np.cross(from_a, edge_b)
    v = q @ direction / safe
    distance = np.einsum("nfi,nfi->nf", edge_c, q) / safe
    met = (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0) & np.isfinite(safe)
    return np.asarray(np.where(met, distance, np.inf).min(axis=1), np.float64)
