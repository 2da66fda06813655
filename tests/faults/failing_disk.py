"""A disk whose Nth write, sync, truncation or rename fails, and a working day of a space to run on it.

The store is reached through a file system of our own under the driver; syncs and renames of our other files are
counted at the operating system's door. What was acknowledged before the failure must be there afterwards, what was not must
be there wholly or not at all, and the space must be sound.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

import tetrarium
from tetrarium.errors import UserError
from tetrarium.model import CheckState
from tetrarium.service import MemoryService

NEVER = 1 << 60


class Disk:
    """Counts what reaches the disk, and fails from the chosen operation on, or only at it."""

    def __init__(self) -> None:
        self.count = 0
        self.fails_at = NEVER
        self.dead = False
        self.full = False

    def step(self) -> bool:
        """One more operation; whether it fails."""
        self.count += 1
        return self.count == self.fails_at or (self.dead and self.count > self.fails_at)

    def restart(self, fails_at: int = NEVER, *, dead: bool = False, full: bool = False) -> None:
        self.count, self.fails_at, self.dead, self.full = 0, fails_at, dead, full


class CountedFile(apsw.VFSFile):
    disk: Disk

    def __init__(self, inherit: str, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__(inherit, name, flags)

    def _step(self, what: str) -> None:
        if self.disk.step():
            raise (apsw.FullError if self.disk.full else apsw.IOError)(f"{what} {self.disk.count} fails")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._step("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._step("sync")
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self._step("truncation")
        super().xTruncate(size)


class CountedSystem(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.usual = apsw.vfs_names()[0]
        self.file = type("CountedFile", (CountedFile,), {"disk": disk})
        super().__init__("counted", base=self.usual, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:
        opened: apsw.VFSFile = self.file(self.usual, name, flags)
        return opened


@contextmanager
def counted_disk() -> Iterator[Disk]:
    """Every write, sync, truncation and rename of this process goes through the disk that is given."""
    disk = Disk()
    system = CountedSystem(disk)
    usual = {name: getattr(os, name) for name in ("fsync", "replace", "rename")}

    def counted(name: str) -> Callable[..., object]:
        def call(*args: object, **more: object) -> object:
            if disk.step():
                raise OSError(errno.ENOSPC if disk.full else errno.EIO, f"{name} {disk.count} fails")
            return usual[name](*args, **more)

        return call

    for name in usual:
        setattr(os, name, counted(name))
    try:
        yield disk
    finally:
        for name, function in usual.items():
            setattr(os, name, function)
        system.unregister()


FIRST = "The kiosk syncs its seat map every four minutes over the depot's wireless."
SECOND = "The ledger is closed on the last working day of the month."
THIRD = "The ledger is closed on the last Friday of the month."


def begin(folder: Path) -> dict[str, str]:
    """A small space with a backup, on a disk that works; gives the ids by name."""
    with tetrarium.open_space(folder, reserve_bytes=0) as space:
        ids = {"kiosk": str(space.store(FIRST).id), "ledger": str(space.store(SECOND).id)}
        ids["gone"] = str(space.store("Deploys on Fridays need a second reviewer from the platform team.").id)
        space.backup()
        ids["late"] = str(space.store("Login tokens live for fifteen minutes and are refreshed silently.").id)
    return ids


Expectation = Callable[[MemoryService], bool]


class Day:
    """What was begun and what was acknowledged on a working day."""

    def __init__(self, ids: dict[str, str]) -> None:
        self.ids = ids
        self.begun: set[str] = set()
        self.promised: dict[str, Expectation] = {}

    def live(self, folder: Path) -> None:
        """Store, correct, edit, delete, undo, copy, restore, close. A step that is acknowledged promises something;
        what a later step, once begun, may change is promised no longer."""
        ids, promised, begun = self.ids, self.promised, self.begun
        with tetrarium.open_space(folder, reserve_bytes=0) as space:
            new = str(space.store("The gateway caches for one minute only.").id)
            promised["store"] = lambda s: has(s, new)
            newer = str(space.store(THIRD, supersedes=ids["ledger"]).id)
            promised["supersede"] = lambda s: has(s, newer) and s.get(ids["ledger"]).superseded_by == newer
            space.update(ids["kiosk"], content="The kiosk syncs its seat map every nine minutes.")
            promised["edit"] = lambda s: "undo" in begun or "nine" in s.get(ids["kiosk"]).content
            space.forget(ids["gone"], permanently=True)
            promised["delete for good"] = lambda s: not has(s, ids["gone"])
            begun.add("undo")
            space.undo(space.history(limit=2)[1].id)
            promised["undo"] = lambda s: "four" in s.get(ids["kiosk"]).content
            made = space.backup()
            promised["backup"] = lambda s: made in s.backups()
            space.forget(ids["late"])
            promised["delete"] = lambda s: "restore" in begun or not has(s, ids["late"])
            begun.add("restore")
            space.restore_backup(made.name)
            promised["restore"] = lambda s: has(s, ids["late"]) and has(s, new)
            space.recall("kiosk")

    def broken_promises(self, folder: Path) -> list[str]:
        """What is wrong with the space, on a disk that works again."""
        with tetrarium.open_space(folder, reserve_bytes=0) as space:
            wrong = [f"{name} is lost" for name, holds in self.promised.items() if not holds(space)]
            wrong += [f"{c.name}: {c.words}" for c in space.health().checks if c.state is CheckState.BAD]
            if not space.search("seat map", limit=3).hits:
                wrong.append("search finds nothing")
            space.store("After the disk was changed, the space takes memories again.", force=True)
        return wrong


def has(space: MemoryService, memory_id: str) -> bool:
    return memory_id in space.snapshot().ids


def day_on_a_failing_disk(
    folder: Path, disk: Disk, number: int, *, dead: bool = False, full: bool = False
) -> tuple[bool, list[str]]:
    """A day on which operation `number` fails (dead: and all after it; full: for want of room). Gives whether it came
    to that, and what was wrong afterwards."""
    day = Day(begin(folder))
    disk.restart(number, dead=dead, full=full)
    untold: list[str] = []
    try:
        day.live(folder)
    except UserError:
        pass  # told what is wrong and what to do
    except Exception as error:  # noqa: BLE001 - whatever comes through is a fault of ours, and the next day is lived all the same
        untold = [f"{type(error).__name__} came through to the caller: {error}"]
    failed = disk.count >= number
    disk.restart()
    return failed, [*untold, *day.broken_promises(folder)]
