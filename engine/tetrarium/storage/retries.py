"""Rows about calls that may be sent twice: what each of their transactions wrote, kept by the same transaction."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import apsw

from tetrarium.storage.database import Database
from tetrarium.storage.memories import microseconds


def remember_step(
    connection: apsw.Connection, key: str, step: int, result: Any, *, now: datetime, forget_before: datetime
) -> None:
    """Keep what the step-th transaction of a call gave, as JSON; drop what is older than `forget_before`."""
    connection.execute("DELETE FROM retries WHERE at < ?", (microseconds(forget_before),))
    told = json.dumps(result, ensure_ascii=False)
    connection.execute("INSERT INTO retries VALUES (?, ?, ?, ?)", (key, step, told, microseconds(now)))


def step_of(database: Database, key: str, step: int) -> tuple[Any] | None:
    """What that transaction gave, in a tuple; None when it was not made."""
    query = "SELECT result FROM retries WHERE key = ? AND step = ?"
    with database.read() as connection:
        row = connection.execute(query, (key, step)).fetchone()
    return (json.loads(row[0]),) if row else None
