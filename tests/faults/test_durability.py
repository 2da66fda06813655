"""Disks that fail, fill up or may not be written, and clocks that jump: a clear word, reads go on, nothing is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from failing_disk import Disk, counted_disk, day_on_a_failing_disk

import tetrarium
from tetrarium import paths
from tetrarium.errors import DiskFull, ReadOnlySpace, SpaceUnavailable
from tetrarium.service import MemoryService
from tetrarium.storage import backups
from tetrarium.storage import memories as rows

FACT = "The payment worker retries a failed charge three times, then parks the job."
OTHER = "The kiosk syncs its seat map every four minutes over the depot's wireless."


@pytest.fixture
def disk() -> Iterator[Disk]:
    with counted_disk() as counted:
        yield counted


@pytest.mark.expects_log_warning
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where SQLite itself ignores a failure
@pytest.mark.parametrize("kind", ["once", "dead", "full"])
def test_whichever_write_sync_or_rename_fails_nothing_acknowledged_is_lost(
    tmp_path: Path, disk: Disk, kind: str
) -> None:
    """A few of all the operations of a day here; the benchmark `count_up` goes through every one."""
    first = {"once": 1, "dead": 11, "full": 21}[kind]
    for number in range(first, 5_000, 251):
        folder = tmp_path / str(number)
        failed, wrong = day_on_a_failing_disk(folder, disk, number, dead=kind != "once", full=kind == "full")
        assert not wrong, (number, wrong)
        if not failed:
            return
    raise AssertionError("the day never ends")


def test_after_a_failed_sync_the_space_is_only_read_until_it_is_opened_anew(tmp_path: Path, disk: Disk) -> None:
    with tetrarium.open_space(tmp_path) as space:
        kept = space.store(FACT).id
        disk.restart(1)
        with pytest.raises(SpaceUnavailable, match="disk failed"):
            space.store(OTHER)
        written = disk.count
        with pytest.raises(ReadOnlySpace, match="since then the space is only read"):
            space.store(OTHER)
        assert disk.count == written
        assert [hit.id for hit in space.search("charge")] == [kept]
        assert not space.stats().writable
        (store,) = (check for check in space.health().checks if check.name == "store")
        assert "only read" in store.words
    with tetrarium.open_space(tmp_path) as space:
        assert space.stats().memories >= 1
        assert space.store(OTHER).id


def test_a_deletion_for_good_stands_where_a_copy_cannot_be_noted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is acknowledged, told as pending, and gone from the copy in the next quiet moment."""

    def fails(_: object) -> bool:
        raise OSError(errno.EIO, "the note of the copy cannot be written")

    with tetrarium.open_space(tmp_path) as space:
        gone = str(space.store(FACT).id)
        space.store(OTHER)
        copy = space.backup()
        with monkeypatch.context() as broken:
            broken.setattr(backups, "seal_anew", fails)
            space.forget(gone, permanently=True)
        assert gone not in space.snapshot().ids
        assert [pending.memory for pending in space.pending_erasures()] == [gone]
        while space.maintain():
            pass
        assert not space.pending_erasures()
        (kept,) = backups.copies(tmp_path)
        assert kept.name == copy.name
        assert not backups.damage_of(kept)
        assert not backups.is_newer_than_its_note(kept.file)
        assert not space.prove_deleted(FACT).residues


