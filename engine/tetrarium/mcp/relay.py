"""The relay: what an IDE's server process is. It carries lines between its client and the host of the space.

Standard library only, and one thread beside a second that looks for a host: it is ready before the client has
drawn breath. It keeps every request until its answer is out. When the host goes away – killed, crashed, updated –
it finds or starts another, repeats the handshake there, and sends again what is unanswered, each line under the
number it had before, so that the host knows what such a call has written already. The client notices a pause.
"""

from __future__ import annotations

import json
import logging
import os
import re
import select
import signal
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from tetrarium.config import DEFAULTS
from tetrarium.mcp.lines import RequestId, Splitter, Unreadable, read_json, request_id
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

_ANSWER = re.compile(rb'^\{"jsonrpc":\s*"2\.0",\s*"id":\s*(-?\d+|"(?:[^"\\]|\\.)*"),\s*"(?:result|error)":')
"""A response as the host writes it."""

_STATE = {
    "initialize": "initialize",
    "notifications/initialized": "initialized",
    "logging/setLevel": "level",
    "resources/subscribe": "subscription",
    "resources/unsubscribe": "subscription",
}
"""What a session remembers, and so what a new host must be told again."""


@dataclass(slots=True)
class _Entry:
    """A line that a new host must see: unanswered, or one that made the session what it is (`state`)."""

    line: bytes
    request: RequestId | None
    state: str
    answered: bool = False


class Relay:
    """Carries lines between the client on two descriptors and whatever host its route leads to."""

    def __init__(self, wire_in: int, wire_out: int, route: Route) -> None:
        self._wire_in, self._wire_out, self._route = wire_in, wire_out, route
        self._from_client, self._from_host = Splitter(), Splitter()
        self._to_client, self._to_host = bytearray(), bytearray()
        self._host: socket.socket | None = None
        self._woken, self._waking = os.pipe()
        self._found: list[socket.socket | Exception] = []
        self._reaching = False
        self._number = 0
        self._entries: dict[int, _Entry] = {}
        self._open: dict[RequestId, deque[int]] = {}
        self._states: dict[str, int] = {}
        self._held = 0
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
        if self._until is None and self._held < _HELD and len(self._to_host) < _HELD:
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
        waits = self._to_client or self._host or any(not entry.answered for entry in self._entries.values())
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
        """One line of the client: answered here when it cannot be read, else numbered, kept and sent."""
        try:
            message = read_json(line)
        except Unreadable as error:
            self._to_client += error.answer() + b"\n"
            return
        self._number += 1
        if isinstance(message, dict):
            self._keep(message, line)
        if self._host:
            self._to_host += b"%d %b\n" % (self._number, line)
        elif self._number not in self._entries:
            self._keep_unanswerable(line)

    def _keep(self, message: dict[str, Any], line: bytes) -> None:
        """Remember what a new host would have to see again."""
        request, method, params = request_id(message), message.get("method"), message.get("params")
        if method == "notifications/cancelled" and isinstance(params, dict):
            self._settle(params.get("requestId"))
        state = _STATE.get(method, "") if isinstance(method, str) else ""
        if state == "subscription" and isinstance(params, dict):
            state += f" {params.get('uri')}"
        if request is None and not state:
            return
        if "method" not in message and not {"result", "error"}.isdisjoint(message):
            return  # the client's answer to a question of the host's
        self._entries[self._number] = _Entry(line, request, state)
        self._held += len(line)
        if request is None:
            self._close(self._number)
        else:
            self._open.setdefault(request, deque()).append(self._number)

    def _keep_unanswerable(self, line: bytes) -> None:
        """A line without an id, while there is no host: it is sent once, in its turn."""
        self._entries[self._number] = _Entry(line, None, "once")
        self._held += len(line)

    def _settle(self, request: Any) -> None:
        """The oldest request of this id is answered, or cancelled."""
        if not isinstance(request, str | int) or request not in self._open:
            return
        numbers = self._open[request]
        number = numbers.popleft()
        if not numbers:
            del self._open[request]
        self._close(number)

    def _close(self, number: int) -> None:
        """Nothing is waited for any more; what made the session what it is stays, in place of what it replaces."""
        entry = self._entries[number]
        entry.answered = True
        done: int | None = number
        if entry.state:
            done = self._states.get(entry.state)
            self._states[entry.state] = number
        if done is not None:
            self._held -= len(self._entries.pop(done).line)

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
        takes_over = any(entry.answered for entry in self._entries.values())

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
        for number, entry in list(self._entries.items()):
            line = self._renamed(number, entry.line) if entry.answered and entry.request is not None else entry.line
            self._to_host += b"%d %b\n" % (number, line)
            if entry.state == "once":
                self._held -= len(self._entries.pop(number).line)
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
            self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        """One line of the host; answers to what the relay itself has repeated stay here."""
        if match := _ANSWER.match(line):
            request = json.loads(match[1])
            if isinstance(request, str) and request.startswith(self._route.relay):
                return
            self._settle(request)
        self._to_client += line + b"\n"

    def _lose(self, error: OSError | None) -> None:
        """The host is gone. Half a line of it is dropped: what it answered will be asked again."""
        assert self._host
        self._host.close()
        self._host = None
        self._to_host.clear()
        if self._until is not None:
            self._entries.clear()
        else:
            log.info("the host is gone (%s); looking for another", error or "it closed the connection")
            self._reach()

    def _say_goodbye(self) -> None:
        """When the client has left and all it said is sent: tell the host that nothing more will come."""
        if self._until is not None and self._host and not self._to_host:
            try:
                self._host.shutdown(socket.SHUT_WR)
            except OSError as error:
                log.info("the host went first: %s", error)

    def _renamed(self, number: int, line: bytes) -> bytes:
        """A request that was answered before, under an id of the relay's own."""
        message = json.loads(line) | {"id": f"{self._route.relay}-{number}"}
        return json.dumps(message).encode()
