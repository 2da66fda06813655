"""Which spaces are unlocked in this process, and how their files are opened.

The store, its log and its backups are SQLite files under SQLite3 Multiple Ciphers' ChaCha20-Poly1305, each page with
a tag of its own; every other file that holds words is sealed whole with AES-256-GCM. Both keys come from the one key
of the space, which is in memory only (`privacy.keys` finds it).
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import apsw

from tetrarium import paths
from tetrarium.storage import descriptors

KEY_BYTES = 32
PLAIN = b"SQLite format 3\0"
"""How a file of SQLite begins that is not encrypted."""

_SEALED = b"TETRSEAL"
_NONCE = 12
_READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE

_keys: dict[Path, bytes] = {}


def unlock(folder: Path, key: bytes) -> None:
    """Let this process open the files of the space in a folder."""
    _keys[folder.resolve()] = key


def lock(folder: Path) -> None:
    """Forget the key of a space."""
    _keys.pop(folder.resolve(), None)


def key_of(file: Path) -> bytes | None:
    """The key of the unlocked space that a file belongs to, in its folder or below; None for one that is not encrypted."""
    if not _keys:
        return None
    found = file.resolve()
    return next((_keys[folder] for folder in (found, *found.parents) if folder in _keys), None)


def is_plain(file: Path) -> bool:
    """Whether a file is a SQLite file without encryption; False for none, an empty one, or anything else."""
    if not file.is_file():
        return False
    with descriptors.reading(file) as stream:
        return stream.read(len(PLAIN)) == PLAIN


def is_encrypted(folder: Path) -> bool:
    """Whether the space in a folder is encrypted: it has a key file, and its store is no plain one.

    A plain store beside a key file is what an interrupted encryption or decryption leaves; it opens as it is.
    """
    return (folder / paths.KEY_FILE).exists() and not is_plain(folder / paths.STORE_FILE)


def connect(file: Path, *, flags: int = _READ_WRITE, immutable: bool = False) -> apsw.Connection:
    """A connection to a SQLite file of a space, with its key where it is encrypted. Raises what the driver raises."""
    name = f"{file.resolve().as_uri()}?immutable=1" if immutable else str(file)
    if flags & apsw.SQLITE_OPEN_CREATE and not immutable:
        make_private(file)
    if immutable:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(name, flags=flags)
    # What a statement puts aside would lie in a folder of the system's, and not even encrypted.
    connection.execute("PRAGMA temp_store=MEMORY")
    key = key_of(file)
    # The store itself is not looked into: a file that this process closes takes its locks away (POSIX).
    if key is not None and (file.name == paths.STORE_FILE or not is_plain(file)):
        give(connection, key)
    return connection


def make_private(file: Path) -> None:
    """Make an empty file that only this person may read, unless there is one: SQLite would let everybody read it, and
    gives its log the rights of the file. Where it cannot be made, SQLite says why."""
    with suppress(OSError):
        # Nobody has a lock on what is made here, so closing it takes none away.
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def attach(connection: apsw.Connection, file: Path, name: str) -> None:
    """Attach another file of the same space."""
    key = key_of(file)
    if key is None:
        connection.execute(f"ATTACH ? AS {name}", (str(file),))
    else:
        connection.execute(f"ATTACH ? AS {name} KEY ?", (str(file), raw(key)))


def give(connection: apsw.Connection, key: bytes) -> None:
    """Tell a fresh connection the key of its file."""
    connection.pragma("cipher", "chacha20")
    connection.pragma("key", raw(key))


def raw(key: bytes) -> str:
    """The key of the store, in the driver's words: used as it is, no derivation from a passphrase."""
    return f"raw:{_part(key, b'store').hex()}"


def sealed(file: Path, data: bytes) -> bytes:
    """What is to be written into a file that is no store: sealed where its space is encrypted, else as it is."""
    key = key_of(file)
    if key is None:
        return data
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # 0.1 s that a plain space need not wait

    nonce = os.urandom(_NONCE)
    return _SEALED + nonce + AESGCM(_part(key, b"files")).encrypt(nonce, data, file.name.encode())


def unsealed(file: Path, data: bytes) -> bytes:
    """The inverse. Raises ValueError for what was changed, or is not what this space would write."""
    key = key_of(file)
    if key is None:
        return data
    if not data.startswith(_SEALED):
        raise ValueError("it is not sealed")
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    body = data[len(_SEALED) :]
    try:
        return AESGCM(_part(key, b"files")).decrypt(body[:_NONCE], body[_NONCE:], file.name.encode())
    except InvalidTag:
        raise ValueError("it was changed, or is of another space") from None


def laid_open(file: Path) -> bytes:
    """All that an encrypted file of an unlocked space holds, free pages too, for a search; b"" where that is the file itself."""
    if key_of(file) is None or not file.is_file():
        return b""
    if file.name == paths.STORE_FILE or file.suffix == ".db":
        connection = connect(file, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return connection.serialize("main")
        except apsw.NotADBError:  # under another key: nobody reads it
            return b""
        finally:
            connection.close()
    data = file.read_bytes()
    return unsealed(file, data) if data.startswith(_SEALED) else b""


def _part(key: bytes, purpose: bytes) -> bytes:
    return blake2b(key=key, person=purpose, digest_size=KEY_BYTES).digest()
