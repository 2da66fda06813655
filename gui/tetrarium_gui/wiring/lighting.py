"""What an agent recalls, lit in the space as it happens – while nobody else uses the lights.

The space lights what it is given in the order of score; here stands when. A person's own search, recall or marks are
never taken away, bursts are shown one after the other instead of flickering, and what an agent asked goes out
again after a while, so that the window can stay open all day.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from tetrarium_gui.state import Highlight
from tetrarium_gui.wiring.desk import Desk

LIT = 30_000
"""Milliseconds for which a recall of an agent stays lit."""
APART = 1_200
"""Milliseconds at least between two: the first has been lit whole, and seen."""


class Lighting(QObject):
    """The lights of the space, as agents use them. `following`: whether a person wants that."""

    def __init__(self, desk: Desk, *, following: bool) -> None:
        super().__init__(desk.window)
        self._desk, self._following = desk, following
        self._ours: Highlight | None = None
        self._next: Highlight | None = None
        self._out = self._timer(LIT, self.put_out)
        self._rest = self._timer(APART, self._show_next)

    def follow(self, following: bool) -> None:
        self._following = following
        if not following:
            self._next = None
            self.put_out()

    def show(self, highlight: Highlight) -> None:
        """Light this now, or when the one before has been seen; of several that wait the last."""
        self._next = highlight
        if not self._rest.isActive():
            self._show_next()

    def put_out(self) -> None:
        """Take away what was lit for an agent; what a person lit stays."""
        state = self._desk.state
        if self._ours is not None and state.highlight is self._ours:
            state.set_highlight(None)
        self._ours = None

    @property
    def is_free(self) -> bool:
        """Whether agents may use the lights: a person wants to follow them, and has lit nothing himself."""
        lit = self._desk.state.highlight
        return self._following and not self._desk.panels.search.box.text() and (lit is None or lit is self._ours)

    def _show_next(self) -> None:
        highlight, self._next = self._next, None
        if highlight is not None and self.is_free:
            self._ours = highlight
            self._desk.state.set_highlight(highlight)
            self._ours = self._desk.state.highlight  # the same as before, if nothing of it is new
            self._out.start()
            self._rest.start()

    def _timer(self, pause: int, act: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(pause)
        timer.timeout.connect(act)
        return timer
