"""Words over the space with a one-pixel halo, each painted once and then copied.

Outlining letters costs about 0.4 ms a name (measured, software raster), and 40 names are on screen in every frame of a
flight or of a burst of stores; copying a picture of them costs a hundredth of that.
"""

from __future__ import annotations

from collections import OrderedDict
from math import ceil

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap

from tetrarium_gui.style import Theme

KEPT = 256
"""Names whose pictures are kept: several screens full."""
HALO = 3.0
"""Width of the stroke under the letters, in pixels: half of it shows round them."""


class Lettering:
    """Pictures of names, the last used kept. One font, theme or pixel ratio after the other: each has its own."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[tuple[str, str, str, str, float], QPixmap] = OrderedDict()

    def draw(
        self, painter: QPainter, text: str, x: float, y: float, font: QFont, theme: Theme, *, ink: str = ""
    ) -> None:
        """Draw plain text with its upper left corner at (x, y), in the painter's opacity, on whole pixels (sharp). ink:
        #RRGGBB, else the theme's."""
        ratio = painter.device().devicePixelRatio()
        color = ink or theme.text
        key = (text, font.key(), color, theme.canvas_top, ratio)
        picture = self._pictures.get(key)
        if picture is None:
            picture = self._pictures[key] = _picture(text, font, color, theme.canvas_top, ratio)
            if len(self._pictures) > KEPT:
                self._pictures.popitem(last=False)
        self._pictures.move_to_end(key)
        painter.drawPixmap(QPointF(round(x - HALO), round(y - HALO)), picture)


def _picture(text: str, font: QFont, ink: str, ground: str, ratio: float) -> QPixmap:
    metrics = QFontMetricsF(font)
    width, height = metrics.horizontalAdvance(text) + 2 * HALO, metrics.height() + 2 * HALO
    picture = QPixmap(ceil(width * ratio), ceil(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.addText(QPointF(HALO, HALO + metrics.ascent()), font, text)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    halo = QPen(QColor(ground), HALO)
    halo.setCapStyle(Qt.PenCapStyle.RoundCap)
    halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(path, halo)
    painter.fillPath(path, QColor(ink))
    painter.end()
    return picture
