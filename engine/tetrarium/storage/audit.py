"""Who read and wrote what: an append-only chain of rows, each sealed with a keyed hash of itself and the row before.

A row names memories by keyed hashes of their ids, never by content. How many rows there were is also in SQLite's own
`sqlite_sequence`, count and hash of the end in a small file beside the store: rows cut off the end are missed.

The key lies in the store. The chain shows every change by somebody who does not work at hiding it, and by any
accident; whoever holds the file and this program can forge all of it, except for somebody who keeps an anchor
elsewhere (`Anchor`, told by `verify`).
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import apsw

from tetrarium.storage.cipher import make_private
from tetrarium.storage.database import Database

MOST_IDS = 1_000
"""Memories that one row names; of more it tells the count."""

REORDERED_WITHIN = 1_000
"""Rows behind a broken one in which the right one is looked for, to tell a swap from a change."""

_KEY = "audit_key"
_ID_BYTES = 8
_OUT_OF_ORDER = 10_000
"""Rows that two programs, or a clock that was set, may have put out of order of time."""

_WORDS = json.JSONEncoder(ensure_ascii=False).encode
"""As `json.dumps`, which makes an encoder for each call: a fifth of what a row costs (measured)."""

_COLUMNS = "seq, at, verb, kind, client, session, count, ids, hash"
_INSERT = f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Act:
    """One read or write to be noted. at: microseconds since 1970; ids: the memories, at most MOST_IDS of `count`."""

    at: int
    verb: str
    kind: str
    client: str
    session: str
    count: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Anchor:
    """How many rows there are, and the hash of the last one, hexadecimal."""

    count: int
    digest: str

    def __str__(self) -> str:
        return f"{self.count}:{self.digest}"


@dataclass(frozen=True, slots=True)
class Break:
    """The first bad row of a chain. kind: altered, dropped, reordered, truncated."""

    seq: int
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it stands."""

    seq: int
    at: int
    verb: str
    kind: str
    client: str
    session: str
    count: int
    ids: bytes
    digest: bytes


def append(connection: apsw.Connection, key: bytes, acts: Sequence[Act]) -> Anchor:
    """Add rows to the chain, in the transaction that is open; gives its new end."""
    seq, digest = _head(connection)
    for act in acts:
        seq += 1
        ids = b"".join([_mark(key, memory_id) for memory_id in act.ids[:MOST_IDS]])
        told = (seq, act.at, act.verb, act.kind, act.client, act.session, act.count, ids)
        digest = _seal(key, digest, told)
        connection.execute(_INSERT, (*told, digest))
    return Anchor(seq, digest.hex())


def changed_since(connection: apsw.Connection, version: int) -> list[tuple[str, int, str | None]]:
    """(op, num, id) of what the change log tells after a version; the id is None of a memory that is gone."""
    rows: list[Any] = connection.execute(
        "SELECT c.op, c.num, m.id FROM changes c LEFT JOIN memories m USING (num) WHERE c.seq > ?", (version,)
    ).fetchall()
    return rows


