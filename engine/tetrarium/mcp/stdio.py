"""A session on two descriptors of this process, and when it ends.

Reading happens on a thread that blocks in the operating system, because no portable call waits for a
pipe, a file and a terminal alike; it holds no lock and dies with the process. Writing happens on a
thread as well: a client that does not read must not stop the loop that hears it leave.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tetrarium import __version__
from tetrarium.config import DEFAULTS
from tetrarium.mcp.host import Host
from tetrarium.mcp.lines import Splitter
from tetrarium.mcp.session import Session, Write

log = logging.getLogger(__name__)

_PIECE = 1 << 16
"""Bytes asked of the operating system at a time."""


def run(wire_in: int, wire_out: int, *, data_dir: Path | None, project: str) -> int:
    """Serve the client on these descriptors until it leaves; gives the exit code."""
    return asyncio.run(_serve(wire_in, wire_out, Host(data_dir), project))


async def _serve(wire_in: int, wire_out: int, host: Host, project: str) -> int:
    leave = asyncio.Event()
    _on_signal(leave)
    session = Session(host, project=project, version=__version__)
    serving = asyncio.create_task(session.serve(lines_of(wire_in), _writer(wire_out)))
    tending = asyncio.create_task(host.tend())
    leaving = [asyncio.create_task(leave.wait()), asyncio.create_task(_orphaned())]
    await asyncio.wait([serving, *leaving], return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, tending, *leaving):
        task.cancel()
    await asyncio.wait([serving, tending, *leaving], timeout=DEFAULTS.closing_time)
    if not await asyncio.to_thread(host.close, DEFAULTS.closing_time):
        log.warning("left while a call was still running; what was not acknowledged is not stored")
    if serving.done() and not serving.cancelled() and (error := serving.exception()):
        log.error("the session failed", exc_info=error)
        return 1
    return 0


async def lines_of(descriptor: int) -> AsyncIterator[bytes]:
    """Lines from a descriptor, without their ends; the last one may lack its end. A line beyond
    `request_limit` comes once, cut just above it, so that it can be refused without being kept."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=1)

    def hand_over(line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def read() -> None:
        try:
            for line in _split(descriptor):
                hand_over(line)
            hand_over(None)
        except (RuntimeError, asyncio.CancelledError):
            return  # the loop has ended; so does this thread

    threading.Thread(target=read, name="tetrarium-wire", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line


def _split(descriptor: int) -> Iterator[bytes]:
    splitter = Splitter()
    while piece := _read(descriptor):
        yield from splitter.feed(piece)
    if last := splitter.rest():
        yield last


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except OSError as error:
        log.info("the client's side cannot be read any more: %s", error)
        return b""


def _writer(descriptor: int) -> Write:
    thread = ThreadPoolExecutor(1, thread_name_prefix="tetrarium-wire-out")

    def write_all(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    async def write(line: bytes) -> None:
        await asyncio.get_running_loop().run_in_executor(thread, write_all, line)

    return write


def _on_signal(leave: asyncio.Event) -> None:
    """SIGTERM and SIGINT end the session like a client that leaves."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(leave.set))
        else:
            loop.add_signal_handler(number, leave.set)


async def _orphaned() -> None:
    """Ends when the program that started this one is gone, although another still holds our input open."""
    parent = os.getppid()
    while sys.platform == "win32" or parent == 1 or os.getppid() == parent:
        await asyncio.sleep(DEFAULTS.parent_watch)
    log.info("the program that started this one is gone")
