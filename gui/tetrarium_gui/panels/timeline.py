"""When memories were stored: a histogram, the growth of the space, and a range that the list and the space follow."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tetrarium.model import Float64, SpaceSnapshot
from tetrarium_gui.panels.charts import BAR, Chart, time_axis
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, day_of
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme
from tetrarium_gui.words import t

BINS = 60
"""Bars over the whole life of the space."""
LEAST_SPAN = 3_600.0
"""Seconds that the whole axis covers at least."""


class TimelinePanel(QWidget):
    """Drag the edges of the range: what was stored in it stays lit, the rest dims."""

    range_chosen = Signal(object)  # ids in the range, or None for all

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._snapshot: SpaceSnapshot | None = None
        self.empty, self.words = EmptyState(t("timeline.empty"), theme), PlainLabel(size=SIZE_SMALL)
        self.chart = Chart("timeline.chart", theme)
        self.chart.setAxisItems(time_axis())
        self.growth = Chart("timeline.growth", theme)
        self.growth.setAxisItems(time_axis())
        for chart in (self.chart, self.growth):
            chart.set_theme(theme)
        self.span = pg.LinearRegionItem(movable=True, swapMode="sort")
        self.span.sigRegionChangeFinished.connect(self._choose)
        self.all = button("timeline.all", self.reset)
        self._lay_out()
        self._show_whether(empty=True)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.empty.set_theme(theme)
        self.words.setStyleSheet(f"color: {theme.muted};")
        for chart in (self.chart, self.growth):
            chart.set_theme(theme)
        self._draw()

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        """Show a new snapshot; a range that was chosen stays."""
        self._snapshot = snapshot
        self._show_whether(empty=not len(snapshot))
        self._draw()

    def reset(self) -> None:
        """The whole life of the space again."""
        first, last = self._bounds()
        self.span.blockSignals(True)
        self.span.setRegion((first, last))
        self.span.blockSignals(False)
        self._say(None)
        self.range_chosen.emit(None)

    def _bounds(self) -> tuple[float, float]:
        created = self._snapshot.created if self._snapshot is not None else np.zeros(0)
        if not len(created):
            return 0.0, LEAST_SPAN
        first, last = float(created.min()), float(created.max())
        return first, max(last, first + LEAST_SPAN)

    def _draw(self) -> None:
        if self._snapshot is None or not len(self._snapshot):
            return
        created: Float64 = self._snapshot.created
        first, last = self._bounds()
        counts, edges = np.histogram(created, bins=BINS, range=(first, last))
        middle, width = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
        self.chart.bars(middle.tolist(), counts, [self.theme.accent] * BINS, width=BAR * width)
        whole = not self._is_narrow()
        self.span.setBounds((first - width, last + width))
        if whole:
            self.span.blockSignals(True)
            self.span.setRegion((first, last))
            self.span.blockSignals(False)
        self.chart.addItem(self.span)
        soft, softer = QColor(self.theme.accent), QColor(self.theme.accent)
        soft.setAlpha(36)
        softer.setAlpha(60)
        self.span.setBrush(soft)
        self.span.setHoverBrush(softer)
        for edge in self.span.lines:
            edge.setPen(pg.mkPen(self.theme.accent, width=2))
            edge.setHoverPen(pg.mkPen(self.theme.text, width=3))
        self.growth.clear()
        self.growth.line(edges, np.concatenate([[0], np.cumsum(counts)]), self.theme.good)

    def _is_narrow(self) -> bool:
        first, last = self._bounds()
        low, high = self.span.getRegion()
        return bool(low > first + 1 or high < last - 1) and high > 1.0

    def _choose(self) -> None:
        snapshot = self._snapshot
        if snapshot is None:
            return
        if not self._is_narrow():
            self._say(None)
            self.range_chosen.emit(None)
            return
        low, high = self.span.getRegion()
        rows = np.flatnonzero((snapshot.created >= low) & (snapshot.created <= high))
        self._say((low, high, len(rows)))
        self.range_chosen.emit(tuple(snapshot.ids[row] for row in rows.tolist()))

    def _say(self, chosen: tuple[float, float, int] | None) -> None:
        if chosen is None:
            self.words.setText(t("timeline.hint"))
        else:
            low, high, count = chosen
            self.words.setText(t("timeline.range", first=day_of(low), last=day_of(high), count=count))

    def _show_whether(self, *, empty: bool) -> None:
        self.empty.setVisible(empty)
        for part in (self.chart, self.growth, self.all, self.words):
            part.setVisible(not empty)

    def _lay_out(self) -> None:
        top, charts = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.words)
        top.addStretch()
        top.addWidget(self.all)
        charts.addWidget(self.chart, 3)
        charts.addWidget(self.growth, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID // 2, GRID, GRID)
        column.addWidget(self.empty, 1)
        column.addLayout(top)
        column.addLayout(charts, 1)
        self._say(None)
