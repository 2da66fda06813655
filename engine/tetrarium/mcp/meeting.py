"""Where the relays of a space and its host meet: a lock, an address, a socket. Standard library only.

The lock is the operating system's own lock on a file inside the data folder: it is gone in the moment its
holder is, however that ended, so a crash, a reused process number or a leftover socket never looks like an
owner; and every spelling of the folder's path leads to the same file. The address beside it says where the
holder listens, because a program started by an IDE does not see the session variables that a socket's folder
depends on. The socket lies in a folder that only this user can enter.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from tetrarium import paths

if sys.platform != "win32":
    import fcntl

Record = TypeVar("Record")

WIRE = 1
"""Version of what relay and host say to each other; hosts refuse another one."""

LONGEST_SOCKET = 100
"""Bytes of a socket's path that every system takes (Linux 107, macOS 103)."""

_TEMPORARY = "/tmp"


READY, FAILED = b"ready", b"failed"
"""What a host tells the relay that started it: it listens, or it cannot."""


class NoMeeting(Exception):
    """Relay and host cannot meet here; the reason, for the log. The space is then served without sharing."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a host listens, and the word that only this user's programs can read."""

    wire: int
    process: int
    socket: str
    token: str


@dataclass(frozen=True, slots=True)
class Hello:
    """The first line of a relay. `relay` names it; `takes_over`: its client was served before, by a host that is gone."""

    wire: int
    token: str
    relay: str
    project: str
    takes_over: bool


@dataclass(frozen=True, slots=True)
class Visit:
    """The first line of a watcher: a window that is told what happens, and asks nothing."""

    wire: int
    token: str
    watches: bool


def introduction(line: bytes) -> Hello | Visit | None:
    """Who is there, by its first line; None for anything else."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _record(Hello, told) or _record(Visit, told)


def _record(kind: type[Record], told: Any) -> Record | None:
    """The record that a JSON object holds; None where a field is missing, unknown or of another type."""
    names = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(told, dict) or {name: type(value).__name__ for name, value in told.items()} != names:
        return None
    return kind(**told)


def possible() -> bool:
    """Whether this system has what meeting needs: sockets in the file system, and processes that outlive a session."""
    return sys.platform != "win32" and hasattr(socket, "AF_UNIX") and hasattr(os, "fork")


def shared_folder(folder: Path) -> Path:
    """The real path of a space's folder, made where it is missing. Raises NoMeeting where it cannot be shared."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise NoMeeting(f"{folder} cannot be used: {error}") from error


class Lock:
    """The right to be the host of a space. Held until it is closed in every process that has it.

    A relay that gets it passes it on to the host that it starts (`descriptor`), so that of many relays that miss their
    host at once only one starts another.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the lock's file. Raises NoMeeting where it cannot be, and where it belongs to another user."""
        self._file = folder / paths.LOCK_FILE
        try:
            self.descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise NoMeeting(f"{self._file} cannot be used: {error}") from error
        if os.fstat(self.descriptor).st_uid != os.getuid():
            self.close()
            raise NoMeeting(f"{self._file} belongs to another user.")

    def take(self, patience: float = 0.0) -> bool:
        """Become the owner; False when another is, also after `patience` seconds. Raises NoMeeting without locks."""
        until = time.monotonic() + patience
        while True:
            if self._try(fcntl.LOCK_EX):
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)

    def is_free(self) -> bool:
        """Whether nobody owns the space now. Raises NoMeeting without locks."""
        free = self._try(fcntl.LOCK_SH)
        if free:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        return free

    def close(self) -> None:
        os.close(self.descriptor)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise NoMeeting(f"{self._file} cannot be locked: {error}") from error
        return True


def listen(folder: Path) -> tuple[socket.socket, Address]:
    """A listening socket for the space in this folder, and its address; only the lock's holder may call this.

    A socket that a crashed owner left is taken away. Raises NoMeeting.
    """
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16] + ".sock"
    place = _private_folder(len(name) + 1) / name
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place.unlink(missing_ok=True)
        listening.bind(str(place))
        place.chmod(0o600)
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise NoMeeting(f"No socket can be made at {place}: {error}") from error
    return listening, Address(WIRE, os.getpid(), str(place), os.urandom(32).hex())


def announce(folder: Path, address: Address) -> None:
    """Tell the relays where to come. Raises NoMeeting."""
    file = folder / paths.ADDRESS_FILE
    fresh = file.with_name(f"{file.name}.{address.process}")
    try:
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            json.dump(asdict(address), stream)
        fresh.replace(file)
    except OSError as error:
        raise NoMeeting(f"{file} cannot be written: {error}") from error


def withdraw(folder: Path, address: Address) -> None:
    """Take address and socket away again, where they are still this host's (its folder may have been replaced)."""
    try:
        if address_of(folder) != address:
            return
    except NoMeeting:
        return
    for file in (folder / paths.ADDRESS_FILE, Path(address.socket)):
        with contextlib.suppress(OSError):
            file.unlink()


def address_of(folder: Path) -> Address | None:
    """Where the space's host listens or last listened; None when none has said so.

    Raises NoMeeting when what is there was not written by this user.
    """
    file = folder / paths.ADDRESS_FILE
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoMeeting(f"{file} cannot be read: {error}") from error
    with open(descriptor, encoding="utf-8") as stream:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise NoMeeting(f"{file} belongs to another user.")
        try:
            return _record(Address, json.load(stream))
        except (ValueError, RecursionError):
            return None


def connect(address: Address, *, patience: float | None = None) -> socket.socket:
    """A connection to the host at this address. Raises OSError when nobody listens or takes the call within `patience`
    seconds, NoMeeting when the wrong one does."""
    place = Path(address.socket)
    if not stat.S_ISSOCK(place.lstat().st_mode) or not _is_private(place.parent):
        raise NoMeeting(f"{place} is not a socket in a folder of this user's own.")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(patience)
    try:
        connection.connect(str(place))
        if not is_same_user(connection):
            raise NoMeeting(f"{place} is served by another user.")
    except BaseException:
        connection.close()
        raise
    return connection


def is_same_user(connection: socket.socket) -> bool:
    """Whether the program at the other end runs as this user. Where the system does not tell, the socket's folder
    and the token decide alone."""
    peer = _peer(connection)
    return peer is None or peer[1] == os.getuid()


def ask_to_leave(connection: socket.socket) -> bool:
    """Ask the host at the other end to finish, close the space, and end; False where the system cannot say who it is."""
    peer = _peer(connection)
    if peer is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(peer[0], signal.SIGTERM)
    return True


def _peer(connection: socket.socket) -> tuple[int, int] | None:
    """Process and user at the other end, as the system knows them."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    size = struct.calcsize("3i")
    process, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return process, user


def _private_folder(room: int) -> Path:
    """A folder that only this user can enter, with a path that leaves `room` bytes for a socket's name."""
    name = f"tetrarium-{os.getuid()}"
    session = (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}")
    places = [Path(place) / "tetrarium" for place in session if place and _is_private(Path(place))]
    places += [Path(tempfile.gettempdir()) / name, Path(_TEMPORARY) / name]
    for place in places:
        with contextlib.suppress(FileExistsError, OSError):
            place.mkdir(mode=0o700)
        if len(os.fsencode(place)) + room <= LONGEST_SOCKET and _is_private(place) and os.access(place, os.W_OK):
            return place
    raise NoMeeting(f"There is no folder of this user's own for a socket (tried {', '.join(map(str, places))}).")


def _is_private(folder: Path) -> bool:
    """A real folder, this user's, that nobody else can enter."""
    try:
        told = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid() and not told.st_mode & 0o077
