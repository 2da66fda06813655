"""The only thing that crosses threads: questions go in, frozen records come out as queued signals.

Answers that a newer question has overtaken are dropped here; what changed in the space is gathered for
one frame and then read as one snapshot, so that a burst of stores costs one redraw a frame.
"""

from __future__ import annotations

import itertools
import logging
from collections import defaultdict
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from tetrarium.errors import EngineError, ModelUnavailable, SpaceUnavailable, UserError
from tetrarium.events import Event, SpaceChanged
from tetrarium.model import Changes
from tetrarium_gui.state import Notice
from tetrarium_gui.worker import EVERYWHERE, Answer, EngineThread, Failure, Verb

log = logging.getLogger(__name__)

FRAME = 16
"""Milliseconds for which changes are gathered."""
HITS = 30
"""Hits that a search brings to the window."""
CLIENT = "window"

WORDS = {
    "bug": "Something went wrong inside Tetrarium. Nothing that was stored is lost.",
    "bug_advice": "The log has the details.",
    "model_advice": "Search works by keywords until the model can be loaded.",
}


class Bridge(QObject):
    """Asks the engine and tells the window; every signal carries one frozen record."""

    opened = Signal()
    unavailable = Signal(object)  # Notice
    growing = Signal(object)  # SpaceSnapshot, while a sample space is being filled
    snapshot_ready = Signal(object)  # SpaceSnapshot
    stats_ready = Signal(object)  # SpaceStats
    searched = Signal(object)  # SearchResult
    recalled = Signal(object)  # RecallTrace
    memory_ready = Signal(object)  # Memory
    changed = Signal(object)  # Changes
    noticed = Signal(object)  # Notice
    busy_changed = Signal(bool)

    def __init__(self, path: Path | None, *, sample: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tickets = itertools.count(1)
        self._newest: dict[str, int] = {}
        self._gathered: dict[str, dict[str, None]] = defaultdict(dict)
        self._version = 0
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME)
        self._frame.timeout.connect(self._tell_changes)
        self._engine = EngineThread(path, sample=sample, parent=self)
        queued = Qt.ConnectionType.QueuedConnection
        self._engine.answered.connect(self._take_answer, queued)
        self._engine.failed.connect(self._take_failure, queued)
        self._engine.happened.connect(self._take_event, queued)

    # --- questions ------------------------------------------------------------------------------
    def start(self) -> None:
        self._engine.start()

    def close(self) -> bool:
        """Close the space and join the engine's thread; False when it did not end in time."""
        self._newest.clear()
        return self._engine.close()

    def search(self, text: str) -> None:
        self._ask("search", lambda service: service.search(text, limit=HITS, project=EVERYWHERE, client=CLIENT))

    def recall(self, text: str) -> None:
        self._ask("recall", lambda service: service.recall(text, project=EVERYWHERE, client=CLIENT))

    def forget_questions(self) -> None:
        """Answers to searches and recalls that are still on their way will be dropped."""
        self._newest["search"] = self._newest["recall"] = next(self._tickets)
        self.busy_changed.emit(False)

    def get(self, memory_id: str) -> None:
        self._ask("memory", lambda service: service.get(memory_id))

    def refresh(self) -> None:
        """Ask for a new snapshot and new stats."""
        self._ask("snapshot", lambda service: service.snapshot())
        self._ask("stats", lambda service: service.stats())

    def _ask(self, slot: str, verb: Verb) -> None:
        self._newest[slot] = next(self._tickets)
        if slot in ("search", "recall"):
            self.busy_changed.emit(True)
        self._engine.submit(slot, self._newest[slot], verb)

    # --- answers --------------------------------------------------------------------------------
    def _take_answer(self, answer: Answer) -> None:
        if answer.slot == "open":
            self.opened.emit()
            self.refresh()
            self._ask("warm_up", lambda service: service.warm_up())
            return
        if answer.slot == "growth":
            self.growing.emit(answer.result)
            return
        if answer.ticket != self._newest.get(answer.slot):
            return
        signals = {
            "snapshot": self.snapshot_ready,
            "stats": self.stats_ready,
            "search": self.searched,
            "recall": self.recalled,
            "memory": self.memory_ready,
        }
        if answer.slot in ("search", "recall"):
            self.busy_changed.emit(False)
        if answer.slot in signals:
            signals[answer.slot].emit(answer.result)

    def _take_failure(self, failure: Failure) -> None:
        if failure.slot == "open":
            self.unavailable.emit(notice_of(failure.error))
            return
        if failure.slot in ("search", "recall"):
            self.busy_changed.emit(False)
        current = failure.slot == "catch_up" or failure.ticket == self._newest.get(failure.slot)
        if current:
            self.noticed.emit(notice_of(failure.error))

    def _take_event(self, event: Event) -> None:
        if isinstance(event, SpaceChanged):
            for kind in _KINDS:
                self._gathered[kind].update(dict.fromkeys(getattr(event.changes, kind)))
            self._version = event.changes.version
            if not self._frame.isActive():
                self._frame.start()

    def _tell_changes(self) -> None:
        changes = Changes(self._version, **{kind: tuple(ids) for kind, ids in self._gathered.items()})
        self._gathered.clear()
        self.changed.emit(changes)
        self.refresh()


_KINDS = ("stored", "edited", "inhibited", "released", "removed", "accessed", "moved")


def notice_of(error: Exception) -> Notice:
    """An error in the words for people; grave when the space itself cannot be used."""
    if isinstance(error, UserError):
        return Notice(error.message, error.advice, grave=isinstance(error, SpaceUnavailable))
    if isinstance(error, ModelUnavailable):
        return Notice(str(error), WORDS["model_advice"])
    if not isinstance(error, EngineError):
        log.error("Unexpected: %r", error)
    return Notice(WORDS["bug"], WORDS["bug_advice"])
