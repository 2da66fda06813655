"""What goes wrong with disks and files: a clear error, nothing lost, the process lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.errors import (
    DamagedSpace,
    DiskFull,
    InvalidInput,
    NewerSpace,
    ReadOnlySpace,
    SpaceBusy,
    SpaceUnavailable,
)
from tetrarium.service import MemoryService

FACT = "The payment worker retries a failed charge three times, then parks the job."
STORING = """
import sys, tetrarium
space = tetrarium.open_space(sys.argv[1])
for i in range(100_000):
    result = space.store(f"Memory number {i} of the storing loop, with a number {i * i} to tell it apart.", force=True)
    sys.stdout.write(result.id + "\\n")
    sys.stdout.flush()
"""


class FailingFile(apsw.VFSFile):
    """Passes everything on, and fails writes that the test wants to fail."""

    failing: type[Exception] | None = None

    def __init__(self, inherit: str, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__(inherit, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if FailingFile.failing is not None:
            raise FailingFile.failing("as the test wants it")
        super().xWrite(data, offset)


class FailingSystem(apsw.VFS):
    def __init__(self) -> None:
        self.usual = apsw.vfs_names()[0]
        super().__init__("failing", base=self.usual, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> FailingFile:
        return FailingFile(self.usual, name, flags)


@pytest.fixture
def failing_disk() -> Iterator[type[FailingFile]]:
    """A disk under the store whose writes fail once `failing` is set."""
    system = FailingSystem()
    try:
        yield FailingFile
    finally:
        FailingFile.failing = None
        system.unregister()


def test_a_full_disk_refuses_the_store_keeps_everything_and_goes_on_afterwards(tmp_path: Path, failing_disk: type[FailingFile]) -> None:  # fmt: skip
    with tetrarium.open_space(tmp_path) as space:
        kept = space.store(FACT).id
        failing_disk.failing = apsw.FullError
        with pytest.raises(DiskFull, match="nothing was stored") as caught:
            space.store("Another fact that finds no room on this disk.")
        assert caught.value.advice
        assert [hit.id for hit in space.search("charge")] == [kept]
        failing_disk.failing = None
        assert space.store("Another fact that finds no room on this disk.").id
        assert space.stats().memories == 2


def test_a_failing_disk_is_said_and_nothing_half_is_left(tmp_path: Path, failing_disk: type[FailingFile]) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
        before = space.snapshot()
        failing_disk.failing = apsw.IOError
        with pytest.raises(SpaceUnavailable):
            space.store("Another fact that the disk swallows half of, perhaps.")
        failing_disk.failing = None
        after = space.snapshot()
        assert (after.ids, after.places.tolist()) == (before.ids, before.places.tolist())


def test_a_space_in_a_read_only_folder_is_read_and_never_written(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path / "s") as space:
        space.store(FACT)
    # Root may write anywhere, so what a read-only medium does is asked for directly: an immutable open.
    file = tmp_path / "s" / paths.STORE_FILE
    before = file.read_bytes()
    with read_only(tmp_path / "s") as space:
        assert space.search("charge")[0].content == FACT
        space.recall("charge")
        assert not space.maintain()
        assert not space.stats().writable
        with pytest.raises(ReadOnlySpace, match="only be read"):
            space.store("Something new that cannot be written here.")
    assert file.read_bytes() == before


def read_only(folder: Path) -> MemoryService:
    """Open a space as on a read-only medium."""
    from tetrarium.storage import database

    def refuse(*_: object) -> apsw.Connection:
        raise apsw.CantOpenError("as on a read-only medium")

    original = database._connect
    database._connect = refuse
    try:
        return tetrarium.open_space(folder)
    finally:
        database._connect = original


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(SpaceUnavailable, match="folder"):
        tetrarium.open_space(tmp_path / "file")
    with pytest.raises(SpaceUnavailable):
        tetrarium.open_space(tmp_path / "file" / "deeper")


def test_a_space_of_a_newer_tetrarium_is_refused_untouched(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
    file = tmp_path / paths.STORE_FILE
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA user_version=99")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(NewerSpace, match="newer Tetrarium"):
        tetrarium.open_space(tmp_path)
    assert file.read_bytes() == before
    assert {f.name for f in tmp_path.iterdir()} == {paths.STORE_FILE, paths.AUDIT_FILE}


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0" + b"x" * 200, os.urandom(8192)])
def test_what_is_no_space_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / paths.STORE_FILE
    file.write_bytes(content)
    if not content:
        tetrarium.open_space(tmp_path).close()
        return
    with pytest.raises(DamagedSpace):
        tetrarium.open_space(tmp_path)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "made",
    [
        "PRAGMA application_id=7; CREATE TABLE theirs (x)",
        "CREATE TABLE notes (a)",
        "PRAGMA journal_mode=WAL; CREATE TABLE notes (a)",
        ";".join(f"CREATE TABLE theirs_{n} (a, b, c)" for n in range(200)),
    ],
)
@pytest.mark.parametrize("running", [False, True])
def test_another_programs_database_is_left_alone(tmp_path: Path, made: str, running: bool) -> None:
    """Whether or not it marks its files, and whether what it wrote is in the file already or in the log beside it."""
    file = tmp_path / paths.STORE_FILE
    connection = apsw.Connection(str(file))
    connection.execute(made).fetchall()
    if not running:
        connection.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.endswith("-shm")}
    with pytest.raises(DamagedSpace, match="another program"):
        tetrarium.open_space(tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if not p.name.endswith("-shm")} == before
    connection.close()


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_file_that_holds_no_table_yet_is_made_into_a_space(tmp_path: Path, mode: str) -> None:
    """As a first start that was killed early leaves it."""
    connection = apsw.Connection(str(tmp_path / paths.STORE_FILE))
    connection.execute(f"PRAGMA journal_mode={mode}; CREATE TABLE t (a); DROP TABLE t").fetchall()
    connection.close()
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
        with tetrarium.open_space(tmp_path) as beside:
            assert beside.stats().memories == 1


def test_reads_go_on_while_another_program_holds_the_write_lock(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, busy_timeout=50) as space:
        space.store(FACT)
        holder = apsw.Connection(str(tmp_path / paths.STORE_FILE))
        holder.execute("BEGIN IMMEDIATE")
        try:
            for _ in range(20):
                assert space.search("charge")
                assert space.recall("charge").blocks
            with pytest.raises(SpaceBusy, match="nothing was stored"):
                space.store("Something that has to wait for too long.")
        finally:
            holder.execute("ROLLBACK")
            holder.close()
        assert space.store("Something that has to wait for too long.").id


def test_a_megabyte_is_stored_whole_and_ten_are_refused(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        megabyte = "The quick brown fox is stored whole. " * 28_000
        memory_id = space.store(megabyte).id
        assert space.get(str(memory_id)).content == megabyte.strip()
        trace = space.recall("quick brown fox")
        assert not trace.blocks
        assert trace.best_left_out == memory_id
        with pytest.raises(InvalidInput, match="too long"):
            space.store(megabyte * 10)


@pytest.mark.parametrize(
    "content",
    ["'); DROP TABLE memories; -- is what they tried on the login form", "Robert\"; DELETE FROM memories WHERE 1=1; and so on", "🎉 release party 🎉 with emoji and more emoji 🥳", "只有中文的一句话也能完整保存下来。", "\u202eright to left override\u202c and zero\u200bwidth characters stay"],
)  # fmt: skip
def test_hostile_and_foreign_texts_come_back_as_they_went_in(space: MemoryService, content: str) -> None:
    memory_id = space.store(content, keywords=["%", "_", "a'b"]).id
    assert space.get(str(memory_id)).content == content
    assert space.search(content)[0].id == memory_id


@pytest.mark.timeout(180)
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """Ten kills here; the benchmark `kills` does a hundred."""
    acknowledged: list[str] = []
    for round_number in range(10):
        with subprocess.Popen(
            [sys.executable, "-c", STORING, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            first = child.stdout.readline().strip()
            deadline = time.monotonic() + 0.07 * (round_number + 1)
            acknowledged.append(first)
            while time.monotonic() < deadline:
                acknowledged.append(child.stdout.readline().strip())
            os.kill(child.pid, signal.SIGKILL)
            acknowledged += [line.strip() for line in child.stdout.read().splitlines() if len(line.strip()) == 26]
    with tetrarium.open_space(tmp_path) as space:
        present = set(space.snapshot().ids)
        assert set(filter(None, acknowledged)) <= present
        assert space.search("memory number 3 of the storing loop")
