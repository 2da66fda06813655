"""Work for a panel is done when somebody can see the panel, and not for every change of a burst.

A panel behind another tab costs nothing while an agent stores without pause; brought to the front, it is up to date.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QDockWidget

PAUSE = 250
"""Milliseconds between two refreshes of a panel that is seen."""


class WhenSeen(QObject):
    """Does `work` soon after it is asked for, at most once a pause, and only while the dock is in front."""

    def __init__(self, dock: QDockWidget, work: Callable[[], object], pause: int = PAUSE) -> None:
        super().__init__(dock)
        self._work, self._wanted, self._in_front = work, False, False
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(pause)
        self._clock.timeout.connect(self._rested)
        self._dock = dock
        dock.visibilityChanged.connect(self._seen)

    def ask(self) -> None:
        """The work is wanted: now, after the pause, or when the panel comes to the front."""
        self._wanted = True
        if self._in_front and not self._clock.isActive():
            self._do()

    def _seen(self, in_front: bool) -> None:
        self._in_front = in_front
        if in_front and self._wanted:
            self._do()

    def _rested(self) -> None:
        if self._in_front and self._wanted:
            self._do()

    def _do(self) -> None:
        self._wanted = False
        self._clock.start()
        self._work()
