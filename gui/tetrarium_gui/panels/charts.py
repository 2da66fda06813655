"""Charts in the colours of the window: bars one can click, lines that tell a cut."""

from __future__ import annotations

from calendar import day_abbr, month_abbr
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from tetrarium_gui.style import SIZE_SMALL, Theme, text_font
from tetrarium_gui.words import t

BAR = 0.82
"""Width of a bar, of the room it has."""


class Chart(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph publishes no types
    """One plot without tools: no zoom by accident, no menu. A click tells the position on the x axis."""

    picked = Signal(float)

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, axisItems=None)
        self.theme = theme
        self.setAccessibleName(t(name))
        self.setMenuEnabled(False)
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.setMinimumHeight(56)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.getPlotItem().setContentsMargins(0, 4, 4, 0)
        self.scene().sigMouseClicked.connect(self._clicked)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.setBackground(theme.surface)
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setPen(pg.mkPen(theme.line))
            axis.setTextPen(pg.mkPen(theme.muted))
            axis.setStyle(tickFont=text_font(SIZE_SMALL - 1), tickLength=-4)
            axis.showLabel(False)

    def bars(self, x: Sequence[float], heights: Any, colors: Sequence[str], *, width: float = BAR) -> None:
        """Replace everything by bars, one colour each."""
        self.clear()
        brushes = [pg.mkBrush(QColor(color)) for color in colors]
        item = pg.BarGraphItem(x=np.asarray(x, float), height=np.asarray(heights, float), width=width, brushes=brushes)
        item.setOpts(pen=pg.mkPen(None))
        self.addItem(item)

    def add_bars(self, x: Any, heights: Any, colors: Sequence[QColor], *, width: float = BAR, below: Any = 0) -> None:
        """Add bars to what is there, one colour each, as one item: items cost, bars do not. below: where each begins."""
        shape = np.shape(x)
        item = pg.BarGraphItem(
            x=np.asarray(x, float), y0=np.broadcast_to(np.asarray(below, float), shape),
            height=np.asarray(heights, float), width=width, brushes=[pg.mkBrush(color) for color in colors], pen=pg.mkPen(None),
        )  # fmt: skip
        self.addItem(item)

    def name_bars(self, names: Sequence[str]) -> None:
        """Words under the bars that stand at 0, 1, 2 …"""
        self.getAxis("bottom").setTicks([list(enumerate(names))])

    def rule(self, at: float, color: str, *, level: bool) -> None:
        """A dashed line over the whole plot: level, or upright."""
        pen = pg.mkPen(color, width=1, style=Qt.PenStyle.DashLine)
        self.addItem(pg.InfiniteLine(pos=at, angle=0 if level else 90, pen=pen))

    def line(self, x: Any, y: Any, color: str) -> None:
        """Add a line with a soft fill to zero."""
        fill = QColor(color)
        fill.setAlpha(48)
        pen = pg.mkPen(color, width=1.5)
        self.addItem(pg.PlotDataItem(np.asarray(x, float), np.asarray(y, float), pen=pen, fillLevel=0, brush=fill))

    def _clicked(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(float(self.getPlotItem().vb.mapSceneToView(event.scenePos()).x()))


def time_axis() -> dict[str, Any]:
    """For `setAxisItems`: dates under the x axis, which is in seconds since 1970."""
    return {"bottom": _DateAxis(orientation="bottom")}


class _DateAxis(pg.DateAxisItem):  # type: ignore[misc]  # pyqtgraph publishes no types
    """Months and days of the week in the language of the window, which need not be the one of the system."""

    def tickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:
        told, short = QLocale(), QLocale.FormatType.ShortFormat
        names = {month_abbr[at]: told.standaloneMonthName(at, short) for at in range(1, 13)}
        names |= {day_abbr[at]: told.standaloneDayName(at + 1, short) for at in range(7)}
        ticks: list[str] = super().tickStrings(values, scale, spacing)
        return [" ".join(names.get(word, word) for word in tick.split(" ")) for tick in ticks]