@pytest.mark.expects_log_warning
def test_on_a_full_disk_memories_can_still_be_deleted_and_the_reserve_comes_back(tmp_path: Path, disk: Disk) -> None:
    with tetrarium.open_space(tmp_path, reserve_bytes=2_000_000) as space:
        ids = [str(space.store(text).id) for text in (FACT, OTHER)]
        while space.maintain():
            pass
        reserve = tmp_path / paths.RESERVE_FILE
        assert reserve.stat().st_size == 2_000_000
        disk.restart(1, dead=True, full=True)
        with pytest.raises(DiskFull, match="nothing was stored") as caught:
            space.store("A third memory that finds no room.")
        assert "delete" in caught.value.advice
        unlink = os.unlink

        def freeing(path: object, **more: object) -> None:
            unlink(path, **more)  # type: ignore[arg-type]
            disk.restart()

        try:
            os.unlink = freeing  # type: ignore[assignment] # the room that the reserve held is free again
            space.forget(ids[0])
        finally:
            os.unlink = unlink
        assert not reserve.exists()
        assert space.stats().memories == 1
        while space.maintain():
            pass
        assert reserve.stat().st_size == 2_000_000


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_loses_its_permissions_while_it_is_open_is_said_and_still_read(tmp_path: Path) -> None:
    """In a process of its own that gives up root, since root may write anywhere."""
    folder = tmp_path / "space"
    folder.mkdir()
    code = f"""
        import os, pathlib, sys
        folder = pathlib.Path(sys.argv[1])
        import tetrarium
        from tetrarium.errors import UserError
        with tetrarium.open_space(folder.with_name("warm")) as warm:
            warm.store({FACT!r}); warm.search("charge"); warm.backup()  # whatever is read from root's folders is read now
        for path in (folder, *folder.parents[:-2]): os.chmod(path, 0o777)
        os.chown(folder, 65534, 65534)
        os.setgid(65534); os.setuid(65534)
        space = tetrarium.open_space(folder)
        kept = space.store({FACT!r}).id
        folder.chmod(0o500)
        for file in folder.iterdir(): file.chmod(0o400)
        print(space.search("charge")[0].id == kept)
        try:
            print("backup made", space.backup())
        except UserError as error:
            print(type(error).__name__, error.advice != "")
        space.close()
        reopened = tetrarium.open_space(folder)
        print(reopened.search("charge")[0].id == kept, reopened.stats().writable)
        try:
            reopened.store({OTHER!r})
        except UserError as error:
            print(type(error).__name__, error.advice != "")
        reopened.close()
        folder.chmod(0o700)
        for file in folder.iterdir(): file.chmod(0o600)
        with tetrarium.open_space(folder) as again:
            print(again.stats().memories, again.store({OTHER!r}).outcome)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True", "ReadOnlySpace True", "True False", "ReadOnlySpace True", "1 stored"
    ]  # fmt: skip


@pytest.mark.parametrize("jump", [timedelta(days=-5), timedelta(days=3653), timedelta(hours=1), timedelta(hours=-1)], ids=["5 days back", "10 years on", "summer time begins", "summer time ends"])  # fmt: skip
def test_a_clock_that_jumps_loses_nothing_and_expires_nothing_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: timedelta
) -> None:
    with tetrarium.open_space(tmp_path) as space:
        kept = str(space.store(FACT).id)
        until = datetime.now(UTC) + timedelta(days=30)
        expiring = str(space.store(OTHER, expires_at=until).id)
        space.backup()
    with monkeypatch.context() as clock:
        jump_clock(clock, jump)
        with tetrarium.open_space(tmp_path, backup_others=1, backup_days=1, backup_weeks=1) as space:
            new = str(space.store("A memory that was stored while the clock was wrong.").id)
            newer = str(
                space.store("A memory that was stored after the clock was wrong.", supersedes=new, force=True).id
            )
            for _ in range(50):
                if not space.maintain():
                    break
            assert space.search("charge")[0].id == kept
            assert space.page(limit=1)[0].id in (newer, expiring, kept)
            assert space.get(new).superseded_by == newer
            trace = space.recall("retries a failed charge")
            assert all(0 <= block.parts.recency <= 2 for block in trace.blocks)
            assert space.history(limit=1)[0].ids[0] == newer
    with tetrarium.open_space(tmp_path) as space:
        assert space.search("charge")[0].id == kept
        assert expiring in {hit.id for hit in space.search("seat map kiosk")}
        assert space.stats().memories == 4
        assert any(b.cause == "asked" for b in space.backups())
        assert all(check.state != "bad" for check in space.health().checks)
        ids = [entry.id for entry in space.history()]
        assert ids == sorted(ids, reverse=True)


def jump_clock(clock: pytest.MonkeyPatch, jump: timedelta) -> None:
    """Let the wall clock of the engine stand elsewhere; monotonic time goes on as it does."""
    import time

    wall, nanoseconds = time.time, time.time_ns
    clock.setattr(time, "time", lambda: wall() + jump.total_seconds())
    clock.setattr(time, "time_ns", lambda: nanoseconds() + int(jump.total_seconds() * 1e9))
    clock.setattr(rows, "now", lambda: datetime.now(UTC) + jump)


def test_two_hosts_and_a_replaced_store_no_write_goes_to_a_file_that_is_gone(space: MemoryService) -> None:
    space.store(FACT)
    store = space.path / paths.STORE_FILE
    store.rename(store.with_name("moved away"))
    with pytest.raises(ReadOnlySpace, match="moved or replaced"):
        space.store(OTHER)
    store.with_name("moved away").rename(store)
    assert space.store(OTHER).id


@pytest.mark.skipif(not hasattr(os, "setuid") or os.getuid() != 0, reason="root alone can become somebody else")
def test_a_folder_that_is_closed_to_us_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with tetrarium.open_space(folder):
        pass
    folder.chmod(0o000)
    code = """
        import os, sys
        import tetrarium
        from tetrarium.errors import UserError
        tetrarium.open_space  # what is read from root's folders is read now
        from tetrarium import service, storage
        os.setgid(65534); os.setuid(65534)
        try:
            tetrarium.open_space(sys.argv[1])
        except UserError as error:
            print(error.advice != "")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)], capture_output=True, text=True, timeout=100
    )
    folder.chmod(0o700)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr
