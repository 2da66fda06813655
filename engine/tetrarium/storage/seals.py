"""Row hashes: does a row still read as it was written?

SQLite notices torn pages, not changed bytes inside a cell: of 200 single flipped bits its own full check found 173
(measured). So every row that answers depend on has a seal, 64 bits of BLAKE2b over its columns, written by triggers
in the very transaction that writes the row. The triggers are temporary ones of our own connections: no function of
ours is needed to read the file with other tools, and what other tools change is seen, since its seal no longer fits.
A row without a seal counts as sound and is sealed when it is next written.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import apsw

FUNCTION = "tetrarium_seal"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A table whose rows are sealed: its code in `seals`, its key columns (one or two), and what the seal covers.

    binary: a column of bytes that is covered too; named: the key is a text, and its hash stands for it.
    """

    code: int
    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    binary: str = ""
    named: bool = False

    @property
    def covered(self) -> tuple[str, ...]:
        """Columns whose change calls for a new seal."""
        return (*self.key, *self.columns, *((self.binary,) if self.binary else ()))

    def number(self, row: str) -> str:
        """The number under which a row's seal stands, as SQL."""
        column = f"{row}.{self.key[0]}"
        return f"{FUNCTION}(CAST({column} AS BLOB))" if self.named else column

    def part(self, row: str) -> str:
        """The second half of its key, as SQL."""
        return f"{row}.{self.key[1]}" if len(self.key) > 1 else "0"

    def hash_of(self, row: str) -> str:
        """The seal that a row should have, as SQL. Text is not decoded: a damaged byte must not stop the check."""
        parts = ", ".join(f"ifnull({_exact(f'{row}.{column}')}, char(30))" for column in (*self.key, *self.columns))
        more = f", {row}.{self.binary}" if self.binary else ""
        return f"{FUNCTION}(CAST(concat_ws(char(31), {self.code}, {parts}) AS BLOB){more})"

    def is_sound(self, row: str) -> str:
        """Whether a row has its seal, as SQL: 0 when it has another one, else 1 or (never sealed) NULL."""
        return (
            f"(SELECT seal = {self.hash_of(row)} FROM seals "
            f"WHERE kind = {self.code} AND num = {self.number(row)} AND part = {self.part(row)})"
        )


MEMORY = Sealed(
    1,
    "memories",
    ("num",),
    (
        "id", "content", "keywords", "labels", "entities", "category", "memory_type", "importance", "language", "tokens",
        "budget_tokens", "client", "author", "session", "position", "project", "file", "created_at", "updated_at",
        "expires_at", "last_accessed_at", "access_count", "revision", "trashed_at", "pinned", "helped", "misled",
        "distinct_queries", "stored_again",
    ),
    binary="content_hash",
)  # fmt: skip
VERSION = Sealed(
    2,
    "versions",
    ("num", "revision"),
    (
        "content", "keywords", "labels", "category", "importance", "replaced_at", "cause", "entities", "tokens",
        "expires_at",
    ),
)  # fmt: skip
VECTOR = Sealed(3, "vectors", ("num",), ("model",), binary="vector")
PLACE = Sealed(4, "places", ("num",), ("i", "j", "k", "component"))
INHIBITION = Sealed(5, "inhibitions", ("edge",), ("target", "successor", "reason", "author", "created_at", "lifted_at"))
RELATION = Sealed(
    6, "relations", ("edge",), ("source", "target", "kind", "note", "author", "created_at", "removed_at")
)  # fmt: skip
META = Sealed(7, "meta", ("key",), ("value",), named=True)
NAME = Sealed(8, "cluster_names", ("cluster",), ("name", "author", "given_at"))
REQUEST = Sealed(9, "requests", ("key",), ("num", "result"), binary="content_hash", named=True)
EFFECT = Sealed(10, "effects", ("seq",), ("entry", "num", "aspect", "key", "before", "after"))
HISTORY = Sealed(11, "history", ("id",), ("op", "client", "at"))
QUARANTINE = Sealed(12, "memories", ("num",), ("id", "quarantined"))
"""Apart from the other columns: it came with a later schema, and copies of earlier ones are checked, too."""
APPEND_ONLY = (EFFECT, HISTORY)
"""What is damaged there is said and never rewritten."""
ALL = (MEMORY, VERSION, VECTOR, PLACE, INHIBITION, RELATION, META, NAME, REQUEST, EFFECT, HISTORY, QUARANTINE)
LOADED = (MEMORY, VECTOR, PLACE, INHIBITION, META, NAME)
"""What answers are made of."""


def know(connection: apsw.Connection) -> None:
    """Teach a connection the hash; needed before `is_sound` can be asked."""
    connection.create_scalar_function(FUNCTION, _hash, deterministic=True)  # type: ignore[arg-type] # it gets bytes only


def watch(connection: apsw.Connection) -> None:
    """Let a connection seal whatever it writes from now on; a row that was damaged is sound once it is written anew."""
    for kind in known(connection):
        new = f"{kind.code}, {kind.number('new')}, {kind.part('new')}"
        # Not "OR REPLACE": inside a trigger the conflict rule of the outer statement would take its place.
        seal = f"INSERT INTO main.seals VALUES ({new}, {kind.hash_of('new')}) ON CONFLICT DO UPDATE SET seal = excluded.seal; DELETE FROM damaged WHERE kind = {kind.code} AND num = {kind.number('new')} AND part = {kind.part('new')};"
        unseal = f"DELETE FROM main.seals WHERE kind = {kind.code} AND num = {kind.number('old')} AND part = {kind.part('old')};"
        for name, event, act in (
            ("insert", "INSERT", seal),
            ("update", f"UPDATE OF {', '.join(kind.covered)}", seal),
            ("delete", "DELETE", unseal),
        ):
            connection.execute(
                f"CREATE TRIGGER IF NOT EXISTS temp.seal_{kind.code}_{name} AFTER {event} ON main.{kind.table} BEGIN {act} END"
            )


def known(connection: apsw.Connection) -> list[Sealed]:
    """The kinds of rows that a store has: one of an earlier schema lacks the later ones."""
    columns = {
        table: {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()}
        for table in {kind.table for kind in ALL}
    }
    return [kind for kind in ALL if columns[kind.table].issuperset(kind.covered)]


def seal_all(connection: apsw.Connection) -> None:
    """Seal every row as it stands."""
    for kind in known(connection):
        row = f"{kind.code}, {kind.number('r')}, {kind.part('r')}, {kind.hash_of('r')}"
        connection.execute(f"INSERT OR REPLACE INTO seals SELECT {row} FROM {kind.table} r")


def _exact(column: str) -> str:
    """A share as a whole number: how SQLite writes a fraction as text differs between its versions."""
    return f"CAST({column} * 1000000000 AS INTEGER)" if column.endswith(".importance") else column


def _hash(fields: bytes, more: bytes | str | None = None) -> int:
    digest = blake2b(fields, digest_size=8)
    if isinstance(more, bytes):
        digest.update(more)
    return int.from_bytes(digest.digest(), "big", signed=True)
