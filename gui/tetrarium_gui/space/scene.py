"""A snapshot as the arrays that are drawn; pure numpy, no Qt, no OpenGL.

The octet lattice makes an instance small: voxel (i, j, k) owns the four even corners of its unit cube,
so three integers give place and orientation (S1; spec 3.1). World units are integer / √2: edge 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.model import Bool, Cluster, Float32, Int32, Int64, SpaceSnapshot, UInt8
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

STATE_LIVE, STATE_VOID, STATE_INHIBITED, STATE_QUARANTINED, STATE_FADING = 0, 1, 2, 3, 4
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
    hues: (k,) uint8, palette index of each cluster
    inhibited, quarantined: (n,) bool; what is in quarantine is inhibited too; clients: programs that stored memories
    cluster_centres: (k, 3), cluster_radii: (k,) float32, world units
    anchors: (n,) uint8, a corner 0 … 3 that is shared with an earlier memory where there is one
    shared: (m, 3) float32, vertices of two memories or more, world units
    vertices: (v,) int64, every vertex as one number, ascending; users: (v,) uint8, how many memories have it (up to 255)
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
    quarantined: Bool
    clients: tuple[str, ...]
    clusters: tuple[Cluster, ...]
    hues: UInt8
    cluster_centres: Float32
    cluster_radii: Float32
    anchors: UInt8
    shared: Float32
    vertices: Int64
    users: UInt8
    centre: Float32
    radius: float

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, memory_id: str) -> int:
        """Row of a memory, -1 when it is not in the scene."""
        return self.rows.get(memory_id, -1)


def scene_of(snapshot: SpaceSnapshot, earlier: Scene | None = None) -> Scene:
    """The arrays of a snapshot. About 1 µs a memory; where memories were only added to an earlier scene, which is what
    a store does, the vertices of the others are not counted anew, and it is a fifth of that (measured)."""
    voxels = np.ascontiguousarray(snapshot.places, np.int32)
    centres = ((voxels + np.float32(0.5)) * WORLD).astype(np.float32)
    grown = earlier is not None and _continues(snapshot, earlier)
    hues = np.array([c.hue % (2 * HUES) for c in snapshot.clusters] or [0], np.uint8)
    cluster_centres, cluster_radii = _spheres(centres, snapshot.cluster, len(snapshot.clusters))
    centre, radius = _bounding_sphere(centres)
    if grown and earlier is not None:
        anchors, vertices, users = _more_vertices(earlier, voxels)
        rows = earlier.rows | {snapshot.ids[row]: row for row in range(len(earlier), len(snapshot))}
    else:
        anchors, vertices, users = _vertices(voxels)
        rows = {memory_id: row for row, memory_id in enumerate(snapshot.ids)}
    return Scene(
        version=snapshot.version,
        ids=snapshot.ids,
        rows=rows,
        voxels=voxels,
        centres=centres,
        cluster=snapshot.cluster,
        cluster_palette=hues[snapshot.cluster] if len(snapshot) else np.zeros(0, np.uint8),
        category_palette=(snapshot.category + CATEGORY_PALETTE_START).astype(np.uint8),
        inhibited=snapshot.inhibited,
        quarantined=snapshot.quarantined,
        clients=snapshot.clients,
        clusters=snapshot.clusters,
        hues=hues,
        cluster_centres=cluster_centres,
        cluster_radii=cluster_radii,
        anchors=anchors,
        shared=_points(vertices[users > 1]),
        vertices=vertices,
        users=users,
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
    look[scene.quarantined, 1] = STATE_QUARANTINED
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


def _continues(snapshot: SpaceSnapshot, earlier: Scene) -> bool:
    """Whether the first memories of a snapshot are those of an earlier scene, where they stood."""
    n = len(earlier)
    if not 0 < n <= len(snapshot) or snapshot.ids[n - 1] != earlier.ids[-1]:
        return False
    return bool(np.array_equal(snapshot.places[:n], earlier.voxels)) and snapshot.ids[:n] == earlier.ids


def vertex_keys(voxels: Int32) -> Int64:
    """(n, 4) the vertices of tetrahedra as numbers of 63 bits, 21 a coordinate: they sort ten times as fast as rows."""
    points = corners(voxels).astype(np.int64) + _HALF
    keys: Int64 = (points[..., 0] << 42) | (points[..., 1] << 21) | points[..., 2]
    return keys


def _points(keys: Int64) -> Float32:
    """(m, 3) world positions of vertices."""
    mask = (1 << 21) - 1
    points = np.stack([keys >> 42, (keys >> 21) & mask, keys & mask], axis=-1) - _HALF
    return (points * WORLD).astype(np.float32)


def _vertices(voxels: Int32) -> tuple[UInt8, Int64, UInt8]:
    """For each memory the first of its corners that an earlier memory already had, else corner 0; and every vertex, in
    order, with how many memories have it."""
    n = len(voxels)
    if not n:
        return np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    vertices, first, back, counts = np.unique(
        vertex_keys(voxels).reshape(-1), return_index=True, return_inverse=True, return_counts=True
    )
    owned_earlier = (first[back] // 4).reshape(n, 4) < np.arange(n)[:, None]
    return _first_corner(owned_earlier), vertices, np.minimum(counts, 255).astype(np.uint8)


def _more_vertices(earlier: Scene, voxels: Int32) -> tuple[UInt8, Int64, UInt8]:
    """The same, for the voxels of an earlier scene and those that follow them."""
    n = len(earlier)
    new = vertex_keys(voxels[n:])
    at = np.minimum(np.searchsorted(earlier.vertices, new), len(earlier.vertices) - 1)
    known = earlier.vertices[at] == new
    own, first, back, counts = np.unique(new.reshape(-1), return_index=True, return_inverse=True, return_counts=True)
    sooner = (first[back] // 4).reshape(-1, 4) < np.arange(len(new))[:, None]
    users = earlier.users.astype(np.int64)
    places = np.searchsorted(earlier.vertices, own)
    there = known.reshape(-1)[first]
    np.add.at(users, places[there], counts[there])
    return (
        np.concatenate([earlier.anchors, _first_corner(known | sooner)]),
        np.insert(earlier.vertices, places[~there], own[~there]),
        np.minimum(np.insert(users, places[~there], counts[~there]), 255).astype(np.uint8),
    )


def _first_corner(owned: Bool) -> UInt8:
    return np.where(owned.any(axis=1), owned.argmax(axis=1), 0).astype(np.uint8)
