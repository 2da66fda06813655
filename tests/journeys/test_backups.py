"""Backups: made by themselves and on request, checked, rotated; the way back is previewed, whole, and can be undone."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths, service
from tetrarium.cli import main
from tetrarium.errors import DamagedSpace, InvalidInput, NotFound, NotTrusted
from tetrarium.events import SpaceChanged
from tetrarium.service import WINDOW, MemoryService
from tetrarium.storage import backups as copies
from tetrarium.storage import memories as rows

FACT = "The payment worker retries a failed charge three times, then parks the job."
NEWER = "The payment worker retries a failed charge five times, then parks the job."
OTHER = "The kiosk syncs its seat map every four minutes over the depot's wireless."
DATA = Path(__file__).resolve().parents[1] / "data"
STORING = """
import sys, tetrarium
space = tetrarium.open_space(sys.argv[1])
for i in range(100_000):
    result = space.store(f"Memory number {i} of the storing loop, with a number {i * i} to tell it apart.", force=True)
    print(result.id, flush=True)
"""


def contents(space: MemoryService) -> dict[str, str]:
    return {m.id: m.content for m in space.page(limit=1_000)}


def finish_maintenance(space: MemoryService) -> None:
    for _ in range(200):
        if not space.maintain():
            return
    raise AssertionError("maintenance never ends")


def test_a_backup_is_a_plain_checked_file_with_everything_in_it(space: MemoryService) -> None:
    space.store(FACT)
    made = space.backup()
    assert (made.memories, made.cause) == (1, "asked")
    assert space.backups() == (made,)
    file = space.path / paths.BACKUPS / made.name
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("SELECT content FROM memories").fetchall() == [(FACT,)]
    assert connection.pragma("journal_mode") == "delete"
    connection.close()
    assert sorted(f.name for f in file.parent.iterdir()) == [made.name, made.name + ".sum"]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps other people out by the folder alone")
def test_every_file_of_a_space_is_for_its_person_alone(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        with tetrarium.open_space(tmp_path / "space", picture_size=1, reserve_bytes=4_096) as space:
            space.store(FACT)
            name = space.backup().name
            finish_maintenance(space)
            files = {file.name: file for file in (tmp_path / "space").rglob("*")}
            assert {paths.STORE_FILE, f"{paths.STORE_FILE}-wal", f"{paths.STORE_FILE}-shm", name} <= {*files}
            for file in files.values():
                assert not file.stat().st_mode & 0o077, file
        service.encrypt(tmp_path / "space", passphrase="long enough")
        service.decrypt(tmp_path / "space", passphrase="long enough")
        for file in (tmp_path / "space").rglob("*"):
            assert not file.stat().st_mode & 0o077, file
    finally:
        os.umask(mask)


def test_going_back_is_previewed_whole_and_undone(space: MemoryService) -> None:
    kept = str(space.store(FACT).id)
    gone = str(space.store(OTHER).id)
    name = space.backup().name
    then = contents(space)
    space.update(kept, content=NEWER)
    space.forget(gone)
    extra = str(space.store("The ledger is closed on the last working day of the month.").id)
    now = contents(space)
    preview = space.preview_restore(name)
    assert (preview.returning, preview.leaving, preview.changing, preview.staying) == (1, 1, 1, 0)
    assert {(what, memory_id) for what, memory_id, _ in preview.examples} == {
        ("returning", gone), ("leaving", extra), ("changing", kept)
    }  # fmt: skip
    assert contents(space) == now
    before = space.restore_backup(name, client=WINDOW)
    assert contents(space) == then
    assert [hit.id for hit in space.search("kiosk", limit=1)] == [gone]
    assert space.examine().is_healthy
    assert before.cause == "restore"
    entry = space.history(limit=1)[0]
    assert (entry.op, entry.client, entry.reversible) == ("restore backup", WINDOW, True)
    space.undo(client=WINDOW)
    assert contents(space) == now
    assert space.history(limit=2)[1].undone
    space.redo(client=WINDOW)
    assert contents(space) == then


def test_what_is_stored_after_going_back_never_takes_an_old_number(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space, tetrarium.open_space(tmp_path) as other:
        space.store(FACT)
        name = space.backup().name
        gone = [str(space.store(f"Remark {i}: the gate opens at {i} o'clock.", force=True).id) for i in range(5)]
        other.catch_up()
        version = other.snapshot().version
        heard: list[SpaceChanged] = []
        other.events.subscribe(lambda event: heard.append(event) if isinstance(event, SpaceChanged) else None)
        space.restore_backup(name)
        new = str(space.store(OTHER).id)
        assert set(contents(other)) == set(contents(space)) == {*contents(space)} - {*gone}
        assert [hit.id for hit in other.search("kiosk", limit=1)] == [new]
        assert set(heard[0].changes.removed) == set(gone)
        assert other.snapshot_since(version) is None
        more = str(other.store("The second program stores after the way back.").id)
        assert space.get(more).content.startswith("The second program")
        assert space.examine().is_healthy


def test_one_memory_comes_back_from_the_trash_with_its_words_or_wholly(space: MemoryService) -> None:
    early = space.backup().name
    edited, trashed, gone = (
        str(space.store(text, labels=["old"], importance=0.8).id)
        for text in (FACT, OTHER, "The ledger is closed in May.")
    )
    before = {memory_id: space.get(memory_id) for memory_id in (edited, trashed, gone)}
    late = space.restore_backup(early, client=WINDOW).name
    back = space.restore_memory(late, gone, client=WINDOW)
    assert (back.content, back.labels, back.created_at) == (
        "The ledger is closed in May.",
        ("old",),
        before[gone].created_at,
    )
    assert [hit.id for hit in space.search("ledger", limit=1)] == [gone]
    space.undo(client=WINDOW)
    assert not contents(space)
    space.undo(client=WINDOW)
    space.update(edited, content=NEWER, labels=["new"])
    space.forget(trashed)
    for memory_id in (edited, trashed):
        back = space.restore_memory(late, memory_id, client=WINDOW)
        assert (back.content, back.labels, back.importance) == (before[memory_id].content, ("old",), 0.8)
    with pytest.raises(InvalidInput, match="nothing changed"):
        space.restore_memory(late, edited)
    space.undo(client=WINDOW)
    space.undo(client=WINDOW)
    assert set(contents(space)) == {edited, gone}
    assert space.get(edited).content == NEWER
    assert space.health().state != "bad"


def test_what_was_deleted_for_good_never_comes_back_with_a_backup(space: MemoryService) -> None:
    purged, kept = str(space.store(FACT).id), str(space.store(OTHER).id)
    name = space.backup().name
    space.forget(purged, permanently=True)
    with pytest.raises(NotFound):
        space.restore_memory(name, purged, client=WINDOW)
    space.restore_backup(name, client=WINDOW)
    assert set(contents(space)) == {kept}
    assert space.verify_audit().is_sound


def test_what_bringing_one_memory_back_would_change_is_told_first(space: MemoryService) -> None:
    same, trashed, gone = (str(space.store(text).id) for text in (FACT, OTHER, "The ledger is closed in May."))
    name = space.backup().name
    space.forget(trashed)
    assert not space.preview_restore_memory(name, same).changes
    assert space.preview_restore_memory("", trashed.lower()).here == "in the trash"
    early = space.restore_backup(name, client=WINDOW).name
    space.update(gone, labels=["old"], importance=0.9)
    found = space.preview_restore_memory(name, gone)
    assert (found.here, found.differing) == ("live", ("labels", "importance"))
    assert space.preview_restore_memory("", same).backup.name == name
    assert space.preview_restore_memory(early, same).backup.name == early
    with pytest.raises(NotFound, match="has no memory"):
        space.preview_restore_memory(early, trashed)


def test_an_agent_restores_nothing(space: MemoryService) -> None:
    memory_id = str(space.store(FACT).id)
    name = space.backup().name
    with pytest.raises(NotTrusted):
        space.restore_backup(name, client="agent")
    with pytest.raises(NotTrusted):
        space.restore_memory(name, memory_id, client="agent")


def test_a_damaged_backup_is_refused_and_the_space_stays(space: MemoryService) -> None:
    space.store(FACT)
    name = space.backup().name
    file = space.path / paths.BACKUPS / name
    data = bytearray(file.read_bytes())
    data[data.index(b"three times")] ^= 1
    file.write_bytes(data)
    space.store(OTHER)
    before = contents(space)
    with pytest.raises(DamagedSpace, match="damaged"):
        space.restore_backup(name)
    assert contents(space) == before
    with pytest.raises(NotFound, match="no backup"):
        space.restore_backup("yesterday")


def test_quiet_moments_copy_the_space_once_a_day_and_only_when_it_changed(
    space: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_maintenance(space)
    assert space.backups() == ()
    space.store(FACT)
    finish_maintenance(space)
    (first,) = space.backups()
    assert first.cause == "daily"
    space.store(OTHER)
    finish_maintenance(space)
    assert space.backups() == (first,)
    tomorrow = datetime.now(UTC) + timedelta(hours=25)
    monkeypatch.setattr(rows, "now", lambda: tomorrow)
    finish_maintenance(space)
    assert len(space.backups()) == 2
    later = tomorrow + timedelta(hours=25)
    monkeypatch.setattr(rows, "now", lambda: later)
    finish_maintenance(space)
    assert len(space.backups()) == 2


def test_copies_of_seven_days_and_four_weeks_stay_and_those_that_were_asked_for() -> None:
    start = datetime(2026, 1, 1, 9, tzinfo=UTC)

    def copy(number: int, cause: str, hours: float) -> copies.Copy:
        return copies.Copy(Path(f"{number:04d}-{cause}.db"), start + timedelta(hours=hours), cause, 1, 1, number, 1, "")

    found = [copy(day, "daily", 24 * day + half) for day in range(60) for half in (0, 12)]
    found += [copy(n, cause, n) for n in range(6) for cause in ("asked", "deletion", "restore")]
    gone = {c.name for c in copies.rotate(found, days=7, weeks=4, others=3)}
    stay = [c for c in found if c.name not in gone]
    assert [c.at for c in stay if c.cause == "asked"] == [start + timedelta(hours=n) for n in range(6)]
    for cause in ("deletion", "restore"):
        assert sorted(c.seq for c in stay if c.cause == cause) == [3, 4, 5]
    daily = {c.at.date() for c in stay if c.cause == "daily"}
    newest = start.date() + timedelta(days=59)
    assert {newest - timedelta(days=n) for n in range(7)} <= daily
    assert len({day.isocalendar()[:2] for day in daily}) == 4
    assert not copies.rotate(stay, days=7, weeks=4, others=3)


@pytest.mark.parametrize("days", [3_650, -5, -90])
def test_a_clock_that_was_wrong_for_a_while_neither_loses_the_newest_copies_nor_copies_without_end(
    space: MemoryService, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    for day in range(9):
        space.store(f"Remark {day}: the gate opens at {day} o'clock.", force=True)
        monkeypatch.setattr(rows, "now", lambda day=day: datetime.now(UTC) - timedelta(days=9 - day))
        finish_maintenance(space)
    wrong = datetime.now(UTC) + timedelta(days=days)
    monkeypatch.setattr(rows, "now", lambda: wrong)
    space.store(FACT)
    finish_maintenance(space)
    assert space.backups()[0].memories == 10
    monkeypatch.undo()
    space.store(OTHER)
    finish_maintenance(space)
    assert space.backups()[0].memories >= 10
    space.store(NEWER, force=True)
    finish_maintenance(space)
    before = contents(space)
    for _ in range(3):  # within a second, several copies carry one time
        space.restore_backup(space.backups()[-1].name)
        space.undo()
        assert contents(space) == before


def test_a_large_deletion_and_a_large_rearrangement_keep_a_copy_first(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, backup_deletion=5, backup_moves=1) as space:
        ids = [str(space.store(f"Remark {i}: the gate opens at {i} o'clock.", labels=["gate"], force=True).id) for i in range(12)]  # fmt: skip
        space.forget_all(ids[:2])
        assert space.backups() == ()
        preview = space.forget_matching(labels="gate")
        space.forget_matching(labels="gate", confirm=preview.confirm)
        assert [(b.cause, b.memories) for b in space.backups()] == [("deletion", 10)]
        space.undo()
        for i in range(12):
            space.store(f"Note {i}: the ledger was set to {i} minutes.", keywords=["ledger"], force=True)
        one, other = [cluster.id for cluster in space.snapshot().clusters][:2]
        plan = space.plan_clusters("merge", one, onto=other)
        assert len(plan)
        space.apply_plan(plan)
        assert [b.cause for b in space.backups()] == ["plan", "deletion"]


def test_a_copy_made_while_others_store_is_one_moment_of_the_space(tmp_path: Path) -> None:
    with (
        tetrarium.open_space(tmp_path) as space,
        subprocess.Popen([sys.executable, "-c", STORING, str(tmp_path)], stdout=subprocess.PIPE, text=True) as child,
    ):
        assert child.stdout is not None
        acknowledged = [child.stdout.readline().strip() for _ in range(5)]
        made = space.backup()
        more = child.stdout.readline().strip()
        child.kill()
        child.stdout.read()
        assert more
        with copies.opened(tmp_path / paths.BACKUPS / made.name) as connection:
            inside = {memory_id for (memory_id,) in connection.execute("SELECT id FROM memories").fetchall()}
        connection.close()
        assert set(acknowledged) <= inside
        assert len(inside) == made.memories


def test_a_space_of_an_older_schema_is_copied_before_it_is_brought_up_to_date(tmp_path: Path) -> None:
    old = gzip.decompress((DATA / "space-schema-2.db.gz").read_bytes())
    (tmp_path / paths.STORE_FILE).write_bytes(old)
    with tetrarium.open_space(tmp_path) as space:
        (made,) = space.backups()
        assert made.cause == "migration"
        new = str(space.store("A memory of the new schema, which the old copy does not have.").id)
        then = space.preview_restore(made.name)
        assert (then.returning, then.leaving, then.changing, then.staying) == (0, 1, 0, 10)
        space.restore_backup(made.name)
        assert space.stats().memories == 10
        space.undo(space.history(limit=1)[0].id)
        assert space.get(new).content
    file = tmp_path / paths.BACKUPS / made.name
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.pragma("user_version") == 2
    connection.close()


def test_the_command_line_copies_previews_and_restores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--data-dir", str(tmp_path))
    with tetrarium.open_space(tmp_path) as space:
        memory_id = str(space.store(FACT).id)
    assert main(["backup", *at, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    with tetrarium.open_space(tmp_path) as space:
        space.update(memory_id, content=NEWER)
        space.store(OTHER)
    assert main(["restore", *at, "--json"]) == 0
    preview = json.loads(capsys.readouterr().out)
    assert (preview["backup"]["name"], preview["leaving"], preview["changing"]) == (made["name"], 1, 1)
    assert main(["restore", made["name"], "--memory", memory_id, *at]) == 0
    told = capsys.readouterr().out
    assert f"{memory_id} in {made['name']}: {FACT}" in told
    assert f"Here it is live: {NEWER}" in told
    assert "Differs: text" in told
    assert "go, " not in told
    assert main(["restore", "--memory", "01ARZ3NDEKTSV4RRFFQ69G5FAV", *at]) == 1
    assert "has no memory" in capsys.readouterr().err
    with tetrarium.open_space(tmp_path) as space:
        assert space.get(memory_id).content == NEWER
    assert main(["restore", made["name"], "--memory", memory_id, "--apply", *at]) == 0
    assert FACT in capsys.readouterr().out
    for _ in range(2):  # a second one goes to the same copy, not to what the first has kept
        assert main(["restore", "--apply", *at]) == 0
        assert "is kept as" in capsys.readouterr().out
        with tetrarium.open_space(tmp_path) as space:
            assert contents(space) == {memory_id: FACT}
    assert main(["backup", "--list", *at]) == 0
    assert made["name"] in capsys.readouterr().out


@pytest.mark.expects_log_warning
def test_a_store_that_cannot_be_opened_is_replaced_and_kept_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    at = ("--data-dir", str(tmp_path))
    with tetrarium.open_space(tmp_path) as space:
        memory_id = str(space.store(FACT).id)
        space.backup()
    file = tmp_path / paths.STORE_FILE
    file.write_bytes(b"\0" * file.stat().st_size)
    assert main(["stats", *at]) == 1
    assert "restore" in capsys.readouterr().err
    assert main(["restore", *at]) == 1
    assert "--apply" in capsys.readouterr().err
    assert not [*tmp_path.glob("damaged-*")]
    assert main(["restore", "--apply", *at]) == 0
    assert "damaged files" in capsys.readouterr().out
    with tetrarium.open_space(tmp_path) as space:
        assert contents(space) == {memory_id: FACT}
    (aside,) = tmp_path.glob("damaged-*")
    assert (aside / paths.STORE_FILE).read_bytes().strip(b"\0") == b""
