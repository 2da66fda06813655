"""Copies of a store: plain SQLite files in `backups`, each consistent, each opened and checked before it counts.

A copy is made page by page from one read transaction of a connection of its own, so that programs that write
meanwhile neither wait nor tear it. It is written beside, checked, synced and only then given its name. A small file
beside it keeps its hash, so that any changed bit of it is noticed later.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import apsw

from tetrarium import errors, paths
from tetrarium.storage import checks, cipher, seals
from tetrarium.storage.checks import Damage

PAGES = 1_000
"""Pages that one slice copies: 4 MB."""

AUTOMATIC = ("daily", "migration", "deletion", "plan", "restore", "repair")
"""Why a copy is made without being asked for; `asked` is the other reason, and those are never rotated away."""

_NAME = re.compile(r"(\d{8}T\d{6})Z-([a-z]+)(?:-(\d+))?\.db")
_STAMP = "%Y%m%dT%H%M%S"
_PART = ".part"
_MAKER = re.compile(r"[.-](\d+)\.part")
"""The process that writes a part, in the part's name."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Copy:
    """One finished copy. cause: why it was made; number: among those of one second; seq: last change of the store in it;
    memories: outside the trash."""

    file: Path
    at: datetime
    cause: str
    number: int
    bytes: int
    seq: int
    memories: int
    digest: str

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def order(self) -> tuple[int, datetime, int]:
        """Which of two copies is the newer: changes are counted on whatever becomes of the space, while a clock is set."""
        return self.seq, self.at, self.number


def copies(folder: Path) -> list[Copy]:
    """The copies of the space in a folder, newest first."""
    found = []
    for file in (folder / paths.BACKUPS).glob("*.db"):
        with suppress(FileNotFoundError):  # another program has just let it go
            if _is_copy(file):
                found.append(_read(file))
    return sorted(found, key=lambda copy: copy.order, reverse=True)


def _is_copy(file: Path) -> bool:
    """Whether it is named as copies are, by a moment that there is, and is a file: no folder, and nothing that waits for
    somebody to write into it."""
    matched = _NAME.fullmatch(file.name)
    with suppress(ValueError, OSError):
        return matched is not None and bool(datetime.strptime(matched[1], _STAMP)) and file.is_file()
    return False


def exist(folder: Path) -> bool:
    """Whether there is a copy of the space in a folder; False also where that cannot be told."""
    with suppress(OSError):
        return any(_NAME.fullmatch(file.name) for file in (folder / paths.BACKUPS).iterdir())
    return False


def make(store: Path, cause: str, now: datetime) -> Iterator[Copy | None]:
    """Copy a store, in slices; the last one gives the copy. Raises DamagedSpace when what was copied is not sound."""
    with explained(store.parent / paths.BACKUPS):
        folder = _folder(store.parent)
        part = folder / f"{now:%Y%m%dT%H%M%S%f}-{os.getpid()}{_PART}"
        try:
            with closing(cipher.connect(store)) as source, closing(cipher.connect(part)) as target:
                yield from _pages(source, target)
                _one_file(target)
            damage = Damage()
            with closing(opened(part)) as connection:
                for _ in checks.examine(connection, damage):
                    yield None
                seq, memories = _counts(connection)
            if damage:
                raise errors.DamagedSpace(
                    "The copy is not sound because the store is damaged; no backup was made, earlier ones stay.",
                    advice="`tetrarium doctor` says what is damaged.",
                )
            yield _finish(part, _free_name(folder, cause, now), seq, memories)
        finally:
            part.unlink(missing_ok=True)


def made(store: Path, cause: str, now: datetime) -> Copy:
    """Copy a store at once."""
    *_, copy = make(store, cause, now)
    assert copy is not None
    return copy


def is_unchanged(copy: Copy) -> bool:
    """Whether a copy has every bit that it had when it was made."""
    return bool(copy.digest) and _digest(copy.file) == copy.digest


def damage_of(copy: Copy) -> Damage:
    """What is wrong with a copy. One that was changed since, as a deletion for good does, may be sound all the same."""
    damage = Damage()
    try:
        with closing(opened(copy.file)) as connection:
            return checks.examined(connection)
    except apsw.Error as error:
        damage.structure.append(str(error))
    return damage


