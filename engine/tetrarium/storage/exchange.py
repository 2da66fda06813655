"""Rows of the store as records of named fields, and back: what an export holds, table by table.

`KINDS` is the format (docs/export.md). Every table of the schema is a kind, a part of one, or stands in
`LEFT_OUT` with the reason; a test holds the schema to that. A column that KINDS does not name travels under its
own name, so that a later step of the schema loses nothing.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import apsw

from tetrarium import errors
from tetrarium.storage import effects
from tetrarium.storage.database import Database

Record = dict[str, Any]
"""One line of an export: "kind" and the fields of that kind, in the order of the format."""


class Form(StrEnum):
    """What a field's value is in a line."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    FLAG = "true or false"
    WORDS = "list of texts"
    MOMENT = "time in UTC, ISO 8601 with microseconds"
    MEMORY = "id of a memory"
    BYTES = "base64"
    PLAIN = "as stored"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a kind, and the column that it comes from."""

    name: str
    column: str
    form: Form
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of line. key: the column with the number of the memory that a row belongs to, "" where it has none."""

    name: str
    table: str
    key: str
    order: str
    fields: tuple[Field, ...]
    left_out: tuple[str, ...] = ()


def _kind(name: str, table: str, order: str, /, *fields: str, key: str = "num", left_out: tuple[str, ...] = ()) -> Kind:
    return Kind(name, table, key, order, tuple(map(_field, fields)), left_out)


def _field(told: str) -> Field:
    """ "name form", "name=column form"; a "?" after the form: may be null."""
    names, form = told.split(" ", 1)
    name, _, column = names.partition("=")
    return Field(name, column or name, Form[form.rstrip("?").upper()], form.endswith("?"))


MEMORY = _kind(
    "memory", "memories", "num",
    "id text", "content text", "keywords words", "labels words", "entities words", "category text",
    "memory_type text", "importance number", "client text", "author text", "session text", "position whole",
    "project text", "file text", "created_at moment", "updated_at moment", "expires_at moment?",
    "last_accessed_at moment?", "access_count whole", "revision whole", "trashed_at moment?", "pinned flag",
    "helped whole", "misled whole", "distinct_queries whole", "stored_again whole", "quarantined text",
    left_out=("num", "content_hash", "language", "tokens", "budget_tokens"),  # worked out anew at import
)  # fmt: skip

KINDS: tuple[Kind, ...] = (
    MEMORY,
    _kind(
        "version", "versions", "num, revision",
        "memory=num memory", "revision whole", "content text", "keywords words", "labels words", "category text",
        "importance number", "entities text", "tokens text", "expires_at moment?", "replaced_at moment", "cause text",
    ),
    _kind("vector", "vectors", "num", "memory=num memory", "model text", "vector bytes"),
    _kind(
        "inhibition", "inhibitions", "edge",
        "target memory", "successor memory?", "reason text", "author text", "created_at moment", "lifted_at moment?",
        key="target", left_out=("edge",),
    ),
    _kind(
        "relation", "relations", "edge",
        "source memory", "target memory", "relation=kind text", "note text", "author text", "created_at moment",
        "removed_at moment?", key="source", left_out=("edge",),
    ),
    _kind(
        "contradiction", "contradictions", "newer, older",
        "newer memory", "older memory", "why text", "found_at moment", "dismissed_at moment?", key="newer",
    ),
    _kind(
        "feedback", "feedback", "num, recall, client",
        "memory=num memory", "recall text", "client text", "helped flag", "at moment",
    ),
    _kind("cluster_name", "cluster_names", "cluster", "cluster whole", "name text", "author text", "given_at moment", key=""),
    _kind("cluster_alias", "cluster_aliases", "alias", "alias whole", "cluster whole", key=""),
    _kind("cluster_origin", "cluster_origins", "cluster", "cluster whole", "origin whole", "cause text", key=""),
    _kind("plan", "plans", "id", "id text", "cause text", "why text", "undoes text", "started_at moment", key=""),
    _kind(
        "move", "moves", "seq",
        "memory=num memory", "plan text", "step whole",
        "from_i whole?", "from_j whole?", "from_k whole?", "from_cluster=from_component whole?",
        "to_i whole", "to_j whole", "to_k whole", "to_cluster=to_component whole", "at moment", left_out=("seq",),
    ),
)  # fmt: skip
"""In the order in which an export holds them."""

