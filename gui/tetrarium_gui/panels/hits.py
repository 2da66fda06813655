"""The hits of an answer: their model, how one is drawn, and the legend of the colours of a score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from tetrarium.model import Hit
from tetrarium_gui.panels.flow import FlowLayout
from tetrarium_gui.panels.parts import FACTORS, SUMMANDS, PlainLabel, category_icon, day, paint_score, score_words
from tetrarium_gui.style import (
    CHIP_GRID,
    GRID,
    SIZE_SMALL,
    SIZE_TEXT,
    Theme,
    category_color,
    mono_font,
    part_color,
    text_font,
    visible,
    wrap,
)
from tetrarium_gui.words import t

HIT_ROLE = Qt.ItemDataRole.UserRole
LEAST_FULL_SCORE = 0.5
"""Bars are drawn against the best sum of the page, but never against less than this."""
SWATCH = 7

Index = QModelIndex | QPersistentModelIndex


class HitModel(QAbstractListModel):
    """The hits of one answer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: tuple[Hit, ...] = ()

    def set_hits(self, hits: tuple[Hit, ...]) -> None:
        self.beginResetModel()
        self._hits = hits
        self.endResetModel()

    def drop(self, ids: Collection[str]) -> int:
        """Take these hits out; gives how many there were."""
        rows = [row for row, hit in enumerate(self._hits) if hit.id in ids]
        for row in reversed(rows):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._hits = (*self._hits[:row], *self._hits[row + 1 :])
            self.endRemoveRows()
        return len(rows)

    def row_of(self, memory_id: str) -> int:
        return next((row for row, hit in enumerate(self._hits) if hit.id == memory_id), -1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        hit = self._hits[index.row()]
        if role == HIT_ROLE:
            return hit
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return visible(hit.content[:200])
        if role == Qt.ItemDataRole.ToolTipRole:
            return score_words(hit.parts)
        return None


class HitDelegate(QStyledItemDelegate):
    """Paints one hit: two lines of text, its category and score, the thin bars. Plain text throughout."""

    HEIGHT = 82

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.full = LEAST_FULL_SCORE

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self.HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit: Hit = index.data(HIT_ROLE)
        theme, box = self.theme, QRectF(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(box, QColor(theme.raised))
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(QRectF(box.left(), box.top(), 2, box.height()), QColor(theme.accent))
        inner = box.adjusted(1.5 * GRID, GRID, -1.25 * GRID, -GRID)

        font = text_font(SIZE_TEXT)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        y = inner.top() + metrics.ascent()
        for line in wrap(visible(hit.content[:400]), metrics, inner.width(), 2):
            painter.drawText(QPointF(inner.left(), y), line)
            y += metrics.lineSpacing()

        foot = QRectF(inner.left(), inner.top() + 2 * metrics.lineSpacing() + 3, inner.width(), 16)
        color = category_color(theme, hit.memory.category)
        category_icon(hit.memory.category, color).paint(painter, foot.adjusted(0, 1, -foot.width() + 14, -1).toRect())
        painter.setFont(text_font(SIZE_SMALL))
        painter.setPen(QColor(theme.muted))
        words = f"{t(f'category.{hit.memory.category.value}')} · {day(hit.memory.created_at)}"
        painter.drawText(foot.adjusted(19, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, words)
        painter.setFont(mono_font())
        if hit.score:  # what filters alone found has none
            painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{hit.score:.2f}")
            bars = QRectF(inner.left(), foot.bottom() + 2, inner.width(), 10)
            paint_score(painter, bars, hit.parts, theme, full=self.full)
        painter.setPen(QColor(theme.line))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.restore()


class ScoreLegend(QWidget):
    """What the colours of a score mean: sums first, then what they are multiplied by; each tells itself in a sentence."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, spacing=CHIP_GRID)
        self.keys = {name: _Key(theme, name) for name in (*SUMMANDS, *FACTORS)}
        for key in self.keys.values():
            self._flow.addWidget(key)

    def set_theme(self, theme: Theme) -> None:
        for key in self.keys.values():
            key.set_theme(theme)

    def show_parts(self, hits: Sequence[Hit]) -> None:
        """Only the parts that these hits have; without any it takes no room."""
        for name, key in self.keys.items():
            plain = 0.0 if name in SUMMANDS else 1.0
            key.setVisible(any(abs(getattr(hit.parts, name) - plain) > 1e-3 for hit in hits))
        self.setVisible(any(hit.score for hit in hits))
        self.updateGeometry()


class _Key(PlainLabel):
    """One colour and its name."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(t(f"part.{name}"), size=SIZE_SMALL)
        self._name = name
        self.setToolTip(t(f"part_tip.{name}"))
        self.setContentsMargins(SWATCH + 4, 0, GRID // 2, 0)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(f"color: {theme.muted};")
        self._color = QColor(part_color(theme, self._name))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.fillRect(QRectF(0, (self.height() - SWATCH) / 2, SWATCH, SWATCH), self._color)
        painter.end()
