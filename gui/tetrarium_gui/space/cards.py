"""The card beside the pointer: first words of a memory and one line about it. Plain text, cut to a length."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from tetrarium.model import CATEGORIES, SpaceSnapshot
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.style import GRID, RADIUS, SIZE_SMALL, SIZE_TEXT, Theme, text_font, visible, wrap
from tetrarium_gui.words import t

WIDTH = 320
LINES = 4


@dataclass(frozen=True, slots=True)
class Card:
    """What the pointer is over: first words, and one line about it. x, y: pixels."""

    excerpt: str
    line: str
    color: str
    x: float
    y: float


def card_of(scene: Scene, snapshot: SpaceSnapshot, row: int, theme: Theme, color: str, at: tuple[float, float]) -> Card:
    """The card of a memory. color: #RRGGBB of its class; its state has the last word."""
    words = [
        t(f"category.{CATEGORIES[int(snapshot.category[row])].value}"),
        scene.clusters[int(scene.cluster[row])].name,
    ]
    if scene.quarantined[row]:
        words.append(t("space.quarantined"))
        color = theme.amber
    elif scene.inhibited[row]:
        words.append(t("space.inhibited"))
        color = theme.inhibited
    line = visible(" · ".join(word for word in words if word))
    return Card(excerpt=snapshot.excerpts[row], line=line, color=color, x=at[0], y=at[1])


def paint(painter: QPainter, theme: Theme, card: Card, width: int, height: int) -> None:
    """Draw it beside the pointer, inside a picture of this size."""
    font, small = text_font(SIZE_TEXT), text_font(SIZE_SMALL)
    metrics = QFontMetricsF(font)
    lines = wrap(visible(card.excerpt), metrics, WIDTH - 3 * GRID, LINES)
    tall = 2 * GRID + len(lines) * metrics.lineSpacing() + 20
    x = card.x + 16 if card.x + 16 + WIDTH < width else card.x - 16 - WIDTH
    y = min(max(GRID, card.y + 12), height - tall - GRID)
    box = QRectF(max(GRID, x), y, WIDTH, tall)
    painter.setPen(QPen(QColor(theme.line), 1))
    background = QColor(theme.raised)
    background.setAlpha(250)
    painter.setBrush(background)
    painter.drawRoundedRect(box, RADIUS, RADIUS)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(card.color))
    painter.drawRoundedRect(QRectF(box.left() + 1, box.top() + 6, 3, box.height() - 12), 1.5, 1.5)
    painter.setPen(QColor(theme.text))
    painter.setFont(font)
    baseline = box.top() + GRID + metrics.ascent()
    for line in lines:
        painter.drawText(QPointF(box.left() + 1.75 * GRID, baseline), line)
        baseline += metrics.lineSpacing()
    painter.setFont(small)
    painter.setPen(QColor(theme.muted))
    shown = painter.fontMetrics().elidedText(card.line, Qt.TextElideMode.ElideRight, WIDTH - 3 * GRID)
    painter.drawText(QPointF(box.left() + 1.75 * GRID, baseline + 4), shown)
