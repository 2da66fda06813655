"""The host of one space: the lane, a single thread on which the service lives and every verb runs.

The lane is the lock. The endpoint and the window's worker both use this class; neither touches the
service from another thread. The engine is imported by the first job on the lane, so that whoever made
the host can answer its client meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tetrarium.config import DEFAULTS
from tetrarium.errors import UserError
from tetrarium.mcp.lane import Lane

if TYPE_CHECKING:
    from tetrarium.events import Listener
    from tetrarium.service import MemoryService

log = logging.getLogger(__name__)

Result = TypeVar("Result")


class Host:
    """Owns the service of one space.

    path: data folder, None for the default one; listener: hears the events of the space, on the lane; settings:
    overrides of config.Settings. The space is opened by the first job; one that cannot be opened (SpaceUnavailable) is
    tried again by the next.
    """

    def __init__(self, path: Path | None = None, *, listener: Listener | None = None, **settings: Any) -> None:
        self._path = path
        self._listener = listener
        self._settings = settings
        self._service: MemoryService | None = None
        self._lane = Lane("tetrarium-lane")
        self._warming = threading.Lock()
        self._calls = 0

    def warm_up(self) -> None:
        """Begin to open the space and to load model and indexes, once; calls made meanwhile wait in the lane."""
        if self._warming.acquire(blocking=False):
            self.submit(lambda service: service.warm_up()).add_done_callback(_log_failure)

    def submit(self, verb: Callable[[MemoryService], Result], client: Hashable = None) -> Future[Result]:
        """Run `verb(service)` on the lane, after everything that this client submitted before."""
        self._calls += 1
        return self._lane.submit(lambda: verb(self._open()), client)

    def aside(self, verb: Callable[[MemoryService], object], client: Hashable = None) -> None:
        """Run a small verb that nobody asked for on the lane, after what this client submitted before: it counts as
        no call, opens no space, and nobody hears of its outcome. After the end of the lane it does nothing."""

        def run() -> None:
            if self._service is not None:
                verb(self._service)

        with contextlib.suppress(RuntimeError):
            self._lane.submit(run, client)

    async def call(self, verb: Callable[[MemoryService], Result], client: Hashable = None) -> Result:
        """Run `verb(service)` on the lane and wait. A call cancelled while it still queues is not run."""
        return await asyncio.wrap_future(self.submit(verb, client))

    async def tend(self) -> None:
        """Do the space's own work in quiet moments, until cancelled: count accesses, complete vectors."""
        tended = self._calls
        while True:
            seen = self._calls
            await asyncio.sleep(DEFAULTS.quiet_time)
            while self._service is not None and seen == self._calls != tended:
                more = await asyncio.wrap_future(self._lane.submit(self._maintain))
                tended = tended if more else seen

    def close(self, timeout: float | None = None) -> bool:
        """Finish what was submitted, close the space, end the lane.

        With a timeout (seconds), calls that have not begun are dropped after it; False means that a job was
        still running then. The store is safe in that case too: what was not acknowledged was not committed.
        """
        closed = self._lane.close(self._shut)
        try:
            closed.result(timeout)
        except FutureTimeout:
            self._lane.drop()
            return False
        return True

    def _open(self) -> MemoryService:
        if self._service is None:
            from tetrarium.service import open_space  # the engine takes a second to import: on the lane, not before

            self._service = open_space(self._path, **self._settings)
            if self._listener is not None:
                self._service.events.subscribe(self._listener)
        return self._service

    def _maintain(self) -> bool:
        """One slice; True while there is more. What fails here has no caller: it is logged and left for later."""
        try:
            return self._service is not None and self._service.maintain()
        except UserError as error:
            log.warning("maintenance waits: %s", error)
        except Exception:
            log.exception("maintenance failed")
        return False

    def _shut(self) -> None:
        service, self._service = self._service, None
        if service is not None:
            service.close()


def _log_failure(job: Future[None]) -> None:
    """A warm-up has no caller to tell; the first call meets the same error and answers it."""
    error = None if job.cancelled() else job.exception()
    if isinstance(error, UserError):
        log.warning("the space is not open yet: %s", error)
    elif error is not None:
        log.error("the warm-up failed", exc_info=error)