def is_foreign(copy: Copy, store: Path) -> bool:
    """Whether a copy is of another space: both have a key of the audit, and not the same. Copies of the first schemas, and
    of spaces that were never read, have none."""
    with closing(opened(copy.file)) as ours, closing(cipher.connect(store, flags=apsw.SQLITE_OPEN_READWRITE)) as live:
        keys = [one.execute("SELECT value FROM meta WHERE key = 'audit_key'").get for one in (ours, live)]
    return None not in keys and keys[0] != keys[1]


def is_newer_than_its_note(file: Path) -> bool:
    """Whether a copy was changed after its hash was noted. False where none was."""
    noted = _sum_of(file)
    return noted.exists() and file.stat().st_mtime_ns > noted.stat().st_mtime_ns


def seal_anew(file: Path) -> None:
    """Note the hash of a copy again, after it was changed on purpose."""
    with closing(opened(file)) as connection:
        seq, memories = _counts(connection)
    _note(file, seq, memories)


def rotate(found: Sequence[Copy], *, days: int, weeks: int, others: int) -> list[Copy]:
    """Copies that may go: all but the newest, the newest of each of the last days and weeks on which there are any, the
    newest few of every other cause, and those that were asked for. By the days that copies carry, whatever the clock
    says now."""
    newest = sorted(found, key=lambda copy: copy.order, reverse=True)
    daily = [copy for copy in newest if copy.cause == "daily"]
    by_day = {copy.at.date(): copy for copy in reversed(daily)}
    by_week = {copy.at.isocalendar()[:2]: copy for copy in reversed(daily)}
    keep = {by_day[day].name for day in sorted(by_day)[-days:]} | {
        by_week[week].name for week in sorted(by_week)[-weeks:]
    }
    keep |= {copy.name for copy in newest[:1]}  # also where the clock was set back: its day is long past
    for cause in AUTOMATIC[1:]:
        keep |= {copy.name for copy in [copy for copy in newest if copy.cause == cause][:others]}
    return [copy for copy in newest if copy.name not in keep and copy.cause in AUTOMATIC]


