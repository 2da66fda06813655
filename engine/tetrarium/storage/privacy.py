"""Rows about privacy: what was masked, what is never stored, what is in quarantine, what is still being erased.

Functions that write take the connection of an open `Database.write()`, like those of `memories`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw

from tetrarium.model import Exclusion, MaskedSecret, PendingErasure
from tetrarium.storage import effects
from tetrarium.storage.database import Database
from tetrarium.storage.memories import log_change, microseconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TEXT_COLUMNS = ("content", "keywords", "labels", "entities", "author", "session", "file", "project", "client")
"""Columns of a memory that hold words of people; keywords, labels and entities are JSON lists."""

VERSION_COLUMNS = ("content", "keywords", "labels", "entities")
"""The same of an earlier version."""

_STRUCTURE = (
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL",
    "SELECT name FROM migrations",
    "SELECT key FROM meta",
    "SELECT DISTINCT op FROM history",
    "SELECT DISTINCT client FROM history",
    "SELECT DISTINCT kind || ' ' || field || ' ' || client FROM masked",
    "SELECT DISTINCT client || ' ' || project || ' ' || category || ' ' || memory_type FROM memories",
    "SELECT DISTINCT model FROM vectors",
)


# --- writing -------------------------------------------------------------------------------------


def note_masked(
    connection: apsw.Connection, memory_id: str, found: Iterable[tuple[str, str]], *, client: str, now: datetime
) -> None:
    """Add (kind, field) of secrets that were masked in one request. memory_id: "" where nothing was stored."""
    connection.executemany(
        "INSERT INTO masked (memory, kind, field, client, at) VALUES (?, ?, ?, ?, ?)",
        [(memory_id, kind, field, client, microseconds(now)) for kind, field in found],
    )


def add_exclusion(connection: apsw.Connection, kind: str, pattern: str, *, now: datetime) -> int:
    """Its number; the same exclusion again is the one that is there."""
    connection.execute(
        "INSERT OR IGNORE INTO exclusions (kind, pattern, added_at) VALUES (?, ?, ?)",
        (kind, pattern, microseconds(now)),
    )
    found: list[Any] = connection.execute(
        "SELECT id FROM exclusions WHERE kind = ? AND pattern = ?", (kind, pattern)
    ).fetchall()
    return int(found[0][0])


def remove_exclusion(connection: apsw.Connection, number: int) -> bool:
    """Whether there was one of that number."""
    connection.execute("DELETE FROM exclusions WHERE id = ?", (number,))
    return connection.changes() > 0


def set_quarantined(connection: apsw.Connection, num: int, why: str, *, now: datetime) -> None:
    """Put a memory into quarantine, or with "" take it out."""
    before: list[Any] = connection.execute("SELECT quarantined FROM memories WHERE num = ?", (num,)).fetchall()
    connection.execute("UPDATE memories SET quarantined = ? WHERE num = ?", (why, num))
    effects.note(connection, num, "quarantine", "", int(bool(before[0][0])), int(bool(why)))
    log_change(connection, num, "quarantine", now)


def drop_request(connection: apsw.Connection, num: int) -> None:
    """Forget the first answers that were kept for a memory under a client's key: a key may hold a secret too."""
    connection.execute("DELETE FROM requests WHERE num = ?", (num,))


def set_version_texts(connection: apsw.Connection, num: int, revision: int, texts: dict[str, str]) -> None:
    """Replace columns of VERSION_COLUMNS of an earlier version in place; its tokens are made anew when it comes back."""
    for column, value in texts.items():
        assert column in VERSION_COLUMNS, column
        connection.execute(
            f"UPDATE versions SET {column} = ?, tokens = '' WHERE num = ? AND revision = ?", (value, num, revision)
        )


def erased(connection: apsw.Connection, memory_ids: Iterable[str]) -> None:
    """No file holds a byte of these any more."""
    connection.executemany("DELETE FROM erasures WHERE memory = ?", [(memory_id,) for memory_id in memory_ids])


# --- reading -------------------------------------------------------------------------------------


class PrivacyReader:
    """Reads of these rows, each with the driver's errors explained."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def masked(self, limit: int) -> tuple[MaskedSecret, ...]:
        """Newest first."""
        rows = self._all("SELECT kind, field, memory, client, at FROM masked ORDER BY seq DESC LIMIT ?", (limit,))
        return tuple(MaskedSecret(kind, field, memory, client, _moment(at)) for kind, field, memory, client, at in rows)

    def exclusions(self) -> tuple[Exclusion, ...]:
        rows = self._all("SELECT id, kind, pattern, added_at FROM exclusions ORDER BY id", ())
        return tuple(Exclusion(number, kind, pattern, _moment(at)) for number, kind, pattern, at in rows)

    def quarantined(self) -> list[int]:
        """Numbers of memories outside the trash that wait for a person, newest first."""
        rows = self._all(
            "SELECT num FROM memories WHERE quarantined <> '' AND trashed_at IS NULL ORDER BY num DESC", ()
        )
        return [num for (num,) in rows]

    def erasures(self) -> tuple[tuple[PendingErasure, str], ...]:
        """What is not yet gone from every file, oldest first, each with how: purge or mask."""
        rows = self._all("SELECT memory, at, how FROM erasures ORDER BY at, memory", ())
        return tuple((PendingErasure(memory, _moment(at)), how) for memory, at, how in rows)

    def overdue(self, *, trashed_before: datetime | None, expired_before: datetime | None) -> list[int]:
        """Numbers of memories whose time in the trash or after their expiry is over; pinned ones never."""
        rows = self._all(
            "SELECT num FROM memories WHERE NOT pinned AND (trashed_at < ? OR expires_at < ?) ORDER BY num",
            (
                microseconds(trashed_before) if trashed_before else -(2**62),
                microseconds(expired_before) if expired_before else -(2**62),
            ),
        )
        return [num for (num,) in rows]

    def in_trash(self) -> list[int]:
        """Numbers of the memories in the trash, latest first."""
        rows = self._all("SELECT num FROM memories WHERE trashed_at IS NOT NULL ORDER BY trashed_at DESC, num DESC", ())
        return [num for (num,) in rows]

    def count(self) -> int:
        """All memories, those in the trash too."""
        return int(self._all("SELECT count(*) FROM memories", ())[0][0])

    def texts(self) -> Iterator[tuple[int, str, dict[str, str]]]:
        """(number, id, column → text) of every memory, those in the trash too."""
        columns = ", ".join(TEXT_COLUMNS)
        for num, memory_id, *values in self._all(f"SELECT num, id, {columns} FROM memories ORDER BY num", ()):
            yield num, memory_id, dict(zip(TEXT_COLUMNS, values, strict=True))

    def version_texts(self, num: int | None = None) -> Iterator[tuple[int, int, dict[str, str]]]:
        """(number, revision, column → text) of every earlier version, or of one memory's."""
        where, values = ("WHERE num = ?", (num,)) if num is not None else ("", ())
        for number, revision, *texts in self._all(
            f"SELECT num, revision, {', '.join(VERSION_COLUMNS)} FROM versions {where} ORDER BY num, revision", values
        ):
            yield number, revision, dict(zip(VERSION_COLUMNS, texts, strict=True))

    def structure(self) -> Iterator[str]:
        """Words that stand in the file of any space, whatever its memories say: of the schema, of what history calls
        things, names of programs and projects."""
        for query in _STRUCTURE:
            yield from (str(text) for (text,) in self._all(query, ()))

    def _all(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._database.read() as connection:
            return connection.execute(query, tuple(values)).fetchall()


def _moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)
