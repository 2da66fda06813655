"""What takes longer than a second is said in the status line, with a way out for questions.

A change is one transaction: it is waited for. A question is given up: what waits is not asked any more, and the answer
of the one under way is dropped.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

LOOK = 250
"""Milliseconds between two looks."""
PATIENCE = 1.0
"""Seconds after which waiting is said."""


class Slowness(QObject):
    """Connects what the bridge waits for with the status line."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._bridge, self._status, self._shown = desk.bridge, desk.status, False
        self._clock = QTimer(self)
        self._clock.timeout.connect(self._look)
        self._clock.start(LOOK)

    def _look(self) -> None:
        if self._shown and not self._bridge.waited():
            self._shown = False
            self._status.end_work()
        elif not self._shown and not self._status.is_working and self._bridge.waited() > PATIENCE:
            self._shown = True
            self._status.show_work(t("status.working"), self._give_up if self._bridge.waits_for_questions else None)

    def _give_up(self) -> None:
        self._bridge.give_up()
        self._look()
