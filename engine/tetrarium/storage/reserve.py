"""A file that only holds room: given back when the disk is full, so that something can still be deleted.

SQLite needs room to delete, too: the write-ahead log grows before the file shrinks (measured: on a full disk DELETE
fails like INSERT).
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from tetrarium import paths
from tetrarium.storage.cipher import make_private

TIMES_FREE = 3
"""The reserve is made (again) when this many times its size is free."""


def keep(folder: Path, size: int) -> bool:
    """See to it that the reserve is there, where there is room for it; size in bytes, 0: none is wanted."""
    file = folder / paths.RESERVE_FILE
    if not size or is_kept(folder, size):
        return True
    with suppress(OSError):
        if shutil.disk_usage(folder).free < TIMES_FREE * size:
            return False
        make_private(file)
        with file.open("wb") as stream:
            # Random bytes: zeros may take no room on a file system that compresses.
            for _ in range(0, size, 1 << 20):
                stream.write(os.urandom(1 << 20))
            stream.truncate(size)
        return True
    with suppress(OSError):  # something else of that name: left alone, and no room to give back
        file.unlink(missing_ok=True)
    return False


def is_kept(folder: Path, size: int) -> bool:
    """Whether the reserve is there, whole."""
    file = folder / paths.RESERVE_FILE
    return file.is_file() and file.stat().st_size >= size


def release(folder: Path) -> bool:
    """Give the room back; False when there was none."""
    file = folder / paths.RESERVE_FILE
    if not file.is_file():
        return False
    file.unlink()
    return True
