"""Reading the bytes of a store beside SQLite, in a process that may have the same store open.

POSIX takes away every lock that a process holds on a file as soon as the process closes any descriptor of that file.
Another program would then believe to be the last one, fold the write-ahead log and remove it, while this one still
writes to it. So a descriptor that was opened beside a connection is kept until the last connection to the file is closed.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

Identity = tuple[int, int]
"""Device and inode: the file itself, whatever it is called."""

_door = threading.Lock()
_connections: Counter[Identity] = Counter()
_kept: dict[Identity, list[BinaryIO | mmap.mmap]] = {}


def identity_of(file: Path) -> Identity | None:
    """The file under a name, None when there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def connected(identity: Identity | None) -> None:
    """This process has a connection to a store from now on."""
    if identity is not None:
        with _door:
            _connections[identity] += 1


def disconnected(identity: Identity | None) -> None:
    """A connection is closed; after the last one nothing is held any more."""
    if identity is None:
        return
    with _door:
        _connections[identity] -= 1
        if _connections[identity] > 0:
            return
        del _connections[identity]
        kept = _kept.pop(identity, [])
    for held in kept:
        held.close()


@contextmanager
def reading(file: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, read from its start. Raises OSError as `open` does."""
    stream = file.open("rb")
    try:
        yield stream
    finally:
        _let_go(file, stream)


@contextmanager
def mapped(file: Path) -> Iterator[mmap.mmap]:
    """The bytes of a file that is not empty, without reading them all at once. Raises OSError as `open` does."""
    with reading(file) as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            yield content
        finally:
            _let_go(file, content)  # it has a descriptor of its own


def _let_go(file: Path, held: BinaryIO | mmap.mmap) -> None:
    # The log and its index beside a store belong to its connection: the locks that matter most lie on the index.
    identity = identity_of(file.with_name(file.name.removesuffix("-wal").removesuffix("-shm")))
    with _door:
        if os.name == "posix" and identity is not None and _connections[identity] > 0:
            _kept.setdefault(identity, []).append(held)
            return
    held.close()
