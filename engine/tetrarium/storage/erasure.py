"""Getting rid of bytes: what a deletion leaves in the store's file, and rows of it in copies of the store.

secure_delete overwrites what is deleted, and FTS5's own option the entries of its index. Neither is enough: when
SQLite parts or joins pages, copies of rows stay in the gaps between them (measured: 4 of 2,000 deleted tokens, whole),
and the index keeps short terms that once parted two of its pages. So the file is written anew after an erasure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from tetrarium.errors import SpaceUnavailable
from tetrarium.storage import backups, checks, cipher, seals
from tetrarium.storage import memories as rows
from tetrarium.storage.database import APPLICATION_ID, Database, explained

_TERM = 1
"""First byte of a term in FTS5's own tables: which of its indexes it belongs to."""

_BUSY = 5_000

_COPIED = (
    "content, content_hash, keywords, labels, entities, language, tokens, budget_tokens, author, session, file, project, "
    "client"
)


def compact(database: Database) -> None:
    """Write the file anew, so that nothing is left between its rows, and empty the log.

    Raises SpaceBusy while another program reads an older state, DiskFull.
    """
    with explained(database.path):
        connection = database.connection
        if _parts_pages_by_dead_terms(connection):
            with database.write():
                connection.execute("INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
                connection.execute(
                    "INSERT INTO fulltext (rowid, tokens) SELECT num, tokens FROM memories WHERE trashed_at IS NULL"
                )
        connection.execute("VACUUM")
    database.fold_log()


def erase_in(file: Path, purged: Sequence[str], masked: Sequence[str], store: Database) -> bool:
    """Take memories out of a copy of the store: `purged` whole, of `masked` every text but the store's present one.

    Whether it held any. The copy stays a space that opens; its time of change stays. Raises SpaceUnavailable when the
    file is not a store that can be opened.
    """
    before = file.stat()
    with explained(file):
        connection = cipher.connect(file)
        try:
            connection.set_busy_timeout(_BUSY)
            if connection.pragma("application_id") != APPLICATION_ID:
                raise SpaceUnavailable(f"{file.name} is not a copy of a space.")
            for pragma in ("journal_mode=DELETE", "secure_delete=ON", "foreign_keys=ON", "temp_store=MEMORY"):
                connection.execute(f"PRAGMA {pragma}")
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'seals'").fetchall():
                connection.execute(checks.DAMAGED)
                seals.know(connection)
                seals.watch(connection)
            found = {how: _numbers(connection, ids) for how, ids in (("purge", purged), ("mask", masked))}
            if not any(found.values()):
                if backups.is_newer_than_its_note(file):
                    backups.seal_anew(file)  # an earlier pass failed between the two
                return False
            # No block of the driver's own: after a failed write SQLite has rolled back already, and says so.
            connection.execute("BEGIN IMMEDIATE")
            for num in found["purge"].values():
                _purge(connection, num)
            for memory_id, num in found["mask"].items():
                _bring_up_to_date(connection, num, memory_id, store)
            connection.execute("COMMIT")
            connection.execute("VACUUM")
        finally:
            connection.close()
    if (file.parent / f"{file.name}.sum").exists():
        backups.seal_anew(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    return True


# --- private -------------------------------------------------------------------------------------


def _parts_pages_by_dead_terms(connection: apsw.Connection) -> bool:
    """Whether a term by which the full-text index finds its pages begins no word that it holds."""
    terms: list[Any] = connection.execute("SELECT term FROM fulltext_idx").fetchall()
    for (term,) in terms:
        start = bytes(term)[_TERM:].decode("utf-8", "ignore") if term else ""
        if start:
            found = connection.execute("SELECT term FROM vocabulary WHERE term >= ? LIMIT 1", (start,)).fetchall()
            if not found or not str(found[0][0]).startswith(start):
                return True
    return False


def _numbers(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, int]:
    query = "SELECT num FROM memories WHERE id = ?"
    found: dict[str, list[Any]] = {one: connection.execute(query, (one,)).fetchall() for one in ids}
    return {memory_id: int(row[0][0]) for memory_id, row in found.items() if row}


def _purge(connection: apsw.Connection, num: int) -> None:
    if connection.pragma("user_version") > 1:
        rows.scrub(connection, num)
    _unindex(connection, num)
    connection.execute("DELETE FROM memories WHERE num = ?", (num,))


def _bring_up_to_date(connection: apsw.Connection, num: int, memory_id: str, store: Database) -> None:
    """Give a memory of the copy the texts and the vector that the store has now, and no versions."""
    with store.read() as current:
        row: list[Any] = current.execute(f"SELECT {_COPIED} FROM memories WHERE id = ?", (memory_id,)).fetchall()
        vector: list[Any] = current.execute(
            "SELECT model, vector FROM vectors JOIN memories USING (num) WHERE id = ?", (memory_id,)
        ).fetchall()
    _unindex(connection, num)
    for table in ("versions", "requests", "vectors", "passages"):
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchall():
            connection.execute(f"DELETE FROM {table} WHERE num = ?", (num,))
    values: tuple[Any, ...] = row[0]
    columns = ", ".join(f"{name.strip()} = ?" for name in _COPIED.split(","))
    connection.execute(f"UPDATE memories SET {columns} WHERE num = ?", (*values, num))
    if vector:
        connection.execute("INSERT INTO vectors VALUES (?, ?, ?)", (num, *vector[0]))
    connection.execute(
        "INSERT INTO fulltext (rowid, tokens) SELECT num, tokens FROM memories WHERE num = ? AND trashed_at IS NULL",
        (num,),
    )


def _unindex(connection: apsw.Connection, num: int) -> None:
    connection.execute(
        "INSERT INTO fulltext (fulltext, rowid, tokens) SELECT 'delete', num, tokens FROM memories "
        "WHERE num = ? AND trashed_at IS NULL",
        (num,),
    )
