"""What is drawn how: whole tetrahedra near, points farther away, one hull for a cluster that is small on screen, nothing
out of sight. Decided a cluster at a time.

Pure numpy. On software rendering a frame of 100,000 whole tetrahedra costs 166 ms of processor time, as points
40 ms (measured); a far cluster is a few pixels wide either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.model import Bool, Int32
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.hulls import LEAST_MEMBERS, Hulls
from tetrarium_gui.space.scene import Scene


@dataclass(frozen=True, slots=True)
class Budget:
    """tetrahedra: drawn whole in one frame at most; least_edge: pixels below which an edge is not worth drawing."""

    tetrahedra: int
    least_edge: float


HARDWARE = Budget(tetrahedra=400_000, least_edge=1.5)
SOFTWARE = Budget(tetrahedra=11_000, least_edge=3.0)
SOFTWARE_IN_MOTION = Budget(tetrahedra=4_000, least_edge=5.0)
"""While a hand or a flight moves the camera."""
HULL_EDGE = 3.4
"""Pixels up to which the edge of a memory is too small to tell it from its neighbours: then its cluster is a hull. By the
edge and not by the cluster's width, so that clusters that stand together look alike."""
HULL_PIXELS = 120.0
"""Width on screen up to which a cluster may be one hull; a greater one has a shape worth seeing."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows of the scene to draw whole, rows to draw as points, and clusters to draw as one hull each."""

    whole: Int32
    points: Int32
    hulls: Int32


class Detail:
    """Chooses the lists of a frame; keeps the last ones while the choice is the same."""

    def __init__(self) -> None:
        self.budget = HARDWARE
        self.hulls = Hulls()
        self.hulls_allowed = True
        """False where a hull would lie: while memories of one cluster have several colours, or some are not shown."""
        self._scene: Scene | None = None
        self._order: Int32 = np.zeros(0, np.int32)
        self._sizes: Int32 = np.zeros(0, np.int32)
        self._choice: tuple[bytes, ...] | None = None
        self._lists: Lists | None = None

    def set_scene(self, scene: Scene) -> None:
        """Take over a new scene; 5 ms at 100,000 memories."""
        self._scene = scene
        self._order = np.argsort(scene.cluster, kind="stable").astype(np.int32)
        self._sizes = np.bincount(scene.cluster, minlength=len(scene.clusters)).astype(np.int32)
        self._choice = self._lists = None
        self.hulls.set_scene(scene)

    @property
    def as_hulls(self) -> Bool:
        """(k,) which clusters the last frame drew as hulls."""
        shown: Bool = np.zeros(len(self._sizes), np.bool_)
        if self._lists is not None:
            shown[self._lists.hulls] = True
        return shown

    def lists(self, camera: Camera) -> Lists | None:
        """What this frame draws; None when everything is drawn whole."""
        if self._scene is None or not len(self._scene):
            return None
        whole, points = choose(self._scene, self._sizes, camera, self.budget)
        small = small_clusters(self._scene, self._sizes, camera) if self.hulls_allowed else points & False
        whole, points = whole & ~small, points & ~small
        if whole.all():
            self._choice = self._lists = None
            return None
        choice = (whole.tobytes(), points.tobytes(), small.tobytes())
        if choice != self._choice:
            self._choice = choice
            self.hulls.make(small, self._order, self._sizes)
            whole_rows, point_rows = (self._order[np.repeat(chosen, self._sizes)] for chosen in (whole, points))
            self._lists = Lists(whole_rows, point_rows, np.flatnonzero(small).astype(np.int32))
        return self._lists


def choose(scene: Scene, sizes: Int32, camera: Camera, budget: Budget) -> tuple[Bool, Bool]:
    """(k,) which clusters are drawn whole, and which as points; one out of sight is neither.

    The nearest come first until the budget is used up. While all of it fits, clusters out of sight count as whole, so
    that turning the camera changes nothing.
    """
    seen = camera.project(scene.cluster_centres)
    depth, radii = seen[:, 2], scene.cluster_radii.astype(np.float64)
    nearest = np.maximum(depth - radii, 1e-3)
    edges = camera.pixels_a_unit(np.maximum(depth - 0.5 * radii, 1e-3))
    large_enough = edges >= budget.least_edge
    if len(scene) <= budget.tetrahedra and bool(large_enough.all()):
        return np.ones(len(sizes), np.bool_), np.zeros(len(sizes), np.bool_)
    reach = camera.pixels_a_unit(nearest) * radii
    in_sight = (
        (depth > -radii)
        & (np.abs(seen[:, 0] - camera.width / 2) < camera.width / 2 + reach)
        & (np.abs(seen[:, 1] - camera.height / 2) < camera.height / 2 + reach)
    ) | ((np.abs(depth) <= radii) & (not camera.level))
    wanted = in_sight & large_enough
    order = np.argsort(depth, kind="stable")
    used = np.cumsum(np.where(wanted, sizes, 0)[order])
    whole = np.zeros(len(sizes), np.bool_)
    whole[order] = wanted[order] & (used <= budget.tetrahedra)
    return whole, in_sight & ~whole


def small_clusters(scene: Scene, sizes: Int32, camera: Camera) -> Bool:
    """(k,) clusters so small on screen that a hull tells more."""
    seen = camera.project(scene.cluster_centres)
    unit = camera.pixels_a_unit(np.maximum(seen[:, 2], 1e-3))
    wide = 2 * scene.cluster_radii * unit
    small: Bool = (unit < HULL_EDGE) & (wide < HULL_PIXELS) & (seen[:, 2] > 0) & (sizes >= LEAST_MEMBERS)
    return small
