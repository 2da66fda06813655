"""Is the store as it was written? SQLite's own full check, every row's seal, and the full-text index against the texts.

Reads only, in slices, so that a quiet moment may be interrupted: `examine` yields between them. What it finds is a
`Damage`; `leave_out` keeps damaged rows out of everything that is read from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

from tetrarium.storage import definitions, seals
from tetrarium.storage.migrations import TOKEN_CHARACTERS
from tetrarium.storage.seals import Sealed

MOST_MESSAGES = 50
"""Lines of SQLite's own check that are looked at."""

SLICE = 5_000
"""Rows that one slice compares with their seals, or indexes again: some 0.1 s in which nobody else is served."""

DAMAGED = (
    "CREATE TEMP TABLE IF NOT EXISTS damaged (kind INTEGER, num INTEGER, part INTEGER, PRIMARY KEY (kind, num, part))"
)
"""Every connection makes this first: rows that must not be read. Kind 0: memories held inhibited to be safe."""

HELD = 0
"""The kind under which `damaged` names memories whose inhibition edge is damaged."""

_LAST_CHANGE = "SELECT ifnull(max(seq), 0) FROM changes"
_SPACE = 0
"""Number under which the log of changes names the whole space."""
_INDEX = (
    "INSERT INTO temp.fresh (rowid, tokens) SELECT num, CAST(tokens AS TEXT) FROM memories WHERE trashed_at IS NULL"
)

_INDEX_TROUBLE = ("missing from index", "wrong # of entries in index", "non-unique entry in index")
_FULLTEXT_TROUBLE = ("fts5", "fulltext")


@dataclass(slots=True)
class Damage:
    """What a check found. structure: words of SQLite about its pages; indexes: about b-tree indexes, which can be made
    again; unsound, lost: keys of rows, by kind of row; fulltext: terms whose postings are not those of the texts."""

    structure: list[str] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    unsound: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    lost: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    fulltext: int = 0

    def __bool__(self) -> bool:
        return bool(self.structure or self.indexes or self.unsound or self.lost or self.fulltext)

    def keys(self, kind: Sealed) -> set[tuple[int, int]]:
        """Keys of damaged and lost rows of a kind."""
        return {*self.unsound.get(kind.code, ()), *self.lost.get(kind.code, ())}

    @property
    def left_out(self) -> set[int]:
        """Numbers of the memories that are kept out of every answer."""
        return {num for kind in (seals.MEMORY, seals.QUARANTINE) for num, _ in self.keys(kind)}

    def rows(self, kind: Sealed) -> list[tuple[int, int]]:
        """Keys of damaged rows of a kind."""
        return self.unsound.get(kind.code, [])


def examine(connection: apsw.Connection, damage: Damage) -> Iterator[None]:
    """Look at everything, slice by slice; what is wrong is added to `damage`."""
    yield from _structure(connection, damage)
    for kind in seals.known(connection) if connection.table_exists("main", "seals") else ():
        yield from _rows(connection, kind, damage)
    damage.lost.pop(seals.QUARANTINE.code, None)  # the same rows as those of lost memories
    if not damage.keys(seals.MEMORY):
        # Where a text is damaged, its postings cannot fit; it is left out of every answer anyway.
        yield from _fulltext(connection, damage)


def examined(connection: apsw.Connection) -> Damage:
    """Look at everything at once, as of one moment, whatever other processes commit meanwhile."""
    damage = Damage()
    with _one_moment(connection):
        for _ in examine(connection, damage):
            pass
    return damage


@contextmanager
def _one_moment(connection: apsw.Connection) -> Iterator[None]:
    """A transaction that only reads, unless one is open already."""
    ours = not connection.in_transaction
    if ours:
        connection.execute("BEGIN")
    try:
        yield
    finally:
        if ours and connection.in_transaction:  # SQLite ends one by itself where the disk fails
            connection.execute("ROLLBACK")


def leave_out(connection: apsw.Connection, damage: Damage) -> None:
    """Keep damaged rows out of what is read over this connection; hold what a damaged edge inhibited."""
    connection.execute("DELETE FROM temp.damaged")
    for code, keys in damage.unsound.items():
        # A memory of which it is not certain whether it is in quarantine is left out like a damaged one.
        kind = seals.MEMORY.code if code == seals.QUARANTINE.code else code
        connection.executemany("INSERT OR IGNORE INTO temp.damaged VALUES (?, ?, ?)", [(kind, *key) for key in keys])
    for edges in (damage.unsound, damage.lost):
        for edge, _ in edges.get(seals.INHIBITION.code, ()):
            # The row itself may name another memory now; history says which one it was.
            connection.execute(
                f"INSERT OR IGNORE INTO temp.damaged SELECT {HELD}, num, 0 FROM effects "
                "WHERE aspect = 'edge' AND key = CAST(?1 AS TEXT) GROUP BY num HAVING max(seq) AND max(after) "
                f"UNION SELECT {HELD}, target, 0 FROM inhibitions WHERE edge = ?1",
                (edge,),
            )


def rebuild_indexes(connection: apsw.Connection) -> None:
    """Make every b-tree index and the full-text index anew from the rows; inside a transaction."""
    connection.execute("REINDEX")
    rebuild_fulltext(connection)


