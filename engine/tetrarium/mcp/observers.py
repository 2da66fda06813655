"""The watchers of a space at its host: a window that follows what agents do. They are told; they ask nothing.

Nobody waits for a watcher. The lane hands an event over and goes on; the loop keeps a short queue for each watcher,
drops the oldest of it and says how many, and cuts off one that does not read. A watcher is no client: it keeps no
host alive, opens no space and warms nothing up.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tetrarium.mcp import news
from tetrarium.mcp.news import Asked, Clients, Committed, Missed, RecallSeen, SearchSeen, Told

if TYPE_CHECKING:
    from tetrarium.events import Event

log = logging.getLogger(__name__)

MOST_OBSERVERS = 8
"""Watchers of one host."""
WAITING = 64
"""News that wait for one watcher; of more the oldest are dropped."""
KEPT = 16
"""Questions that a watcher who comes later is told of."""
PATIENCE = 10.0
"""Seconds that a watcher may take to read what was sent."""
AFTER = 0.01
"""Seconds after an event at which watchers are told: the client's own answer goes first."""
UNSENT = 1 << 20
"""Bytes on their way to a watcher from which on the next line waits for him."""


class Observers:
    """All watchers of one host. Lives on the loop; only `hear` is called from the lane.

    names: the clients that are connected, asked for whenever a watcher is told.
    """

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self._names = names
        self._loop = asyncio.get_running_loop()
        self._seats: dict[_Seat, asyncio.StreamWriter] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._kept: deque[Asked] = deque(maxlen=KEPT)

    def __len__(self) -> int:
        """Watchers that are here."""
        return len(self._seats)

    def hear(self, event: Event) -> None:
        """An event of the space. From the lane: hands it over and returns."""
        with suppress(RuntimeError):  # the loop has ended: so has everybody who would hear of it
            self._loop.call_soon_threadsafe(self._take, event, time.time())

    def clients_changed(self) -> None:
        """Somebody has come, gone or introduced himself."""
        if self._seats:
            clients = self._clients()
            for seat in self._seats:
                seat.tell_clients(clients)

    def admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a watcher that has said who it is, until it leaves; returns at once."""
        if len(self._seats) >= MOST_OBSERVERS:
            log.info("one more watcher was refused: %d are there", len(self._seats))
            writer.transport.abort()
            return
        task = self._loop.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    def close(self) -> None:
        """Everybody out."""
        for task in tuple(self._serving):
            task.cancel()
        for writer in self._seats.values():
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seat = _Seat()
        self._seats[seat] = writer
        writer.transport.set_write_buffer_limits(high=UNSENT)
        for told in self._kept:
            seat.tell(replace(told, fresh=False))
        seat.tell_clients(self._clients())
        telling = asyncio.create_task(_tell(seat, writer))
        listening = asyncio.create_task(reader.read(1))  # it has nothing to say: a word is an end as well
        try:
            await asyncio.wait((telling, listening), return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._seats[seat]
            for task in (telling, listening):
                task.cancel()
            for outcome in await asyncio.gather(telling, listening, return_exceptions=True):
                if isinstance(outcome, Exception):
                    log.info("a watcher was cut off: %r", outcome)
            writer.transport.abort()

    def _clients(self) -> Clients:
        names = tuple(self._names())
        return Clients(names[: news.MOST_NAMES], len(names), time.time())

    def _take(self, event: Event, at: float) -> None:
        told = _told(event, at)
        if isinstance(told, Asked):
            self._kept.append(told)
        for seat in self._seats:
            seat.tell(told)


class _Seat:
    """What waits for one watcher: news in their order, and of what has a state only the last."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self._waiting: deque[Told] = deque()
        self._missed = 0
        self._clients: Clients | None = None
        self._version = self._said = 0

    def tell(self, told: Told) -> None:
        if isinstance(told, Committed):
            self._version = told.version
            if told.version == self._said:
                return
        else:
            self._waiting.append(told)
            if len(self._waiting) > WAITING:
                self._waiting.popleft()
                self._missed += 1
        self.woken.set()

    def tell_clients(self, clients: Clients) -> None:
        self._clients = clients
        self.woken.set()

    def next(self) -> Told | None:
        """What is to be told next; None when all is said."""
        if self._clients is not None:
            told, self._clients = self._clients, None
            return told
        if self._missed:
            missed, self._missed = self._missed, 0
            return Missed(missed)
        if self._version != self._said:
            self._said = self._version
            return Committed(self._version)
        return self._waiting.popleft() if self._waiting else None


async def _tell(seat: _Seat, writer: asyncio.StreamWriter) -> None:
    """Send what waits in a seat, as it comes. Raises OSError, TimeoutError for a watcher that does not read."""
    while True:
        await seat.woken.wait()
        await asyncio.sleep(AFTER)
        seat.woken.clear()
        while (told := seat.next()) is not None:
            try:
                writer.write(news.line_of(told))
            except ValueError:  # half a character somewhere in it: no line of UTF-8
                log.exception("a piece of news cannot be told")
            async with asyncio.timeout(PATIENCE):
                await writer.drain()


def _told(event: Event, at: float) -> Told:
    from tetrarium.events import Recalled, Searched  # the engine is loaded by now: it has spoken

    if isinstance(event, Recalled):
        trace = event.trace
        ids = tuple(block.id for block in trace.blocks)
        return RecallSeen(event.client, at, trace.query[: news.LONGEST_QUERY], ids, trace.void_fraction, trace)
    if isinstance(event, Searched):
        result = event.result
        ids = tuple(hit.id for hit in result.hits[: news.MOST_IDS])
        return SearchSeen(event.client, at, result.query[: news.LONGEST_QUERY], ids, result.total)
    return Committed(event.changes.version)
