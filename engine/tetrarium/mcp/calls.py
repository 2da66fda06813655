"""One client's way to the lane: its verbs run in the order in which it called them, and it hears how they fare.

A call that takes long tells a client that gave a progress token once a second that it goes on, and why it waits; such
a client may count that as a sign of life. A call that is cancelled while it still queues is not run; one that runs
ends on the lane, and nobody hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from tetrarium.config import DEFAULTS
from tetrarium.mcp.context import Context
from tetrarium.mcp.host import Host

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

Result = TypeVar("Result")


class Calls:
    """The calls of one client: on the lane they have a queue of their own, and take turns with those of others."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, verb: Callable[[MemoryService], Result]) -> Result:
        """Run a verb and wait for it."""
        return await self._host.call(verb, self)

    async def run_long(self, verb: Callable[[MemoryService], Result], context: Context) -> Result:
        """The same, with signs of life to a client that asked for them with its request."""
        if not (context.meta and context.meta.get("progress_token") is not None):
            return await self.run(verb)
        begun = False

        def watched(service: MemoryService) -> Result:
            nonlocal begun
            begun = True
            return verb(service)

        clock = asyncio.get_running_loop().time
        asked = clock()
        running = asyncio.ensure_future(self.run(watched))
        try:
            while not (await asyncio.wait([running], timeout=DEFAULTS.progress_interval))[0]:
                message = "working" if begun else "waiting: the space is opening, or calls before this one are running"
                await context.session.report_progress(round(clock() - asked, 1), message=message)
            return running.result()
        finally:
            running.cancel()

    def submit(self, verb: Callable[[MemoryService], Result]) -> Future[Result]:
        """Run a verb without waiting for it."""
        return self._host.submit(verb, self)

    def aside(self, verb: Callable[[MemoryService], object]) -> None:
        """Run a small verb that nobody asked for: see `Host.aside`."""
        self._host.aside(verb, self)
