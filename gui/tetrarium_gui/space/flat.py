"""The space without OpenGL: the same arrays, camera, colours and states, painted as 2-D triangles."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPainter, QPaintEvent, QPen, QPolygonF, QRadialGradient
from PySide6.QtWidgets import QWidget

from tetrarium.model import UInt8
from tetrarium_gui.space.beacons import LEAST_PIXELS, MOST
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.scene import (
    EVEN_CORNERS,
    FACES,
    FLAG_HIDDEN,
    FLAG_HOVERED,
    FLAG_LIT,
    FLAG_MARKED,
    FLAG_SELECTED,
    STATE_INHIBITED,
    STATE_QUARANTINED,
    STATE_VOID,
    WORLD,
    Scene,
    corners,
)
from tetrarium_gui.style import DIM, Theme, scene_palette

MOST_TRIANGLES = 6_000
"""Nearest memories drawn as triangles; the others as dots, so that a frame stays cheap."""
DOT_PIXELS = 3.0


class FlatCanvas(QWidget):
    """Paints the nearest memories as shaded triangles, back to front, and the others as dots."""

    def __init__(self, camera: Camera, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.camera, self.theme = camera, theme
        self.scene: Scene | None = None
        self.looks: UInt8 = np.zeros((0, 4), np.uint8)
        self.dimming = False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        backdrop = QLinearGradient(0, 0, 0, self.height())
        backdrop.setColorAt(0, QColor(self.theme.canvas_top))
        backdrop.setColorAt(1, QColor(self.theme.canvas_bottom))
        painter.fillRect(self.rect(), backdrop)
        if self.scene is not None and len(self.scene):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_memories(painter, self.scene)
            self._paint_beacons(painter, self.scene)
        painter.end()

    def _paint_memories(self, painter: QPainter, scene: Scene) -> None:
        seen = self.camera.project(scene.centres)
        visible = np.flatnonzero(
            (seen[:, 2] > 0)
            & ((self.looks[:, 2] & FLAG_HIDDEN) == 0)
            & (np.abs(seen[:, 0] - self.width() / 2) < self.width() / 2 + 60)
            & (np.abs(seen[:, 1] - self.height() / 2) < self.height() / 2 + 60)
        )
        far_to_near = visible[np.argsort(-seen[visible, 2])]
        for row in far_to_near[:-MOST_TRIANGLES]:
            painter.setPen(QPen(self._color(row), DOT_PIXELS))
            painter.drawPoint(QPointF(seen[row, 0], seen[row, 1]))
        self._paint_triangles(painter, scene, far_to_near[-MOST_TRIANGLES:])

    def _paint_triangles(self, painter: QPainter, scene: Scene, rows: np.ndarray) -> None:
        if not len(rows):
            return
        points = (corners(scene.voxels[rows]) * WORLD).reshape(-1, 3).astype(np.float32)
        pixels = self.camera.project(points)[:, :2].reshape(-1, 4, 2)
        odd = (scene.voxels[rows].sum(axis=1) & 1).astype(bool)
        triangles = pixels[:, FACES]  # (rows, 4 faces, 3 corners, 2)
        first, second = triangles[:, :, 1] - triangles[:, :, 0], triangles[:, :, 2] - triangles[:, :, 0]
        turn = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
        outward = np.where(odd[:, None], turn > 0, turn < 0)  # pixels grow downward, inversion turns the winding
        shades = _face_shades(self.camera)
        for at, row in enumerate(rows):
            color = self._color(row)
            chosen = bool(int(self.looks[row, 2]) & (FLAG_SELECTED | FLAG_HOVERED | FLAG_MARKED))
            pen = QPen(QColor(self.theme.selection), 2.0) if chosen else QPen(color.lighter(118), 0.8)
            if self.dimming and int(self.looks[row, 2]) & FLAG_LIT:
                pen = QPen(_mix(color, QColor(self.theme.selection), 0.6), 1.6)
            if int(self.looks[row, 1]) == STATE_QUARANTINED and not chosen:
                pen = QPen(QColor(self.theme.amber), 1.6, Qt.PenStyle.DashLine)
            for face in np.flatnonzero(outward[at]):
                polygon = QPolygonF([QPointF(x, y) for x, y in triangles[at, face]])
                painter.setPen(pen)
                painter.setBrush(QBrush(_shaded(color, float(shades[face + 4 * int(odd[at])]))))
                painter.drawPolygon(polygon)
                if int(self.looks[row, 1]) == STATE_INHIBITED:
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(QBrush(QColor(0, 0, 0, 150), Qt.BrushStyle.BDiagPattern))
                    painter.drawPolygon(polygon)

    def _paint_beacons(self, painter: QPainter, scene: Scene) -> None:
        """The light round every hit, and a body where its triangle would be a speck."""
        rows = np.flatnonzero((self.looks[:, 2] & FLAG_LIT > 0) & (self.looks[:, 2] & FLAG_HIDDEN == 0))
        if not self.dimming or not 0 < len(rows) <= MOST:
            return
        seen = self.camera.project(scene.centres[rows])
        edges = self.camera.pixels_a_unit(np.maximum(seen[:, 2], 1e-3))
        painter.setPen(Qt.PenStyle.NoPen)
        for row, (x, y, depth), edge in zip(rows.tolist(), seen.tolist(), edges.tolist(), strict=True):
            if depth <= 0:
                continue
            radius = min(95.0, max(19.0, 1.45 * edge))
            glow, gone = self._color(row), self._color(row)
            glow.setAlphaF(0.5 if edge < LEAST_PIXELS * 1.5 else 0.22)
            gone.setAlpha(0)
            light = QRadialGradient(QPointF(x, y), radius)
            light.setColorAt(0, glow)
            light.setColorAt(1, gone)
            painter.setBrush(light)
            painter.drawEllipse(QPointF(x, y), radius, radius)
            if edge < LEAST_PIXELS:
                half = LEAST_PIXELS / 2
                painter.setBrush(_mix(self._color(row), QColor(self.theme.selection), 0.35))
                painter.drawPolygon([QPointF(x - half, y + half), QPointF(x + half, y + half), QPointF(x, y - half)])
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _color(self, row: int) -> QColor:
        palette_index, state, flags, _ = (int(value) for value in self.looks[row])
        color = QColor(scene_palette(self.theme)[palette_index])
        if state == STATE_INHIBITED:
            color = QColor(self.theme.inhibited)
        elif state == STATE_QUARANTINED:
            color = color.darker(170)
        elif state == STATE_VOID:
            color = QColor.fromHslF(max(0.0, color.hslHueF()), 0.15, 0.55)
        if self.dimming and not flags & (FLAG_LIT | FLAG_SELECTED | FLAG_HOVERED) and state != STATE_VOID:
            color = _mix(QColor(self.theme.canvas_bottom), color, DIM)
        return color


def _face_shades(camera: Camera) -> np.ndarray:
    """(8,) brightness of the four faces of an even tetrahedron, then of an odd one, under the key light."""
    right, up, back = camera.axes()
    even = EVEN_CORNERS[FACES].astype(np.float64)
    normals = np.cross(even[:, 1] - even[:, 0], even[:, 2] - even[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    light = -0.45 * right + 0.70 * up + 0.56 * back
    key = np.concatenate([normals @ light, -(normals @ light)])
    return np.asarray(0.55 + 0.55 * np.maximum(key, 0.0), np.float64)


def _shaded(color: QColor, shade: float) -> QColor:
    return QColor.fromRgbF(*(min(1.0, value * shade) for value in _channels(color)))


def _mix(first: QColor, second: QColor, share: float) -> QColor:
    one, other = _channels(first), _channels(second)
    return QColor.fromRgbF(*(a * (1 - share) + b * share for a, b in zip(one, other, strict=True)))


def _channels(color: QColor) -> tuple[float, float, float]:
    return color.redF(), color.greenF(), color.blueF()
