"""A far cluster as one body: the hull of its memories, made from what stands out farthest on 42 sides.

For every direction of a twice divided icosahedron the farthest member is a corner, and the faces join neighbouring
directions. That is a hull with at most 80 faces, made for all clusters at once by one product and one reduction: no
face is ever searched for, and no library for convex hulls is light enough to carry along for this. A snapshot that
only grew costs the clusters that it touched. Pure numpy, no Qt, no OpenGL.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tetrarium.model import Bool, Float32, Int32
from tetrarium_gui.space.scene import CIRCUMRADIUS, Scene

CORNERS = 42
LEAST_MEMBERS = 5
"""Clusters of fewer memories stay points."""

_NONE: Float32 = np.zeros((0, CORNERS, 3), np.float32)


@lru_cache(maxsize=1)
def sphere() -> tuple[Float32, Int32, Int32]:
    """(42, 3) unit directions; (80, 3) faces over all of them, and (20, 3) over the first twelve, for hulls that are
    only a few pixels wide. Seen from outside counter-clockwise."""
    golden = (1 + np.sqrt(5)) / 2
    points = [(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0)]
    points += [(0, *point[:2]) for point in points[:4]] + [(point[1], 0, point[0]) for point in points[:4]]
    corners = [np.array(point) / np.linalg.norm(point) for point in points]
    distance = np.linalg.norm(np.array(corners)[:, None] - np.array(corners)[None], axis=2)
    near = np.abs(distance - 2 / np.sqrt(golden * np.sqrt(5))) < 1e-6
    faces = [
        (a, b, c)
        for a in range(12) for b in range(a + 1, 12) for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[a, c]
    ]  # fmt: skip
    middles: dict[tuple[int, int], int] = {}

    def middle(a: int, b: int) -> int:
        key = min(a, b), max(a, b)
        if key not in middles:
            between = corners[a] + corners[b]
            corners.append(between / np.linalg.norm(between))
            middles[key] = len(corners) - 1
        return middles[key]

    small: list[tuple[int, int, int]] = []
    for a, b, c in faces:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        small += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    sides = np.array(corners)
    fine, coarse = (
        np.array([face if _faces_out(sides, face) else face[::-1] for face in some], np.int32)
        for some in (small, faces)
    )
    return sides.astype(np.float32), fine, coarse


class Hulls:
    """The hulls of one scene, made when they are first wanted and kept while their clusters are the same."""

    def __init__(self) -> None:
        self.corners: Float32 = _NONE
        """(k, 42, 3) world units; those of clusters that were never wanted are zero."""
        self.made: Bool = np.zeros(0, np.bool_)
        self._ids: tuple[int, ...] = ()
        self._scene: Scene | None = None

    def set_scene(self, scene: Scene) -> None:
        """Take over a new scene; hulls of clusters that a scene which only grew left alone stay."""
        earlier, self._scene = self._scene, scene
        before, made = self.corners, self.made
        count = len(scene.clusters)
        self.corners, self.made = np.zeros((count, CORNERS, 3), np.float32), np.zeros(count, np.bool_)
        ids = tuple(cluster.id for cluster in scene.clusters)
        if earlier is not None and made.any() and _grew(earlier, scene):
            at_of = {cluster: at for at, cluster in enumerate(ids)}
            touched = set(scene.cluster[len(earlier) :].tolist())
            kept = [(at_of[i], at) for at, i in enumerate(self._ids) if made[at] and at_of.get(i, -1) not in touched]
            kept = [(here, there) for here, there in kept if here >= 0]
            if kept:
                here, there = (list(side) for side in zip(*kept, strict=True))
                self.corners[here], self.made[here] = before[there], True
        self._ids = ids

    def make(self, wanted: Bool, order: Int32, sizes: Int32) -> bool:
        """Make those of the wanted clusters that are not there; True when any was made.

        wanted: (k,); order: (n,) rows by cluster; sizes: (k,) members of each.
        """
        missing = wanted & ~self.made & (sizes > 0)
        if self._scene is None or not missing.any():
            return False
        rows = order[np.repeat(missing, sizes)]
        starts = np.concatenate([[0], np.cumsum(sizes[missing])[:-1]]).astype(np.int64)
        self.corners[missing] = hulls_of(self._scene.centres[rows], starts)
        self.made |= missing
        return True


def hulls_of(centres: Float32, starts: np.ndarray) -> Float32:
    """(k, 42, 3) corners of the hulls round tetrahedra; centres: (n, 3), group by group; starts: (k,) first of each."""
    directions = sphere()[0]
    reach = np.round((centres @ directions.T) * 64.0).astype(np.int64)
    reach = (reach << 32) | np.arange(len(centres), dtype=np.int64)[:, None]  # the farthest, and which it was
    farthest = np.maximum.reduceat(reach, starts, axis=0) & 0xFFFFFFFF
    found: Float32 = centres[farthest] + directions[None] * np.float32(CIRCUMRADIUS)
    return found


def _grew(earlier: Scene, scene: Scene) -> bool:
    """Whether what stood stands where it stood; whose it is does not change a hull."""
    n = len(earlier)
    return n <= len(scene) and bool(np.array_equal(scene.voxels[:n], earlier.voxels))


def _faces_out(corners: np.ndarray, face: tuple[int, int, int]) -> bool:
    a, b, c = corners[list(face)]
    return bool(np.cross(b - a, c - a) @ (a + b + c) > 0)
