"""Encrypt a space, decrypt it, change its key, unlock it. On a space that is closed: nobody else may have it open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tetrarium import paths
from tetrarium.errors import DamagedSpace, InvalidInput, NotFound, SpaceBusy, SpaceLocked
from tetrarium.model import Recoding
from tetrarium.privacy import keys
from tetrarium.storage import backups, cipher, recoding
from tetrarium.storage.database import refuse_unnameable

_NEXT_KEY = f"{paths.KEY_FILE}.next"
"""The key file of a change of key that is under way."""


_unlocked: dict[Path, int] = {}
"""Folder → time of the key file by which it was unlocked."""


def unlock(folder: Path, passphrase: str | None = None) -> None:
    """Find the key of an encrypted space, so that its files open in this process; nothing to do for another one.

    Raises SpaceLocked.
    """
    stamp = 0
    with suppress(OSError):  # none there, or a folder that is closed to us: opening the store says why
        stamp = (folder / paths.KEY_FILE).stat().st_mtime_ns
    if stamp and cipher.key_of(folder) is not None and _unlocked.get(folder.resolve()) == stamp and passphrase is None:
        return
    cipher.lock(folder)
    if stamp and cipher.is_encrypted(folder):
        cipher.unlock(folder, _settled_key(folder, passphrase))
        _unlocked[folder.resolve()] = (folder / paths.KEY_FILE).stat().st_mtime_ns


def lock_of(folder: Path) -> str:
    """What opens a space: "" where it is not encrypted, else "passphrase" or "keychain". Raises SpaceLocked when its key
    file cannot be read."""
    if not cipher.is_encrypted(folder):
        return ""
    return "passphrase" if keys.wants_passphrase(folder) else "keychain"


def encrypt(folder: Path, *, passphrase: str | None = None, keychain: bool = False) -> Recoding:
    """Encrypt the files of a space: under the keychain's key, or a passphrase. Raises InvalidInput, SpaceBusy, NotFound."""
    _expect(folder)
    if cipher.is_encrypted(folder):
        raise InvalidInput(f"The space in {folder} is encrypted already.", advice="`tetrarium rekey` changes its key.")
    recoding.refuse_without_room(folder)
    key = keys.new_key()
    keys.write(folder, _wrapped(key, passphrase, keychain))
    try:
        return _recoded(folder, None, key)
    finally:
        if cipher.is_plain(folder / paths.STORE_FILE):  # refused: no key of anything stays behind
            keys.forget(folder)


def decrypt(folder: Path, *, passphrase: str | None = None) -> Recoding:
    """Take the encryption off. Raises SpaceLocked, SpaceBusy, InvalidInput, NotFound."""
    key = _key(folder, passphrase)
    recoding.refuse_without_room(folder)
    done = _recoded(folder, key, None)
    keys.forget(folder)
    return done


def rekey(
    folder: Path, *, passphrase: str | None = None, new_passphrase: str | None = None, keychain: bool = False
) -> Recoding:
    """Give a space a new key: whoever kept the old key file and passphrase can read nothing that is written from now on.

    Raises SpaceLocked, SpaceBusy, InvalidInput, NotFound.
    """
    old, new = _key(folder, passphrase), keys.new_key()
    recoding.refuse_without_room(folder)
    keys.write(folder, _wrapped(new, new_passphrase, keychain), name=_NEXT_KEY)
    try:
        done = _recoded(folder, old, new)
    except (SpaceBusy, DamagedSpace):  # raised before the store is swapped
        keys.forget(folder, name=_NEXT_KEY)
        raise
    _take_next(folder)
    return done


def _wrapped(key: bytes, passphrase: str | None, keychain: bool) -> Mapping[str, Any]:
    if keychain:
        return keys.wrapped_by_keychain(key)
    if passphrase is None:
        raise InvalidInput("There is neither a passphrase nor a keychain to use.", advice="Give one of them.")
    return keys.wrapped_by_passphrase(key, passphrase)


def _key(folder: Path, passphrase: str | None) -> bytes:
    _expect(folder)
    if not cipher.is_encrypted(folder):
        raise InvalidInput(f"The space in {folder} is not encrypted.", advice="`tetrarium encrypt` does that.")
    return keys.find(folder, passphrase)


def _expect(folder: Path) -> None:
    refuse_unnameable(folder)
    if not (folder / paths.STORE_FILE).is_file():
        raise NotFound(f"There is no space in {folder}.", advice="Name its folder with --data-dir.")


def _recoded(folder: Path, old: bytes | None, new: bytes | None) -> Recoding:
    """Every file of a space under another key; the store first, because it tells which key is in force."""
    cipher.lock(folder)
    recoding.recode_store(folder, old, new)
    recoding.wipe(folder / paths.SNAPSHOT_FILE)
    lost = recoding.recode_backups(folder, old, new)
    for rest in ("-wal", "-shm", "-journal"):
        recoding.wipe(folder / f"{paths.STORE_FILE}{rest}")
    if new is not None:
        cipher.unlock(folder, new)
    for copy in backups.copies(folder):
        backups.seal_anew(copy.file)
    cipher.lock(folder)
    return Recoding(str(folder), new is not None, tuple(lost), tuple(recoding.plain_files(folder) if new else ()))


def _settled_key(folder: Path, passphrase: str | None) -> bytes:
    """The key that opens the store; where a change of key was cut short, the store tells which of both that is."""
    store = folder / paths.STORE_FILE
    if not (folder / _NEXT_KEY).exists():
        return keys.find(folder, passphrase)
    with suppress(SpaceLocked):
        if recoding.opens(store, key := keys.find(folder, passphrase, name=_NEXT_KEY)):
            _take_next(folder)
            return key
    return keys.find(folder, passphrase)


def _take_next(folder: Path) -> None:
    keys.forget(folder)
    (folder / _NEXT_KEY).replace(folder / paths.KEY_FILE)
