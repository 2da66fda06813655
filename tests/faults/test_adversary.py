"""What somebody who has not written it tried, to lose or to leak something."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.errors import DamagedSpace, InvalidInput, NewerSpace, NotFound, ReadOnlySpace, SpaceUnavailable
from tetrarium.model import CheckState
from tetrarium.storage.migrations import SCHEMA_VERSION

FACT = "The payment worker retries a failed charge three times, then parks the job."
OTHER = "The kiosk syncs its seat map every four minutes over the depot's wireless."
MARKED = "The quibblewombat naps on the roof garden until the gardener comes."
WRITING = """
import resource, sys, tetrarium
space = tetrarium.open_space(sys.argv[1], reserve_bytes=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, 800_000))
acknowledged = 0
try:
    for number in range(1_000):
        space.store(f"Remark {number}: the gate opens at {number} o'clock." + " sharp" * 700, force=True)
        acknowledged += 1
except tetrarium.errors.SpaceUnavailable as error:
    print(acknowledged, len(space.search("gate opens").hits), str(error)[:40])
space.close()
"""


@pytest.mark.expects_log_warning
def test_a_folder_that_is_renamed_while_it_is_open_takes_everything_along(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path / "here") as space:
        space.store(FACT)
        (tmp_path / "here").rename(tmp_path / "there")
        assert len(space.search("payment worker").hits) == 1
        with pytest.raises(ReadOnlySpace, match="was moved or replaced"):
            space.store(OTHER)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    with tetrarium.open_space(tmp_path / "there") as space:
        assert [m.content for m in space.page()] == [FACT]
        assert space.verify_audit().is_sound


@pytest.mark.expects_log_warning
def test_a_program_under_which_a_newer_one_brings_the_store_up_to_date_writes_no_more(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
        copy = space.backup().name
        newer = apsw.Connection(str(tmp_path / paths.STORE_FILE))
        newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
        for attempt in (lambda: space.store(OTHER), lambda: space.restore_backup(copy), lambda: space.undo()):
            with pytest.raises(NewerSpace, match="newer Tetrarium"):
                attempt()
        assert len(space.search("payment worker").hits) == 1
        assert newer.execute("SELECT count(*) FROM memories").get == 1
        newer.close()


def test_a_backup_of_another_space_is_refused_and_makes_no_copies_without_end(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path / "one") as one, tetrarium.open_space(tmp_path / "other") as other:
        one.store(FACT)
        one.backup()
        for number in range(9):
            other.store(f"Remark {number}: the gate opens at {number} o'clock.", force=True)
        strange = other.backup().name
        for suffix in ("", ".sum"):
            name = f"29990101T000000Z-asked.db{suffix}"
            shutil.copy(tmp_path / "other" / paths.BACKUPS / f"{strange}{suffix}", one.path / paths.BACKUPS / name)
        for attempt in (one.preview_restore, one.restore_backup):
            with pytest.raises(InvalidInput, match="is of another space"):
                attempt("29990101T000000Z-asked.db")
        assert [m.content for m in one.page()] == [FACT]
        for _ in range(50):
            one.maintain()
        assert len(one.backups()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes among files there")
def test_strange_files_in_the_folder_stop_nothing(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, reserve_bytes=0) as space:
        gone = str(space.store(FACT).id)
        copy = space.backup().name
    folder = tmp_path / paths.BACKUPS
    (folder / f"{copy}.sum").write_text('{"seq": "x"}')
    (folder / "20260101T000000Z-asked.db").mkdir()
    (folder / "20269901T000000Z-asked.db").write_bytes(b"of no day")
    (folder / "20260102T000000Z-asked.db").write_bytes(b"no store")
    os.mkfifo(folder / "20260103T000000Z-asked.db")
    (tmp_path / paths.RESERVE_FILE).mkdir()
    (tmp_path / paths.AUDIT_FILE).write_text("[]")
    with tetrarium.open_space(tmp_path) as space:
        assert [backup.name for backup in space.backups()] == [copy, "20260102T000000Z-asked.db"]
        for _ in range(5):
            space.maintain()
        (check,) = [check for check in space.health().checks if check.name == "backups"]
        assert check.examples == ("20260102T000000Z-asked.db",)
        assert space.erase_with_proof([gone]).is_gone


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_what_is_erased_is_erased_in_backups_that_are_only_linked_to(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "space"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / paths.BACKUPS).symlink_to(elsewhere)
    with tetrarium.open_space(folder) as space:
        gone = str(space.store(MARKED).id)
        space.backup()
        space.store(OTHER)
        assert any(found.file.startswith("backups/") for found in space.prove_deleted(MARKED).residues)
        assert space.erase_with_proof([gone]).is_gone
    assert not [file for file in elsewhere.iterdir() if b"quibblewombat" in file.read_bytes()]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_store_that_is_only_linked_to_is_refused_with_its_right_place(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path / "real") as space:
        space.store(FACT)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / paths.STORE_FILE).symlink_to(tmp_path / "real" / paths.STORE_FILE)
    with pytest.raises(SpaceUnavailable, match="is a link") as refused:
        tetrarium.open_space(tmp_path / "link")
    assert str(tmp_path / "real") in refused.value.advice
    (tmp_path / "whole").symlink_to(tmp_path / "real")
    with tetrarium.open_space(tmp_path / "whole") as space:
        assert space.stats().memories == 1


def test_a_recall_that_one_program_kept_does_not_outlive_an_erasure_by_another(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space, tetrarium.open_space(tmp_path) as other:
        gone = str(space.store(MARKED).id)
        space.store(OTHER)
        space.recall("where does the quibblewombat nap", client="agent")
        other.forget(gone)
        other.erase([gone])
        with pytest.raises(NotFound):
            space.trace(client="agent")
        assert space.traces(client="agent") == ()


@pytest.mark.expects_log_warning
@pytest.mark.parametrize(
    ("words", "other"),
    [
        (b"unicode61 remove", b"unicode60 remove"),
        (b"tokenchars '._/", b"tokenchars '._o"),
        (b"tokenchars '._/", b"tokenchars '._\xaf"),
    ],
    ids=["an unknown way to cut words", "another list of characters", "no text"],
)
def test_a_changed_bit_in_the_definition_of_the_full_text_index_is_put_right_before_it_answers(
    tmp_path: Path, words: bytes, other: bytes
) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store("The retries are read from config.yaml/retries by the worker.")
        expected = [hit.score for hit in space.search("config.yaml/retries").hits]
    file = tmp_path / paths.STORE_FILE
    assert words in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(words, other, 1))
    for _ in range(2):
        with tetrarium.open_space(tmp_path) as space:
            assert [hit.score for hit in space.search("config.yaml/retries").hits] == pytest.approx(expected, abs=1e-4)
            assert not [check for check in space.health().checks if check.state is CheckState.BAD]


@pytest.mark.expects_log_warning
@pytest.mark.parametrize(
    ("words", "other"), [(b"fts5 (", b"fts4 ("), (b"trashed_at INTEGER\n", b"trashed_au INTEGER\n"), (b"TABLE changes", b"TABLE changer")]
)  # fmt: skip
def test_a_changed_bit_in_any_other_definition_is_said_and_the_store_left_as_it_is(
    tmp_path: Path, words: bytes, other: bytes
) -> None:
    with tetrarium.open_space(tmp_path) as space:
        space.store(FACT)
    file = tmp_path / paths.STORE_FILE
    file.write_bytes(damaged := file.read_bytes().replace(words, other, 1))
    with pytest.raises(DamagedSpace, match="damaged"):
        tetrarium.open_space(tmp_path)
    assert file.read_bytes() == damaged


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_limit_on_the_size_of_files_is_said_and_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", WRITING, str(tmp_path)], capture_output=True, text=True, timeout=100, check=True
    )
    acknowledged, found, why = told.stdout.split(maxsplit=2)
    assert int(acknowledged) > 3
    assert int(found) > 0
    assert why.startswith(("The disk failed", "There is no room"))
    with tetrarium.open_space(tmp_path) as space:
        assert space.stats().memories == int(acknowledged)
        assert not [check for check in space.health().checks if check.state is CheckState.BAD]
