"""The words that define tables and indexes, against those of this program: no seal covers them, SQLite's own check believes
them, and a changed bit in one may change what is found or end every question in an error.
"""

from __future__ import annotations

import functools
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from tetrarium.storage import cipher, migrations

_FULLTEXT = "fulltext"


@functools.cache
def expected() -> dict[str, str]:
    """Name → definition, of everything in a store that this program makes."""
    with closing(apsw.Connection(":memory:")) as connection:
        for _, step in migrations.STEPS:
            step(connection)
        return _defined(connection)


def are_damaged(file: Path) -> bool:
    """Whether a store defines anything otherwise than this program does, or lacks it; of any schema, True for a failure to
    tell. Asked only when a statement failed that every store understands: very early stores define some tables otherwise."""
    try:
        with closing(cipher.connect(file, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            found = _defined(connection)
    except apsw.Error:
        return True
    return any(found.get(name) != sql for name, sql in expected().items())


def is_fulltext_sound(connection: apsw.Connection) -> bool:
    """Whether the full-text index is defined as it was made: a changed list of characters finds other words."""
    return _defined(connection).get(_FULLTEXT) == expected()[_FULLTEXT]


def define_fulltext(connection: apsw.Connection) -> None:
    """Put its definition right, in the transaction that is open. Nothing else about a table is kept there, so that no row is
    touched; a table whose definition cannot be read can be dropped no other way either."""
    connection.execute("PRAGMA writable_schema=ON")
    try:
        connection.execute(
            "UPDATE main.sqlite_schema SET sql = ? WHERE name = ? AND type = 'table'",
            (expected()[_FULLTEXT], _FULLTEXT),
        )
    finally:
        connection.execute("PRAGMA writable_schema=RESET")


def _defined(connection: apsw.Connection) -> dict[str, str]:
    # As bytes: a changed bit may leave what is no text any more.
    rows: list[Any] = connection.execute(
        "SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM main.sqlite_schema "
        "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
    ).fetchall()
    return {_text(name): " ".join(_text(sql).split()) for name, sql in rows}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