class Mirror:
    """A small file beside the store that tells the end of the chain, so that rows cut off there are missed.

    It is only ever behind the store, never ahead: it takes what is on disk. One that the chain does not follow is
    evidence, and is left as it is.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: Anchor | None = None
        self.is_evidence = False

    def anchor(self) -> Anchor | None:
        """What it tells; None when there is none."""
        try:
            count, digest = json.loads(self._file.read_text(encoding="ascii"))
            return Anchor(int(count), str(digest))
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, end: Anchor | None) -> None:
        """Tell a new end. Never fails: the next one is as good."""
        if end is None or end == self._kept or self.is_evidence:
            return
        new = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
        with suppress(OSError):
            make_private(new)
            new.write_text(json.dumps([end.count, end.digest]), encoding="ascii")
            new.replace(self._file)
            self._kept = end
        with suppress(OSError):
            new.unlink(missing_ok=True)


class AuditReader:
    """Reads of the chain."""

    def __init__(self, database: Database, mirror: Mirror) -> None:
        self._database = database
        self._mirror = mirror
        if database.writable and not self._follows(mirror.anchor()):
            mirror.is_evidence = True

    def rows(
        self, limit: int, *, client: str = "", verb: str = "", since: int = 0, memory_id: str = "", unread_by: str = ""
    ) -> list[Row]:
        """Rows that pass every filter, newest first. unread_by: a client whose reads are left out."""
        tests, values = ["at >= ?"], [since]  # type: tuple[list[str], list[Any]]
        for column, value in (("client", client), ("verb", verb)):
            if value:
                tests.append(f"{column} = ?")
                values.append(value)
        if unread_by:
            tests.append("NOT (kind = 'read' AND client = ?)")
            values.append(unread_by)
        with self._database.read() as connection:
            if memory_id:
                tests.append("instr(ids, ?)")
                mark = _mark(key_of(connection), memory_id)
                values.append(mark)
            query = f"SELECT {_COLUMNS} FROM audit WHERE {' AND '.join(tests)} ORDER BY seq DESC"
            found = (Row(*row) for row in connection.execute(query, values))
            return list(_first(limit, (row for row in found if not memory_id or _names(row, mark))))

    def after(self, seq: int, verbs: Sequence[str], limit: int) -> list[Row]:
        """Rows behind one, of some verbs, oldest first."""
        marks = ",".join("?" * len(verbs))
        query = f"SELECT {_COLUMNS} FROM audit WHERE seq > ? AND verb IN ({marks}) ORDER BY seq LIMIT ?"
        with self._database.read() as connection:
            return [Row(*row) for row in connection.execute(query, (seq, *verbs, limit))]

    def named(self, seq: int, ids: Iterable[str]) -> tuple[str, ...]:
        """Which of these memories a row names, in the order of the row."""
        with self._database.read() as connection:
            rows: list[Any] = connection.execute("SELECT ids FROM audit WHERE seq = ?", (seq,)).fetchall()
            if not rows or not rows[0][0]:
                return ()
            key, told = key_of(connection), bytes(rows[0][0])
        wanted = {told[at : at + _ID_BYTES]: at for at in range(0, len(told), _ID_BYTES)}
        found = ((wanted.get(_mark(key, memory_id)), memory_id) for memory_id in ids)
        return tuple(memory_id for _, memory_id in sorted((at, name) for at, name in found if at is not None))

    def sums(self, kind: str, since: int, step: int, aside: Sequence[str]) -> list[tuple[str, int, int]]:
        """(client, step of time, memories) of the rows of a kind, oldest first; aside: verbs that do not count."""
        marks = ",".join("?" * len(aside))
        query = (
            f"SELECT client, at / ?, sum(count) FROM audit WHERE seq >= ? AND at >= ? AND kind = ? AND verb NOT IN ({marks}) "
            "GROUP BY 1, 2 ORDER BY 2"
        )
        with self._database.read() as connection:
            values = (step, _first_since(connection, since), since, kind, *aside)
            rows: list[Any] = connection.execute(query, values).fetchall()
        return rows

    def head(self) -> Anchor:
        """The anchor of the store as it is."""
        with self._database.read() as connection:
            seq, digest = _head(connection)
        return Anchor(seq, digest.hex())

    def _follows(self, anchor: Anchor | None) -> bool:
        """Whether the chain has the row that an anchor tells."""
        if anchor is None:
            return True
        with self._database.read() as connection:
            rows: list[Any] = connection.execute("SELECT hash FROM audit WHERE seq = ?", (anchor.count,)).fetchall()
        return bool(rows) and rows[0][0].hex() == anchor.digest

    def verify(self, known: Anchor | None = None) -> Break | None:
        """The first bad row, or None. known: an anchor that somebody kept elsewhere."""
        anchors = [a for a in (self._mirror.anchor(), known) if a]
        with self._database.read() as connection:
            rows: list[Any] = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchall()
            return _walk(connection, key_of(connection), rows[0][0] if rows else 0, anchors)


def _walk(connection: apsw.Connection, key: bytes, count: int, anchors: Sequence[Anchor]) -> Break | None:
    """Follow the chain to its end and compare it with what is known of it."""
    wanted = {anchor.count: anchor.digest for anchor in anchors}
    seq, digest = 0, b""
    for row in (Row(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY seq")):
        seq += 1
        if row.seq != seq:
            return Break(seq, "dropped", f"rows {seq} to {row.seq - 1} are gone")
        if row.digest != _seal(key, digest, _told(row)):
            return _broken(connection, key, digest, row)
        digest = row.digest
        if seq in wanted and wanted[seq] != digest.hex():
            return Break(seq, "altered", "the chain up to here is another one than was known before")
    longest = max([count, *(anchor.count for anchor in anchors)])
    return Break(seq + 1, "truncated", f"{longest - seq} rows are cut off the end") if seq < longest else None


def _broken(connection: apsw.Connection, key: bytes, before: bytes, row: Row) -> Break:
    """Why a row does not follow: another one behind it does, or its own words were changed."""
    behind = connection.execute(
        f"SELECT {_COLUMNS} FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", (row.seq, REORDERED_WITHIN)
    )
    for other in (Row(*found) for found in behind):
        if other.digest == _seal(key, before, (row.seq, *_told(other)[1:])):
            return Break(row.seq, "reordered", f"what stands here belongs elsewhere; row {other.seq} belongs here")
    return Break(
        row.seq, "altered", f"its words ({row.verb}, {row.client or 'no client'}) are not those that were sealed"
    )


def _told(row: Row) -> tuple[Any, ...]:
    return row.seq, row.at, row.verb, row.kind, row.client, row.session, row.count, row.ids


def _seal(key: bytes, before: bytes, told: tuple[Any, ...]) -> bytes:
    *words, ids = told
    text = _WORDS(words).encode("utf-8", "surrogatepass")
    return blake2b(b"".join((before, len(text).to_bytes(4), text, ids)), key=key, digest_size=20).digest()


def _mark(key: bytes, memory_id: str) -> bytes:
    return blake2b(memory_id.encode(), key=key, digest_size=_ID_BYTES).digest()


def _names(row: Row, mark: bytes) -> bool:
    """Whether a mark stands in a row at a place of its own, not across two others."""
    return any(row.ids[at : at + _ID_BYTES] == mark for at in range(0, len(row.ids), _ID_BYTES))


def _first(limit: int, rows: Iterable[Row]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number == limit:
            return
        yield row


def _first_since(connection: apsw.Connection, at: int) -> int:
    """The row from which on, by halving, rows are of that time or later. Rows are all but in order of time."""
    low, high = 1, _head(connection)[0] + 1
    while low < high:
        middle = (low + high) // 2
        rows: list[Any] = connection.execute("SELECT at FROM audit WHERE seq = ?", (middle,)).fetchall()
        low, high = (low, middle) if not rows or rows[0][0] >= at else (middle + 1, high)
    return max(1, low - _OUT_OF_ORDER)


def _head(connection: apsw.Connection) -> tuple[int, bytes]:
    """Number and hash of the last row."""
    rows: list[Any] = connection.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchall()
    return (rows[0][0], rows[0][1]) if rows else (0, b"")


def key_of(connection: apsw.Connection) -> bytes:
    """The key of this space; made before the first row is, in a transaction that writes."""
    rows: list[Any] = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchall()
    if rows:
        return bytes.fromhex(json.loads(rows[0][0]))
    key = secrets.token_bytes(32)
    if connection.in_transaction:
        connection.execute("INSERT INTO meta VALUES (?, ?)", (_KEY, json.dumps(key.hex())))
    return key
