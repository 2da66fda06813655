"""Spaces of every earlier schema open with all they hold, after a copy was kept; newer ones are left alone.

The files in tests/data were written by the program of each schema itself: eleven memories, a correction, two edits,
one in the trash, from schema 2 on a named cluster, from 3 on feedback and a pin, from 4 on a relation, from 5 on a history
of 20 entries, from 6 on an audit, from 8 on an exclusion (`tests/data/make_space.py`). The newest is of today's schema, for
the day on which there is another.
"""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from failing_disk import counted_disk

import tetrarium
from tetrarium import paths
from tetrarium.errors import UserError
from tetrarium.model import CheckState, Standing
from tetrarium.storage.migrations import SCHEMA_VERSION

HISTORY, PRIVACY = 5, 8
"""Schemas from which on there is a history, and what a person excluded."""
CUTS = 5
"""Moments of a migration at which the disk fails."""

DATA = Path(__file__).resolve().parents[1] / "data"
SCHEMAS = range(1, SCHEMA_VERSION + 1)


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
    tables = (
        "memories", "versions", "vectors", "places", "inhibitions", "changes", "cluster_names", "plans", "moves",
        "relations", "feedback", "asked", "history", "effects", "audit", "exclusions",
    )  # fmt: skip
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
        assert len(space.history()) == (20 if schema >= HISTORY else 0)
        assert [e.pattern for e in space.exclusions()] == (["lunch menu"] if schema >= PRIVACY else [])
        assert space.verify_audit().is_sound
        again = "Login tokens live for fifteen minutes and are refreshed silently."
        assert space.store(again, idempotency_key="login").outcome == "stored"
        space.update(edited.id, content="The search index is rebuilt by itself.", client="window")
        space.undo(client="window")
        assert space.get(edited.id).content == edited.content
        assert space.get(edited.id).entities == edited.entities


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where SQLite itself ignores a failure
@pytest.mark.parametrize("full", [False, True], ids=["the power goes", "the disk is full"])
@pytest.mark.parametrize("schema", range(1, SCHEMA_VERSION))
def test_a_migration_that_is_cut_short_leaves_the_old_space_or_the_new(tmp_path: Path, schema: int, full: bool) -> None:
    held = rows(unpack(tmp_path, schema), "SELECT num, id, content FROM memories")
    with counted_disk() as disk:
        disk.restart()
        tetrarium.open_space(unpack(tmp_path / "whole", schema).parent, reserve_bytes=0).close()
        operations = disk.count
        for number in (1 + step * operations // CUTS for step in range(CUTS)):
            folder = tmp_path / str(number)
            file = unpack(folder, schema)
            disk.restart(number, dead=True, full=full)
            with suppress(UserError):
                tetrarium.open_space(folder, reserve_bytes=0).close()
            disk.restart()
            (version,) = rows(file, "PRAGMA user_version")[0]  # type: ignore[misc]
            assert schema <= version <= SCHEMA_VERSION
            assert rows(file, "SELECT num, id, content FROM memories") == held
            with tetrarium.open_space(folder, reserve_bytes=0) as space:
                assert (space.stats().schema, space.stats().memories) == (SCHEMA_VERSION, 10)
                assert not [check for check in space.health().checks if check.state is CheckState.BAD]
                assert space.search("when does the nightly export run", limit=1).hits
        assert rows(folder / paths.STORE_FILE, "SELECT num, id, content FROM memories") == held
