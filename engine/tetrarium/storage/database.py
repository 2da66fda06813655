"""The connection to the one file, and what its errors mean to a person.

A disk that fails while something is written is not asked again: after a failed sync nobody knows what the
system still holds, so the space is only read from then on, until it is opened anew.

WAL with synchronous=FULL, so that "stored" means on disk; every write transaction is IMMEDIATE, because
a deferred one that turns into a write fails at once when another process has committed (measured: 98 of
200). Access counters go through `write(durable=False)`, which needs no sync of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn, Protocol

import apsw

from tetrarium import errors, paths
from tetrarium.storage import backups, checks, cipher, definitions, descriptors, effects, migrations, seals

Connection = apsw.Connection
"""The name under which other rooms hand a transaction's connection through; only this room uses it."""

APPLICATION_ID = 0x54455452
"""'TETR': tells a Tetrarium space from any other SQLite file."""


class Witness(Protocol):
    """Who sees every writing transaction: once inside it, when all else is done, and once when it is on disk."""

    def before_commit(self, connection: apsw.Connection) -> None: ...

    def after_commit(self, *, durable: bool) -> None: ...


class Database:
    """One open space file. Not thread-safe: it belongs to the lane that opened it."""

    def __init__(self, connection: apsw.Connection, path: Path, *, writable: bool) -> None:
        self.connection = connection
        self.path = path
        self._writable = writable
        self.trouble = ""
        self.witness: Witness | None = None
        self._closed = False
        self._identity = descriptors.identity_of(path)
        descriptors.connected(self._identity)

    @classmethod
    def open(cls, folder: Path, *, busy_timeout: int) -> Database:
        """Open or create the space in `folder`.

        Raises NewerSpace (file untouched), DamagedSpace, ReadOnlySpace (no space there and none can be
        made), DiskFull, SpaceBusy. An existing space in a read-only folder opens for reading.
        """
        file = folder / paths.STORE_FILE
        refuse_unnameable(folder)
        with explained(file):
            _refuse_link(file)
            if file.exists() and file.stat().st_size:
                _refuse_foreign(file)
            else:
                _make_folder(folder)
            try:
                _copy_before_migrating(file)
                connection = _connect(file, busy_timeout)
                migrations.apply(connection, application_id=APPLICATION_ID)
                seals.watch(connection)
            except (apsw.ReadOnlyError, apsw.CantOpenError):
                if not file.exists():
                    raise
                return cls(_connect_read_only(file), file, writable=False)
            # SQLite opens for reading, and does not say so, what it may not write.
            return cls(connection, file, writable=not connection.readonly("main"))

    @classmethod
    def view(cls, file: Path) -> Database:
        """A store that nobody writes, as a backup is, for reading only. Raises DamagedSpace."""
        with explained(file):
            return cls(_connect_read_only(file), file, writable=False)

    @property
    def writable(self) -> bool:
        return self._writable and not self.trouble

    def stop_writing(self, why: str) -> None:
        """Only read from now on. why: one sentence for people."""
        self.trouble = self.trouble or why

    def reopen(self, *, busy_timeout: int) -> None:
        """Open the file that stands under this name now."""
        fresh = Database.open(self.path.parent, busy_timeout=busy_timeout)
        self.connection.close()
        descriptors.disconnected(self._identity)
        self.connection, self._writable = fresh.connection, fresh.writable
        self._identity, self.trouble = fresh._identity, ""

    def was_replaced(self) -> bool:
        """Whether another file stands under the name of this one now, or none; 2 µs."""
        return self._identity != descriptors.identity_of(self.path)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """One IMMEDIATE transaction; on any error everything is rolled back.

        Without `durable` the commit is atomic but may be lost with the power (counters only).
        """
        self._refuse_unwritable()
        with explained(self.path):
            try:
                self.connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self.connection.execute("BEGIN IMMEDIATE")
                self._refuse_newer()
                yield self.connection
                if self.witness:
                    self.witness.before_commit(self.connection)
                self.connection.execute("COMMIT")
            except BaseException as error:
                if isinstance(error, apsw.IOError):
                    self.stop_writing(f"The disk failed while {self.path.name} was written ({error})")
                self._roll_back()
                raise
        if self.witness:
            self.witness.after_commit(durable=durable)

    def _refuse_unwritable(self) -> None:
        if self.trouble:
            raise errors.ReadOnlySpace(
                f"{self.trouble}; since then the space is only read. Nothing was stored.",
                advice="Check the disk, then start Tetrarium again; `tetrarium doctor` looks at what is there.",
            )
        if not self._writable:
            raise errors.ReadOnlySpace(
                f"The space in {self.path.parent} can only be read; nothing was stored.",
                advice="Make the folder writable, or choose another with --data-dir.",
            )
        if self.was_replaced():
            raise errors.ReadOnlySpace(
                f"{self.path.name} was moved or replaced while it was open; nothing was stored.",
                advice="Start Tetrarium again to use the file that is there now.",
            )

    def _refuse_newer(self) -> None:
        """A newer Tetrarium may bring the store up to date under a program that has it open: 2 µs in each transaction."""
        version = self.connection.pragma("user_version")
        if version != migrations.SCHEMA_VERSION:
            raise errors.NewerSpace(
                f"The space in {self.path.parent} was brought up to date by a newer Tetrarium (schema {version}, this one "
                f"knows {migrations.SCHEMA_VERSION}) while it was open; nothing was stored.",
                advice="Update Tetrarium here as well, and start it again.",
            )

    def _roll_back(self) -> None:
        if not self.connection.in_transaction:
            return
        try:
            self.connection.execute("ROLLBACK")
        except apsw.Error:
            # A rollback that fails leaves the transaction to the next open, which replays only what was committed.
            self.stop_writing(f"The disk failed while a change to {self.path.name} was taken back")

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """The connection for reading, with its errors explained."""
        with explained(self.path):
            yield self.connection

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads of one and the same state of the store."""
        with explained(self.path):
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                if self.connection.in_transaction:  # SQLite ends one by itself where the disk fails
                    self.connection.execute("ROLLBACK")

    def data_version(self) -> int:
        """A number that changes when another connection commits; 3 µs."""
        with explained(self.path):
            return int(self.connection.pragma("data_version"))

    def size(self) -> int:
        """Bytes of the store on disk, write-ahead log included."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @property
    def closed(self) -> bool:
        return self._closed

    def rebuild(self) -> None:
        """Write every page anew from the rows that can be read. Raises DamagedSpace when they cannot."""
        with explained(self.path):
            self.connection.execute("REINDEX")
            self.connection.execute("VACUUM")

    def fold_log(self) -> None:
        """Fold the write-ahead log into the file and empty it, so that no deleted byte stays in it."""
        with explained(self.path):
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> bool:
        """Fold the write-ahead log into the file and close; whether all of it is in the file. Twice is harmless."""
        if self._closed:
            return False
        self._closed = True
        folded = False
        if self.writable:
            # Another process may still read, or the disk be full: then the log stays and is replayed at the next open.
            with suppress(apsw.Error):
                self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                folded = True
        # SQLite folds once more as it closes; where that fails, the log is replayed at the next open as well.
        with suppress(apsw.Error):
            self.connection.close()
        descriptors.disconnected(self._identity)
        return folded


