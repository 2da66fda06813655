"""The watcher's side: finds the host of a space, listens to what it tells, and looks for the next one when it goes.

Blocking, for a thread of its own. It trusts what a relay trusts – an address that this user wrote, a socket in a folder that
only this user can enter, served by this user – and reads every line as input. It starts no host and keeps none alive:
without one it looks at the address now and then.
"""

from __future__ import annotations

import json
import logging
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from tetrarium.mcp import meeting, news
from tetrarium.mcp.lines import Splitter
from tetrarium.mcp.meeting import Address, NoMeeting
from tetrarium.mcp.news import Attached, News

log = logging.getLogger(__name__)

PAUSE = 0.3
"""Seconds between two looks for a host."""
PATIENCE = 5.0
"""Seconds that a host has to answer a greeting."""
GRUDGE = 30.0
"""Seconds for which a host that does not talk to watchers, or talks nonsense, is left alone."""
MOST_NONSENSE = 50
"""Lines of one host that are no news, after which it is left: a later version may say a few things not known here."""
_PIECE = 1 << 16
_GREETING = 1_024
"""Bytes of a host's first line."""


class Watcher:
    """Follows the hosts of the space in a folder, one after the other. tell: is handed every piece of news, on the
    thread that runs this."""

    def __init__(self, folder: Path, tell: Callable[[News], None]) -> None:
        self._folder, self._tell = folder.expanduser().resolve(), tell
        self._waking: socket.socket | None = None
        self._stopped = False
        self._left: tuple[Address, float] | None = None

    def run(self) -> None:
        """Watch until stopped."""
        woken, waking = socket.socketpair()
        with woken, waking:
            self._woken, self._waking = woken, waking
            self._follow()

    def _follow(self) -> None:
        while not self._stopped:
            connection = self._reach()
            if connection is not None:
                with connection:
                    self._tell(Attached(True))
                    self._listen(connection)
                self._tell(Attached(False))
            self._wait(None, PAUSE)

    def stop(self) -> None:
        """End soon. From any thread; also before it began, or when it has ended."""
        self._stopped = True
        if self._waking is not None:
            with suppress(OSError):  # ended: the socket is closed, and its number may be somebody else's by now
                self._waking.send(b".")

    def _reach(self) -> socket.socket | None:
        """A connection to a host that has greeted; None when there is none, or none for us."""
        try:
            address = meeting.address_of(self._folder)
            if address is None or address.wire != meeting.WIRE or self._is_left(address):
                return None
            connection = meeting.connect(address, patience=PATIENCE)
        except (OSError, NoMeeting, ValueError) as error:
            log.debug("no host to watch: %s", error)
            return None
        try:
            greet(connection, address.token)
        except (OSError, ValueError) as error:
            log.info("the host does not let us watch: %s", error)
            self._left = (address, time.monotonic() + GRUDGE)
            connection.close()
            return None
        self._left = (address, 0.0)
        connection.setblocking(False)
        return connection

    def _is_left(self, address: Address) -> bool:
        return self._left is not None and self._left[0] == address and time.monotonic() < self._left[1]

    def _listen(self, connection: socket.socket) -> None:
        """Pass on what this host tells, until it goes or says too much that is no news."""
        lines, nonsense = Splitter(news.LONGEST_LINE), 0
        while not self._stopped:
            self._wait(connection, None)
            try:
                piece = connection.recv(_PIECE)
            except BlockingIOError:
                continue
            except OSError as error:
                log.info("the host is gone: %s", error)
                return
            if not piece:
                return
            for line in lines.feed(piece):
                if (told := news.read(line)) is not None:
                    self._tell(told)
                    continue
                nonsense += 1
                if nonsense > MOST_NONSENSE:
                    log.warning("the host of this space talks nonsense; it is not watched for %g s", GRUDGE)
                    assert self._left
                    self._left = (self._left[0], time.monotonic() + GRUDGE)
                    return

    def _wait(self, connection: socket.socket | None, timeout: float | None) -> None:
        """Until something can be read, or `stop` was called, or the time is out (seconds)."""
        if not self._stopped:
            sources = [self._woken] if connection is None else [self._woken, connection]
            select.select(sources, [], [], timeout)


def greet(connection: socket.socket, token: str) -> None:
    """Say that we watch, and hear the host's first line. Raises OSError, ValueError."""
    connection.sendall(json.dumps(asdict(meeting.Visit(meeting.WIRE, token, True))).encode() + b"\n")
    until, said = time.monotonic() + PATIENCE, b""
    while not said.endswith(b"\n"):
        connection.settimeout(max(0.01, until - time.monotonic()))
        byte = connection.recv(1)
        if not byte or len(said) > _GREETING:
            raise ConnectionError("it closed the connection" if not byte else "its greeting has no end")
        said += byte
    if not isinstance(json.loads(said), dict):
        raise ValueError("its greeting is none")
