"""Erasing: until no file of a space holds a byte of a memory that is gone from the store.

A purge writes the memory's id into the table `erasures` in the same transaction that takes its rows out. What is left
to do after it – derived files, copies of the store, the gaps in the store's own file, the log – is done here and can
be done again: whoever dies in the middle leaves the ids, and the next open of the space goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tetrarium import paths
from tetrarium.errors import SpaceUnavailable
from tetrarium.model import PendingErasure
from tetrarium.storage import backups as copies
from tetrarium.storage import erasure as files
from tetrarium.storage import privacy as rows
from tetrarium.storage.database import Database

log = logging.getLogger(__name__)

_COPIES = ("*.db", "*.db.*.part", f"*{Path(paths.STORE_FILE).suffix}")


def backups_of(folder: Path) -> list[Path]:
    """Copies of the store that lie in the space, backups and damaged stores that were kept aside, in order of name."""
    found = {path for pattern in _COPIES for path in paths.files_in(folder, pattern)}
    return sorted(found - {folder / paths.STORE_FILE})


def pending(database: Database) -> tuple[PendingErasure, ...]:
    """Memories of which files may still hold bytes, with the copies that do until they are gone through."""
    names = tuple(path.name for path in backups_of(database.path.parent))
    return tuple(replace(erasure, backups=names) for erasure, _ in rows.PrivacyReader(database).erasures())


def finish(database: Database, *, at_once: int) -> bool:
    """Go on with what is being erased; whether nothing is left to do.

    at_once: bytes of backups up to which they are gone through now; larger ones wait for a quiet moment. Raises
    SpaceBusy while another program reads an older state, DiskFull, OSError; nothing is lost by calling again.
    """
    todo = rows.PrivacyReader(database).erasures()
    if not todo or not database.writable:
        return not todo
    folder = database.path.parent
    copies.sweep(folder)
    for derived in _derived(folder):
        derived.unlink(missing_ok=True)
    files.compact(database)
    found = backups_of(folder)
    if sum(path.stat().st_size for path in found) > at_once:
        return False
    purged = [erasure.memory for erasure, how in todo if how == "purge"]
    masked = [erasure.memory for erasure, how in todo if how == "mask"]
    # Every copy is gone through before the result counts.
    clean = [_is_clean(path, purged, masked, database) for path in found]
    if not all(clean):
        return False
    with database.write() as connection:
        rows.erased(connection, [erasure.memory for erasure, _ in todo])
    database.fold_log()
    return True


def _is_clean(copy: Path, purged: list[str], masked: list[str], database: Database) -> bool:
    """Erase in one copy; False when it cannot be read or written, and so stays listed."""
    try:
        files.erase_in(copy, purged, masked, database)
    except (SpaceUnavailable, OSError) as error:
        log.info("%s cannot be gone through: %s", copy.name, error)
        return False
    return True


def _derived(folder: Path) -> Iterator[Path]:
    """Files that hold words of memories and are made again when they are missing; also half-written ones."""
    yield folder / paths.SNAPSHOT_FILE
    yield from folder.glob(f"{paths.SNAPSHOT_FILE}.*")
