"""The only thing that crosses threads: questions go in, frozen records come out as queued signals.

Answers that a newer question has overtaken are dropped here; what changed in the space is gathered for
one frame and then read as one snapshot, so that a burst of stores costs one redraw a frame.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from tetrarium.errors import EngineError, ModelUnavailable, PassphraseNeeded, SpaceUnavailable, UserError
from tetrarium.events import Event, SpaceChanged
from tetrarium.model import Changes, SpaceSnapshot
from tetrarium.paths import default_data_dir
from tetrarium_gui.sentences import said
from tetrarium_gui.state import Notice
from tetrarium_gui.watch import WatchThread
from tetrarium_gui.words import t
from tetrarium_gui.worker import EVERYWHERE, Answer, EngineThread, Failure, Picture, Recode, Verb

log = logging.getLogger(__name__)

STATS_INTERVAL = 1_000
"""Milliseconds at least between two counts of the whole space."""
FRAME = 16
"""Milliseconds for which changes are gathered."""
FREE_SHARE = 4
"""Times as long as showing a snapshot takes, the window waits before it shows the next."""
SLOWEST_FRAME = 500
"""Milliseconds for which changes are gathered at most."""
WATCH_ENDS = 5_000
"""Milliseconds for which closing waits for the thread that watches the host."""
HITS = 30
"""Hits that a search brings to the window."""
CLIENT = "window"
"""The name under which the window asks and changes: a person, whom everybody else's memories obey."""

EDIT = "edit "
"""How the slots of changes begin."""

Then = Callable[[Any], object]
Otherwise = Callable[[Exception], bool]
"""Takes an error; True when it has dealt with it."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Who waits for the answer to one ticket."""

    then: Then | None
    otherwise: Otherwise | None