Stamp = tuple[int, int]
"""Which state of a store a cache shows: its last change, and how often recalls were counted into it."""


def stamp_of(file: Path) -> Stamp:
    """The stamp of a store that may be open elsewhere, over a connection of its own that only reads; 1 ms.

    Raises SpaceUnavailable.
    """
    refuse_unnameable(file.parent)
    with explained(file):
        connection = cipher.connect(file, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA query_only=ON")
            seq = connection.execute("SELECT max(seq) FROM changes").get
            recalls = connection.execute("SELECT value FROM meta WHERE key = 'recalls'").get
        finally:
            connection.close()
    return int(seq or 0), int(json.loads(recalls)["count"]) if recalls else 0


def refuse_unnameable(folder: Path) -> None:
    """Raises SpaceUnavailable for a folder whose name is no text: SQLite takes names in UTF-8 only."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise errors.SpaceUnavailable(
            f"The name of the folder {str(folder)!a} cannot be read as text in this locale.",
            advice="Choose another with --data-dir, or start in a UTF-8 locale, as with LC_ALL=C.UTF-8.",
        ) from None


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn the driver's errors into ones that say what to do."""
    try:
        yield
    except apsw.FullError as error:
        raise errors.DiskFull(
            f"There is no room left to write in {file.parent}; nothing was stored, what was there is safe.",
            advice="Free some space, or delete memories: that works on a full disk, too.",
        ) from error
    except (apsw.ReadOnlyError, PermissionError) as error:
        raise errors.ReadOnlySpace(
            f"{file.parent} cannot be written; nothing was stored.",
            advice="Make the folder writable, or choose another with --data-dir.",
        ) from error
    except apsw.CantOpenError as error:
        raise errors.ReadOnlySpace(
            f"No space can be opened or made in {file.parent}.",
            advice="Check that the folder exists and is writable, or choose another with --data-dir.",
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise errors.SpaceBusy(
            f"Another program held the space in {file.parent} for too long; nothing was stored.",
            advice="Try again in a moment.",
        ) from error
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise errors.DamagedSpace(
            f"{file} is damaged or is not a Tetrarium space; it was left as it is.", advice=_way_back(file.parent)
        ) from error
    except apsw.SQLError as error:
        if not definitions.are_damaged(file):
            raise  # our mistake
        raise errors.DamagedSpace(
            f"{file} defines its tables otherwise than they were made ({error}): it is damaged; it was left as it is.",
            advice=_way_back(file.parent),
        ) from error
    except apsw.IOError as error:
        raise errors.SpaceUnavailable(
            f"The disk failed while {file.name} was in use ({error}); the last request was not stored.",
            advice="Check the disk, then start Tetrarium again.",
        ) from error


def _way_back(folder: Path) -> str:
    """What to do about a store that cannot be read."""
    other = "choose another folder with --data-dir"
    if backups.exist(folder):
        return f"`tetrarium restore --apply` puts its newest sound backup there; or {other}."
    return f"There is no backup of it; put back a copy of your own, or {other}."


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (FileExistsError, NotADirectoryError) as error:
        raise errors.SpaceUnavailable(
            f"{folder} is not a folder.", advice="Choose a folder for the space with --data-dir."
        ) from error
    except OSError as error:
        raise errors.ReadOnlySpace(
            f"The folder {folder} cannot be made ({error.strerror}).", advice="Choose another with --data-dir."
        ) from error


def _refuse_link(file: Path) -> None:
    """Two folders with one store would have two hosts, two keys and two sets of backups, and its log in a third place: an
    erasure could not prove what it says. A link to the folder is another name of it, and does no harm."""
    if file.is_symlink():
        raise errors.SpaceUnavailable(
            f"{file} is a link to a store elsewhere; it was left as it is.",
            advice=f"Name the folder in which the store lies with --data-dir: {file.resolve().parent}.",
        )


def _refuse_foreign(file: Path) -> None:
    """Look at an existing file without changing a byte of it."""
    if not file.is_file():
        raise errors.SpaceUnavailable(f"{file} is not a file.", advice="Choose another folder with --data-dir.")
    if cipher.key_of(file) is not None:
        _refuse(file, *_marks(file))
        return
    with descriptors.reading(file) as stream:
        head = stream.read(105)
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise errors.DamagedSpace(
            f"{file} is damaged or is not a Tetrarium space; it was left as it is.", advice=_way_back(file.parent)
        )
    # Offsets 60 and 68 of the SQLite header hold user_version and application_id, big-endian.
    version, application = int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")
    if not version and not application and (_has_tables(head) or _has_tables_in_log(file)):
        _refuse_others(file)
    _refuse(file, version, application)


def _has_tables(head: bytes) -> bool:
    """Whether a file of no mark of ours, which our tables and marks enter together, holds anything: its first page is
    the root of the schema, at offset 100 the kind of the page (13: a leaf), at 103 its number of rows, big-endian."""
    return len(head) == 105 and (head[100] != 13 or head[103:105] != b"\0\0")


def _has_tables_in_log(file: Path) -> bool:
    """The same of what stands only in the write-ahead log, as of a program that runs or was killed. Reads only, and so
    folds nothing; False where the marks of ours stand there too, or where it cannot be read."""
    log = file.with_name(file.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        return False
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.CantOpenError:
        return False
    try:
        connection.execute("BEGIN")  # one state for all three questions
        marks = connection.pragma("user_version") or connection.pragma("application_id")
        return not marks and bool(connection.execute("SELECT count(*) FROM sqlite_schema").get)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.BusyError):
        return False
    finally:
        connection.close()


def _marks(file: Path) -> tuple[int, int]:
    """user_version and application_id of an encrypted store, whose header nobody can read without its key."""
    connection = cipher.connect(file, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return int(connection.pragma("user_version")), int(connection.pragma("application_id"))
    except apsw.NotADBError as error:
        raise errors.DamagedSpace(
            f"{file} does not open with the key of its folder: it is damaged, or belongs to another space.",
            advice="Put back the store and the key file that belong together.",
        ) from error
    finally:
        connection.close()


def _refuse(file: Path, version: int, application: int) -> None:
    if application != APPLICATION_ID and (application or version):
        _refuse_others(file)
    if version > migrations.SCHEMA_VERSION:
        raise errors.NewerSpace(
            f"The space in {file.parent} was written by a newer Tetrarium (schema {version}, this one knows "
            f"{migrations.SCHEMA_VERSION}); it was left as it is.",
            advice="Update Tetrarium, or choose another folder with --data-dir.",
        )


def _refuse_others(file: Path) -> NoReturn:
    raise errors.DamagedSpace(
        f"{file} belongs to another program; it was left as it is.",
        advice="Choose another folder with --data-dir.",
    )


def _copy_before_migrating(file: Path) -> None:
    """Keep a copy of a store of an older schema before it is brought up to date."""
    if not file.exists() or file.stat().st_size < 100:
        return
    if cipher.key_of(file) is not None:
        version, _ = _marks(file)
    else:
        with descriptors.reading(file) as stream:
            version = int.from_bytes(stream.read(100)[60:64], "big")
    if 0 < version < migrations.SCHEMA_VERSION and os.access(file.parent, os.W_OK):
        backups.made(file, "migration", datetime.now(UTC))


def _connect(file: Path, busy_timeout: int) -> apsw.Connection:
    connection = cipher.connect(file)
    connection.set_busy_timeout(busy_timeout)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA cache_size=-32000")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(effects.UNDER_WAY)
    connection.execute(checks.DAMAGED)
    seals.know(connection)
    return connection


def _connect_read_only(file: Path) -> apsw.Connection:
    # A WAL file in a folder that cannot be written opens only as immutable: nobody else can write it either.
    connection = cipher.connect(file, immutable=True)
    if connection.pragma("user_version") != migrations.SCHEMA_VERSION:
        raise errors.ReadOnlySpace(
            f"The space in {file.parent} has to be brought up to date, but can only be read.",
            advice="Make the folder writable once.",
        )
    connection.execute(checks.DAMAGED)
    seals.know(connection)
    return connection
