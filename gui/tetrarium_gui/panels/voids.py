"""One recall, replayed: what was kept, which zones were carved away and why, what the budget left out.

Everything is read from the recall's own trace; nothing is explained a second time by other code.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import Candidate, Reason, RecallState, RecallTrace
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, reason_words
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, mono_font, text_font, visible
from tetrarium_gui.words import t

ID_ROLE = Qt.ItemDataRole.UserRole


class VoidsPanel(QWidget):
    """Shows the last trace; choosing a memory emits its id."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self._excerpt_of = theme, excerpt_of
        self.trace: RecallTrace | None = None
        self.empty = EmptyState(t("voids.empty"), theme)
        self.question, self.summary = PlainLabel(bold=True), PlainLabel(size=SIZE_SMALL)
        self.question.setWordWrap(True)
        self.summary.setWordWrap(True)
        self.chart, self.budget = ScoreChart(theme), BudgetBar(theme)
        self.zones = QTreeWidget()
        self.zones.setAccessibleName(t("voids.zones_name"))
        self.zones.setHeaderLabels([t(f"voids.column_{name}") for name in ("memory", "score", "tokens", "why")])
        self.zones.setUniformRowHeights(True)
        self.zones.setIndentation(14)
        header = self.zones.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate((440, 64, 64)):
            header.resizeSection(column, width)
        self._lay_out()
        self.zones.currentItemChanged.connect(self._chosen)
        self.zones.itemDoubleClicked.connect(self._opened)
        self.chart.chosen.connect(self.memory_selected)

    def set_theme(self, theme: Theme) -> None:
        self.theme = self.chart.theme = self.budget.theme = theme
        self.empty.set_theme(theme)
        if self.trace is not None:
            self.show_trace(self.trace)

    def show_trace(self, trace: RecallTrace) -> None:
        self.trace = trace
        self.question.setText(visible(trace.query)[:300])
        self.summary.setText(
            t(
                "voids.summary",
                candidates=len(trace.candidates),
                kept=len(trace.blocks),
                void=trace.void_fraction,
                target=trace.void_target,
                inhibited=trace.inhibited_skipped,
            )
            + (f"\n{visible(trace.note)}" if trace.note else "")
        )
        self.summary.setStyleSheet(f"color: {self.theme.muted};")
        self.chart.show_trace(trace)
        self.budget.show_trace(trace)
        self._fill(trace)
        self._pages.setCurrentIndex(1)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(GRID)
        left.addWidget(self.question)
        left.addWidget(self.summary)
        left.addWidget(self.chart, 1)
        left.addWidget(self.budget)
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(GRID + GRID // 2, GRID, 0, GRID)
        row.setSpacing(2 * GRID)
        row.addLayout(left, 2)
        row.addWidget(self.zones, 5)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)

    def _fill(self, trace: RecallTrace) -> None:
        by_id = {candidate.id: candidate for candidate in trace.candidates}
        self.zones.blockSignals(True)
        self.zones.clear()
        kept = self._group(t("voids.kept", count=len(trace.blocks)), "", "", self.theme.accent)
        for hit in trace.blocks:
            if hit.id in by_id:
                self._row(kept, by_id[hit.id], t("voids.kept_why"))
        for zone in trace.void_zones:
            theme_words = visible(" · ".join(zone.theme))[:60]
            why = t("voids.fit", profile=zone.profile, gap=zone.gap, reason=visible(zone.reason))
            title = t("voids.zone", theme=theme_words, count=len(zone.members))
            group = self._group(title, f"{zone.best_score:.2f}", why, self.theme.muted)
            for member in zone.members:
                if member in by_id:
                    self._row(group, by_id[member], reason_words(by_id[member].reason))
        if trace.budget_voided:
            over = self._group(t("voids.over_budget", count=len(trace.budget_voided)), "", "", self.theme.amber)
            for memory_id in trace.budget_voided:
                if memory_id in by_id:
                    candidate = by_id[memory_id]
                    self._row(over, candidate, t("voids.over_why", tokens=candidate.tokens))
        kept.setExpanded(True)
        self.zones.blockSignals(False)

    def _group(self, title: str, score: str, why: str, color: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self.zones, [title, score, "", why])
        item.setForeground(0, QBrush(QColor(color)))
        item.setForeground(3, QBrush(QColor(self.theme.muted)))
        item.setFont(0, text_font(bold=True))
        item.setFont(1, mono_font())
        return item

    def _row(self, group: QTreeWidgetItem, candidate: Candidate, why: str) -> None:
        words = visible(self._excerpt_of(candidate.id)).replace("\n", " ")
        item = QTreeWidgetItem(group, [words, f"{candidate.score:.2f}", str(candidate.tokens), why])
        item.setData(0, ID_ROLE, candidate.id)
        item.setForeground(3, QBrush(QColor(self.theme.muted)))
        for column in (1, 2):
            item.setFont(column, mono_font())

    def _chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and (memory_id := item.data(0, ID_ROLE)):
            self.memory_selected.emit(memory_id)

    def _opened(self, item: QTreeWidgetItem) -> None:
        if memory_id := item.data(0, ID_ROLE):
            self.memory_opened.emit(memory_id)


class ScoreChart(QWidget):
    """One bar a candidate, highest score first: kept in the accent, void in grey, over budget in amber."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._candidates: tuple[Candidate, ...] = ()
        self.setMinimumHeight(48)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(t("voids.chart"))

    def show_trace(self, trace: RecallTrace) -> None:
        self._candidates = tuple(sorted(trace.candidates, key=lambda c: -c.score))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(self.theme.line), 1))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        if self._candidates:
            step = self.width() / len(self._candidates)
            best = max(self._candidates[0].score, 1e-6)
            painter.setPen(Qt.PenStyle.NoPen)
            for at, candidate in enumerate(self._candidates):
                height = max(2.0, (self.height() - 4) * max(0.0, candidate.score) / best)
                painter.setBrush(QColor(self._color(candidate)))
                painter.drawRect(QRectF(at * step, self.height() - 1 - height, max(1.0, min(step - 1, 12.0)), height))
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._candidates:
            at = int(event.position().x() / self.width() * len(self._candidates))
            self.chosen.emit(self._candidates[max(0, min(at, len(self._candidates) - 1))].id)

    def _color(self, candidate: Candidate) -> str:
        if candidate.state is RecallState.ACTIVE:
            return self.theme.accent
        return self.theme.amber if candidate.reason is Reason.OVER_BUDGET else self.theme.muted


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
