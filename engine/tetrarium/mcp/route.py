"""How a relay gets to a host: the one that owns the space, else one that it starts. Standard library only."""

from __future__ import annotations

import json
import logging
import os
import re
import select
import socket
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tetrarium import __version__, paths
from tetrarium.config import DEFAULTS
from tetrarium.mcp import meeting
from tetrarium.mcp.meeting import NoMeeting

log = logging.getLogger(__name__)

_PAUSE = 0.02
"""Seconds between two looks at a host that is starting or leaving."""

_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND

_GREETING_SIZE = 1_024
"""Bytes that a host's first line may have."""


class Unreachable(Exception):
    """Neither a shared host nor one of the relay's own can be had; the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way from one relay to the host of its space.

    folder: of the space; relay: the name under which its calls are known; host_options: of the hosts it starts.
    """

    folder: Path
    relay: str
    project: str
    host_options: tuple[str, ...]

    def reach(self, *, takes_over: bool) -> socket.socket:
        """A connection to a host that has said hello. Raises Unreachable.

        Where the space cannot be shared, or its owner cannot be talked to in time, the host is this relay's own: two
        programs on one space are safe, they only cost more.
        """
        try:
            return self._shared(takes_over)
        except NoMeeting as error:
            log.info("this client gets a host of its own: %s", error)
        try:
            return self._own(takes_over)
        except (NoMeeting, OSError) as error:
            raise Unreachable(str(error)) from error

    def _shared(self, takes_over: bool) -> socket.socket:
        until = time.monotonic() + DEFAULTS.host_patience
        folder = meeting.shared_folder(self.folder)
        while time.monotonic() < until:
            if connection := self._called_on(folder, takes_over, until):
                return connection
            lock = meeting.Lock(folder)
            try:
                if lock.take():
                    self._start(folder, lock, until)
                else:
                    time.sleep(_PAUSE)
            finally:
                lock.close()
        raise NoMeeting("the owner of the space did not answer in time")

    def _called_on(self, folder: Path, takes_over: bool, until: float) -> socket.socket | None:
        """A connection to the host that the space's address names; None when nobody is there (any more)."""
        address = meeting.address_of(folder)
        if address is None:
            return None
        if address.wire != meeting.WIRE:
            raise NoMeeting(f"the owner of the space is another Tetrarium (wire {address.wire})")
        try:
            connection = meeting.connect(address)
        except OSError:
            return None
        try:
            version = self._greet(connection, address.token, takes_over, until)
            if _is_newer(__version__, version) and meeting.ask_to_leave(connection):
                raise ConnectionError(f"it is Tetrarium {version}, and makes room for {__version__}")
        except OSError as error:
            connection.close()
            log.info("the host went away: %s", error)
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _greet(self, connection: socket.socket, token: str, takes_over: bool, until: float) -> str:
        """Say hello and wait for the answer: the host's version. Raises OSError when the host goes, NoMeeting when it
        stays silent."""
        hello = meeting.Hello(meeting.WIRE, token, self.relay, self.project, takes_over)
        connection.sendall(json.dumps(asdict(hello)).encode() + b"\n")
        said = b""
        while not said.endswith(b"\n") and len(said) < _GREETING_SIZE:
            connection.settimeout(max(_PAUSE, until - time.monotonic()))
            try:
                byte = connection.recv(1)
            except TimeoutError:
                raise NoMeeting("the owner of the space stays silent") from None
            if not byte:
                raise ConnectionError("it closed the connection")
            said += byte
        connection.settimeout(None)
        return str(json.loads(said)["version"])

    def _start(self, folder: Path, lock: meeting.Lock, until: float) -> None:
        """Start a host that outlives this relay, and give it the lock. Raises NoMeeting when none comes to be."""
        told, telling = os.pipe()
        try:
            with open(os.open(folder / paths.LOG_FILE, _APPENDING, 0o600), "ab") as errors:
                command = [*paths.program("tetrarium-mcp"), "--host", "--status", str(telling)]
                command += ["--lock", str(lock.descriptor), "--data-dir", str(folder), *self.host_options]
                with subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=(telling, lock.descriptor),
                    start_new_session=True,
                ):
                    os.close(telling)
                    telling = -1
                    ready, _, _ = select.select([told], [], [], max(_PAUSE, until - time.monotonic()))
            word = os.read(told, 64) if ready else b""
        except OSError as error:
            raise NoMeeting(f"no host can be started: {error}") from error
        finally:
            for descriptor in (told, telling):
                if descriptor >= 0:
                    os.close(descriptor)
        if word != meeting.READY:
            raise NoMeeting(f"a host was started and ended at once (see {folder / paths.LOG_FILE})")

    def _own(self, takes_over: bool) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [*paths.program("tetrarium-mcp"), "--host", "--connection", str(theirs.fileno())]
            command += ["--data-dir", str(self.folder), *self.host_options]
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, pass_fds=(theirs.fileno(),))
        self._greet(ours, "", takes_over, time.monotonic() + DEFAULTS.host_patience)
        return ours


def _is_newer(one: str, other: str) -> bool:
    """Whether a version is a later release than another: 0.10.0 is later than 0.9.1."""

    def release(version: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", version)[:3]]

    return release(one) > release(other)
