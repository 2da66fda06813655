"""The budget of a recall as one stacked bar: used, left out, free."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from tetrarium.model import RecallTrace
from tetrarium_gui.style import SIZE_SMALL, Theme, text_font
from tetrarium_gui.words import t


class BudgetBar(QWidget):
    """Tokens used, left out, and free, in one stacked bar with its words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._budget, self._used, self._left_out = 1, 0, 0
        self.setFixedHeight(30)

    def show_trace(self, trace: RecallTrace) -> None:
        tokens = {candidate.id: candidate.tokens for candidate in trace.candidates}
        self._budget, self._used = max(1, trace.budget), trace.token_usage
        self._left_out = sum(tokens.get(memory_id, 0) for memory_id in trace.budget_voided)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = max(self._budget, self._used + self._left_out)
        width = float(self.width())
        painter.setPen(Qt.PenStyle.NoPen)
        x = 0.0
        for share, color in (
            (self._used / whole, self.theme.accent),
            (self._left_out / whole, self.theme.amber),
            (1.0, self.theme.line),
        ):
            piece = min(width - x, share * width)
            painter.setBrush(QColor(color))
            painter.drawRect(QRectF(x, 0, piece, 6))
            x += piece
        painter.setPen(QColor(self.theme.muted))
        painter.setFont(text_font(SIZE_SMALL))
        words = t("voids.budget", used=self._used, budget=self._budget)
        if self._left_out:
            words += t("voids.left_out", left=self._left_out)
        painter.drawText(QRectF(0, 10, width, 18), Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()
