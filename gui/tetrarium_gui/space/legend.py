"""The legend at the bottom left: what the colours and patterns mean, of how many memories; a click filters a line.

Text of its lines may be a name that a program gave itself, so it is drawn as plain text and cut to a length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from PySide6.QtCore import QLocale, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from tetrarium_gui.space.coloring import INHIBITED, QUARANTINED, legend_rows
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.state import ColorBy
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, scene_palette, text_font, visible
from tetrarium_gui.words import t

WIDTH, LINE = 260, 18
"""Pixels that the legend takes, and each of its lines."""
LONGEST = 34
FILTERED = 0.35
"""Opacity of a line whose memories are not shown."""


class Pattern(Enum):
    """How a line's memories look beside their colour."""

    PLAIN = auto()
    HATCHED = auto()
    DASHED = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """One line. count: memories, None where it counts nothing; index: what a click filters, None for nothing."""

    color: str
    text: str
    pattern: Pattern
    count: int | None
    index: int | None


def lines_of(
    scene: Scene, theme: Theme, color_by: ColorBy, counts: Sequence[int], *, recalling: int, away: int
) -> list[Line]:
    """The lines in their order. counts: memories of each palette index; recalling: void memories of the recall that is
    lit; away: memories that are not shown."""
    colors = scene_palette(theme)
    lines = [
        Line(colors[row.index], visible(row.text)[:LONGEST], Pattern.PLAIN, counts[row.index], row.index)
        for row in legend_rows(color_by, scene.clients)
    ]
    waiting = int(scene.quarantined.sum())
    inhibited = int((scene.inhibited & ~scene.quarantined).sum())
    if recalling:
        lines.append(Line(theme.muted, t("space.void"), Pattern.PLAIN, recalling, None))
    if inhibited:
        lines.append(Line(theme.inhibited, t("space.inhibited"), Pattern.HATCHED, inhibited, INHIBITED))
    if waiting:
        lines.append(Line(theme.amber, t("space.quarantined"), Pattern.DASHED, waiting, QUARANTINED))
    if away:  # first, so that the lines below stay under the pointer that filters
        lines.insert(0, Line(theme.muted, t("space.away", count=away), Pattern.PLAIN, None, None))
    return lines


def line_at(lines: Sequence[Line], height: int, position: QPointF) -> int | None:
    """What a click there filters, if anything."""
    at = int((position.y() - _top(lines, height)) // LINE)
    return lines[at].index if 0 <= at < len(lines) and position.x() <= WIDTH else None


def paint(painter: QPainter, theme: Theme, lines: Sequence[Line], filtered: frozenset[int], height: int) -> None:
    """Draw the lines in the corner of a picture of this height."""
    painter.setFont(text_font(SIZE_SMALL))
    y = _top(lines, height)
    for line in lines:
        painter.setOpacity(FILTERED if line.index in filtered else 1.0)
        _paint_swatch(painter, theme, line, QRectF(2 * GRID, y + 4, 10, 10))
        painter.setPen(QColor(theme.muted))
        number = "" if line.count is None else f"  {QLocale().toString(line.count)}"
        painter.drawText(QRectF(2 * GRID + 18, y, WIDTH, LINE), Qt.AlignmentFlag.AlignVCenter, line.text + number)
        y += LINE
    painter.setOpacity(1.0)


def height_of(lines: Sequence[Line]) -> float:
    """Pixels from the top of the legend to the bottom of the picture."""
    return LINE * len(lines) + 2.0 * GRID


def _top(lines: Sequence[Line], height: int) -> float:
    return height - height_of(lines)


def _paint_swatch(painter: QPainter, theme: Theme, line: Line, box: QRectF) -> None:
    triangle = [box.bottomLeft(), QPointF(box.center().x(), box.top()), box.bottomRight()]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(line.color))
    if line.pattern is Pattern.DASHED:
        pen = QPen(QColor(line.color), 1.6)
        pen.setDashPattern([1.6, 1.2])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolygon(triangle)
    if line.pattern is Pattern.HATCHED:
        painter.setPen(QPen(QColor(theme.canvas_top), 1.2))
        for step in np.array([4.0, 7.5]):
            start = QPointF(box.left() + step - 1.5, box.bottom())
            painter.drawLine(start, start + QPointF(3, -5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