class Bridge(QObject):
    """Asks the engine and tells the window; every signal carries one frozen record."""

    opened = Signal()
    unavailable = Signal(object)  # Notice
    locked = Signal(bool)  # a passphrase opens the space; True: the one that was given is wrong
    growing = Signal(object)  # SpaceSnapshot, while a sample space is being filled
    grown = Signal(object)  # the same, from the engine's thread
    snapshot_ready = Signal(object)  # SpaceSnapshot
    stats_ready = Signal(object)  # SpaceStats
    searched = Signal(object)  # SearchResult
    recalled = Signal(object)  # RecallTrace
    memory_ready = Signal(object)  # Memory
    changed = Signal(object)  # Changes
    happened = Signal(object)  # Recalled or Searched, of whoever asks this engine
    news = Signal(object)  # tuple of News: what the host of the agents tells
    asked_elsewhere = Signal(object)  # tuple of AuditEntry: what any program has asked, as it was noted
    noticed = Signal(object)  # Notice
    busy_changed = Signal(bool)

    def __init__(self, path: Path | None, *, sample: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tickets = itertools.count(1)
        self._newest: dict[str, int] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._since: dict[str, float] = {}
        self._gathered: dict[str, dict[str, None]] = defaultdict(dict)
        self._version = 0
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME)
        self._frame.timeout.connect(self._tell_changes)
        self._picture = Picture()
        self._stats_due = False
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.setInterval(STATS_INTERVAL)
        self._counting.timeout.connect(self._count)
        self._engine = EngineThread(path, sample=sample, parent=self)
        self._path = path or default_data_dir()
        self._watch = WatchThread(self._engine.look, parent=self)
        queued = Qt.ConnectionType.QueuedConnection
        self.grown.connect(self.growing, queued)
        self._engine.answered.connect(self._take_answer, queued)
        self._engine.failed.connect(self._take_failure, queued)
        self._engine.happened.connect(self._take_event, queued)
        self._watch.arrived.connect(self._take_news, queued)

    # --- questions ------------------------------------------------------------------------------
    def start(self) -> None:
        self._engine.start()

    def unlock(self, passphrase: str) -> None:
        """Try again to open a space that asked for a passphrase. It is handed on and kept nowhere."""
        self._engine.open_with(passphrase)

    def close(self) -> bool:
        """Close the space and join the engine's thread; False when it did not end in time."""
        self._newest.clear()
        self._watch.leave()
        ended = self._engine.close()  # and join the other thread, also after one that did not end
        return self._watch.wait(WATCH_ENDS) and ended

    def leave(self) -> None:
        """Close the space without waiting for it; nobody is told anything any more."""
        self._newest.clear()
        self._waiting.clear()
        self._watch.leave()
        self._engine.leave()

    def search(self, text: str, **filters: Any) -> None:
        """filters: as the engine's `search` takes them; without a project, of all projects."""
        asked = {"project": EVERYWHERE, "limit": HITS, **filters}
        self._ask("search", lambda service: service.search(text, client=CLIENT, **asked))

    def search_again(self, text: str, then: Then, **filters: Any) -> None:
        """The same for an answer that is on show already: nothing waits for it, and a failure leaves what is shown."""
        asked = {"project": EVERYWHERE, "limit": HITS, **filters}
        self.ask("search again", lambda s: s.search(text, client=CLIENT, **asked), then, otherwise=lambda _: True)

    def recall(self, text: str, project: str = EVERYWHERE) -> None:
        self._ask("recall", lambda service: service.recall(text, project=project, client=CLIENT))

    def forget_questions(self) -> None:
        """Answers to searches and recalls that are still on their way will be dropped."""
        self._newest["search"] = self._newest["recall"] = next(self._tickets)
        for slot in ("search", "recall"):
            self._since.pop(slot, None)
        self.busy_changed.emit(False)

    def ask(self, slot: str, verb: Verb, then: Then, *, otherwise: Otherwise | None = None) -> None:
        """Ask for `verb(service)` and hand what it gives to `then`; a newer question of the slot takes its place.

        otherwise: takes the error; without it the error is told as a notice.
        """
        self._waiting.pop(self._newest.get(slot, 0), None)
        self._ask(slot, verb, _Waiting(then, otherwise))

    def edit(self, verb: Verb, then: Then | None = None, *, otherwise: Otherwise | None = None) -> None:
        """Change something. Never overtaken by another change: each has a slot of its own, done in the order asked."""
        self._ask(f"{EDIT}{next(self._tickets)}", verb, _Waiting(then, otherwise))

    def recode(self, recode: Recode, folder: Path, then: Then, *, otherwise: Otherwise) -> None:
        """Give the files of the space another key. It is closed for that and opened again, also where it failed."""
        slot = f"{EDIT}{next(self._tickets)}"
        self._newest[slot] = next(self._tickets)
        self._waiting[self._newest[slot]] = _Waiting(then, otherwise)
        self._since[slot] = time.monotonic()
        self._engine.recode(slot, self._newest[slot], recode, folder)

    def tell_growth(self, snapshot: SpaceSnapshot) -> None:
        """Show a space that is being filled by one long job. From the engine's thread: crosses queued, as a signal."""
        self.grown.emit(snapshot)

    def waited(self) -> float:
        """Seconds since the oldest question or change that has no answer yet was asked; 0 when there is none."""
        return time.monotonic() - min(self._since.values()) if self._since else 0.0

    @property
    def waits_for_questions(self) -> bool:
        """True when something that waits can be given up: changes are waited for."""
        return any(not slot.startswith(EDIT) for slot in self._since)

    def give_up(self) -> None:
        """Ask no question that still waits, and drop the answer of the one under way. Changes go on."""
        for slot in [slot for slot in self._since if not slot.startswith(EDIT)]:
            self._waiting.pop(self._newest.get(slot, 0), None)
            self._newest[slot] = next(self._tickets)
            self._engine.withdraw(slot)
            del self._since[slot]
        self.busy_changed.emit(False)

    def get(self, memory_id: str) -> None:
        self._ask("memory", lambda service: service.get(memory_id))

    def refresh(self) -> None:
        """Ask for a new snapshot at once, and for new stats, which count everything, now and then."""
        self._ask("snapshot", self._picture)
        self._stats_due = True
        if not self._counting.isActive():
            self._count()

    def _count(self) -> None:
        if self._stats_due:
            self._stats_due = False
            self._counting.start()
            self._ask("stats", lambda service: service.stats())

    def _ask(self, slot: str, verb: Verb, waiting: _Waiting | None = None) -> None:
        self._newest[slot] = next(self._tickets)
        if waiting is not None:
            self._waiting[self._newest[slot]] = waiting
        if slot in ("search", "recall"):
            self.busy_changed.emit(True)
        if waiting is not None or slot in ("search", "recall"):
            self._since.setdefault(slot, time.monotonic())
        self._engine.submit(slot, self._newest[slot], verb)

    # --- answers --------------------------------------------------------------------------------
    def _take_answer(self, answer: Answer) -> None:
        if answer.slot == "open":
            self.opened.emit()
            self._watch.watch(self._path)  # not before: what agents are given is as secret as the space
            self.refresh()
            self._ask("warm_up", lambda service: service.warm_up())
            return
        if answer.slot == "growth":
            self.growing.emit(answer.result)
            return
        if answer.slot == "catch_up" and answer.result:
            self.asked_elsewhere.emit(answer.result)
        if answer.ticket != self._newest.get(answer.slot):
            return
        self._settle(answer.slot)
        waiting = self._waiting.pop(answer.ticket, None)
        if waiting is not None and waiting.then is not None:
            waiting.then(answer.result)
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
            started = time.perf_counter()
            signals[answer.slot].emit(answer.result)
            if answer.slot == "snapshot":
                self._pace((time.perf_counter() - started) * 1e3)

    def _pace(self, cost: float) -> None:
        """Gather changes for longer when a snapshot is dear to show, so that a burst of stores leaves the window free.

        cost: milliseconds that the views took for the last one.
        """
        self._frame.setInterval(round(min(SLOWEST_FRAME, max(FRAME, cost * FREE_SHARE))))

    def _take_failure(self, failure: Failure) -> None:
        if failure.slot == "open" and isinstance(failure.error, PassphraseNeeded):
            self.locked.emit(failure.error.wrong)
            return
        if failure.slot == "open":
            self.unavailable.emit(notice_of(failure.error))
            return
        if failure.slot in ("search", "recall"):
            self.busy_changed.emit(False)
        if failure.slot != "catch_up" and failure.ticket != self._newest.get(failure.slot):
            return
        self._settle(failure.slot)
        waiting = self._waiting.pop(failure.ticket, None)
        if waiting is None or waiting.otherwise is None or not waiting.otherwise(failure.error):
            self.noticed.emit(notice_of(failure.error))

    def _settle(self, slot: str) -> None:
        """The slot has its answer; an edit's own slot is not asked again."""
        self._since.pop(slot, None)
        if slot.startswith(EDIT):
            self._newest.pop(slot, None)

    def _take_event(self, event: Event) -> None:
        if isinstance(event, SpaceChanged):
            for kind in _KINDS:
                self._gathered[kind].update(dict.fromkeys(getattr(event.changes, kind)))
            self._version = event.changes.version
            if not self._frame.isActive():
                self._frame.start()
        else:
            self.happened.emit(event)

    def _take_news(self) -> None:
        if news := self._watch.take():
            self.news.emit(news)

    def _tell_changes(self) -> None:
        changes = Changes(self._version, **{kind: tuple(ids) for kind, ids in self._gathered.items()})
        self._gathered.clear()
        self._picture.is_stale |= bool(changes.accessed)
        self.changed.emit(changes)
        self.refresh()


_KINDS = ("stored", "edited", "inhibited", "released", "removed", "accessed", "moved")


def notice_of(error: Exception) -> Notice:
    """An error in the words for people; grave when the space itself cannot be used."""
    if isinstance(error, UserError):
        return Notice(said(error.message), said(error.advice), grave=isinstance(error, SpaceUnavailable))
    if isinstance(error, ModelUnavailable):
        return Notice(said(str(error)), t("error.model_advice"))
    if not isinstance(error, EngineError):
        log.error("Unexpected: %r", error)
    return Notice(t("error.bug"), t("error.bug_advice"))
