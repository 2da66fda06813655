"""The engine's thread: an asyncio loop beside the window, and behind it the one lane of the space.

The only module of the window that knows the service. The engine is imported here, at the top, because
the program imports this module on the main thread before the thread starts: two threads that import the
same large packages at once can wait for each other (seen in measurements).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from tetrarium.events import Event, SpaceChanged
from tetrarium.mcp import meeting
from tetrarium.mcp.host import Host
from tetrarium.mcp.news import (
    Attached,
    Clients,
    Committed,
    Missed,
    News,
    RecallSeen,
    SearchSeen,
)
from tetrarium.mcp.watcher import Watcher
from tetrarium.model import SpaceSnapshot
from tetrarium.service import EVERYWHERE, WINDOW, MemoryService, fill_sample

log = logging.getLogger(__name__)

LOOK_INTERVAL = 0.5
"""Seconds between looks for what other processes stored in the same space, where nobody tells."""
SOONEST_LOOK = 0.1
"""Seconds between looks where the host tells that there is something to see."""
NEWS_KEPT = 200
"""News of the host that wait for the window; of more the oldest are dropped."""
GROWTH_INTERVAL = 0.3
"""Seconds between pictures of a sample space while it is being filled."""
DRAIN_TIME = 10.0
"""Seconds that quitting waits for the job in hand."""

__all__ = [
    "EVERYWHERE", "Answer", "Attached", "Clients", "EngineThread", "Failure", "Missed", "News", "Picture", "RecallSeen",
    "SearchSeen", "Verb", "WatchThread", "can_watch", "filling",
]  # fmt: skip

can_watch = meeting.possible
"""Whether agents share a host on this system, which can be watched."""

Verb = Callable[[MemoryService], Any]


Tell = Callable[[SpaceSnapshot], None]


def filling(stop: Callable[[], bool], tell: Tell) -> Verb:
    """The verb that stores the sample, telling a picture of the space now and then; `stop` is asked before each memory."""

    def fill(service: MemoryService) -> int:
        off = service.events.subscribe(_Growth(service, lambda answer: tell(answer.result)))
        try:
            return fill_sample(service, stop=stop)
        finally:
            off()

    return fill


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb returned, for the slot and ticket that asked."""

    slot: str
    ticket: int
    result: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """What a verb raised."""

    slot: str
    ticket: int
    error: Exception


@dataclass(frozen=True, slots=True)
class _Job:
    slot: str
    ticket: int
    verb: Verb


def _as_window(service: MemoryService, verb: Verb) -> Any:
    """Run a verb; what names no client is noted as done by the window."""
    with service.acting_as(WINDOW):
        return verb(service)


class Picture:
    """The snapshot that the window last got, brought up to date by the rows that changed. Runs on the lane."""

    def __init__(self) -> None:
        self._last: SpaceSnapshot | None = None
        self.is_stale = False
        """Counters have changed, of which the store keeps no log: the next one is taken whole."""

    def __call__(self, service: MemoryService) -> SpaceSnapshot:
        if self.is_stale:
            self._last, self.is_stale = None, False
        delta = service.snapshot_since(self._last.version) if self._last is not None else None
        self._last = (
            self._last.with_delta(delta) if self._last is not None and delta is not None else service.snapshot()
        )
        return self._last


class _Look:
    """What others stored and asked; with the work that waits for a quiet moment. Runs on the lane."""

    def __init__(self) -> None:
        self._seen: int | None = None  # the last row of the audit

    def __call__(self, service: MemoryService) -> Any:
        """What others asked since the last look, as the audit tells it."""
        service.catch_up()
        service.maintain()
        self._seen, questions = service.questions_since(self._seen)
        return questions


class _Growth:
    """Shows a space that is being filled by one long job: a snapshot now and then, taken between two stores."""

    def __init__(self, service: MemoryService, tell: Callable[[Answer], None]) -> None:
        self._service, self._tell = service, tell
        self._last = 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, SpaceChanged) and now - self._last > GROWTH_INTERVAL:
            self._last = now
            self._tell(Answer("growth", 0, self._service.snapshot()))


