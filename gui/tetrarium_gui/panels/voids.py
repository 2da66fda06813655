"""One recall, replayed pass by pass: candidates, zones carved away with their reason, the budget – and why not this one.

Everything is read from the recall's own trace; an explanation comes from the engine that decided.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from tetrarium.model import Candidate, Explanation, Reason, RecallState, RecallTrace
from tetrarium_gui.panels.budget import BudgetBar
from tetrarium_gui.panels.charts import Chart
from tetrarium_gui.panels.flow import FlowLayout
from tetrarium_gui.panels.gaps import GapChart
from tetrarium_gui.panels.parts import EmptyState, PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.panels.zones import ZoneTree
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, plain_tip, visible
from tetrarium_gui.words import t

PASSES = ("candidates", "carve", "fit")
"""The passes in their order; the last one is the answer."""
LONGEST = 160
"""Characters of a question that stand over its answer."""
STEP = 900
"""Milliseconds for which a replay shows each pass."""


class VoidsPanel(QWidget):
    """Shows the last trace; choosing a memory emits its id."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    pass_shown = Signal(int)  # index into PASSES
    why_asked = Signal(str)
    once_asked = Signal(object)  # ids
    always_asked = Signal(object)  # ids
    menu_asked = Signal(QPoint)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.trace: RecallTrace | None = None
        self._excerpt_of = excerpt_of
        self._order: tuple[Candidate, ...] = ()
        self.shown_pass = len(PASSES) - 1
        self.empty = EmptyState(t("voids.empty"), theme)
        self.question, self.summary = PlainLabel(bold=True), PlainLabel(size=SIZE_SMALL)
        self.explanation = PlainLabel(size=SIZE_SMALL)
        for label in (self.question, self.summary, self.explanation):
            label.setWordWrap(True)
        self.explanation.hide()
        self.chart, self.budget = Chart("voids.chart", theme), BudgetBar(theme)
        self.gaps = GapChart(theme)
        self._selected = ""
        self.zones = ZoneTree(theme, excerpt_of)
        self.steps = QButtonGroup(self)
        self.passes = [self._pass_button(at, name) for at, name in enumerate(PASSES)]
        self.replay = button("voids.replay", self.play)
        self.why = button("voids.why", self._ask_why)
        self.once = button("voids.once", lambda: self.once_asked.emit(self.zones.voided()))
        self.always = button("voids.always", lambda: self.always_asked.emit(self.zones.voided()))
        for name in ("why", "once", "always"):
            getattr(self, name).setToolTip(t(f"voids.{name}_tip"))
        self.chart.hideAxis("bottom")  # ranks: the bars tell them by their order
        self._clock = QTimer(self)
        self._clock.setInterval(STEP)
        self._clock.timeout.connect(self._next)
        self._lay_out()
        self.zones.memory_selected.connect(self.memory_selected)
        self.zones.memory_opened.connect(self.memory_opened)
        self.zones.menu_asked.connect(self.menu_asked)
        self.zones.currentItemChanged.connect(lambda *_: self._allow())
        self.chart.picked.connect(self._pick)
        self.gaps.zone_picked.connect(self.zones.choose_zone)
        self._allow()

    def set_theme(self, theme: Theme) -> None:
        self.theme = self.budget.theme = self.zones.theme = self.gaps.theme = theme
        self.empty.set_theme(theme)
        self.chart.set_theme(theme)
        self.summary.setStyleSheet(f"color: {theme.muted};")
        if self.trace is not None:
            self.show_trace(self.trace)

    def show_trace(self, trace: RecallTrace, note: str = "") -> None:
        """Show a recall. note: what is special about it, such as that it is a rehearsal."""
        self.trace = trace
        self._order = tuple(sorted(trace.candidates, key=lambda c: -c.score))
        self.question.setText(visible(trace.query)[:LONGEST])
        self.question.setToolTip(plain_tip(trace.query))
        words = t(
            "voids.summary",
            candidates=len(trace.candidates),
            kept=len(trace.blocks),
            void=trace.void_fraction,
            target=trace.void_target,
            inhibited=trace.inhibited_skipped,
        )
        self.summary.setText("\n".join(filter(None, (words, visible(said(trace.note)), note))))
        self.explanation.hide()
        self.budget.show_trace(trace)
        self.gaps.show_trace(trace)
        self.zones.show_trace(trace)
        self.show_pass(len(PASSES) - 1)
        self._pages.setCurrentIndex(1)
        self._allow()

    def show_explanation(self, told: Explanation) -> None:
        """Why one memory was or was not answered, and what would have to be different."""
        lines = [t("voids.explained", what=visible(self._excerpt_of(told.memory_id))[:90]), visible(said(told.why))]
        if told.changes:
            lines.append(
                t("voids.would_need", changes=visible("; ".join(said(change.text) for change in told.changes)))
            )
        elif told.remedy:
            lines.append(visible(said(told.remedy)))
        self.explanation.setText("\n".join(lines))
        self.explanation.show()
        if (item := self.zones.currentItem()) is not None:
            self.zones.scrollToItem(item)

    def set_selected(self, memory_id: str) -> None:
        """A memory that was selected anywhere in the window: one may ask why it, no candidate, was not answered."""
        self._selected = memory_id
        self._allow()

    def play(self) -> None:
        """From the candidates to the answer, a pass at a time."""
        self.show_pass(0)
        self._clock.start()

    def show_pass(self, at: int) -> None:
        """Show what is known after one pass."""
        self.shown_pass = at
        self.passes[at].setChecked(True)
        self._draw()
        self.pass_shown.emit(at)

    # --- inside ---------------------------------------------------------------------------------
    def _next(self) -> None:
        if self.shown_pass + 1 < len(PASSES):
            self.show_pass(self.shown_pass + 1)
        if self.shown_pass + 1 >= len(PASSES):
            self._clock.stop()

    def _draw(self) -> None:
        """Scores by rank; from the second pass on the fit to the topic, with the cut, in standard deviations."""
        if self.trace is None:
            return
        order = self._order
        colors = [self._color(candidate) for candidate in order]
        self.budget.setVisible(self.shown_pass == len(PASSES) - 1)  # before, nothing is known of it
        self._charts.setCurrentWidget(self.gaps if self.shown_pass == 1 and self.trace.void_zones else self.chart)
        if self.shown_pass == 0:
            self.chart.bars(range(len(order)), [c.score for c in order], colors)
        else:
            self.chart.bars(range(len(order)), [c.profile for c in order], colors)
            self.chart.rule(self.trace.void_cut, self.theme.inhibited_text, level=True)
        self.chart.setToolTip(t("voids.axis_score" if self.shown_pass == 0 else "voids.axis_fit"))
        self.chart.autoRange()

    def _color(self, candidate: Candidate) -> str:
        if self.shown_pass == 0 or candidate.state is RecallState.ACTIVE:
            return self.theme.accent
        if candidate.reason is Reason.OVER_BUDGET:
            return self.theme.amber if self.shown_pass == 2 else self.theme.accent
        return self.theme.muted

    def _pick(self, x: float) -> None:
        at = round(x)
        if 0 <= at < len(self._order):
            self.memory_selected.emit(self._order[at].id)

    def _ask_why(self) -> None:
        if memory_id := self.zones.current_id() or self._selected:
            self.why_asked.emit(memory_id)

    def _allow(self) -> None:
        self.why.setEnabled(bool(self.zones.current_id() or self._selected))
        for made in (self.once, self.always):
            made.setEnabled(bool(self.zones.voided()))

    def _pass_button(self, at: int, name: str) -> QPushButton:
        made = button(f"voids.{name}", lambda: self.show_pass(at))
        made.setCheckable(True)
        made.setToolTip(t(f"voids.{name}_tip"))
        self.steps.addButton(made)
        return made

    def _lay_out(self) -> None:
        left, right, deeds = QVBoxLayout(), QVBoxLayout(), QHBoxLayout()
        steps = FlowLayout(spacing=GRID // 2)
        for made in (*self.passes, self.replay):
            steps.addWidget(made)
        left.setSpacing(GRID)
        for part in (self.question, self.summary):
            left.addWidget(part)
        left.addLayout(steps)
        self._charts = QStackedLayout()
        self._charts.addWidget(self.chart)
        self._charts.addWidget(self.gaps)
        left.addLayout(self._charts, 1)
        left.addWidget(self.budget)
        deeds.addStretch()
        for made in (self.why, self.once, self.always):
            deeds.addWidget(made)
        right.addWidget(self.zones, 1)
        right.addWidget(self.explanation)
        right.addLayout(deeds)
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(GRID + GRID // 2, GRID, GRID, GRID)
        row.setSpacing(2 * GRID)
        row.addLayout(left, 2)
        row.addLayout(right, 4)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
