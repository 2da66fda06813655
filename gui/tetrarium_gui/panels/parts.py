"""Small widgets that several panels share: chips, category names, thin bars, the empty state."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from functools import lru_cache

import qtawesome
from PySide6.QtCore import QDateTime, QLocale, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from tetrarium.model import Category, Reason, ScoreParts
from tetrarium_gui.style import (
    CATEGORY_ICONS,
    CHIP_GRID,
    GRID,
    SIZE_SMALL,
    SIZE_TEXT,
    Theme,
    part_color,
    text_font,
    visible,
)
from tetrarium_gui.words import t

SUMMANDS = ("vector", "keyword", "label", "entity", "context")
FACTORS = ("recency", "importance", "access", "confidence")
FACTOR_SPAN = 0.06
"""A factor this far from 1 fills its bar."""
PART_NAMES: tuple[str, ...] = tuple(field.name for field in fields(ScoreParts))


@lru_cache(maxsize=64)
def category_icon(category: Category, color: str) -> QIcon:
    icon: QIcon = qtawesome.icon(CATEGORY_ICONS[category], color=color)
    return icon


def client_words(client: str) -> str:
    """The name of a client; this window has no name of its own but a word."""
    return t("common.window") if client == "window" else client


def when(moment: datetime | None) -> str:
    """A moment in the reader's locale and zone."""
    if moment is None:
        return t("common.never")
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(round(moment.timestamp())), t("common.date"))


def day(moment: datetime) -> str:
    """The day of a moment, likewise."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(round(moment.timestamp())), t("common.day"))


def lately(moment: datetime) -> str:
    """A moment where there is little room: the time of today, else the day."""
    told = QDateTime.fromSecsSinceEpoch(round(moment.timestamp()))
    is_today = told.date() == QDateTime.currentDateTime().date()
    return QLocale().toString(told, t("common.time" if is_today else "common.day_short"))


def day_of(seconds: float) -> str:
    """The same for seconds since 1970."""
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(round(seconds)), t("common.day"))


def reason_words(reason: Reason) -> str:
    """Why a candidate has its state, in the reader's language."""
    return t(f"reason.{reason.value.split(':')[-1]}")


def paint_score(painter: QPainter, box: QRectF, parts: ScoreParts, theme: Theme, *, full: float) -> None:
    """The parts of one score: summands stacked along `box` (its width stands for the sum `full`), then four
    small factor bars that rise or fall from a middle line."""
    factors_width = 4 * 6.0 + 4.0
    room = box.width() - factors_width
    x = box.left()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.raised))
    painter.drawRoundedRect(QRectF(box.left(), box.center().y() - 2, room, 4), 2, 2)
    for name in SUMMANDS:
        width = room * max(0.0, getattr(parts, name)) / max(full, 1e-6)
        if width >= 0.5:
            painter.setBrush(QColor(part_color(theme, name)))
            painter.drawRect(QRectF(x, box.center().y() - 2, min(width, box.left() + room - x), 4))
            x += width
    middle = box.center().y()
    x = box.left() + room + 6.0
    for name in FACTORS:
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawLine(QPointF(x, middle), QPointF(x + 4, middle))
        rise = max(-1.0, min(1.0, (getattr(parts, name) - 1) / FACTOR_SPAN)) * (box.height() / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(part_color(theme, name)))
        painter.drawRect(QRectF(x, middle - max(rise, 0.0), 4, max(abs(rise), 1.0)))
        x += 6.0


def score_words(parts: ScoreParts) -> str:
    """The parts as plain text, for tooltips."""
    sums = "  ".join(f"{t(f'part.{name}')} {getattr(parts, name):.3f}" for name in SUMMANDS)
    factors = "  ".join(f"{t(f'part.{name}')} ×{getattr(parts, name):.3f}" for name in FACTORS)
    return f"{sums}\n{factors}"


class PlainLabel(QLabel):
    """A label that never reads markup: memory text goes only into these and into plain-text editors."""

    def __init__(
        self, text: str = "", *, size: int = SIZE_TEXT, bold: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(text_font(size, bold=bold))
        self.setText(text)


class EmptyState(PlainLabel):
    """One muted line that says what will appear here and how."""

    def __init__(self, text: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(text, parent=parent)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMargin(3 * GRID)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(f"color: {theme.muted};")


class Chips(QWidget):
    """Words as chips that wrap; a click tells the word."""

    chosen = Signal(str)
    HEIGHT = 22
    LONGEST = 40

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._words: tuple[tuple[str, str], ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFont(text_font(SIZE_SMALL))

    def set_words(self, words: tuple[tuple[str, str], ...]) -> None:
        """(word, colour) pairs; the colour is a #RRGGBB dot before the word, "" for none."""
        self._words = words
        self.setVisible(bool(words))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._height(width)

    def sizeHint(self) -> QSize:
        return QSize(200, self._height(max(self.width(), 200)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for word, color, box in self._boxes(self.width()):
            painter.setPen(QPen(QColor(self.theme.line), 1))
            painter.setBrush(QColor(self.theme.raised))
            painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
            left = box.left() + 2 * CHIP_GRID
            if color:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(color))
                painter.drawEllipse(QPointF(left + 3, box.center().y() + 1), 3.5, 3.5)
                left += 12
            painter.setPen(QColor(self.theme.text))
            painter.drawText(QRect(left, box.top(), box.width(), box.height()), Qt.AlignmentFlag.AlignVCenter, word)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        for word, _, box in self._boxes(self.width()):
            if box.contains(event.position().toPoint()):
                self.chosen.emit(word)

    def _boxes(self, width: int) -> list[tuple[str, str, QRect]]:
        metrics, at, boxes = QFontMetrics(self.font()), QPoint(0, 0), []
        for raw, color in self._words:
            word = visible(raw)
            if len(word) > self.LONGEST:
                word = word[: self.LONGEST - 1] + "…"
            wide = metrics.horizontalAdvance(word) + 4 * CHIP_GRID + (12 if color else 0)
            if at.x() and at.x() + wide > width:
                at = QPoint(0, at.y() + self.HEIGHT + CHIP_GRID)
            boxes.append((word, color, QRect(at, QSize(min(wide, max(width, 40)), self.HEIGHT))))
            at = QPoint(at.x() + wide + CHIP_GRID, at.y())
        return boxes

    def _height(self, width: int) -> int:
        boxes = self._boxes(width)
        return boxes[-1][2].bottom() + 1 if boxes else 0
