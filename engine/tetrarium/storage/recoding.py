"""Give every file of a space another key, or one, or none: each is copied, the copy recoded, checked, then swapped.

Nobody else may have the space open. A crash leaves the old file or the new one, never none; files that are no longer
needed are overwritten before they go (on drives that write elsewhere each time, that is a wish and no guarantee).
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw

from tetrarium import errors, paths
from tetrarium.storage import backups, cipher

_PART = ".recoding"
_BLOCK = 1 << 20


def refuse_without_room(folder: Path) -> None:
    """Every file is written anew beside itself, one after the other. A disk that fills up half-way would leave backups
    under a key that nobody has any more. Raises DiskFull; then nothing changed."""
    sizes = [
        file.stat().st_size for file in (folder / paths.STORE_FILE, *(copy.file for copy in backups.copies(folder)))
    ]
    wanted = max(sizes) + max(sizes) // 4 + (1 << 20)
    if shutil.disk_usage(folder).free < wanted:
        raise errors.DiskFull(
            f"Writing the files of {folder} anew needs {wanted / 1e6:.0f} MB of room, and there is less; nothing was changed.",
            advice="Free some space, then try again.",
        )


def recode_store(folder: Path, old: bytes | None, new: bytes | None) -> None:
    """Swap the store of a space for one of the same content under another key (None: without).

    Raises SpaceBusy when another program has it open, DamagedSpace when the new one is not sound; then nothing changed.
    """
    file = folder / paths.STORE_FILE
    with closing(_opened(file, old)) as connection:
        connection.set_busy_timeout(2_000)
        try:
            # Leaves the write-ahead log behind: refused while anybody else has the file open.
            if connection.pragma("journal_mode", "delete") != "delete":
                raise apsw.BusyError
            # Held until the connection is closed: what somebody stored meanwhile would be lost with the old file.
            connection.pragma("locking_mode", "exclusive")
            connection.execute("BEGIN EXCLUSIVE; COMMIT")
        except (apsw.BusyError, apsw.LockedError) as error:
            raise errors.SpaceBusy(
                f"Another program has the space in {folder} open; nothing was changed.",
                advice="End the agents, commands and other windows that use it, then try again.",
            ) from error
        _recode(connection, file, old, new)


def recode_backups(folder: Path, old: bytes | None, new: bytes | None) -> list[str]:
    """Recode every backup of a space; gives the names of those that could not be read, which are destroyed."""
    lost = []
    for copy in backups.copies(folder):
        key = None if cipher.is_plain(copy.file) else old
        try:
            with closing(_opened(copy.file, key)) as connection:
                _recode(connection, copy.file, key, new)
        except (errors.DamagedSpace, apsw.Error) as error:
            if isinstance(error, apsw.FullError) and old is None:
                continue  # it stays as it is, and is named among the plain files
            wipe(copy.file)
            backups.remove(copy)
            lost.append(copy.name)
    return lost


def opens(file: Path, key: bytes) -> bool:
    """Whether a store opens under a key."""
    with closing(_opened(file, key)) as connection:
        try:
            return connection.pragma("user_version") is not None
        except apsw.NotADBError:
            return False


def _recode(connection: apsw.Connection, file: Path, old: bytes | None, new: bytes | None) -> None:
    part = file.with_name(file.name + _PART)
    wipe(part)
    try:
        cipher.make_private(part)
        with closing(apsw.Connection(str(part))) as copy:
            if old is not None:
                cipher.give(copy, old)
            copy.pragma("temp_store", "memory")
            copy.pragma("journal_mode", "memory")
            with copy.backup("main", connection, "main") as backup:
                backup.step(-1)
            copy.execute("PRAGMA journal_mode=MEMORY")
            copy.pragma("rekey", cipher.raw(new) if new else "")
        with closing(_opened(part, new)) as copy:
            if copy.execute("PRAGMA integrity_check").fetchall() != [("ok",)] or _counts(copy) != _counts(connection):
                raise errors.DamagedSpace(
                    f"The recoded copy of {file.name} is not sound; the file was left as it is.",
                    advice="`tetrarium doctor` says what is damaged.",
                )
        _swap(part, file)
    finally:
        wipe(part)


def wipe(file: Path) -> None:
    """Overwrite a file, sync, remove it."""
    with suppress(FileNotFoundError):
        with file.open("r+b") as stream:
            _zero(stream.fileno())
        file.unlink()


def plain_files(folder: Path) -> list[str]:
    """SQLite files in a folder, or below it, that are not encrypted, by name."""
    return sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file() and cipher.is_plain(f))


def _opened(file: Path, key: bytes | None) -> apsw.Connection:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.pragma("temp_store", "memory")
    if key is not None:
        cipher.give(connection, key)
    return connection


def _counts(connection: apsw.Connection) -> dict[str, int]:
    names: list[Any] = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'vocabulary%' ORDER BY name"
    ).fetchall()
    counts: dict[str, int] = {}
    for (name,) in names:
        rows: list[Any] = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()
        counts[name] = rows[0][0]
    return counts


def _swap(part: Path, file: Path) -> None:
    """Put a file in the place of another, whose bytes are overwritten after it has lost its name."""
    with part.open("r+b") as stream:
        os.fsync(stream.fileno())
    if os.name == "nt":  # an open file keeps its name there
        part.replace(file)
        return
    with file.open("r+b") as before:
        part.replace(file)
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        _zero(before.fileno())


def _zero(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    for start in range(0, size, _BLOCK):
        os.write(descriptor, bytes(min(_BLOCK, size - start)))
    os.fsync(descriptor)
    os.ftruncate(descriptor, 0)