BY_NAME = {kind.name: kind for kind in KINDS}

LANDSCAPE = ("cluster_name", "cluster_alias", "cluster_origin", "plan", "move")
"""Kinds about clusters and their history: only a whole export holds all of them."""

LEFT_OUT = {
    "seals": "hashes of rows: made anew where a row is written",
    "places": "the fields place and cluster of a memory",
    "asked": "the field asked of a memory",
    "meta": "what of it is about memories stands in the line 'space'",
    "requests": "answers to retries: of no use elsewhere",
    "retries": "the same",
    "changes": "the log that indexes replay; an import writes its own",
    "history": "the journal that undoes: it names rows of this file by number",
    "effects": "the same",
    "undoings": "the same",
    "passages": "derived of long texts, in quiet moments",
    "fulltext": "derived",
    "vocabulary": "derived",
    "migrations": "of this file alone",
    "imports": "what was read into this space, and how to undo it",
    "imported": "the same",
    "masked": "kinds of secrets that were masked in this space, and when",
    "exclusions": "what a person does not want stored here",
    "erasures": "what is being erased here",
    "audit": "who read and wrote what in this space",
}
"""Tables that are no kind of line, and where what they hold has gone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def told(moment: int) -> str:
    """Microseconds since the epoch as ISO 8601, to the microsecond: exact in both directions."""
    return f"{(_EPOCH + timedelta(microseconds=moment)).isoformat(timespec='microseconds')[:-6]}Z"


def moment(text: str) -> int:
    """The inverse of `told`, for nothing but what `told` writes. Raises ValueError."""
    if len(text) != 27 or text[-1] != "Z":
        raise ValueError(f"{text[:40]!r} is not a time")
    delta = datetime.fromisoformat(text) - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


# --- reading -------------------------------------------------------------------------------------


class ExchangeReader:
    """Reads whole tables, row by row: memory stays flat however large the space is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def fields_of(self, kind: Kind) -> tuple[Field, ...]:
        """The fields of a kind in this store: those of the format, then columns that it does not name."""
        known = {field.column for field in kind.fields} | set(kind.left_out)
        with self._database.read() as connection:
            columns = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (kind.table,))]
        more = (Field(column, column, Form.PLAIN, True) for column in columns if column not in known)
        return (*kind.fields, *more)

    def ids(self) -> dict[int, str]:
        """num → id of every memory, the trash included, in order of num."""
        with self._database.read() as connection:
            return dict(connection.execute("SELECT num, id FROM memories ORDER BY num"))

    def numbers_in_trash(self) -> list[int]:
        with self._database.read() as connection:
            return [num for (num,) in connection.execute("SELECT num FROM memories WHERE trashed_at IS NOT NULL")]

    def values(self, column: str, nums: Mapping[int, str]) -> list[str]:
        """The different values of one column of these memories, in order of their first memory."""
        seen: dict[str, None] = {}
        with self._database.read() as connection:
            for num, value in connection.execute(f"SELECT num, {column} FROM memories ORDER BY num"):
                if value and num in nums:
                    seen[value] = None
        return list(seen)

    def columns(self, nums: Mapping[int, str], *names: str) -> Iterator[tuple[Any, ...]]:
        """(num, *columns) of these memories, in order of num."""
        with self._database.read() as connection:
            for row in connection.execute(f"SELECT num, {', '.join(names)} FROM memories ORDER BY num"):
                if row[0] in nums:
                    yield row

    def records(self, kind: Kind, ids: Mapping[int, str]) -> Iterator[Record]:
        """The rows of a kind that belong to these memories (num → id), and those that belong to none.

        A reference to a memory that is not among them is null; a row that needs it is left out.
        """
        if kind is MEMORY:
            yield from self._memories(ids)
            return
        fields = self.fields_of(kind)
        columns = ", ".join(field.column for field in fields)
        with self._database.read() as connection:
            for row in connection.execute(f"SELECT {columns} FROM {kind.table} ORDER BY {kind.order}"):
                record = _record(kind, fields, row, ids)
                if record is not None:
                    yield record

    def _memories(self, ids: Mapping[int, str]) -> Iterator[Record]:
        """Memories with their place, the marks of questions asked, and the words that find them beside their text."""
        fields = self.fields_of(MEMORY)
        columns = ", ".join(f"m.{field.column}" for field in fields)
        with self._database.read() as connection:
            asked = _Following(connection.execute("SELECT num, hex(question) FROM asked ORDER BY num, question"))
            query = (
                f"SELECT m.num, m.tokens, p.i, p.j, p.k, p.component, {columns} "
                "FROM memories m LEFT JOIN places p USING (num) ORDER BY m.num"
            )
            for num, tokens, i, j, k, component, *row in connection.execute(query):
                marks = asked.of(num)
                if num not in ids:
                    continue
                record = _record(MEMORY, fields, row, ids)
                assert record is not None
                record["place"] = None if component is None else [i, j, k]
                record["cluster"] = component
                record["asked"] = marks
                record["tokens"] = tokens
                yield record


