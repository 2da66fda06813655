"""When memories were stored, of what kind, how sure, how important: charts that filter each other, and a replay.

What the charts leave stays lit in the space and the rest dims; dragging over the time, or a click on a bar, chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from tetrarium.model import CATEGORIES, CONFIDENCES, Int64, SpaceSnapshot
from tetrarium_gui.panels.charts import BAR, Chart, time_axis
from tetrarium_gui.panels.crossfilter import (
    IMPORTANCE_BARS,
    STEPS,
    Filter,
    bars_of,
    confidences,
    importances,
)
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, category_icon, day_of
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import (
    CONFIDENCE_PALETTE_START,
    GRID,
    SIZE_SMALL,
    Theme,
    category_color,
    ramp_color,
    scene_palette,
)
from tetrarium_gui.words import t

LEAST_SPAN = 3_600.0
"""Seconds that the whole axis covers at least."""
REST_ALPHA = 70
"""Of the bar of all memories behind the bar of those that the other charts leave, 0 … 255."""


class TimelinePanel(QWidget):
    """Drag the edges of the range or its middle, click bars: what they leave stays lit, the rest dims."""

    range_chosen = Signal(object)  # ids that are left, or None for all
    play_asked = Signal()
    seek_asked = Signal(float)  # seconds since 1970

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.filter = Filter()
        self._snapshot: SpaceSnapshot | None = None
        self.empty, self.words = EmptyState(t("timeline.empty"), theme), PlainLabel(size=SIZE_SMALL)
        self.chart = Chart("timeline.chart", theme)
        self.growth = Chart("timeline.growth", theme)
        self.confidence, self.importance = Chart("timeline.confidence", theme), Chart("timeline.importance", theme)
        for chart in (self.chart, self.growth):
            chart.setAxisItems(time_axis())
        names = [t(f"confidence.{confidence.value}") for confidence in CONFIDENCES]
        self.confidence.name_bars(names)
        self.importance.name_bars([t(f"importance.{at}") if at in (0, 2, 4) else "" for at in range(IMPORTANCE_BARS)])
        for chart in self._charts():
            chart.set_theme(theme)
        self.span = pg.LinearRegionItem(movable=True, swapMode="sort")
        self.span.sigRegionChangeFinished.connect(self._choose_span)
        self.marker = pg.InfiniteLine(angle=90, movable=True)
        self.marker.sigPositionChangeFinished.connect(lambda line: self.seek_asked.emit(float(line.value())))
        self.marker.hide()
        self.confidence.picked.connect(lambda x: self._toggle(self.filter.confidence, x, len(CONFIDENCES)))
        self.importance.picked.connect(lambda x: self._toggle(self.filter.importance, x, IMPORTANCE_BARS))
        self.kinds = [self._kind_button(at) for at in range(len(CATEGORIES))]
        self.play, self.all = button("timeline.play", self.play_asked.emit), button("timeline.all", self.reset)
        self._name_charts()
        self._lay_out()
        self._show_whether(empty=True)

    def _name_charts(self) -> None:
        for chart, name in (
            (self.growth, "growth_title"),
            (self.confidence, "confidence_title"),
            (self.importance, "importance_title"),
        ):
            chart.setTitle(t(f"timeline.{name}"), color=self.theme.muted, size=f"{SIZE_SMALL}px")

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._name_charts()
        self.empty.set_theme(theme)
        self.words.setStyleSheet(f"color: {theme.muted};")
        for chart in self._charts():
            chart.set_theme(theme)
        self._draw()

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        """Show a new snapshot; what was chosen stays."""
        self._snapshot = snapshot
        self._show_whether(empty=not len(snapshot))
        self._draw()

    def show_replay(self, moment: float | None, *, playing: bool) -> None:
        """Where a replay of the growth is (seconds since 1970), None when there is none."""
        self.play.setText(t("timeline.pause" if playing else "timeline.play"))
        self.marker.setVisible(moment is not None)
        if moment is not None:
            self.marker.blockSignals(True)
            self.marker.setValue(moment)
            self.marker.blockSignals(False)

    def reset(self) -> None:
        """Nothing is filtered any more."""
        self.filter = Filter()
        for chip in self.kinds:
            chip.setChecked(False)
        self._tell()

    # --- choosing -------------------------------------------------------------------------------
    def _choose_span(self) -> None:
        if self._snapshot is None:
            return
        first, last = self._bounds()
        low, high = self.span.getRegion()
        narrow = bool(low > first + 1 or high < last - 1) and high > 1.0
        self.filter.span = (float(low), float(high)) if narrow else None
        self._tell()

    def _choose_kind(self, at: int, chosen: bool) -> None:
        if chosen != (at in self.filter.kinds):
            self._toggle(self.filter.kinds, at, len(CATEGORIES))

    def _toggle(self, chosen: set[int], x: float, count: int) -> None:
        """A bar was clicked: only those that are chosen are left; the last one taken back leaves all."""
        at = round(x)
        if self._snapshot is not None and 0 <= at < count:
            chosen.symmetric_difference_update({at})
            self._tell()

    def _tell(self) -> None:
        self._draw()
        if self._snapshot is None or self.filter.is_open:
            self.range_chosen.emit(None)
        else:
            rows = np.flatnonzero(self.filter.mask(self._snapshot))
            self.range_chosen.emit(tuple(self._snapshot.ids[row] for row in rows.tolist()))

    # --- drawing --------------------------------------------------------------------------------
    def _draw(self) -> None:
        snapshot = self._snapshot
        if snapshot is None or not len(snapshot):
            return
        self._draw_time(snapshot)
        held = np.bincount(snapshot.category, minlength=len(CATEGORIES))
        for kind, chip, count in zip(CATEGORIES, self.kinds, held.tolist(), strict=True):
            chip.setIcon(category_icon(kind, category_color(self.theme, kind)))
            chip.setVisible(count > 0)
        palette = scene_palette(self.theme)
        self._draw_bars(
            self.confidence,
            confidences(snapshot, self.filter.mask(snapshot, without="confidence")),
            confidences(snapshot, np.ones(len(snapshot), np.bool_)),
            [palette[CONFIDENCE_PALETTE_START + at] for at in range(len(CONFIDENCES))],
            self.filter.confidence,
        )
        self._draw_bars(
            self.importance,
            importances(snapshot, self.filter.mask(snapshot, without="importance")),
            importances(snapshot, np.ones(len(snapshot), np.bool_)),
            [ramp_color(self.theme, at / (IMPORTANCE_BARS - 1)) for at in range(IMPORTANCE_BARS)],
            self.filter.importance,
        )
        self._say(snapshot)

    def _draw_time(self, snapshot: SpaceSnapshot) -> None:
        bars = bars_of(snapshot, self.filter.mask(snapshot, without="span"))
        width = float(bars.edges[1] - bars.edges[0])
        middle = (bars.edges[:-1] + bars.edges[1:]) / 2
        self.chart.clear()
        rest = QColor(self.theme.muted)
        rest.setAlpha(REST_ALPHA)
        if not self.filter.is_open:
            self.chart.add_bars(middle, bars.all, [rest] * len(middle), width=BAR * width)
        colors = [QColor(category_color(self.theme, kind)) for kind in CATEGORIES]
        kinds, at = np.nonzero(bars.counts)
        below = np.cumsum(bars.counts, axis=0) - bars.counts
        brushes = [colors[kind] for kind in kinds.tolist()]
        self.chart.add_bars(middle[at], bars.counts[kinds, at], brushes, width=BAR * width, below=below[kinds, at])
        self._draw_span(width)
        self.growth.clear()
        self.growth.line(bars.edges, np.concatenate([[0], np.cumsum(bars.all)]), self.theme.good)
        words = {name: t(f"timeline.{name}") for name, _ in STEPS}
        self.chart.setTitle(t("timeline.title", step=words[bars.step]), color=self.theme.muted, size=f"{SIZE_SMALL}px")

    def _draw_span(self, width: float) -> None:
        """The range that is chosen, else the whole of it, and the cursor of a replay."""
        first, last = self._bounds()
        self.span.blockSignals(True)
        self.span.setBounds((first - width, last + width))
        self.span.setRegion(self.filter.span or (first, last))
        self.span.blockSignals(False)
        soft, softer = QColor(self.theme.accent), QColor(self.theme.accent)
        soft.setAlpha(36 if self.filter.span else 0)
        softer.setAlpha(48)
        self.span.setBrush(soft)
        self.span.setHoverBrush(softer)
        for edge in self.span.lines:
            edge.setPen(pg.mkPen(self.theme.accent, width=2))
            edge.setHoverPen(pg.mkPen(self.theme.text, width=3))
        self.marker.setPen(pg.mkPen(self.theme.text, width=2))
        self.marker.setHoverPen(pg.mkPen(self.theme.accent, width=3))
        self.chart.addItem(self.span)
        self.chart.addItem(self.marker)

    def _draw_bars(self, chart: Chart, left: Int64, everything: Int64, colors: list[str], chosen: set[int]) -> None:
        """Bars that can be clicked: what is left in full colour, of all memories behind; those not chosen fade."""
        chart.clear()
        rest = QColor(self.theme.muted)
        rest.setAlpha(REST_ALPHA)
        shown = [QColor(color) for color in colors]
        for at, color in enumerate(shown):
            color.setAlpha(255 if not chosen or at in chosen else REST_ALPHA)
        places = np.arange(len(colors))
        chart.add_bars(np.tile(places, 2), np.concatenate([everything, left]), [rest] * len(colors) + shown, width=BAR)

    def _say(self, snapshot: SpaceSnapshot) -> None:
        if self.filter.is_open:
            self.words.setText(t("timeline.hint"))
            return
        count = int(self.filter.mask(snapshot).sum())
        first, last = self.filter.span or self._bounds()
        self.words.setText(t("timeline.range", first=day_of(first), last=day_of(last), count=count))

    def _bounds(self) -> tuple[float, float]:
        created = self._snapshot.created if self._snapshot is not None else np.zeros(0)
        if not len(created):
            return 0.0, LEAST_SPAN
        first, last = float(created.min()), float(created.max())
        return first, max(last, first + LEAST_SPAN)

    # --- layout ---------------------------------------------------------------------------------
    def _kind_button(self, at: int) -> QToolButton:
        """The sign of a kind, in the colour of its bars: chosen, only that kind is left."""
        word = t(f"category.{CATEGORIES[at].value}")
        chip = QToolButton()
        chip.setCheckable(True)
        chip.setAutoRaise(True)
        chip.setAccessibleName(word)
        chip.setToolTip(t("timeline.kind_tip", kind=word))
        chip.toggled.connect(lambda chosen: self._choose_kind(at, chosen))
        return chip

    def _charts(self) -> tuple[Any, ...]:
        return self.chart, self.growth, self.confidence, self.importance

    def _show_whether(self, *, empty: bool) -> None:
        self.empty.setVisible(empty)
        for part in (*self._charts(), *self.kinds, self.play, self.all, self.words):
            part.setVisible(not empty)

    def _lay_out(self) -> None:
        top, charts = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.play)
        top.addWidget(self.words)
        top.addStretch()
        for chip in self.kinds:
            top.addWidget(chip)
        top.addWidget(self.all)
        charts.setSpacing(GRID)
        for chart, share in zip(self._charts(), (6, 2, 2, 2), strict=True):
            charts.addWidget(chart, share)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID // 2, GRID, GRID)
        column.addWidget(self.empty, 1)
        column.addLayout(top)
        column.addLayout(charts, 1)
