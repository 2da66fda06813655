"""Bring a whole space back to a copy, under everybody who has it open.

No file is swapped: the pages of the copy are written over those of the store through SQLite's own backup, which is one
transaction of the write-ahead log. Whoever else has the space open sees a commit like any other, finds `restore` in
the change log, and reads everything anew; a crash leaves either state, whole. What must not go back goes along:
history and the audit stay those of the living space, and no number or change is ever used twice. It is taken from the
living store when nobody can write there any more: not every row that others add, as of what was read, is in its log of
changes.
"""

from __future__ import annotations

import shutil
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from tetrarium import errors
from tetrarium.storage import checks, cipher, migrations, seals
from tetrarium.storage.backups import explained, settle
from tetrarium.storage.effects import UNDER_WAY
from tetrarium.storage.memories import microseconds

STAYING = ("history", "effects", "undoings", "audit", "retries", "erasures", "exclusions", "masked")
"""Tables that tell what happened and what a person decided for good: a restored space keeps what they say now."""

_KEPT_META = ("audit_key",)
"""Facts about the space that go with those tables."""

SPACE = 0
"""The number under which a change of the whole space stands in the change log."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A restore, as history tells it. copy, before: names of what it went back to, and of the copy made first; undoes:
    the entry that it takes back."""

    client: str
    copy: str
    before: str
    undoes: int | None
    at: datetime


