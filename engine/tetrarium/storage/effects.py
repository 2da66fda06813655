"""What an operation did, written by the very functions that change rows, in the same transaction: no change escapes.

An effect names states, never contents: the text of a memory is told by revisions of `versions`, so that a memory
deleted for good leaves nothing here. Entries and effects are never changed: what takes one back is an entry of
its own, linked to it. Which operation is under way stands in a temporary table of the connection, so that an
operation that changes nothing writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import apsw

State = int | str | None
"""What an aspect of a memory was or is: a number, or a short JSON text; never content."""

NONE, LIVE, TRASHED, GONE = 0, 1, 2, 3
"""States of the aspect `presence`: not there yet, in the space, in the trash, deleted for good."""

UNDER_WAY = "CREATE TEMP TABLE IF NOT EXISTS operation (op TEXT, client TEXT, at INTEGER, entry INTEGER)"
"""Every connection that writes makes this first."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One aspect of one memory (num; 0: of the space) went from one state to another.

    presence: NONE … GONE; key of one that is gone: its id. place: where it stood before it went to the trash. text: revisions. standing: JSON of pin and expiry.
    edge (an inhibition), relation: key is its number, 1 in force. feedback: key is recall and client, 1 helped, 0 misled.
    contradiction: key is the older memory, 1 dismissed. name: key is a cluster. plan: key is its id.
    quarantine: 1 while a memory waits for a person.
    space: the whole space was restored; key is the backup, before is the one that was made first.
    """

    entry: int
    num: int
    aspect: str
    key: str
    before: State
    after: State


def begin(connection: apsw.Connection, op: str, client: str, at: int) -> None:
    """Say what the changes of this transaction belong to. at: microseconds since 1970."""
    connection.execute("DELETE FROM temp.operation")
    connection.execute("INSERT INTO temp.operation VALUES (?, ?, ?, NULL)", (op, client, at))


def finish(connection: apsw.Connection) -> int | None:
    """The operation is over; gives its entry, or None when it changed nothing."""
    rows: list[Any] = connection.execute("SELECT entry FROM temp.operation").fetchall()
    connection.execute("DELETE FROM temp.operation")
    return rows[0][0] if rows else None


def note(connection: apsw.Connection, num: int, aspect: str, key: object, before: State, after: State) -> None:
    """Add an effect to the operation under way; outside of one, to an entry of its own."""
    if before != after:
        row = (_entry(connection), num, aspect, str(key), before, after)
        connection.execute(
            "INSERT INTO effects (entry, num, aspect, key, before, after) VALUES (?, ?, ?, ?, ?, ?)", row
        )


def link(connection: apsw.Connection, undone: Iterable[int]) -> None:
    """Say which entries the operation under way takes back."""
    entry = _entry(connection)
    connection.executemany("INSERT OR IGNORE INTO undoings VALUES (?, ?)", [(entry, other) for other in undone])


def link_plan(connection: apsw.Connection, plan: str) -> None:
    """The operation under way takes back the one that applied a plan, if history knows it."""
    found: list[Any] = connection.execute(
        "SELECT entry FROM effects WHERE aspect = 'plan' AND key = ?", (plan,)
    ).fetchall()
    link(connection, [entry for (entry,) in found])


def standing_state(pinned: object, expires_at: object) -> str:
    """The state of the aspect `standing`. expires_at: microseconds since 1970, or None."""
    return json.dumps([int(bool(pinned)), expires_at])


def _entry(connection: apsw.Connection) -> int:
    """The entry of the operation under way, made when it is first needed."""
    rows: list[Any] = connection.execute("SELECT entry FROM temp.operation").fetchall()
    if rows and rows[0][0] is not None:
        return int(rows[0][0])
    now = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
    source = "SELECT op, client, at FROM temp.operation" if rows else f"VALUES ('change', '', {now})"
    connection.execute(f"INSERT INTO history (op, client, at) {source}")
    entry = connection.last_insert_rowid()
    connection.execute("UPDATE temp.operation SET entry = ?", (entry,))
    return entry
