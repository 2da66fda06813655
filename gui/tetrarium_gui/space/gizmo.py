"""The axes in the corner: which way is up, and a click on an end looks from there. Pure but for the painting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from tetrarium_gui.space.camera import Camera
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, text_font

RADIUS = 30.0
"""Pixels from the middle of the axes to an end that is seen from the side."""
END = 8.0
"""Radius of an end."""
BELOW = 44.0
"""Pixels kept free below, for the scale."""

AXES: tuple[tuple[str, str, tuple[int, int, int]], ...] = (
    ("X", "right", (1, 0, 0)),
    ("", "left", (-1, 0, 0)),
    ("Y", "back", (0, 1, 0)),
    ("", "front", (0, -1, 0)),
    ("Z", "top", (0, 0, 1)),
    ("", "bottom", (0, 0, -1)),
)
"""Letter, the side that a click looks from (`Camera.from_side`), direction."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of an axis on screen (pixels). depth: greater is nearer to the eye; axis: 0 … 2."""

    letter: str
    side: str
    x: float
    y: float
    depth: float
    axis: int


def middle(camera: Camera) -> tuple[float, float]:
    return camera.width - 2 * GRID - RADIUS - END, camera.height - BELOW - RADIUS - END


def ends(camera: Camera) -> list[End]:
    """The six ends, the farthest first."""
    right, up, back = camera.axes()
    x, y = middle(camera)
    found = []
    for at, (letter, side, direction) in enumerate(AXES):
        toward = np.array(direction, float)
        shown = (x + RADIUS * float(toward @ right), y - RADIUS * float(toward @ up), float(toward @ back))
        found.append(End(letter, side, *shown, at // 2))
    return sorted(found, key=lambda end: end.depth)


def side_at(camera: Camera, position: QPointF) -> str:
    """The side that a click there looks from, "" beside the ends."""
    for end in reversed(ends(camera)):
        if np.hypot(position.x() - end.x, position.y() - end.y) <= END + 2:
            return end.side
    return ""


def box(camera: Camera) -> tuple[float, float, float, float]:
    """What the axes take of the picture: left, top, width, height."""
    x, y = middle(camera)
    reach = RADIUS + END + 2
    return x - reach, y - reach, 2 * reach, 2 * reach


def paint(painter: QPainter, theme: Theme, camera: Camera) -> None:
    """Draw the axes, the farthest end first; those that point away are faint."""
    x, y = middle(camera)
    colors = (theme.inhibited_text, theme.good, theme.accent)
    painter.setFont(text_font(SIZE_SMALL, bold=True))
    for end in ends(camera):
        color = QColor(colors[end.axis])
        painter.setOpacity(0.45 + 0.55 * (end.depth + 1) / 2)
        at = QPointF(end.x, end.y)
        if end.letter:
            painter.setPen(QPen(color, 1.6))
            painter.drawLine(QPointF(x, y), at)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(at, END, END)
            painter.setPen(QColor(theme.canvas_top))
            painter.drawText(
                QRectF(end.x - END, end.y - END, 2 * END, 2 * END), Qt.AlignmentFlag.AlignCenter, end.letter
            )
        else:
            painter.setPen(QPen(color, 1.4))
            painter.setBrush(QColor(theme.canvas_bottom))
            painter.drawEllipse(at, END * 0.6, END * 0.6)
    painter.setOpacity(1.0)
    painter.setBrush(Qt.BrushStyle.NoBrush)
