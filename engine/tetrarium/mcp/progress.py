"""Keeps a client company while its call takes long: a notice a second that it goes on, and why.

A client that gave a progress token may count these as signs of life and wait longer. A call that is cancelled while
it still queues is not run; one that runs ends on the lane, and nobody hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tetrarium.config import DEFAULTS
from tetrarium.mcp.context import Context
from tetrarium.mcp.host import Host

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

Result = TypeVar("Result")


async def call(host: Host, context: Context, verb: Callable[[MemoryService], Result]) -> Result:
    """Run a verb on the lane and wait, with signs of life to a client that asked for them."""
    if not (context.meta and context.meta.get("progress_token") is not None):
        return await host.call(verb)
    begun = False

    def run(service: MemoryService) -> Result:
        nonlocal begun
        begun = True
        return verb(service)

    clock = asyncio.get_running_loop().time
    asked = clock()
    running = asyncio.ensure_future(host.call(run))
    try:
        while not (await asyncio.wait([running], timeout=DEFAULTS.progress_interval))[0]:
            message = "working" if begun else "waiting: the space is opening, or calls before this one are running"
            await context.session.report_progress(round(clock() - asked, 1), message=message)
        return running.result()
    finally:
        running.cancel()
