"""The lane: one thread on which every job of a space runs, and the order in which jobs get there.

Each client has a queue of its own, and the clients take turns, one job each: whoever sends a thousand calls
at once waits for them himself, and the next client's single call waits for one of them, not for all.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class Lane:
    """One thread that runs jobs. Jobs of one client run in the order in which they came."""

    def __init__(self, name: str) -> None:
        self._door = threading.Condition()
        self._waiting: dict[Hashable, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        self._last: tuple[Future[Any], Callable[[], Any]] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Result], client: Hashable = None) -> Future[Result]:
        """Run the job when it is this client's turn. One that is cancelled before is not run. Raises RuntimeError
        when the lane is closed."""
        future: Future[Result] = Future()
        with self._door:
            if self._closed:
                raise RuntimeError("the lane is closed")
            self._waiting.setdefault(client, deque()).append((future, job))
            self._door.notify()
        return future

    def close(self, last: Callable[[], Result]) -> Future[Result]:
        """Take no more jobs; run what waits, then `last`, then end the thread."""
        future: Future[Result] = Future()
        with self._door:
            self._closed = True
            self._last = (future, last)
            self._door.notify()
        return future

    def drop(self) -> None:
        """Cancel every job that has not begun, the last one too."""
        with self._door:
            dropped = [job for queue in self._waiting.values() for job in queue]
            dropped += [self._last] if self._last else []
            self._waiting.clear()
            self._last = None
        for future, _ in dropped:
            future.cancel()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            future, run = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = run()
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the future
                future.set_exception(error)
            else:
                future.set_result(result)
            del job, future, run  # what an idle lane holds, nobody can free

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """The first job of the client whose turn it is; it goes behind the others then. None when all is done."""
        with self._door:
            while not self._waiting and not self._closed:
                self._door.wait()
            if self._waiting:
                client = next(iter(self._waiting))
                queue = self._waiting.pop(client)
                job = queue.popleft()
                if queue:
                    self._waiting[client] = queue
                return job
            last, self._last = self._last, None
            return last
