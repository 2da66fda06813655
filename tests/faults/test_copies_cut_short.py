"""What a crash leaves among the copies of a space: parts of one that was being made, and one that was being erased in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.storage import backups
from tetrarium.storage.database import Database

FACTS = [
    f"Lock {number} opens for barges at {number % 24} and closes {number % 7} hours later." for number in range(40)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tetrarium.open_space(tmp_path / "space") as space:
        for fact in FACTS:
            space.store(fact, force=True)
        space.backup()
    return tmp_path / "space"


def crash_in(copy: Path) -> None:
    """Leave a copy as a process leaves it that is killed while it changes many pages of it: half written, with its journal."""
    crashed = copy.with_name("crashed")
    with closing(apsw.Connection(str(copy))) as connection:
        connection.pragma("journal_mode", "delete")
        connection.pragma("cache_size", 8)
        connection.pragma("cache_spill", 8)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE memories SET content = upper(content) || hex(randomblob(20000))")
        journal = copy.with_name(f"{copy.name}-journal")
        shutil.copyfile(copy, crashed)
        shutil.copyfile(journal, copy.with_name("crashed-journal"))
        connection.execute("ROLLBACK")
    crashed.replace(copy)
    copy.with_name("crashed-journal").replace(journal)


def test_a_copy_that_was_being_erased_in_is_whole_again_and_can_be_gone_back_to(folder: Path) -> None:
    (copy,) = backups.copies(folder)
    before = copy.file.read_bytes()
    crash_in(copy.file)
    assert copy.file.read_bytes() != before, "half written"
    with tetrarium.open_space(folder) as space:
        for memory_id in space.snapshot().ids[:10]:
            space.forget(memory_id)
        space.restore_backup(copy.name)
        assert len(space.snapshot()) == len(FACTS)
        assert {memory.content for memory in space.page()} <= {*FACTS}
    assert backups.is_unchanged(copy)
    assert not backups.damage_of(copy)


def test_parts_of_processes_that_are_gone_make_no_deletion_wait(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    parts = [folder / "backups" / f"20261130T200754Z-restore.db.{number}.part" for number in (gone.pid, os.getppid())]
    for part in parts:
        part.write_text('{"blake2b": "half a no')
    with tetrarium.open_space(folder) as space:
        space.forget(space.snapshot().ids[0], permanently=True)
        assert not parts[0].exists()
        assert parts[1].exists(), "somebody may still be at it"
        parts[1].unlink()
        space.forget(space.snapshot().ids[0], permanently=True)
        assert not space.pending_erasures()


def test_a_copy_that_was_being_let_go_is_there_with_its_note_or_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy,) = backups.copies(folder)
    unlink = Path.unlink

    def killed(self: Path, missing_ok: bool = False) -> None:
        unlink(self, missing_ok=missing_ok)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        backups.remove(copy)
    monkeypatch.undo()
    assert all(backups.is_unchanged(left) for left in backups.copies(folder))
    (note,) = (folder / "backups").glob("*.sum")
    os.utime(note, (0, 0))
    backups.sweep(folder)
    assert not [*(folder / "backups").iterdir()]


def test_what_is_deleted_for_good_while_another_program_copies_is_in_no_copy(folder: Path) -> None:
    (before,) = backups.copies(folder)
    with tetrarium.open_space(folder) as space:
        copying = backups.make(folder / paths.STORE_FILE, "daily", datetime.now(UTC))
        for _ in range(4):
            assert next(copying) is None, "copied with the memory in it, and being checked"
        gone = next(memory for memory in space.page() if "Lock 7 " in memory.content)
        space.forget(gone.id, permanently=True)
        assert not space.pending_erasures()
        *_, made = copying
        assert made in backups.copies(folder)
        assert made.memories == len(FACTS) - 1
        assert not space.prove_deleted(gone.content).residues
        assert backups.is_unchanged(made)
        assert before.name in {copy.name for copy in backups.copies(folder)}


def test_a_space_is_closed_at_once_in_the_middle_of_its_daily_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded = []
    close = Database.close
    monkeypatch.setattr(Database, "close", lambda self: folded.append(close(self)))
    with tetrarium.open_space(tmp_path, busy_timeout=50) as space:
        for fact in FACTS:
            space.store(fact, force=True)
        for _ in range(1_000):
            space.maintain()
            if space._copying is not None:
                break
        assert space._copying is not None, "a copy is under way"
    assert folded == [True]
    assert not [*(tmp_path / "backups").glob("*.part")]
