"""Rows about what belongs together: stated relations, and the other edges that the store holds between memories.

Functions that write take the connection of an open `Database.write()`, like those of `memories`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw

from tetrarium.model import Origin
from tetrarium.storage import effects
from tetrarium.storage.database import Database
from tetrarium.storage.memories import log_change, microseconds

_EDGES = {
    Origin.STATED: (
        "SELECT source, target, kind, note FROM relations WHERE removed_at IS NULL AND {side} IN ({marks})",
        ("source", "target"),
    ),
    Origin.CORRECTION: (
        "SELECT successor, target, 'supersedes', reason FROM inhibitions "
        "WHERE lifted_at IS NULL AND successor IS NOT NULL AND {side} IN ({marks})",
        ("successor", "target"),
    ),
    Origin.CONTRADICTION: (
        "SELECT newer, older, 'contradicts', why FROM contradictions WHERE dismissed_at IS NULL AND {side} IN ({marks})",
        ("newer", "older"),
    ),
}


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge between two memories, by their numbers."""

    source: int
    target: int
    kind: str
    origin: Origin
    note: str


def relate(
    connection: apsw.Connection, source: int, target: int, kind: str, *, note: str, author: str, now: datetime
) -> bool:
    """State a relation; False when it is in force already (the first note and author stay)."""
    connection.execute(
        "INSERT INTO relations (source, target, kind, note, author, created_at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (source, target, kind, note, author, microseconds(now)),
    )
    if not connection.changes():
        return False
    effects.note(connection, source, "relation", connection.last_insert_rowid(), 0, 1)
    log_change(connection, source, "relate", now)
    return True


def unrelate(connection: apsw.Connection, source: int, target: int, kind: str, *, now: datetime) -> int:
    """Take relations between two memories out of force, of one kind or ("") of any; gives how many."""
    edges = connection.execute(
        "SELECT edge FROM relations WHERE removed_at IS NULL AND source = ? AND target = ? AND ? IN ('', kind)",
        (source, target, kind),
    ).fetchall()
    for (edge,) in edges:
        effects.note(connection, source, "relation", edge, 1, 0)
    connection.execute(
        "UPDATE relations SET removed_at = ? WHERE removed_at IS NULL AND source = ? AND target = ? AND ? IN ('', kind)",
        (microseconds(now), source, target, kind),
    )
    removed = connection.changes()
    if removed:
        log_change(connection, source, "unrelate", now)
    return removed


def set_relation(connection: apsw.Connection, source: int, edge: int, *, in_force: bool, now: datetime) -> None:
    """Take one relation out of force, or put it in force again."""
    removed = None if in_force else microseconds(now)
    connection.execute("UPDATE relations SET removed_at = ? WHERE edge = ?", (removed, edge))
    effects.note(connection, source, "relation", edge, int(not in_force), int(in_force))
    log_change(connection, source, "relate" if in_force else "unrelate", now)


class RelationReader:
    """Reads edges, each call over one state of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def authors(self, source: int, target: int, kind: str) -> list[str]:
        """Who stated the relations in force between two memories, of one kind or ("") of any."""
        return [
            author
            for (author,) in self._all(
                "SELECT author FROM relations WHERE removed_at IS NULL AND source = ? AND target = ? AND ? IN ('', kind)",
                (source, target, kind),
            )
        ]

    def count(self) -> int:
        """Stated relations in force."""
        return int(self._all("SELECT count(*) FROM relations WHERE removed_at IS NULL", ())[0][0])

    def edges_at(self, nums: Sequence[int]) -> list[StoredEdge]:
        """Every edge in force at these memories, each once, in the order of the origins."""
        marks = ",".join("?" * len(nums))
        found: dict[StoredEdge, None] = {}
        for origin, (query, sides) in _EDGES.items():
            for side in sides:
                for source, target, kind, note in self._all(query.format(side=side, marks=marks), tuple(nums)):
                    found[StoredEdge(source, target, kind, origin, note)] = None
        return list(found)

    def _all(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with self._database.read() as connection:
            return connection.execute(query, values).fetchall()
