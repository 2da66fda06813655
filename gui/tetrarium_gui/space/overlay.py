"""What is written over the space: cluster names that never overlap, the hover card, legend, scale.

A transparent widget painted by QPainter, because text inside the OpenGL frame is at the driver's mercy.
All text is drawn as plain text, cut to a length first: it comes from memories and is not to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from tetrarium.model import Bool
from tetrarium_gui.space import beacons, cards, gizmo, legend
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.labels import LONGEST_LABEL, Box, Label, place_labels
from tetrarium_gui.space.lettering import Lettering
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.state import ColorBy, Link
from tetrarium_gui.style import (
    GRID,
    SIZE_HEADING,
    SIZE_SMALL,
    SIZE_TEXT,
    SIZE_TITLE,
    Theme,
    text_font,
    visible,
)
from tetrarium_gui.words import t

POINTER_MARGIN = 12.0
"""Pixels between the edge of the picture and a mark that points out of it."""


class Overlay(QWidget):
    """Sits over the canvas, lets the pointer through, and paints the words."""

    def __init__(self, camera: Camera, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.camera, self.theme = camera, theme
        self.scene: Scene | None = None
        self.lit_clusters: frozenset[int] | None = None
        self.lit: list[int] = []
        self.present: Bool | None = None  # (k,) clusters of which something is shown; None: all
        self.counted: Callable[[], Bool | None] = lambda: None
        """Gives the clusters whose names tell how many memories they hold, (k,), since they are drawn as one body."""
        self.card: cards.Card | None = None
        self.color_by = ColorBy.CLUSTER
        self.filtered: frozenset[int] = frozenset()
        self.away = 0
        self.links: tuple[Link, ...] = ()
        self.successions: tuple[tuple[str, str], ...] = ()
        self.succession = 1.0
        """How far the lines from what was superseded to its successor have come and gone, 0 … 1."""
        self.path: tuple[str, ...] = ()
        """Memories of a way through shared vertices, drawn as one line."""
        self.outline: tuple[tuple[float, float], ...] = ()
        self.outline_is_box = True
        self.recalling = 0  # void memories of the recall that is lit
        self.counts: list[int] = []  # memories of each palette index
        self.caption = ""
        self.unavailable = False
        self.badge = ""
        self.labels: list[Label] = []
        self._lettering = Lettering()
        self._placed: object = None  # what the labels were placed for

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.scene is None or not len(self.scene):
            self._paint_empty(painter)
        else:
            self._paint_links(painter, self.scene)
            self._paint_successions(painter, self.scene)
            self._paint_path(painter, self.scene)
            lines = self.legend_lines()
            self._paint_pointers(painter, self.scene, self._corners(lines))
            self._paint_labels(painter, self.scene, self._corners(lines))
            legend.paint(painter, self.theme, lines, self.filtered, self.height())
            self._paint_scale(painter)
            gizmo.paint(painter, self.theme, self.camera)
        self._paint_caption(painter)
        self._paint_outline(painter)
        if self.card is not None:
            cards.paint(painter, self.theme, self.card, self.width(), self.height())
        painter.end()

    def _paint_empty(self, painter: QPainter) -> None:
        middle = QRectF(0, self.height() / 2 - 40, self.width(), 32)
        painter.setPen(QColor(self.theme.text))
        painter.setFont(text_font(SIZE_TITLE, bold=True))
        word = "unavailable" if self.unavailable else "loading" if self.scene is None else "empty"
        painter.drawText(middle, Qt.AlignmentFlag.AlignCenter, t(f"space.{word}"))
        if self.scene is not None:
            painter.setPen(QColor(self.theme.muted))
            painter.setFont(text_font(SIZE_TEXT))
            painter.drawText(middle.translated(0, 34), Qt.AlignmentFlag.AlignCenter, t("space.empty_advice"))

    def _paint_labels(self, painter: QPainter, scene: Scene, taken: list[Box]) -> None:
        font = text_font(SIZE_TEXT, bold=True)
        metrics = QFontMetricsF(font)
        counted, camera = self.counted(), self.camera
        # While memories grow or light up, nothing that names depend on moves; to place them takes 7 ms (60 clusters).
        seen = (scene.clusters, scene.cluster_centres.tobytes(), camera.pose, camera.level, camera.width, camera.height)
        told = (
            self.lit_clusters,
            tuple(self.lit),
            taken,
            *(None if m is None else m.tobytes() for m in (counted, self.present)),
        )
        if (seen, told) != self._placed:
            self._placed = (seen, told)
            self.labels = place_labels(
                scene,
                camera,
                metrics,
                lit_clusters=self.lit_clusters,
                hits=scene.centres[self.lit],
                counted=counted,
                present=self.present,
                taken=taken,
            )
        for label in self.labels:
            painter.setOpacity(label.opacity)
            self._lettering.draw(painter, label.text, label.box[0] + 4, label.box[1] + 1, font, self.theme)
        painter.setOpacity(1.0)

    def legend_lines(self) -> list[legend.Line]:
        """The lines of the legend, as they stand."""
        assert self.scene is not None
        return legend.lines_of(
            self.scene, self.theme, self.color_by, self.counts, recalling=self.recalling, away=self.away
        )

    def legend_at(self, position: QPointF) -> int | None:
        """What a click on the legend filters, if the pointer is on such a line."""
        if self.scene is None or not len(self.scene):
            return None
        return legend.line_at(self.legend_lines(), self.height(), position)

    def _paint_links(self, painter: QPainter, scene: Scene) -> None:
        """Relations of the selected memory: a line each, from what says it to what it is about, with its word."""
        ends = [(scene.row(link.source), scene.row(link.target), link) for link in self.links]
        ends = [(one, other, link) for one, other, link in ends if one >= 0 and other >= 0]
        if not ends:
            return
        rows = [row for one, other, _ in ends for row in (one, other)]
        seen = self.camera.project(scene.centres[rows]).reshape(-1, 2, 3)
        for (start, end), (_, _, link) in zip(seen, ends, strict=True):
            if start[2] <= 0 or end[2] <= 0:
                continue
            color = QColor(self.theme.inhibited_text if link.kind == "supersedes" else self.theme.accent)
            one, other = QPointF(start[0], start[1]), QPointF(end[0], end[1])
            painter.setPen(QPen(QColor(self.theme.canvas_top), 4.0))
            painter.drawLine(one, other)
            painter.setPen(
                QPen(color, 1.6, Qt.PenStyle.DashLine if link.kind == "supersedes" else Qt.PenStyle.SolidLine)
            )
            painter.drawLine(one, other)
            painter.setBrush(color)
            painter.drawEllipse(other, 3.5, 3.5)
            word = visible(link.kind)[:LONGEST_LABEL]
            at = (one + other) / 2 + QPointF(6, -16)
            self._lettering.draw(painter, word, at.x(), at.y(), text_font(SIZE_SMALL), self.theme, ink=color.name())
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_successions(self, painter: QPainter, scene: Scene) -> None:
        """Thin lines that run from what was superseded to its successor, stay a moment, and fade."""
        pairs = [(scene.row(old), scene.row(new)) for old, new in self.successions]
        rows = [row for pair in pairs if min(pair) >= 0 for row in pair]
        if not rows or self.succession >= 1.0:
            return
        run = min(1.0, self.succession / 0.35)
        run = run * run * (3 - 2 * run)
        color = QColor(self.theme.inhibited_text)
        color.setAlphaF(1.0 - max(0.0, self.succession - 0.6) / 0.4)
        painter.setPen(QPen(color, 1.6))
        for (x, y, depth), (to_x, to_y, to_depth) in (
            self.camera.project(scene.centres[rows]).reshape(-1, 2, 3).tolist()
        ):
            if depth > 0 and to_depth > 0:
                end = QPointF(x + (to_x - x) * run, y + (to_y - y) * run)
                painter.drawLine(QPointF(x, y), end)
                painter.drawEllipse(end, 3.0, 3.0)

    def _paint_path(self, painter: QPainter, scene: Scene) -> None:
        """A way from memory to memory, over whatever stands before it."""
        rows = [row for row in map(scene.row, self.path) if row >= 0]
        if len(rows) < 2:
            return
        seen = self.camera.project(scene.centres[rows])
        points = [QPointF(x, y) for x, y, depth in seen.tolist() if depth > 0]
        for color, width in ((self.theme.canvas_top, 6.0), (self.theme.amber, 2.4)):
            painter.setPen(QPen(QColor(color), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawPolyline(points)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.amber))
        for at, point in enumerate(points):
            radius = 5.0 if at in (0, len(points) - 1) else 3.2
            painter.drawEllipse(point, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_pointers(self, painter: QPainter, scene: Scene, taken: list[Box]) -> None:
        """Hits that are out of the picture: a mark on its edge, towards each; beside what stands in the corners."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.accent))
        painter.setFont(text_font(SIZE_SMALL, bold=True))
        for mark in beacons.outside(self.camera, scene, self.lit, POINTER_MARGIN):
            if any(QRectF(*box).contains(mark.x, mark.y) for box in taken):
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.save()
            painter.translate(mark.x, mark.y)
            painter.rotate(float(np.degrees(mark.direction)))
            painter.drawPolygon([QPointF(8, 0), QPointF(-4, -6), QPointF(-4, 6)])
            painter.restore()
            if mark.count > 1:
                painter.setPen(QColor(self.theme.accent))
                inward = QPointF(np.cos(mark.direction), np.sin(mark.direction)) * -16.0
                at = QPointF(mark.x, mark.y) + inward
                painter.drawText(QRectF(at.x() - 12, at.y() - 8, 24, 16), Qt.AlignmentFlag.AlignCenter, str(mark.count))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_outline(self, painter: QPainter) -> None:
        """The box or lasso under the hand."""
        if len(self.outline) < 2:
            return
        color = QColor(self.theme.accent)
        painter.setPen(QPen(color, 1.2))
        color.setAlpha(36)
        painter.setBrush(color)
        points = [QPointF(x, y) for x, y in self.outline]
        if self.outline_is_box:
            painter.drawRect(QRectF(points[0], points[-1]).normalized())
        else:
            painter.drawPolygon(points)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _corners(self, lines: list[legend.Line]) -> list[Box]:
        """Where legend, scale, caption and badge stand."""
        tall = legend.height_of(lines)
        return [
            (0.0, self.height() - tall, float(legend.WIDTH), tall),
            (self.width() - 120.0, self.height() - 48.0, 120.0, 48.0),
            gizmo.box(self.camera),
            (0.0, 0.0, float(self.width()), 5.0 * GRID if self.caption or self.badge else 0.0),
        ]

    def _paint_scale(self, painter: QPainter) -> None:
        """One edge at the centre of interest, so that near and far are known."""
        length = 1.0 / self.camera.pixel_size()
        right, base = self.width() - 2.0 * GRID, self.height() - 2.0 * GRID
        painter.setPen(QPen(QColor(self.theme.muted), 1.0))
        if length >= 6:
            length = min(length, self.width() / 3)
            painter.drawLine(QPointF(right - length, base), QPointF(right, base))
            for end in (right - length, right):
                painter.drawLine(QPointF(end, base - 3), QPointF(end, base + 3))
            painter.setFont(text_font(SIZE_SMALL))
            painter.drawText(QRectF(right - 200, base - 22, 200, 16), Qt.AlignmentFlag.AlignRight, t("space.edge"))
        if self.badge:
            painter.setFont(text_font(SIZE_SMALL))
            painter.drawText(
                QRectF(right - 300, 2 * GRID, 300, 16), Qt.AlignmentFlag.AlignRight, t(f"space.{self.badge}")
            )

    def _paint_caption(self, painter: QPainter) -> None:
        """What is lit and why, top left."""
        if not self.caption:
            return
        width = self.width() - 24.0 * GRID
        font = text_font(SIZE_HEADING, bold=True)
        text = QFontMetricsF(font).elidedText(self.caption, Qt.TextElideMode.ElideRight, width)
        self._lettering.draw(painter, text, 2 * GRID, 2 * GRID - 4, font, self.theme)
