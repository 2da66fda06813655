"""The program that hosts a space for all its clients: one engine, one lane, one protocol loop a client.

A relay starts it (`tetrarium-mcp --host`). Detached, it becomes nobody's child, so that neither the end of the
IDE's process group nor that of its process tree reaches it; it keeps the lock that the relay has given it, says where
it listens, and ends some minutes after its last client. Attached, it serves one connection that it was born with, and ends with it:
for places where a shared host is impossible.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from tetrarium import __version__
from tetrarium.config import DEFAULTS
from tetrarium.mcp import meeting
from tetrarium.mcp.lines import Splitter

if TYPE_CHECKING:
    from tetrarium.mcp.host import Host
    from tetrarium.mcp.observers import Observers
    from tetrarium.mcp.session import Session

log = logging.getLogger(__name__)

_PIECE = 1 << 16
"""Bytes read of a client at a time."""

_UNSENT = 1 << 20
"""Bytes that may wait for a client who does not read; then its own loop stops, and only that."""

_HELLO_TIME, _HELLO_SIZE = 10.0, 8_192
"""Seconds that a connection has to say who it is, and bytes that it has for it."""


def detach(*kept: int) -> None:
    """Go on as nobody's child, in a session of its own; the process that was started ends here.

    A program that ends its children by walking the process tree does not find this one. kept: descriptors that it was
    given, for itself alone.
    """
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for descriptor in kept:
        os.set_inheritable(descriptor, False)


def run_detached(folder: Path, status: int, linger: float) -> int:
    """Be the host of the space in this folder until nobody wants it any more; gives the exit code."""
    try:
        listening, address = meeting.listen(folder)
    except meeting.NoMeeting as error:
        log.warning("this space cannot be shared: %s", error)
        _tell(status, meeting.FAILED)
        return 1
    return asyncio.run(_Reception(folder, address, linger).serve(listening, status))


def run_attached(folder: Path, descriptor: int) -> int:
    """Serve the relay at the other end of this socket until it leaves; gives the exit code."""
    return asyncio.run(_Reception(folder, None, 0).serve_one(socket.socket(fileno=descriptor)))


def _tell(status: int, word: bytes) -> None:
    try:
        os.write(status, word)
        os.close(status)
    except OSError as error:
        log.info("the relay that started this host is gone: %s", error)


class _Reception:
    """Lets relays in, one session each, and knows when to close."""

    def __init__(self, folder: Path, address: meeting.Address | None, linger: float) -> None:
        self._folder, self._address, self._linger = folder, address, linger
        self._leave, self._came = asyncio.Event(), asyncio.Event()
        self._clients: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._sessions: dict[Session, None] = {}
        self._observers: Observers
        self._host: Host
        self._session: type[Session]

    async def serve(self, listening: socket.socket, status: int) -> int:
        """Serve whoever comes until asked to end, or until nobody came for the time to linger."""
        assert self._address
        listening.setblocking(False)
        server = await asyncio.start_unix_server(self._accept, sock=listening)
        meeting.announce(self._folder, self._address)
        _tell(status, meeting.READY)
        self._open()
        async with asyncio.TaskGroup() as tasks:
            tending = tasks.create_task(self._host.tend())
            watching = tasks.create_task(self._watch())
            await self._leave.wait()
            tending.cancel()
            watching.cancel()
        meeting.withdraw(self._folder, self._address)
        server.close()
        return await self._close()

    async def serve_one(self, connection: socket.socket) -> int:
        """Serve this connection until it ends."""
        self._open()
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        serving = asyncio.create_task(self._serve_client(reader, writer))
        tending = asyncio.create_task(self._host.tend())
        leaving = asyncio.create_task(self._leave.wait())
        await asyncio.wait([serving, leaving], return_when=asyncio.FIRST_COMPLETED)
        for task in (serving, tending, leaving):
            task.cancel()
        await asyncio.wait([serving, tending, leaving], timeout=DEFAULTS.closing_time)
        return await self._close()

    def _open(self) -> None:
        """Imports the protocol's SDK, which takes a second: whoever is connected by now waits no longer than it must."""
        from tetrarium.mcp import session
        from tetrarium.mcp.host import Host
        from tetrarium.mcp.observers import Observers

        self._session = session.Session
        self._observers = Observers(self._names)
        self._host = Host(self._folder, listener=self._observers.hear if self._address else None)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leave.set)

    async def _close(self) -> int:
        """What is not answered by now, the relays ask the next host; an error of a call that ends early is no answer."""
        for client, writer in self._clients.items():
            writer.transport.abort()
            client.cancel()
        if self._clients:
            await asyncio.wait(self._clients, timeout=DEFAULTS.closing_time)
        self._observers.close()
        if not await asyncio.to_thread(self._host.close, DEFAULTS.host_closing_time):
            log.warning("left while a call was still running; what was not acknowledged is not stored")
        return 0

    async def _watch(self) -> None:
        """Ends the host when no client has been there for the time to linger."""
        while True:
            while self._clients:
                await asyncio.wait(self._clients)
            self._came.clear()
            try:
                async with asyncio.timeout(self._linger):
                    await self._came.wait()
            except TimeoutError:
                if not self._clients:  # else somebody is at the door
                    self._leave.set()
                    return

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.get_running_loop().create_task(self._serve_client(reader, writer))
        self._clients[client] = writer
        client.add_done_callback(self._clients.pop)

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stays = False
        try:
            pieces = Splitter()
            hello, first = await self._hello(reader, writer, pieces)
            if isinstance(hello, meeting.Visit):
                stays = True  # as a watcher, who is no client: the host does not wait for him
                self._observers.admit(reader, writer)
            elif hello is not None:
                self._came.set()
                await self._serve_session(hello, _lines(reader, pieces, first), writer)
        except (OSError, ValueError, TimeoutError) as error:
            log.info("a connection failed: %s", error)
        except Exception:
            log.exception("the session of a client failed")
        finally:
            if not stays:
                writer.close()

    async def _hello(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pieces: Splitter
    ) -> tuple[meeting.Hello | meeting.Visit | None, list[bytes]]:
        """Who is there, and the lines that came with it; None for whoever may not come in."""
        lines: list[bytes] = []
        async with asyncio.timeout(_HELLO_TIME):
            while not lines and pieces.held < _HELLO_SIZE:
                piece = await reader.read(_PIECE)
                if not piece:
                    return None, []
                lines = pieces.feed(piece)
        hello = meeting.introduction(lines[0]) if lines else None
        if hello is None or hello.wire != meeting.WIRE or not self._is_known(hello, writer):
            log.warning("a connection was refused")
            return None, []
        writer.write(json.dumps({"wire": meeting.WIRE, "version": __version__}).encode() + b"\n")
        await writer.drain()
        return hello, lines[1:]

    def _is_known(self, hello: meeting.Hello | meeting.Visit, writer: asyncio.StreamWriter) -> bool:
        """Whether it is a program of this user that has read the address. An attached host was born connected."""
        if self._address is None:
            return isinstance(hello, meeting.Hello)
        connection: socket.socket = writer.get_extra_info("socket")
        return meeting.is_same_user(connection) and hmac.compare_digest(
            hello.token.encode(), self._address.token.encode()
        )

    async def _serve_session(
        self, hello: meeting.Hello, lines: AsyncIterator[bytes], writer: asyncio.StreamWriter
    ) -> None:
        writer.transport.set_write_buffer_limits(high=_UNSENT)

        async def write(line: bytes) -> None:
            writer.write(line)
            await writer.drain()

        if hello.takes_over:
            self._host.warm_up()
        told = self._observers.clients_changed
        session = self._session(self._host, project=hello.project, version=__version__, relay=hello.relay, met=told)
        self._sessions[session] = None
        try:
            await session.serve(lines, write)
        finally:
            del self._sessions[session]
            told()

    def _names(self) -> list[str]:
        """The clients that have introduced themselves, one name a connection, in the order in which they came."""
        return [name for session in self._sessions if (name := session.client)]


async def _lines(reader: asyncio.StreamReader, pieces: Splitter, first: list[bytes]) -> AsyncIterator[bytes]:
    for line in first:
        yield line
    while piece := await reader.read(_PIECE):
        for line in pieces.feed(piece):
            yield line
