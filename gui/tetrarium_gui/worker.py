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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QThread, Signal

from tetrarium.errors import PassphraseNeeded
from tetrarium.events import Event, SpaceChanged
from tetrarium.mcp.clearing import cleared
from tetrarium.mcp.host import Host
from tetrarium.model import SpaceSnapshot
from tetrarium.service import EVERYWHERE, WINDOW, MemoryService, decrypt, encrypt, fill_sample, lock_of, rekey

log = logging.getLogger(__name__)

LOOK_INTERVAL = 0.5
"""Seconds between looks for what other processes stored in the same space, where nobody tells."""
SOONEST_LOOK = 0.1
"""Seconds between looks where the host tells that there is something to see."""
GROWTH_INTERVAL = 0.3
"""Seconds between pictures of a sample space while it is being filled."""
DRAIN_TIME = 10.0
"""Seconds that quitting waits for the job in hand."""

__all__ = [
    "EVERYWHERE",
    "WINDOW",
    "Answer",
    "EngineThread",
    "Failure",
    "Picture",
    "Recode",
    "Verb",
    "filling",
    "lock_of",
]

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


@dataclass(frozen=True, slots=True)
class Recode:
    """Another key for the files of a space, for which it is closed and opened again.

    way: "encrypt", "rekey" or "decrypt"; old: the passphrase of now, None where there is none; new: the one from then
    on, None for the platform's keychain.
    """

    way: str
    old: str | None = None
    new: str | None = None

    def __repr__(self) -> str:
        """Passphrases stand in no log."""
        return f"Recode({self.way})"

    def run(self, folder: Path) -> Any:
        """Do it, while nobody has the space open: a host without clients is ended for it.

        Raises what `service.locking` does, and SpaceBusy naming the clients; then the space is as it was.
        """
        with cleared(folder):
            return self._run(folder)

    def _run(self, folder: Path) -> Any:
        if self.way == "decrypt":
            return decrypt(folder, passphrase=self.old)
        if self.way == "encrypt":
            return encrypt(folder, passphrase=self.new, keychain=self.new is None)
        return rekey(folder, passphrase=self.old, new_passphrase=self.new, keychain=self.new is None)


@dataclass(frozen=True, slots=True)
class _RecodeJob:
    slot: str
    ticket: int
    recode: Recode
    folder: Path


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
        self._waiting: dict[str, _Job | _RecodeJob] = {}
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

    def recode(self, slot: str, ticket: int, recode: Recode, folder: Path) -> None:
        """Close the space, give its files another key, open it again. From the window's thread; returns at once."""
        with self._door:
            self._waiting[slot] = _RecodeJob(slot, ticket, recode, folder)
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
        host = self._host(given)
        with self._door:
            self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()  # an event belongs to one loop
        try:
            is_open = await self._do(host, _Job("open", 0, self._open))
            while is_open and not self._closing:
                job = await self._next()
                if job is None:
                    break
                if isinstance(job, _RecodeJob):
                    host, is_open = await self._recoded(host, job)
                else:
                    await self._do(host, job)
        finally:
            closed = await asyncio.to_thread(host.close, DRAIN_TIME)
            if not closed:
                log.warning("A job was still running when the window closed; what was stored is safe.")

    def _host(self, passphrase: str | None) -> Host:
        return Host(self._path) if passphrase is None else Host(self._path, passphrase=passphrase)

    async def _next(self) -> _Job | _RecodeJob | None:
        """One waiting job, or, when none comes for a while, a look at what others stored; None when it is to end."""
        while not self._closing:
            with self._door:
                if self._waiting:
                    return self._waiting.pop(next(iter(self._waiting)))
                self._wake.clear()
            due = self._looked + (SOONEST_LOOK if self._hurry else LOOK_INTERVAL) - time.monotonic()
            try:
                async with asyncio.timeout(max(0.0, due)):
                    await self._wake.wait()
            except TimeoutError:
                self._looked, self._hurry = time.monotonic(), False
                return _Job("catch_up", 0, self._look)
        return None

    async def _recoded(self, host: Host, job: _RecodeJob) -> tuple[Host, bool]:
        """The space closed, recoded, and open again, under the old key where that failed; and whether it opened."""
        await asyncio.to_thread(host.close, DRAIN_TIME)
        outcome: Answer | Failure
        try:
            outcome = Answer(job.slot, job.ticket, await asyncio.to_thread(job.recode.run, job.folder))
        except Exception as error:  # as in `_do`
            log.info("%s failed", job.recode.way, exc_info=True)
            outcome = Failure(job.slot, job.ticket, error)
        if isinstance(outcome, Answer):
            passphrase = None if job.recode.way == "decrypt" else job.recode.new
        else:  # a passphrase that is wrong is told before anything is locked: what was unlocked still is
            passphrase = None if isinstance(outcome.error, PassphraseNeeded) else job.recode.old
        again = self._host(passphrase)
        is_open = await self._do(again, _Job("open", 0, self._open))
        if not self._closing:
            self.answered.emit(outcome) if isinstance(outcome, Answer) else self.failed.emit(outcome)
        return again, is_open

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
