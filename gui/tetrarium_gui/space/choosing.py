"""Which memories a gesture means: inside a box or a lasso, touching those chosen, the rest. Pure numpy, no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tetrarium.model import Bool, Float64
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.scene import Scene, vertex_keys

Point = tuple[float, float]


def in_box(scene: Scene, camera: Camera, one: Point, other: Point, away: Bool) -> list[str]:
    """Memories that are shown whose centres lie in the box between two pixels, whatever is before them."""
    seen = camera.project(scene.centres)
    low, high = np.minimum(one, other), np.maximum(one, other)
    inside = (seen[:, 2] > 0) & (seen[:, :2] >= low).all(axis=1) & (seen[:, :2] <= high).all(axis=1)
    return [scene.ids[row] for row in np.flatnonzero(inside & ~away)]


def in_lasso(scene: Scene, camera: Camera, path: Sequence[Point], away: Bool) -> list[str]:
    """Memories that are shown whose centres lie inside a closed path of pixels (even-odd rule)."""
    if len(path) < 3:
        return []
    seen = camera.project(scene.centres)
    outline = np.asarray(path, np.float64)
    low, high = outline.min(axis=0), outline.max(axis=0)
    rows = np.flatnonzero(
        (seen[:, 2] > 0) & (seen[:, :2] >= low).all(axis=1) & (seen[:, :2] <= high).all(axis=1) & ~away
    )
    return [scene.ids[row] for row in rows[_inside(seen[rows, :2], outline)]]


def touching(scene: Scene, chosen: Iterable[str]) -> list[str]:
    """The memories that share a vertex with the chosen ones, without these; one step of growth."""
    rows = np.array([scene.rows[i] for i in chosen if i in scene.rows], np.int64)
    if not len(rows):
        return []
    keys = vertex_keys(scene.voxels)
    near = np.flatnonzero(np.isin(keys, np.unique(keys[rows])).any(axis=1))
    return [scene.ids[row] for row in np.setdiff1d(near, rows)]


def sharing(scene: Scene, row: int) -> list[str]:
    """The memories that share a vertex with one, without it; looks at its cluster only, outside which nothing touches it."""
    own = np.flatnonzero(scene.cluster == scene.cluster[row])
    keys = vertex_keys(scene.voxels[own])
    near = np.isin(keys, vertex_keys(scene.voxels[row : row + 1])).any(axis=1)
    return [scene.ids[at] for at in own[near] if at != row]


def rest(scene: Scene, chosen: frozenset[str], away: Bool) -> list[str]:
    """Every memory that is shown and not chosen."""
    return [scene.ids[row] for row in np.flatnonzero(~away) if scene.ids[row] not in chosen]


def _inside(points: Float64, outline: Float64) -> Bool:
    """(n,) whether each point lies inside the closed outline."""
    ends = np.roll(outline, -1, axis=0)
    x, y = points[:, 0][:, None], points[:, 1][:, None]
    crosses = (outline[:, 1] > y) != (ends[:, 1] > y)
    rise = np.where(ends[:, 1] == outline[:, 1], 1.0, ends[:, 1] - outline[:, 1])
    at = outline[:, 0] + (y - outline[:, 1]) * (ends[:, 0] - outline[:, 0]) / rise
    odd: Bool = (crosses & (x < at)).sum(axis=1) % 2 == 1
    return odd
