"""The growth of the space, replayed: memories appear in the order in which they were stored, by what is shown alone.

Half of the time goes by the calendar and half by the count, so that neither a quiet year nor a day of ten thousand imports
takes all of it. The clock runs only while it plays. Nothing of the space changes.
"""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from tetrarium.model import Bool, Float64, SpaceSnapshot

LONGEST, SHORTEST = 12.0, 3.0
"""Seconds that a replay takes."""
SECONDS_A_MEMORY = 0.025
FRAME = 33
"""Milliseconds between two steps."""


def shares_of(created: Float64) -> Float64:
    """(n,) the share of the replay, over 0 to 1, at which each memory appears. created: seconds since 1970."""
    n = len(created)
    order = np.argsort(created, kind="stable")
    rank = np.empty(n, np.float64)
    rank[order] = np.arange(1, n + 1) / n
    first, span = float(created.min()), float(np.ptp(created))
    calendar = (created - first) / span if span else rank
    shares: Float64 = np.minimum(0.5 * rank + 0.5 * calendar, 1.0)
    return shares


class Replay(QObject):
    """Plays, pauses and ends. `shown` gives what is to be shown, (n,) of the snapshot; None: everything."""

    moved = Signal()
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_on = False
        self.position = 0.0
        """0 … 1 of the way."""
        self._created: Float64 = np.zeros(0)
        self._shares: Float64 = np.zeros(0)
        self._duration = LONGEST
        self._last = 0.0
        self._clock = QTimer(self)
        self._clock.setInterval(FRAME)
        self._clock.timeout.connect(self._tick)

    @property
    def is_playing(self) -> bool:
        return self._clock.isActive()

    @property
    def count(self) -> int:
        """Memories shown by now."""
        return int((self._shares <= self.position).sum())

    @property
    def moment(self) -> float:
        """When the last of them was stored, seconds since 1970."""
        shown = self._created[self._shares <= self.position]
        return float(shown.max()) if len(shown) else float(self._created.min())

    def shown(self) -> Bool | None:
        """(n,) which memories are shown; None when no replay is on."""
        return self._shares <= self.position if self.is_on else None

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        """Take over a new picture of the space; a replay goes on where it is."""
        if self.is_on and len(snapshot):
            self._take(snapshot)
        elif self.is_on:
            self.stop()

    def play(self, snapshot: SpaceSnapshot) -> None:
        """From the start, or on from where it was paused."""
        if not len(snapshot):
            return
        if not self.is_on:
            self.is_on, self.position = True, 0.0
            self._take(snapshot)
            self._duration = min(LONGEST, max(SHORTEST, len(snapshot) * SECONDS_A_MEMORY))
        self._last = time.monotonic()
        self._clock.start()
        self.moved.emit()

    def pause(self) -> None:
        """Stay where it is."""
        self._clock.stop()
        self.moved.emit()

    def seek(self, moment: float) -> None:
        """To a moment (seconds since 1970) of a replay that is on."""
        if self.is_on:
            earlier = self._shares[self._created <= moment]
            self.position = float(earlier.max()) if len(earlier) else 0.0
            self.moved.emit()

    def stop(self) -> None:
        """End it: everything is shown again."""
        if self.is_on:
            self._clock.stop()
            self.is_on = False
            self.ended.emit()

    def _take(self, snapshot: SpaceSnapshot) -> None:
        self._created, self._shares = snapshot.created, shares_of(snapshot.created)

    def _tick(self) -> None:
        now = time.monotonic()
        self.position = min(1.0, self.position + (now - self._last) / self._duration)
        self._last = now
        if self.position >= 1.0:
            self.stop()
        else:
            self.moved.emit()
