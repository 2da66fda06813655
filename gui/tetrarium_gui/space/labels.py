"""Where the names of the clusters stand: greedy by importance, none over another, none over a hit. Pure, no painting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QLocale
from PySide6.QtGui import QFontMetricsF

from tetrarium.model import Bool, Float32, Float64
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.style import visible

LEAST_LABEL_PIXELS = 26.0
"""A cluster's name appears once the cluster is this wide on screen; one that holds a hit is named at any size."""
FULL_LABEL_PIXELS = 70.0
MOST_LABELS = 40
LONGEST_LABEL = 48
NEAR_PIXELS = 40.0
"""A cluster whose centre is farther than this out of the picture has no name in it."""
GAP = 4.0
"""Pixels between two names."""
HIT_PIXELS = 16.0
"""Least width round a hit that names keep free where they can: those that hold a hit; the others always do."""
MOST_KEPT_FREE = 60
"""Hits that names make way for."""
DIMMED = 0.30
"""Opacity of a name while others are lit."""

Box = tuple[float, float, float, float]
"""Left, top, width, height in pixels."""


@dataclass(frozen=True, slots=True)
class Label:
    """A name on screen: box in pixels, opacity 0 … 1."""

    text: str
    box: Box
    opacity: float
    cluster: int


class _Taken:
    """Boxes that stand already, as an array, so that a question to all of them is one step."""

    def __init__(self, boxes: Sequence[Box], most: int) -> None:
        self._boxes = np.zeros((len(boxes) + most, 4))
        self._boxes[: len(boxes)] = np.array(boxes).reshape(-1, 4)
        self._count = len(boxes)

    @property
    def some(self) -> bool:
        return self._count > 0

    def add(self, box: Box) -> None:
        self._boxes[self._count] = box
        self._count += 1

    def meets(self, box: Box) -> bool:
        x, y, width, height = self._boxes[: self._count].T
        left, top, wide, high = box
        return bool(
            (
                (left < x + width + GAP)
                & (x < left + wide + GAP)
                & (top < y + height + GAP)
                & (y < top + high + GAP)
            ).any()
        )  # fmt: skip


def place_labels(
    scene: Scene,
    camera: Camera,
    measure: QFontMetricsF,
    *,
    lit_clusters: frozenset[int] | None = None,
    hits: Float32 | None = None,
    counted: Bool | None = None,
    present: Bool | None = None,
    taken: Sequence[Box] = (),
) -> list[Label]:
    """Names of the clusters: those that hold hits first, then the greater on screen; none over the `taken` boxes.

    hits: (m, 3) centres that names make way for; counted: (k,) clusters whose number of memories belongs to the name;
    present: (k,) clusters of which something is shown, None for all.
    """
    if not scene.clusters:
        return []
    seen = camera.project(scene.cluster_centres)
    pixels = 2 * scene.cluster_radii * camera.pixels_a_unit(np.maximum(seen[:, 2], 1e-3))
    sizes = np.array([c.size for c in scene.clusters])
    lit: Bool = np.array([lit_clusters is None or at in lit_clusters for at in range(len(scene.clusters))], np.bool_)
    found: Bool = lit if lit_clusters is not None else np.zeros(len(lit), np.bool_)
    shown = (seen[:, 2] > 0.5) & (sizes > 1) & ((pixels >= LEAST_LABEL_PIXELS) | found)
    if present is not None:
        shown &= present
    over = np.maximum(-seen[:, :2], seen[:, :2] - (camera.width, camera.height)).max(axis=1)
    near: Bool = shown & (over < NEAR_PIXELS)
    names, lights = _Taken(taken, MOST_LABELS), _Taken(_boxes_of(camera, hits), 0)
    labels: list[Label] = []
    for at in np.lexsort((-pixels, ~lit)):
        if len(labels) == MOST_LABELS:
            break
        cluster = scene.clusters[at]
        if not near[at] or not cluster.name:
            continue
        text = visible(cluster.name)[:LONGEST_LABEL]
        if counted is not None and counted[at]:
            text = f"{text}  {QLocale().toString(cluster.size)}"
        width, height = measure.horizontalAdvance(text) + 8, measure.height() + 2
        reach = max(7.0, min(pixels[at] / 2, camera.height * 0.36) * 0.9) + 3
        around = _around(float(seen[at, 0]), float(seen[at, 1]), float(reach), width, height)
        # Other places than below are looked for only where there are hits to make way for: that is the dear part.
        tried = around if lights.some else around[:1]
        places = [box for box in tried if _inside(box, camera) and not names.meets(box)]
        box = next((box for box in places if not lights.meets(box)), places[0] if places and found[at] else None)
        if box is None:
            continue
        names.add(box)
        share = (float(pixels[at]) - LEAST_LABEL_PIXELS) / (FULL_LABEL_PIXELS - LEAST_LABEL_PIXELS)
        opacity = 1.0 if found[at] else min(1.0, 0.45 + 0.55 * share) * (1.0 if lit[at] else DIMMED)
        labels.append(Label(text=text, box=box, opacity=opacity, cluster=int(at)))
    return labels


def _around(x: float, y: float, reach: float, width: float, height: float) -> tuple[Box, ...]:
    """Below a cluster, above it, to its right, to its left."""
    return (
        (x - width / 2, y + reach, width, height),
        (x - width / 2, y - reach - height, width, height),
        (x + reach, y - height / 2, width, height),
        (x - reach - width, y - height / 2, width, height),
    )


def _inside(box: Box, camera: Camera) -> bool:
    left, top, width, height = box
    return left >= 0 and top >= 0 and left + width <= camera.width and top + height <= camera.height


def _boxes_of(camera: Camera, hits: Float32 | None) -> list[Box]:
    if hits is None or not len(hits):
        return []
    seen: Float64 = camera.project(hits[:MOST_KEPT_FREE])
    edges = camera.pixels_a_unit(np.maximum(seen[:, 2], 1e-3))
    boxes = []
    for (x, y, depth), edge in zip(seen.tolist(), edges.tolist(), strict=True):
        wide = max(HIT_PIXELS, edge)
        if depth > 0:
            boxes.append((x - wide / 2, y - wide / 2, wide, wide))
    return boxes