def remove(copy: Copy) -> None:
    """Delete a copy and what was noted of it; the note last, since a copy without one cannot be told from a changed one."""
    copy.file.unlink(missing_ok=True)
    _sum_of(copy.file).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what copies that were cut short have left: of a process that is gone, or older than an hour. And notes of
    copies that are gone."""
    for note in (folder / paths.BACKUPS).glob("*.db.sum"):
        with suppress(OSError):
            old = datetime.now(UTC).timestamp() - note.stat().st_mtime > 3_600  # else its copy may be about to come
            if old and not note.with_suffix("").exists():
                note.unlink()
    for part in (folder / paths.BACKUPS).glob(f"*{_PART}*"):
        with suppress(OSError):
            maker = _MAKER.search(part.name)
            gone = maker is not None and not _is_alive(int(maker[1]))
            if gone or datetime.now(UTC).timestamp() - part.stat().st_mtime > 3_600:
                part.unlink()


def settle(file: Path) -> None:
    """Take back what a deletion for good, cut short, left half done in a copy. A whole copy stays as it is.

    SQLite does it as it opens the file for writing; a reader that may not write would see pages of both states.
    """
    if (file.parent / f"{file.name}-journal").exists():
        with suppress(apsw.Error), closing(cipher.connect(file)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def opened(file: Path) -> apsw.Connection:
    """A copy, opened for reading only: nothing is written beside it."""
    settle(file)
    connection = cipher.connect(file, immutable=True)
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(checks.DAMAGED)
    seals.know(connection)
    return connection


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn what a copy in a folder may meet into errors that say what to do; the store is untouched by all of them."""
    try:
        yield
    except (apsw.FullError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, OSError) as error:
        if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in _NO_ROOM:
            raise errors.DiskFull(
                "There is no room for a backup; the space itself is as it was.",
                advice=f"Free some space, or remove old copies from {folder}.",
            ) from error
        raise errors.ReadOnlySpace(
            f"No backup could be written to {folder} ({error}); the space itself is as it was.",
            advice="Make the folder writable.",
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise errors.DamagedSpace(
            "The store is damaged; no backup was made, earlier ones stay.", advice="`tetrarium doctor` says more."
        ) from error


# --- private -------------------------------------------------------------------------------------


def _is_alive(process: int) -> bool:
    """Whether a process of this number runs here; True where that cannot be told without harm."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _folder(space: Path) -> Path:
    folder = space / paths.BACKUPS
    folder.mkdir(mode=0o700, exist_ok=True)
    sweep(space)
    return folder


def _pages(source: apsw.Connection, target: apsw.Connection) -> Iterator[None]:
    """Every page as of one moment: the reading transaction keeps that moment while others go on writing."""
    source.set_busy_timeout(5_000)
    source.execute("BEGIN")
    source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    backup = target.backup("main", source, "main")
    try:
        while not backup.done:
            backup.step(PAGES)
            yield
    finally:
        # By force: an end of it that fails, too, would hide why it failed.
        backup.close(True)
    source.execute("ROLLBACK")


def _one_file(target: apsw.Connection) -> None:
    """One plain file: no write-ahead log beside it."""
    target.execute("PRAGMA journal_mode=DELETE")


def _finish(part: Path, file: Path, seq: int, memories: int) -> Copy:
    _sync(part)
    _note(file, seq, memories, part)
    part.replace(file)
    _sync(file.parent)
    return _read(file)


def _note(file: Path, seq: int, memories: int, content: Path | None = None) -> None:
    """Keep hash and counts of a copy beside it: written beside, synced, renamed."""
    told = {"blake2b": _digest(content or file), "seq": seq, "memories": memories}
    beside = _sum_of(file).with_suffix(f".{os.getpid()}{_PART}")
    cipher.make_private(beside)
    with beside.open("w", encoding="utf-8") as stream:
        json.dump(told, stream)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(_sum_of(file))


def _read(file: Path) -> Copy:
    matched = _NAME.fullmatch(file.name)
    assert matched is not None
    told = _noted(file)
    at = datetime.strptime(matched[1], _STAMP).replace(tzinfo=UTC)
    size = file.stat().st_size
    if "seq" not in told:
        with suppress(apsw.Error, errors.UserError), closing(opened(file)) as connection:
            told["seq"], told["memories"] = _counts(connection)
    return Copy(
        file,
        at,
        cause=matched[2],
        number=int(matched[3] or 1),
        bytes=size,
        seq=told.get("seq", -1),
        memories=told.get("memories", -1),
        digest=told.get("blake2b", ""),
    )


def _noted(file: Path) -> dict[str, Any]:
    """What stands beside a copy; {} where nothing does, or nothing that was written by this program."""
    with suppress(OSError, ValueError):
        told = json.loads(_sum_of(file).read_text(encoding="utf-8"))
        forms = {"seq": int, "memories": int, "blake2b": str}
        if isinstance(told, dict) and all(isinstance(told.get(name), form) for name, form in forms.items()):
            return told
    return {}


def _counts(connection: apsw.Connection) -> tuple[int, int]:
    rows: list[Any] = connection.execute(
        "SELECT (SELECT ifnull(max(seq), 0) FROM changes), (SELECT count(*) FROM memories WHERE trashed_at IS NULL)"
    ).fetchall()
    return int(rows[0][0]), int(rows[0][1])


def _free_name(folder: Path, cause: str, now: datetime) -> Path:
    stem = f"{now:%Y%m%dT%H%M%S}Z-{cause}"
    names = (f"{stem}.db", *(f"{stem}-{number}.db" for number in range(2, 1_000)))
    return next(folder / name for name in names if not (folder / name).exists())


def _sum_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sum")


def _digest(file: Path) -> str:
    digest = blake2b(digest_size=16)
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    """Let what was written, or the names in a folder, reach the disk."""
    with suppress(PermissionError):  # Windows opens no folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
