"""Put damaged rows right from what is known for certain: the same row in a backup, by its hash, or history.

The seal of a row is kept apart from the row: when the row is damaged, its seal still says which bytes it had. A row of
a backup with that very seal is the row, to the last bit. Functions take the connection of an open write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from tetrarium.storage import seals
from tetrarium.storage.checks import Damage
from tetrarium.storage.seals import Sealed

_FORGETTABLE = (seals.META, seals.REQUEST, seals.NAME)
"""Rows without which the space goes on: measured anew, answered anew, named by its words."""


def take_from(connection: apsw.Connection, copy: apsw.Connection, damage: Damage) -> int:
    """Replace damaged and lost rows by those of a copy that have the very same seal; gives how many."""
    mended = 0
    known = {kind.code for kind in seals.known(copy)}
    for kind in seals.ALL:
        if kind.code not in known or kind in seals.APPEND_ONLY:
            continue
        keys = damage.keys(kind)
        mended += sum(_take(connection, copy, kind, *key) for key in keys)
    _follow_quarantine(connection, copy, damage)
    return mended


def take_words_from(connection: apsw.Connection, copy: apsw.Connection, damage: Damage) -> int:
    """For memories that only counters tell from the copy's: the copy's row, where it is sound and of the last revision."""
    kind, mended = seals.MEMORY, 0
    for num, part in damage.keys(kind):
        if _is_still_damaged(connection, kind, num, part):
            last = _rows(connection, "SELECT max(after) FROM effects WHERE num = ? AND aspect = 'text'", num)[0][0] or 1
            found = _rows(
                copy,
                f"SELECT {_columns(kind)} FROM memories r WHERE num = ? AND revision = ? AND {kind.is_sound('r')} = 1",
                num,
                last,
            )
            mended += _put(connection, kind, found, num, part)
    _follow_quarantine(connection, copy, damage)
    return mended


def _follow_quarantine(connection: apsw.Connection, copy: apsw.Connection, damage: Damage) -> None:
    """A lost memory that came back from a copy waits for a person if it did there."""
    if seals.QUARANTINE in seals.known(copy):
        for num, _ in damage.lost.get(seals.MEMORY.code, ()):
            for (why,) in _rows(copy, "SELECT quarantined FROM memories WHERE num = ?", num):
                connection.execute("UPDATE memories SET quarantined = ? WHERE num = ? AND quarantined = ''", (why, num))


def let_go(connection: apsw.Connection, damage: Damage) -> int:
    """Drop damaged rows that can be made again; restore corrections from history as far as it knows them."""
    dropped = 0
    for kind in (seals.VECTOR, *_FORGETTABLE):
        for num, part in damage.keys(kind):
            if _is_still_damaged(connection, kind, num, part):
                connection.execute(f"DELETE FROM {kind.table} AS r WHERE {kind.number('r')} = ?", (num,))
                connection.execute("DELETE FROM seals WHERE kind = ? AND num = ?", (kind.code, num))
                dropped += 1
                if kind is seals.VECTOR:
                    connection.execute(
                        "INSERT INTO changes (num, op, at) SELECT ?, 'edit', max(at) FROM changes", (num,)
                    )
    for edge, part in damage.keys(seals.INHIBITION):
        if _is_still_damaged(connection, seals.INHIBITION, edge, part):
            dropped += _edge_from_history(connection, edge)
    return dropped


def left(connection: apsw.Connection, damage: Damage, kind: Sealed) -> list[int]:
    """Numbers of the rows of a kind that could not be put right."""
    keys = damage.keys(kind)
    return sorted(num for num, part in keys if _is_still_damaged(connection, kind, num, part))


def _take(connection: apsw.Connection, copy: apsw.Connection, kind: Sealed, num: int, part: int) -> int:
    seal = _rows(connection, "SELECT seal FROM seals WHERE kind = ? AND num = ? AND part = ?", kind.code, num, part)
    if not seal:
        return 0
    found = _rows(
        copy,
        f"SELECT {_columns(kind)} FROM {kind.table} r WHERE {kind.number('r')} = ? AND {kind.part('r')} = ? "
        f"AND {kind.hash_of('r')} = ?",
        num,
        part,
        seal[0][0],
    )
    return _put(connection, kind, found, num, part)


def _put(connection: apsw.Connection, kind: Sealed, found: Sequence[Any], num: int, part: int) -> int:
    """Write a row of a copy over the damaged one, or where it is gone."""
    if not found:
        return 0
    columns = [*kind.covered]
    there = f"{kind.number('r')} = ? AND {kind.part('r')} = ?"
    if _rows(connection, f"SELECT 1 FROM {kind.table} r WHERE {there}", num, part):
        changed = ", ".join(f"{column} = ?" for column in columns)
        connection.execute(f"UPDATE {kind.table} AS r SET {changed} WHERE {there}", (*found[0], num, part))
    else:
        marks = ", ".join("?" * len(columns))
        connection.execute(f"INSERT INTO {kind.table} ({', '.join(columns)}) VALUES ({marks})", found[0])
    return 1


def _edge_from_history(connection: apsw.Connection, edge: int) -> int:
    """An inhibition as history noted it: what it silenced, and whether it is in force; not what replaced it."""
    known = _rows(
        connection,
        "SELECT num, after FROM effects WHERE aspect = 'edge' AND key = ? ORDER BY seq DESC LIMIT 1",
        str(edge),
    )
    if not known:
        return 0
    connection.execute("DELETE FROM inhibitions WHERE edge = ?", (edge,))
    connection.execute(
        "INSERT INTO inhibitions (edge, target, successor, reason, author, created_at, lifted_at) "
        "SELECT ?1, num, NULL, 'restored from history', '', created_at, iif(?3, NULL, created_at) FROM memories WHERE num = ?2",
        (edge, *known[0]),
    )
    return 1


def _is_still_damaged(connection: apsw.Connection, kind: Sealed, num: int, part: int) -> bool:
    state = _rows(
        connection,
        f"SELECT {kind.is_sound('r')} FROM {kind.table} r WHERE {kind.number('r')} = ? AND {kind.part('r')} = ?",
        num,
        part,
    )
    return not state or state[0][0] == 0


def _columns(kind: Sealed) -> str:
    return ", ".join(f"r.{column}" for column in kind.covered)


def _rows(connection: apsw.Connection, query: str, *values: Any) -> list[Any]:
    found: list[Any] = connection.execute(query, values).fetchall()
    return found
