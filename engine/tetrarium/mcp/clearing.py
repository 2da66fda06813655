"""A space that nobody hosts, for as long as its files are written anew: an idle host is asked to end, a busy one is named.

A host lingers for minutes after its last client and has the file open meanwhile. Who encrypts the space right after an
agent has used it need not wait for that. A host with clients is left alone: ending it would take their space from them.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tetrarium.errors import SpaceBusy
from tetrarium.mcp import meeting, news, watcher
from tetrarium.mcp.lines import Splitter
from tetrarium.mcp.meeting import Lock, NoMeeting
from tetrarium.mcp.news import Clients
from tetrarium.paths import LOCK_FILE

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that an idle host has to say so, and again to close the space and end."""
MOST_NAMES = 4
"""Clients that a refusal names."""
_PIECE = 1 << 16


@contextmanager
def cleared(folder: Path) -> Iterator[None]:
    """Inside, no host of the space in this folder runs, and none starts. Where that cannot be had – another system, a
    host that does not answer – it goes on: whoever needs the file alone is refused by whoever has it open.

    Raises SpaceBusy when clients are connected; then nothing was asked of anybody.
    """
    lock = None
    try:
        lock = _taken(folder.expanduser().resolve()) if meeting.possible() else None
    except (NoMeeting, OSError, ValueError) as error:
        log.info("the host of %s was not asked to end: %s", folder, error)
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


def _taken(folder: Path) -> Lock | None:
    """The right to host this space; None when nobody has ever hosted it, or its host does not go.

    Raises SpaceBusy; NoMeeting, OSError and ValueError when the host cannot be talked to.
    """
    if not (folder / LOCK_FILE).exists():
        return None
    lock = Lock(folder)
    try:
        if lock.take():
            return lock
        _ask(folder)
        if lock.take(PATIENCE):
            return lock
    except BaseException:
        lock.close()
        raise
    log.info("the host of %s was asked to end, and has not", folder)
    lock.close()
    return None


def _ask(folder: Path) -> None:
    """Ask the host to end if it has no clients. One that comes in this very moment is served by the next host."""
    address = meeting.address_of(folder)
    if address is None or address.wire != meeting.WIRE:
        raise NoMeeting("it is starting, or another Tetrarium")
    with meeting.connect(address, patience=PATIENCE) as connection:
        watcher.greet(connection, address.token)
        clients = _clients(connection)
        if clients.count:
            names = ", ".join(dict.fromkeys(clients.names[:MOST_NAMES]))
            raise SpaceBusy(
                f"Agents are connected to the space in {folder}, and nothing was changed: {names}.",
                advice="End them, or take this space out of their settings, then try again.",
            )
        meeting.ask_to_leave(connection)


def _clients(connection: socket.socket) -> Clients:
    """Who is connected, as the host tells every watcher. Raises OSError."""
    lines, until = Splitter(news.LONGEST_LINE), time.monotonic() + PATIENCE
    while True:
        connection.settimeout(max(0.01, until - time.monotonic()))
        piece = connection.recv(_PIECE)
        if not piece:
            raise ConnectionError("it closed the connection")
        for line in lines.feed(piece):
            if isinstance(told := news.read(line), Clients):
                return told