def rebuild_fulltext(connection: apsw.Connection) -> None:
    """Make the full-text index anew from the tokens of the memories outside the trash; inside a transaction."""
    if not definitions.is_fulltext_sound(connection):
        definitions.define_fulltext(connection)
    connection.execute("INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
    connection.execute("INSERT INTO fulltext (rowid, tokens) SELECT num, tokens FROM memories WHERE trashed_at IS NULL")


def _structure(connection: apsw.Connection, damage: Damage) -> Iterator[None]:
    try:
        rows: list[Any] = connection.execute(f"PRAGMA integrity_check({MOST_MESSAGES})").fetchall()
    except apsw.Error as error:
        rows = [(str(error),)]
    for (message,) in rows:
        if message == "ok":
            continue
        if any(words in message for words in _FULLTEXT_TROUBLE):
            damage.fulltext += 1
        else:
            where = damage.indexes if any(words in message for words in _INDEX_TROUBLE) else damage.structure
            where.append(message)
    yield


def _rows(connection: apsw.Connection, kind: Sealed, damage: Damage) -> Iterator[None]:
    """Rows whose seal does not fit, and seals whose row is gone."""
    try:
        first, last = _first(connection, f"SELECT ifnull(min(num), 0), ifnull(max(num), -1) FROM seals WHERE kind = {kind.code}")  # fmt: skip
        sliced = not kind.named
        for start in range(first, last + 1, SLICE) if sliced else (0,):
            inside = f"WHERE r.{kind.key[0]} BETWEEN {start} AND {start + SLICE - 1} AND" if sliced else "WHERE"
            _add(
                damage.unsound,
                kind,
                connection,
                f"SELECT {kind.number('r')}, {kind.part('r')} FROM {kind.table} r {inside} {kind.is_sound('r')} = 0",
            )
            yield
        part = f"AND r.{kind.key[1]} = s.part" if len(kind.key) > 1 else ""
        gone = (
            f"num NOT IN (SELECT {kind.number('r')} FROM {kind.table} r)"
            if kind.named
            else f"NOT EXISTS (SELECT 1 FROM {kind.table} r WHERE r.{kind.key[0]} = s.num {part})"
        )
        _add(damage.lost, kind, connection, f"SELECT num, part FROM seals s WHERE kind = {kind.code} AND {gone}")
    except apsw.Error as error:
        damage.structure.append(f"{kind.table}: {error}")
    yield


def _add(found: dict[int, list[tuple[int, int]]], kind: Sealed, connection: apsw.Connection, query: str) -> None:
    rows: list[Any] = connection.execute(query).fetchall()
    if rows:
        found.setdefault(kind.code, []).extend((num, part) for num, part in rows)


def _fulltext(connection: apsw.Connection, damage: Damage) -> Iterator[None]:
    """Compare each term's postings with those of an index made anew in memory.

    Memories may come and go between two slices: what changed since the first is indexed again before the two are compared.
    """
    try:
        if not definitions.is_fulltext_sound(connection):
            damage.fulltext += 1
            damage.indexes.append("fulltext: its definition is damaged")
            return
        before = _first(connection, _LAST_CHANGE)[0]
        connection.execute(
            f"""
            DROP TABLE IF EXISTS temp.fresh_terms; DROP TABLE IF EXISTS temp.fresh; DROP TABLE IF EXISTS temp.kept_terms;
            CREATE VIRTUAL TABLE temp.fresh USING fts5 (
                tokens, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 tokenchars '{TOKEN_CHARACTERS}'"
            );
            CREATE VIRTUAL TABLE temp.fresh_terms USING fts5vocab (temp, fresh, instance);
            CREATE VIRTUAL TABLE temp.kept_terms USING fts5vocab (main, fulltext, instance);
            """
        )
        last = _first(connection, "SELECT ifnull(max(num), 0) FROM memories")[0]
        for start in range(0, last + 1, SLICE):
            connection.execute(f"{_INDEX} AND num BETWEEN ? AND ?", (start, start + SLICE - 1))
            yield
        terms = (
            "SELECT CAST(term AS BLOB) AS term, count(*), sum(doc), sum(doc * (doc % 65521)) FROM temp.{} GROUP BY 1"
        )
        fresh, kept = terms.format("fresh_terms"), terms.format("kept_terms")
        with _one_moment(connection):
            changed = "SELECT num FROM changes WHERE seq > ?"
            if (_SPACE,) in connection.execute(changed, (before,)).fetchall():
                return  # a backup was gone back to meanwhile: this compares nothing
            connection.execute(f"DELETE FROM temp.fresh WHERE rowid IN ({changed})", (before,))
            connection.execute(f"{_INDEX} AND num IN ({changed})", (before,))
            counts = [
                _first(connection, f"SELECT count(*) FROM ({one} EXCEPT {other})")[0]
                for one, other in ((fresh, kept), (kept, fresh))
            ]
        damage.fulltext += max(counts)
    except apsw.Error as error:
        damage.fulltext += 1
        damage.indexes.append(f"fulltext: {error}")
    finally:
        for name in ("kept_terms", "fresh_terms", "fresh"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
    yield


def _first(connection: apsw.Connection, query: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = connection.execute(query).fetchall()[0]
    return row
