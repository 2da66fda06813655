"""The light round what was found: a soft halo on every hit, and a body where the memory itself is too small to see.

A hit is never smaller than `LEAST_PIXELS`, at any distance and whatever stands before it. Pure numpy, no Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tetrarium.model import Float32, UInt8
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.state import Highlight

LEAST_PIXELS = 9.0
"""Width on screen below which a hit gets a body of this width, logical pixels."""
MOST = 400
"""Hits that shine. What lights more than this (a month of the timeline) is no answer to look for."""
COLUMNS = 5
"""x, y, z (world units) · palette index · turn in the lighting order, 0 first … 1 last."""
INHIBITED = 255.0
"""In place of a palette index: the colour of the inhibited."""

Beacons = Float32
"""(n, 5) float32, see COLUMNS; 20 bytes a hit."""

TOGETHER = 110.0
"""Pixels within which two marks on the edge of the picture are one."""

NONE: Beacons = np.zeros((0, COLUMNS), np.float32)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A mark on the edge of the picture (pixels), towards `count` hits outside. direction: radians, clockwise from right."""

    x: float
    y: float
    direction: float
    count: int


def lit_rows(scene: Scene, highlight: Highlight | None) -> list[int]:
    """Rows of the hits in the order of their scores; what the scene does not hold is left out."""
    return [scene.rows[i] for i in highlight.lit if i in scene.rows] if highlight is not None else []


def beacons(scene: Scene, rows: list[int], colors: UInt8) -> Beacons:
    """The lights of these hits; none for none, and for too many."""
    if not 0 < len(rows) <= MOST:
        return NONE
    lights = np.empty((len(rows), COLUMNS), np.float32)
    lights[:, :3] = scene.centres[rows]
    lights[:, 3] = np.where(scene.inhibited[rows] & ~scene.quarantined[rows], INHIBITED, colors[rows])
    lights[:, 4] = np.linspace(0.0, 1.0, len(rows))
    return lights


def outside(camera: Camera, scene: Scene, rows: list[int], margin: float) -> list[Pointer]:
    """Where hits that are not in the picture are pointed at, on its edge; those in one direction share a mark."""
    if not 0 < len(rows) <= MOST:
        return []
    seen = camera.project(scene.centres[rows])
    middle = np.array([camera.width / 2, camera.height / 2])
    away = (seen[:, :2] - middle) * np.where(seen[:, 2:] > 0, 1.0, -1.0)  # what is behind is seen mirrored
    inside = (np.abs(away) <= middle).all(axis=1) & (seen[:, 2] > 0)
    away = away[~inside]
    scale = (np.abs(away) / np.maximum(middle - margin, 1.0)).max(axis=1, initial=1e-6)
    ends = middle + away / scale[:, None]
    marks: list[Pointer] = []
    for (x, y), direction in zip(ends.tolist(), np.arctan2(away[:, 1], away[:, 0]).tolist(), strict=True):
        near = next((at for at, mark in enumerate(marks) if abs(mark.x - x) + abs(mark.y - y) < TOGETHER), -1)
        if near < 0:
            marks.append(Pointer(x, y, direction, 1))
        else:
            marks[near] = replace(marks[near], count=marks[near].count + 1)
    return marks
