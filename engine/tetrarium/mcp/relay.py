"""The relay: what an IDE's server process is. It carries lines between its client and the host of the space.

Standard library only, and one thread beside a second that looks for a host: it is ready before the client has
drawn breath. It keeps every request until its answer is out. When the host goes away – killed, crashed, updated –
it finds or starts another, repeats the handshake there, and sends again what is unanswered, each line under the
number it had before, so that the host knows what such a call has written already. The client notices a pause.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
import threading
import time
from typing import Any

from tetrarium.config import DEFAULTS
from tetrarium.mcp.ledger import Ledger
from tetrarium.mcp.lines import Splitter, Unreadable, read_json
from tetrarium.mcp.route import Route, Unreachable

log = logging.getLogger(__name__)

_PIECE = 1 << 16
"""Bytes read at a time."""

_SAFE_WRITE = 4_096
"""Bytes that a pipe which can be written takes without blocking (POSIX: PIPE_BUF)."""

_UNREAD = 1 << 20
"""Bytes for a client that does not read, at which the relay stops reading from the host."""

_HELD = 2 * DEFAULTS.request_limit
"""Bytes of unanswered requests at which the relay stops reading from its client."""


class Relay:
    """Carries lines between the client on two descriptors and whatever host its route leads to."""

    def __init__(self, wire_in: int, wire_out: int, route: Route) -> None:
        self._wire_in, self._wire_out, self._route = wire_in, wire_out, route
        self._ledger = Ledger(route.relay)
        self._from_client, self._from_host = Splitter(), Splitter()
        self._to_client, self._to_host = bytearray(), bytearray()
        self._host: socket.socket | None = None
        self._woken, self._waking = os.pipe()
        self._found: list[socket.socket | Exception] = []
        self._reaching = False
        self._until: float | None = None  # when the client has left: how long its last answers are waited for
        self._over = False

    def run(self) -> int:
        """Serve until the client leaves; gives the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        parent = os.getppid()
        try:
            while not self._is_over():
                self._turn()
                if parent not in (1, os.getppid()):
                    log.info("the program that started this one is gone")
                    return 0
        except Unreachable as error:
            log.error("there is no way to the space: %s", error)
            return 1
        return 0

    def _turn(self) -> None:
        """Wait until something can be read or written, and do that."""
        sources: list[Any] = [self._woken]
        if self._until is None and self._ledger.size < _HELD and len(self._to_host) < _HELD:
            sources.append(self._wire_in)
        if self._host and len(self._to_client) < _UNREAD:
            sources.append(self._host)
        targets: list[Any] = [self._wire_out] if self._to_client else []
        if self._host and self._to_host:
            targets.append(self._host)
        readable, writable, _ = select.select(sources, targets, [], self._pause())
        if self._wire_out in writable:
            self._write_out()
        if self._host in writable:
            self._send()
        if self._host and self._host in readable:
            self._receive()
        if self._wire_in in readable:
            self._read_in()
        if self._woken in readable:
            self._wake_up()

    def _pause(self) -> float:
        left = DEFAULTS.parent_watch if self._until is None else self._until - time.monotonic()
        return max(0.0, min(left, DEFAULTS.parent_watch))

    def _is_over(self) -> bool:
        if self._until is None or self._over:
            return self._over
        waits = self._to_client or self._host or not self._ledger.is_settled
        return not waits or time.monotonic() >= self._until

    def _end(self) -> None:
        self._over = True
        os.write(self._waking, b".")

    # --- the client -----------------------------------------------------------------------------

    def _read_in(self) -> None:
        try:
            piece = os.read(self._wire_in, _PIECE)
        except OSError as error:
            log.info("the client's side cannot be read any more: %s", error)
            piece = b""
        lines = self._from_client.feed(piece) if piece else [self._from_client.rest()]
        for line in lines:
            if line.strip():
                self._take(line)
        if not piece:
            self._until = time.monotonic() + DEFAULTS.drain_time + DEFAULTS.closing_time
            self._say_goodbye()
        elif not self._host and not self._reaching:
            self._reach()

    def _take(self, line: bytes) -> None:
        """One line of the client: answered here when it cannot be read, else entered and sent."""
        try:
            message = read_json(line)
        except Unreadable as error:
            self._to_client += error.answer() + b"\n"
            return
        numbered = self._ledger.take(line, message, sent=self._host is not None)
        if self._host:
            self._to_host += numbered

    def _write_out(self) -> None:
        try:
            sent = os.write(self._wire_out, self._to_client[:_SAFE_WRITE])
        except OSError as error:
            log.info("the client does not read any more: %s", error)
            self._over = True
            return
        del self._to_client[:sent]

    # --- the host -------------------------------------------------------------------------------

    def _reach(self) -> None:
        """Look for a host on a thread, which may take seconds; the client's side is served meanwhile."""
        takes_over = self._ledger.has_session

        def look() -> None:
            try:
                self._found.append(self._route.reach(takes_over=takes_over))
            except Exception as error:  # noqa: BLE001 - the main thread raises it
                self._found.append(error)
            os.write(self._waking, b".")

        self._reaching = True
        threading.Thread(target=look, name="tetrarium-route", daemon=True).start()

    def _wake_up(self) -> None:
        os.read(self._woken, 64)
        if not self._found:
            return
        found = self._found.pop()
        self._reaching = False
        if isinstance(found, Exception):
            raise found
        found.setblocking(False)
        self._host, self._from_host = found, Splitter(_HELD)
        for line in self._ledger.for_a_new_host():
            self._to_host += line
        self._say_goodbye()

    def _send(self) -> None:
        assert self._host
        try:
            sent = self._host.send(self._to_host[:_PIECE])
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        del self._to_host[:sent]
        self._say_goodbye()

    def _receive(self) -> None:
        assert self._host
        try:
            piece = self._host.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        if not piece:
            self._lose(None)
            return
        for line in self._from_host.feed(piece):
            if self._ledger.pass_on(line):
                self._to_client += line + b"\n"

    def _lose(self, error: OSError | None) -> None:
        """The host is gone. Half a line of it is dropped: what it was answering will be asked again."""
        assert self._host
        self._host.close()
        self._host = None
        self._to_host.clear()
        if self._until is None:
            log.info("the host is gone (%s); looking for another", error or "it closed the connection")
            self._reach()
        elif not self._ledger.is_settled:
            log.info("the host went before it had answered everything")
            self._ledger = Ledger(self._route.relay)  # the client has left as well: nobody waits any more

    def _say_goodbye(self) -> None:
        """When the client has left and all it said is sent: tell the host that nothing more will come."""
        if self._until is not None and self._host and not self._to_host:
            try:
                self._host.shutdown(socket.SHUT_WR)
            except OSError as error:
                log.info("the host went first: %s", error)
