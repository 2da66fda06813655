"""`tetrarium-mcp` with the fixtures of the suite in front of it: a fresh one for each connection to a Unix socket.

    python fixture_endpoint.py SOCKET arguments of tetrarium-mcp …

The suite opens dozens of sessions, and each would import the protocol's SDK anew; so this process imports it once and
forks. The child takes the connection as its standard input and output and from there on is the shipped program.
Ends with its own input. For tests only.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from typing import Any

from suite_fixtures import plug_in

from tetrarium.mcp import session, stdio
from tetrarium.mcp.__main__ import main


class FixtureSession(session.Session):
    """A session of the shipped server, and what the suite wants to find beside it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        plug_in(self._server, self._notices.bus)


def serve(path: str, arguments: list[str]) -> None:
    """Fork an endpoint for each connection until standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen(64)
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            connection = door.accept()[0]
            if os.fork() == 0:
                door.close()
                for descriptor in (0, 1):
                    os.dup2(connection.fileno(), descriptor)
                connection.close()
                main(arguments)
            connection.close()


if __name__ == "__main__":
    stdio.Session = FixtureSession  # type: ignore[misc]  # the one place where the shipped session is made
    serve(sys.argv[1], sys.argv[2:])