def prepare(copy: Path, prepared: Path, *, application_id: int) -> None:
    """Make a copy of a copy, and bring it up to date. Raises NewerSpace, DamagedSpace."""
    with explained(prepared.parent):
        cipher.make_private(prepared)
        settle(copy)
        shutil.copyfile(copy, prepared)
        with closing(cipher.connect(prepared)) as connection:
            if connection.pragma("user_version") > migrations.SCHEMA_VERSION:
                raise errors.NewerSpace(
                    f"{copy.name} was made by a newer Tetrarium; nothing was restored.", advice="Update Tetrarium."
                )
            for pragma in ("journal_mode=DELETE", "foreign_keys=OFF", "secure_delete=ON"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            migrations.apply(connection, application_id=application_id)


def overwrite(live: Path, prepared: Path, seen: int, entry: Entry, *, busy_timeout: int) -> bool:
    """Write a prepared store over the living one, in one transaction, as an entry of history.

    seen: the last change of the living store that its copy holds; False when somebody changed anything since.
    """
    with closing(cipher.connect(prepared)) as source, closing(cipher.connect(live)) as target:
        for pragma in ("foreign_keys=OFF", "secure_delete=ON"):
            source.execute(f"PRAGMA {pragma}").fetchall()
        cipher.attach(source, live, "live")
        target.set_busy_timeout(busy_timeout)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
            target.execute(f"PRAGMA {pragma}").fetchall()
        backup = target.backup("main", source, "main")
        try:
            # The first step takes the write lock and holds it to the end: nobody commits from here on.
            backup.step(1)
            if _number(source, "SELECT ifnull(max(seq), 0) FROM live.changes") != seen:
                return False
            if _number(source, "PRAGMA live.user_version") != migrations.SCHEMA_VERSION:
                raise errors.NewerSpace(
                    f"The space in {live.parent} was brought up to date by a newer Tetrarium; nothing was restored.",
                    advice="Update Tetrarium here as well, and start it again.",
                )
            _take_along(source)  # through the connection that is being copied, which copies what is changed anew
            _sign(source, entry)
            backup.step(-1)
            backup.finish()
        finally:
            backup.close(True)
        # What cannot be folded now is folded later.
        with suppress(apsw.Error):
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def put_in_place(live: Path, copy: Path, aside: Path, *, last: int) -> None:
    """For a store that cannot be opened any more: keep its files under `aside`, and put a copy in its place. last: the
    last change that any copy tells of; those to come are counted on from there."""
    with explained(live.parent):
        aside.mkdir(mode=0o700)
        for file in sorted(live.parent.glob(f"{live.name}*")):
            file.replace(aside / file.name)
        part = live.with_name(f"{live.name}.part")
        settle(copy)
        cipher.make_private(part)
        shutil.copyfile(copy, part)
        with closing(cipher.connect(part)) as connection:
            for pragma in ("journal_mode=DELETE", "secure_delete=ON"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'changes'", (last,))
        part.replace(live)


# --- private -------------------------------------------------------------------------------------


def _take_along(connection: apsw.Connection) -> None:
    """Give the prepared store what of the living one stays."""
    connection.execute("BEGIN")
    for table in _staying(connection):
        _keep(connection, table)
    _go_on_counting(connection)
    connection.execute("COMMIT")


def _sign(connection: apsw.Connection, entry: Entry) -> None:
    """Enter the restore itself into the prepared store: history, and the change that tells others to read anew."""
    connection.execute(UNDER_WAY)
    connection.execute(checks.DAMAGED)
    seals.know(connection)
    seals.watch(connection)
    connection.execute("BEGIN")
    at = microseconds(entry.at)
    connection.execute(
        "INSERT INTO main.history (op, client, at) VALUES (?, ?, ?)",
        ("restore backup" if entry.undoes is None else "undo", entry.client, at),
    )
    number = connection.last_insert_rowid()
    connection.execute(
        "INSERT INTO main.effects (entry, num, aspect, key, before, after) VALUES (?, 0, 'space', ?, ?, ?)",
        (number, entry.copy, entry.before, entry.copy),
    )
    if entry.undoes is not None:
        connection.execute("INSERT INTO main.undoings VALUES (?, ?)", (number, entry.undoes))
    connection.execute("INSERT INTO main.changes (num, op, at) VALUES (?, 'restore', ?)", (SPACE, at))
    connection.execute("COMMIT")


def _staying(connection: apsw.Connection) -> list[str]:
    rows: list[Any] = connection.execute(
        "SELECT name FROM live.sqlite_schema WHERE type = 'table' AND name IN (SELECT name FROM main.sqlite_schema)"
    ).fetchall()
    return [name for (name,) in rows if name in STAYING]


def _keep(connection: apsw.Connection, table: str) -> None:
    """Give the prepared store the rows of the living one, past the triggers that keep the table append-only."""
    triggers: list[Any] = connection.execute(
        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", (table,)
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER main."{name}"')
    connection.execute(f'DELETE FROM main."{table}"')
    connection.execute(f'INSERT INTO main."{table}" SELECT * FROM live."{table}"')
    for _, sql in triggers:
        connection.execute(sql)
    codes = [kind.code for kind in seals.ALL if kind.table == table]
    for code in codes:
        connection.execute("DELETE FROM main.seals WHERE kind = ?", (code,))
        connection.execute("INSERT INTO main.seals SELECT * FROM live.seals WHERE kind = ?", (code,))


def _go_on_counting(connection: apsw.Connection) -> None:
    """Numbers of rows and changes go on from where the living store is, so that none means two things."""
    connection.execute(
        "UPDATE main.sqlite_sequence SET seq = max(seq, ifnull((SELECT l.seq FROM live.sqlite_sequence l "
        "WHERE l.name = main.sqlite_sequence.name), 0))"
    )
    connection.execute(
        "INSERT INTO main.sqlite_sequence SELECT name, seq FROM live.sqlite_sequence "
        "WHERE name NOT IN (SELECT name FROM main.sqlite_sequence)"
    )
    # The audit goes on, and so does the key that its rows are sealed with.
    connection.execute("INSERT OR REPLACE INTO main.meta SELECT * FROM live.meta WHERE key = 'audit_key'")
    following = [
        _number(
            connection, f"SELECT ifnull((SELECT CAST(value AS INTEGER) FROM {db}.meta WHERE key = 'next_component'), 1)"
        )
        for db in ("main", "live")
    ]
    connection.execute("INSERT OR REPLACE INTO main.meta VALUES ('next_component', ?)", (str(max(following)),))
    marks = ", ".join("?" * len(_KEPT_META))
    connection.execute(
        f"INSERT OR REPLACE INTO main.meta SELECT key, value FROM live.meta WHERE key IN ({marks})", _KEPT_META
    )
    seals.know(connection)
    kind = seals.META
    row = f"{kind.code}, {kind.number('r')}, {kind.part('r')}, {kind.hash_of('r')}"
    connection.execute(f"INSERT OR REPLACE INTO main.seals SELECT {row} FROM main.meta r")


def _number(connection: apsw.Connection, query: str) -> int:
    rows: list[Any] = connection.execute(query).fetchall()
    return int(rows[0][0])
