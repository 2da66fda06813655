"""Spaces of every earlier schema open with all they hold, after a copy was kept; newer ones are left alone.

The files in tests/data were written by the program of each schema itself: eleven memories, a correction, two edits,
one in the trash, from schema 2 on a named cluster, from 3 on feedback and a pin, from 4 on a relation.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.model import Standing
from tetrarium.storage.migrations import SCHEMA_VERSION

DATA = Path(__file__).resolve().parents[1] / "data"
SCHEMAS = range(1, 5)


def unpack(folder: Path, schema: int) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / paths.STORE_FILE
    file.write_bytes(gzip.decompress((DATA / f"space-schema-{schema}.db.gz").read_bytes()))
    return file


def rows(file: Path, query: str) -> list[object]:
    connection = apsw.Connection(str(file))
    try:
        return list(connection.execute(query).fetchall())
    finally:
        connection.close()


def columns_of(file: Path, table: str) -> str:
    names = rows(file, f"SELECT name FROM pragma_table_info('{table}')")
    return ", ".join(name for (name,) in names)  # type: ignore[misc]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_space_of_an_older_schema_opens_with_everything_it_held(tmp_path: Path, schema: int) -> None:
    file = unpack(tmp_path, schema)
    tables = ("memories", "versions", "vectors", "places", "inhibitions", "changes", "plans", "moves", "relations", "feedback")  # fmt: skip
    queries = {t: f"SELECT {columns_of(file, t)} FROM {t}" for t in tables if columns_of(file, t)}
    before = {table: rows(file, query) for table, query in queries.items()}
    assert rows(file, "PRAGMA user_version") == [(schema,)]
    with tetrarium.open_space(tmp_path) as space:
        assert {table: rows(file, query) for table, query in queries.items()} == before
        assert space.stats().schema == SCHEMA_VERSION
        assert (space.stats().memories, space.stats().in_trash) == (10, 1)
        (hit,) = space.search("when does the nightly export run", limit=1)
        assert hit.content.startswith("The nightly export runs at 01:30")
        old = space.get(hit.memory.supersedes[0])
        assert old.standing is Standing.INHIBITED
        edited = next(m for m in space.page() if "search-index" in m.content)
        assert "make index" in space.versions(edited.id)[0].content
        assert space.examine().is_healthy
        assert space.history() == ()
        again = "Login tokens live for fifteen minutes and are refreshed silently."
        assert space.store(again, idempotency_key="login").outcome == "stored"
        space.update(edited.id, content="The search index is rebuilt by itself.", client="window")
        space.undo(client="window")
        assert space.get(edited.id).content == edited.content
        assert space.get(edited.id).entities == edited.entities
