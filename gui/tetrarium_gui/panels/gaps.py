"""How far each void zone lies under the cut: one line a zone, named, from the cut to its mean fit to the topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from tetrarium.model import RecallTrace
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, text_font, visible
from tetrarium_gui.words import t

LINE = 17
"""Pixels a zone takes."""
NAMES = 0.42
"""Share of the width that the names have."""
DOT = 3.5
LEAST_LINES = 3


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: zone is its number in the trace, −1 for the answer itself and −2 for what had no room."""

    zone: int
    name: str
    fit: float
    count: int


class GapChart(QWidget):
    """Painted; a click tells the zone."""

    zone_picked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._lines: tuple[_Line, ...] = ()
        self._cut = 0.0
        self.setAccessibleName(t("voids.gaps"))
        self.setToolTip(t("voids.axis_gaps"))
        self.setMinimumHeight((LEAST_LINES + 1) * LINE)

    def sizeHint(self) -> QSize:
        return QSize(200, 6 * LINE)

    def show_trace(self, trace: RecallTrace) -> None:
        """The answer first, then the zones, the largest first: small ones are left out where there is no room."""
        profiles = {candidate.id: candidate.profile for candidate in trace.candidates}
        answered = [profiles[hit.id] for hit in trace.blocks if hit.id in profiles]
        lines = [_Line(-1, t("voids.answer"), sum(answered) / len(answered), len(answered))] if answered else []
        zones = sorted(enumerate(trace.void_zones), key=lambda one: -len(one[1].members))
        lines += [_Line(at, " · ".join(zone.theme), zone.profile, len(zone.members)) for at, zone in zones]
        self._lines, self._cut = tuple(lines), trace.void_cut
        self.setAccessibleDescription("; ".join(f"{line.name}: {line.fit:+.2f} σ" for line in self._shown()))
        self.update()

    def names(self) -> tuple[str, ...]:
        """What its lines say, from above."""
        return tuple(line.name for line in self._shown())

    def _shown(self) -> Sequence[_Line]:
        room = max(LEAST_LINES, self.height() // LINE - 1)  # one for the words of the cut
        if len(self._lines) <= room:
            return self._lines
        left = self._lines[room - 1 :]
        more = _Line(-2, t("voids.more_zones", count=len(left)), 0.0, sum(line.count for line in left))
        return (*self._lines[: room - 1], more)

    def _place(self, fit: float, left: float, width: float) -> float:
        fits = [self._cut, *(line.fit for line in self._lines)]
        low, high = min(fits) - 0.1, max(fits) + 0.1
        return left + width * (fit - low) / (high - low)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = text_font(SIZE_SMALL)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        counts = metrics.horizontalAdvance("000") + GRID
        left = self.width() * NAMES
        width = self.width() - left - counts - 2 * DOT
        shown = self._shown()
        cut = self._place(self._cut, left, width)
        for row, line in enumerate(shown):
            middle = row * LINE + LINE / 2
            box = QRectF(0, row * LINE, left - GRID, LINE)
            answer = line.zone == -1
            painter.setPen(QColor(theme.text if answer else theme.muted))
            words = metrics.elidedText(visible(line.name), Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
            tail = QRectF(self.width() - counts, row * LINE, counts, LINE)
            painter.drawText(tail, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(line.count))
            if line.zone == -2:
                continue
            at = self._place(line.fit, left, width)
            color = QColor(theme.accent if answer else theme.muted)
            painter.setPen(QPen(color, 2))
            painter.drawLine(QPointF(cut, middle), QPointF(at, middle))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(at, middle), DOT, DOT)
        if shown:
            foot = len(shown) * LINE
            painter.setPen(QPen(QColor(theme.inhibited_text), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(cut, 0), QPointF(cut, foot))
            words = t("voids.cut", cut=self._cut)
            wide = metrics.horizontalAdvance(words)
            start = min(max(cut - wide / 2, 0.0), self.width() - wide)
            painter.setPen(QColor(theme.inhibited_text))
            painter.drawText(QPointF(start, foot + metrics.ascent()), words)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row, shown = int(event.position().y() // LINE), self._shown()
        if 0 <= row < len(shown) and shown[row].zone >= 0:
            self.zone_picked.emit(shown[row].zone)