class _Following:
    """Rows (num, value) in order of num, read along with another ordered cursor."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, num: int) -> list[str]:
        found: list[str] = []
        while self._next is not None and self._next[0] <= num:
            if self._next[0] == num:
                found.append(self._next[1])
            self._next = next(self._rows, None)
        return found


def _record(kind: Kind, fields: tuple[Field, ...], row: Any, ids: Mapping[int, str]) -> Record | None:
    record: Record = {"kind": kind.name}
    for field, value in zip(fields, row, strict=True):
        if field.form is Form.MEMORY:
            value = ids.get(value)
            if value is None and not field.optional:
                return None
        elif value is not None:
            value = _TOLD[field.form](value)
        record[field.name] = value
    return record


def _same(value: Any) -> Any:
    return value


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


_TOLD: dict[Form, Callable[[Any], Any]] = {
    Form.TEXT: _same,
    Form.WHOLE: _same,
    Form.NUMBER: _same,
    Form.FLAG: bool,
    Form.WORDS: json.loads,
    Form.MOMENT: told,
    Form.BYTES: lambda value: base64.b64encode(value).decode(),
    Form.PLAIN: _plain,
}
_STORED: dict[Form, Callable[[Any], Any]] = {
    Form.TEXT: _same,
    Form.WHOLE: _same,
    Form.NUMBER: float,
    Form.FLAG: int,
    Form.WORDS: lambda value: json.dumps(value, ensure_ascii=False),
    Form.MOMENT: moment,
    Form.BYTES: base64.b64decode,
    Form.PLAIN: lambda value: base64.b64decode(value["base64"]) if isinstance(value, dict) else value,
}


# --- writing -------------------------------------------------------------------------------------


class ExchangeWriter:
    """Writes records into an open transaction. `nums`: id → number of the memories that came so far."""

    def __init__(self, connection: apsw.Connection, fields: Mapping[str, tuple[Field, ...]]) -> None:
        self._connection = connection
        self._fields = fields
        self.nums: dict[str, int] = {}

    def memory(self, record: Record, *, derived: Mapping[str, Any], at: int) -> int:
        """A memory under its own id. derived: the columns that are worked out of its text."""
        row = self._row("memory", record, {}) | dict(derived)
        num = self._insert("memories", row)
        self.nums[record["id"]] = num
        # Whoever brings a memory back that was erased does not want it erased any more.
        self._connection.execute("DELETE FROM erasures WHERE memory = ?", (record["id"],))
        if record["trashed_at"] is None:
            self._connection.execute("INSERT INTO fulltext (rowid, tokens) VALUES (?, ?)", (num, derived["tokens"]))
        self._connection.executemany(
            "INSERT INTO asked VALUES (?, ?)", [(num, bytes.fromhex(mark)) for mark in record["asked"]]
        )
        state = effects.LIVE if record["trashed_at"] is None else effects.TRASHED
        effects.note(self._connection, num, "presence", "", effects.NONE, state)
        self._connection.execute("INSERT INTO changes (num, op, at) VALUES (?, 'store', ?)", (num, at))
        return num

    def other(self, record: Record, known: Mapping[str, int]) -> None:
        """A record of any other kind. known: id → number of every memory that it may name."""
        self._insert(BY_NAME[record["kind"]].table, self._row(record["kind"], record, known))

    def _row(self, kind: str, record: Record, known: Mapping[str, int]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for field in self._fields[kind]:
            if field.name not in record:
                continue  # a column that came later than the file: its default
            value = record[field.name]
            if field.form is Form.MEMORY:
                value = None if value is None else known.get(value)
            elif value is not None:
                value = _STORED[field.form](value)
            row[field.column] = value
        return row

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        marks = ", ".join("?" * len(row))
        try:
            self._connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
        except apsw.ConstraintError as error:
            raise errors.InvalidInput(
                f"Two lines of the file contradict each other ({error}); nothing was imported."
            ) from error
        return self._connection.last_insert_rowid()


# --- batches -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """One import, and what must be known to undo it.

    added: clusters that got a name, an alias or an origin, and plans, by table; before: facts of the space as they
    were, where the import replaced them. undone_at: None while it is in force.
    """

    id: str
    file: str
    client: str
    added: dict[str, list[Any]]
    before: dict[str, Any]
    at: int
    undone_at: int | None
    memories: int


def note_batch(
    connection: apsw.Connection,
    batch: str,
    nums: Iterable[int],
    *,
    file: str,
    client: str,
    added: Mapping[str, list[Any]],
    before: Mapping[str, Any],
    at: int,
) -> None:
    """Note an import inside its own transaction."""
    connection.execute(
        "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?, NULL)",
        (batch, file, client, json.dumps(added), json.dumps(before), at),
    )
    connection.executemany(
        "INSERT INTO imported SELECT ?, num, revision FROM memories WHERE num = ?", ((batch, num) for num in nums)
    )


def end_batch(connection: apsw.Connection, batch: Batch, *, at: int) -> None:
    """Take back what an import brought beside memories (which the caller deletes), and note that it is undone."""
    for table, column in (("cluster_names", "cluster"), ("cluster_aliases", "alias"), ("cluster_origins", "cluster")):
        connection.executemany(
            f"DELETE FROM {table} WHERE {column} = ?", [(cluster,) for cluster in batch.added.get(table, ())]
        )
    if plans := [(plan,) for plan in batch.added.get("plans", ())]:
        # The log of moves is append-only for everybody; the undoing of an import alone may take its lines back.
        trigger = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'moves_never_go'").get
        connection.execute("DROP TRIGGER IF EXISTS moves_never_go")
        connection.executemany("DELETE FROM moves WHERE plan = ?", plans)
        connection.executemany("DELETE FROM plans WHERE id = ?", plans)
        if trigger:
            connection.execute(trigger)
    connection.execute("UPDATE imports SET undone_at = ? WHERE batch = ?", (at, batch.id))


class BatchReader:
    """Reads of imports."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def batches(self, batch: str = "") -> list[Batch]:
        """Imports, newest first; only one, if named."""
        query = (
            "SELECT i.batch, i.file, i.client, i.added, i.before, i.at, i.undone_at, "
            "(SELECT count(*) FROM imported m WHERE m.batch = i.batch) FROM imports i "
            f"{'WHERE i.batch = ?' if batch else ''} ORDER BY i.batch DESC"
        )
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(query, (batch,) if batch else ()).fetchall()
        return [
            Batch(batch, file, client, json.loads(added), json.loads(before), at, undone, memories)
            for batch, file, client, added, before, at, undone, memories in rows
        ]

    def untouched(self, batch: str) -> tuple[list[int], int]:
        """Numbers of what an import brought and nobody has edited since; how many were edited."""
        with self._database.read() as connection:
            rows: list[Any] = connection.execute(
                "SELECT m.num, m.revision = i.revision FROM imported i JOIN memories m USING (num) "
                "WHERE i.batch = ? ORDER BY m.num",
                (batch,),
            ).fetchall()
        same = [num for num, untouched in rows if untouched]
        return same, len(rows) - len(same)

    def said(self, memory_id: str) -> tuple[Any, ...] | None:
        """What a memory says, to compare a line of a file with: content, keywords, labels, category, importance, project."""
        with self._database.read() as connection:
            row: Any = connection.execute(
                "SELECT content, keywords, labels, category, importance, project FROM memories WHERE id = ?",
                (memory_id,),
            ).fetchone()
        return (row[0], json.loads(row[1]), json.loads(row[2]), *row[3:]) if row else None
