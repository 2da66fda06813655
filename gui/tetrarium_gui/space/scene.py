"""A snapshot as the arrays that are drawn; pure numpy, no Qt, no OpenGL.

The octet lattice makes an instance small: voxel (i, j, k) owns the four even corners of its unit cube,
so three integers give place and orientation (S1; spec 3.1). World units are integer / √2: edge 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.model import Bool, Cluster, Float32, Int32, SpaceSnapshot, UInt8
from tetrarium_gui.state import Highlight
from tetrarium_gui.style import CATEGORY_PALETTE_START, HUES

WORLD = np.float32(1 / np.sqrt(2))
"""World units a lattice unit."""
CIRCUMRADIUS = float(np.sqrt(6) / 4)
"""Of a regular tetrahedron of edge 1, world units."""

EVEN_CORNERS: Int32 = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]], np.int32)
"""(4, 3) corners of an even voxel's tetrahedron, lattice units; an odd voxel's are one minus these."""
FACES: Int32 = np.array([[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]], np.int32)
"""(4, 3) corners of each face, outward winding for the even tetrahedron."""

GEOMETRY = np.dtype([("voxel", np.int32, 3), ("born", np.float32)])
"""16 bytes an instance: place, and the moment (seconds on the view's clock) at which it grew."""
LOOK_BYTES = 4
"""Palette index · state · flags · turn in the lighting order."""

STATE_LIVE, STATE_VOID, STATE_INHIBITED = 0, 1, 2
FLAG_LIT, FLAG_SELECTED, FLAG_HOVERED, FLAG_MARKED, FLAG_HIDDEN = 1, 2, 4, 8, 16
ANCHOR_SHIFT = 6
"""The two high bits of the flags name the corner from which a new memory grows."""
LONG_AGO = np.float32(-1e6)
_HALF = 1 << 20


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is drawn for one snapshot, read-only; n memories, k clusters.

    voxels: (n, 3) int32, lattice units; centres: (n, 3) float32, world units
    cluster: (n,) int32, index into `clusters`; palette of cluster and category: (n,) uint8
    cluster_centres: (k, 3), cluster_radii: (k,) float32, world units
    anchors: (n,) uint8, a corner 0 … 3 that is shared with an earlier memory where there is one
    shared: (m, 3) float32, vertices of two memories or more, world units
    """

    version: int
    ids: tuple[str, ...]
    rows: dict[str, int]
    voxels: Int32
    centres: Float32
    cluster: Int32
    cluster_palette: UInt8
    category_palette: UInt8
    inhibited: Bool
    clusters: tuple[Cluster, ...]
    cluster_centres: Float32
    cluster_radii: Float32
    anchors: UInt8
    shared: Float32
    centre: Float32
    radius: float

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, memory_id: str) -> int:
        """Row of a memory, -1 when it is not in the scene."""
        return self.rows.get(memory_id, -1)


def scene_of(snapshot: SpaceSnapshot) -> Scene:
    """The arrays of a snapshot. About 1 µs a memory."""
    voxels = np.ascontiguousarray(snapshot.places, np.int32)
    centres = ((voxels + np.float32(0.5)) * WORLD).astype(np.float32)
    hues = np.array([c.hue % (2 * HUES) for c in snapshot.clusters] or [0], np.uint8)
    cluster_centres, cluster_radii = _spheres(centres, snapshot.cluster, len(snapshot.clusters))
    centre, radius = _bounding_sphere(centres)
    anchors, shared = _vertices(voxels)
    return Scene(
        version=snapshot.version,
        ids=snapshot.ids,
        rows={memory_id: row for row, memory_id in enumerate(snapshot.ids)},
        voxels=voxels,
        centres=centres,
        cluster=snapshot.cluster,
        cluster_palette=hues[snapshot.cluster] if len(snapshot) else np.zeros(0, np.uint8),
        category_palette=(snapshot.category + CATEGORY_PALETTE_START).astype(np.uint8),
        inhibited=snapshot.inhibited,
        clusters=snapshot.clusters,
        cluster_centres=cluster_centres,
        cluster_radii=cluster_radii,
        anchors=anchors,
        shared=shared,
        centre=centre,
        radius=radius,
    )


def corners(voxels: Int32) -> Int32:
    """(n, 4, 3) int32 lattice corners of the tetrahedra of (n, 3) voxels."""
    odd = (voxels.sum(axis=1) & 1).astype(bool)
    offsets = np.where(odd[:, None, None], 1 - EVEN_CORNERS, EVEN_CORNERS)
    return np.asarray(voxels[:, None, :] + offsets, np.int32)


def geometry(scene: Scene, born: Float32) -> np.ndarray:
    """(n,) GEOMETRY records; born: (n,) float32 seconds on the view's clock."""
    records = np.zeros(len(scene), GEOMETRY)
    records["voxel"], records["born"] = scene.voxels, born
    return records


def looks(
    scene: Scene,
    *,
    colors: UInt8,
    highlight: Highlight | None,
    selected: str,
    hovered: str,
    marked: frozenset[str] = frozenset(),
    away: Bool | None = None,
) -> UInt8:
    """(n, 4) uint8: palette index, state, flags, turn in the lighting order (0 first … 255 last).

    colors: (n,) palette indices; away: (n,) memories that are not shown.
    """
    look = np.zeros((len(scene), LOOK_BYTES), np.uint8)
    look[:, 0] = colors
    look[:, 2] = scene.anchors << ANCHOR_SHIFT
    if highlight is not None:
        lit = np.array([scene.rows[i] for i in highlight.lit if i in scene.rows], np.int64)
        void = np.array([scene.rows[i] for i in highlight.void if i in scene.rows], np.int64)
        look[void, 1] = STATE_VOID
        look[lit, 2] |= FLAG_LIT
        look[lit, 3] = np.linspace(0, 255, max(1, len(lit))).astype(np.uint8)[: len(lit)]
    look[scene.inhibited, 1] = STATE_INHIBITED
    if marked:
        look[[scene.rows[i] for i in marked if i in scene.rows], 2] |= FLAG_MARKED
    if away is not None:
        look[away, 2] |= FLAG_HIDDEN
    for memory_id, flag in ((selected, FLAG_SELECTED), (hovered, FLAG_HOVERED)):
        if (row := scene.row(memory_id)) >= 0:
            look[row, 2] |= flag
    return look


def births(scene: Scene, earlier: Scene | None, now: float, born_earlier: Float32) -> Float32:
    """(n,) birth times: kept for memories of the earlier scene, `now` for new ones, long ago at first sight."""
    born = np.full(len(scene), LONG_AGO, np.float32)
    if earlier is None:
        return born
    same = _common_prefix(scene, earlier)
    born[:same] = born_earlier[:same]
    for row in range(same, len(scene)):
        known = earlier.row(scene.ids[row])
        born[row] = born_earlier[known] if known >= 0 else now
    return born


def changed_range(now: np.ndarray, before: np.ndarray) -> tuple[int, int]:
    """First and one-past-last row that an upload must carry so that `before` becomes `now`; (0, 0) for none.

    Rows beyond the shorter one count as changed; a scene that shrank has nothing to upload for what is gone.
    """
    common = min(len(now), len(before))
    differs = now[:common] != before[:common]
    rows = np.flatnonzero(differs.any(axis=1) if differs.ndim > 1 else differs)
    first = int(rows[0]) if len(rows) else common
    last = len(now) if len(now) > common else (int(rows[-1]) + 1 if len(rows) else first)
    return (first, last) if last > first else (0, 0)


def _common_prefix(scene: Scene, earlier: Scene) -> int:
    if scene.ids[: len(earlier)] == earlier.ids:
        return len(earlier)
    for row, (one, other) in enumerate(zip(scene.ids, earlier.ids, strict=False)):
        if one != other:
            return row
    return min(len(scene), len(earlier))


def _spheres(centres: Float32, cluster: Int32, count: int) -> tuple[Float32, Float32]:
    """Centre and radius of each cluster: the mean of its members and the farthest of them."""
    sizes = np.maximum(np.bincount(cluster, minlength=count), 1)
    middle: Float32 = np.stack([np.bincount(cluster, centres[:, axis], count) / sizes for axis in range(3)], axis=1)
    middle = middle.astype(np.float32)
    radii = np.zeros(count, np.float32)
    if len(centres):
        np.maximum.at(radii, cluster, np.linalg.norm(centres - middle[cluster], axis=1))
    return middle, (radii + CIRCUMRADIUS).astype(np.float32)


def _bounding_sphere(centres: Float32) -> tuple[Float32, float]:
    if not len(centres):
        return np.zeros(3, np.float32), 3.0
    middle = ((centres.min(axis=0) + centres.max(axis=0)) / 2).astype(np.float32)
    return middle, float(np.linalg.norm(centres - middle, axis=1).max()) + CIRCUMRADIUS


def _vertices(voxels: Int32) -> tuple[UInt8, Float32]:
    """For each memory the first of its corners that an earlier memory already had, else corner 0; and the
    (m, 3) world positions of the vertices that two or more memories share.

    A vertex is one number of 63 bits, 21 a coordinate: sorting numbers is ten times as fast as sorting rows.
    """
    n = len(voxels)
    if not n:
        return np.zeros(0, np.uint8), np.zeros((0, 3), np.float32)
    points = corners(voxels).astype(np.int64).reshape(-1, 3) + _HALF
    keys = (points[:, 0] << 42) | (points[:, 1] << 21) | points[:, 2]
    _, first, back, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    owned_earlier = (first[back] // 4).reshape(n, 4) < np.arange(n)[:, None]
    anchors = np.where(owned_earlier.any(axis=1), owned_earlier.argmax(axis=1), 0).astype(np.uint8)
    shared = points[first[counts > 1]] - _HALF
    return anchors, (shared * WORLD).astype(np.float32)