class EngineThread(QThread):
    """Runs verbs on the space's lane, one at a time, in the order asked.

    A slot holds one waiting job: a newer question takes the place of an older one that has not begun, so
    typing never queues. All signals are emitted from the engine's side and cross queued.
    """

    answered = Signal(object)
    failed = Signal(object)
    happened = Signal(object)

    def __init__(self, path: Path | None, *, sample: bool = False, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("engine")
        self._path, self._sample = path, sample
        self._waiting: dict[str, _Job] = {}
        self._door = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._closing = False
        self._passphrase: str | None = None
        self._look = _Look()
        self._looked, self._hurry = 0.0, False

    def open_with(self, passphrase: str) -> None:
        """Try a space again that could not be opened without a passphrase. From the window's thread."""
        self.wait()  # it ends by itself after the refusal
        self._passphrase = passphrase
        self.start()

    def submit(self, slot: str, ticket: int, verb: Verb) -> None:
        """Ask for `verb(service)`; the answer comes as a signal. From the window's thread; returns at once."""
        with self._door:
            self._waiting.pop(slot, None)
            self._waiting[slot] = _Job(slot, ticket, verb)
        self._ring()

    def look(self) -> None:
        """Look soon for what others stored: somebody has told that there is something. From any thread; returns at once."""
        self._hurry = True
        self._ring()

    def withdraw(self, slot: str) -> None:
        """Do not begin the job that waits in a slot, if one does. From the window's thread."""
        with self._door:
            self._waiting.pop(slot, None)

    def leave(self) -> None:
        """Drop what waits, let the job in hand finish, close the space; returns at once, `finished` tells the end."""
        with self._door:
            self._closing = True
            self._waiting.clear()
        self._ring()

    def close(self) -> bool:
        """Leave, and join. False when the time ran out."""
        self.leave()
        return self.wait(round(2000 * DRAIN_TIME))

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        given, self._passphrase = self._passphrase, None
        host = Host(self._path) if given is None else Host(self._path, passphrase=given)
        with self._door:
            self._loop = asyncio.get_running_loop()
        try:
            if await self._do(host, _Job("open", 0, self._open)):
                while not self._closing:
                    await self._next(host)
        finally:
            closed = await asyncio.to_thread(host.close, DRAIN_TIME)
            if not closed:
                log.warning("A job was still running when the window closed; what was stored is safe.")

    async def _next(self, host: Host) -> None:
        """One waiting job, or, when none comes for a while, a look at what others stored."""
        with self._door:
            job = self._waiting.pop(next(iter(self._waiting)), None) if self._waiting else None
            if job is None:
                self._wake.clear()
        if job is not None:
            await self._do(host, job)
            return
        due = self._looked + (SOONEST_LOOK if self._hurry else LOOK_INTERVAL) - time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, due)):
                await self._wake.wait()
        except TimeoutError:
            self._hurry = False
            await self._do(host, _Job("catch_up", 0, self._look))
            self._looked = time.monotonic()

    async def _do(self, host: Host, job: _Job) -> bool:
        try:
            result = await host.call(lambda service: _as_window(service, job.verb))
        except Exception as error:  # the worker loop is one of the two places that catch all (conventions 7)
            log.info("%s failed", job.slot, exc_info=True)
            if not self._closing:
                self.failed.emit(Failure(job.slot, job.ticket, error))
            return False
        self._tell(Answer(job.slot, job.ticket, result))
        return True

    def _open(self, service: MemoryService) -> int:
        """First job: listen to the space, and fill it with the sample where that was asked. Memories added."""
        added = 0
        if self._sample:
            stop = service.events.subscribe(_Growth(service, self._tell))
            added = fill_sample(service, stop=lambda: self._closing)
            stop()
        service.events.subscribe(self._tell_event)
        return added

    def _tell(self, answer: Answer) -> None:
        """Nobody listens any more once the window closes; a job that still runs then goes on to its end."""
        if not self._closing:
            self.answered.emit(answer)

    def _tell_event(self, event: Event) -> None:
        if not self._closing:
            self.happened.emit(event)

    def _ring(self) -> None:
        with self._door:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._wake.set)


class WatchThread(QThread):
    """Hears what the host of the space tells. News are kept until the window takes them, all at once.

    hurry: called for what the host has committed, on this thread.
    """

    arrived = Signal()

    def __init__(self, hurry: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("watch")
        self._hurry = hurry
        self._door = threading.Lock()
        self._news: deque[News] = deque()
        self._missed = 0
        self._watcher: Watcher | None = None

    def watch(self, folder: Path) -> None:
        """Begin, where hosts can be watched. From the window's thread."""
        if self._watcher is None and can_watch():
            self._watcher = Watcher(folder, self._hear)
            self.start()

    def take(self) -> tuple[News, ...]:
        """What came since the last time; first how many had to be dropped. From the window's thread."""
        with self._door:
            missed, self._missed = self._missed, 0
            news = tuple(self._news)
            self._news.clear()
        return (Missed(missed), *news) if missed else news

    def leave(self) -> None:
        """End; returns at once, `wait` waits."""
        if self._watcher is not None and self.isRunning():
            self._watcher.stop()

    def run(self) -> None:
        assert self._watcher is not None
        self._watcher.run()

    def _hear(self, told: News) -> None:
        if isinstance(told, Committed):
            self._hurry()
            return
        with self._door:
            first = not self._news
            if len(self._news) == NEWS_KEPT:
                self._news.popleft()
                self._missed += 1
            self._news.append(told)
        if first:
            self.arrived.emit()
