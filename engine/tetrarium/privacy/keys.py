"""The key of an encrypted space: drawn at random, kept beside the store wrapped by a passphrase or a keychain.

The key file holds no secret: only the wrapped key, and what is needed to unwrap it. A wrong passphrase is told from
the wrapping's own tag, before the store is touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tetrarium import paths
from tetrarium.errors import InvalidInput, PassphraseNeeded, PassphraseWrong, SpaceLocked
from tetrarium.storage.cipher import KEY_BYTES

SERVICE = "Tetrarium"
"""Under which the platform's keychain keeps our secrets."""

PASSPHRASE, PASSPHRASE_FILE = "TETRARIUM_PASSPHRASE", "TETRARIUM_PASSPHRASE_FILE"
"""Environment variables from which a program without a person takes the passphrase, or the file that holds it."""

LEAST = 8
"""Characters of a passphrase."""

SCRYPT = {"n": 1 << 15, "r": 8, "p": 1}
"""32 MB and about 0.1 s for each guess."""

FORMAT = 1


def new_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def wrapped_by_passphrase(key: bytes, passphrase: str) -> dict[str, Any]:
    """What a key file holds of a key under a passphrase. Raises InvalidInput for one that is too short."""
    if len(passphrase) < LEAST:
        raise InvalidInput(f"The passphrase has {len(passphrase)} characters, at least {LEAST} are needed.")
    salt = secrets.token_bytes(16)
    told = {"kind": "passphrase", "salt": salt.hex(), **SCRYPT}
    return told | _wrap(key, _stretched(passphrase, told))


def wrapped_by_keychain(key: bytes) -> dict[str, Any]:
    """What a key file holds of a key whose wrapping key the keychain has; puts that there. Raises InvalidInput."""
    if problem := keychain_problem():
        raise InvalidInput(f"{problem}; nothing was changed.", advice="Use a passphrase.")
    import keyring

    name, secret = secrets.token_hex(8), secrets.token_hex(KEY_BYTES)
    keyring.set_password(SERVICE, name, secret)
    if keyring.get_password(SERVICE, name) != secret:
        raise InvalidInput("The keychain did not keep what it was given; nothing was changed.", advice="Use a passphrase.")  # fmt: skip
    return {"kind": "keychain", "name": name} | _wrap(key, bytes.fromhex(secret))


def keychain_problem() -> str:
    """Why the keychain of this platform cannot keep a key; "" when it can."""
    import keyring
    from keyring.backends import chainer, fail, null

    backend = keyring.get_keyring()
    kept = backend.backends if isinstance(backend, chainer.ChainerBackend) else [backend]
    safe = [b for b in kept if not isinstance(b, fail.Keyring | null.Keyring) and not _is_file(b)]
    if safe:
        return ""
    if any(map(_is_file, kept)):
        return f"The keychain here ({type(kept[0]).__name__}) is a file that whoever copies your files can read"
    if any(isinstance(b, null.Keyring) for b in kept):
        return "The keychain here (null) keeps nothing"
    return "There is no keychain on this machine or in this session"


def _is_file(backend: object) -> bool:
    return type(backend).__module__.startswith("keyrings.alt")


def write(folder: Path, wrap: Mapping[str, Any], *, name: str = paths.KEY_FILE) -> None:
    """Write a key file: beside, synced, renamed; for this person only."""
    file = folder / name
    beside = file.with_name(f"{file.name}.{os.getpid()}.part")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as stream:
        json.dump({"format": FORMAT, "cipher": "chacha20", "wrap": dict(wrap)}, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(file)


def find(folder: Path, passphrase: str | None = None, *, name: str = paths.KEY_FILE) -> bytes:
    """The key of an encrypted space, by what is given, the environment, or the keychain; asks nobody.

    Raises SpaceLocked: which says what is missing or wrong, and what to do.
    """
    wrap = _read(folder / name)
    if wrap["kind"] == "keychain":
        return _unwrap(
            wrap, _from_keychain(folder, wrap), SpaceLocked, "The keychain's key is not the one of this space."
        )
    given = passphrase if passphrase is not None else passphrase_around()
    if given is None:
        raise PassphraseNeeded(
            f"The space in {folder} is encrypted with a passphrase, and none was given.",
            advice=f"Set {PASSPHRASE}, or {PASSPHRASE_FILE} to a file that holds it, in the environment of this program; an IDE gives `--passphrase-file FILE` to tetrarium-mcp.",
        )
    return _unwrap(
        wrap, _stretched(given, wrap), PassphraseWrong, f"The passphrase is not the one of the space in {folder}."
    )


def forget(folder: Path, *, name: str = paths.KEY_FILE) -> None:
    """Remove a key file, and what the keychain has for it."""
    file = folder / name
    if not file.exists():
        return
    wrap = _read(file)
    if wrap["kind"] == "keychain":
        import keyring
        from keyring.errors import KeyringError

        with suppress(KeyringError):  # it is gone already, or the keychain is: the key opens nothing any more
            keyring.delete_password(SERVICE, wrap["name"])
    file.unlink()


def wants_passphrase(folder: Path) -> bool:
    """Whether a space is encrypted with a passphrase."""
    return (folder / paths.KEY_FILE).exists() and _read(folder / paths.KEY_FILE)["kind"] == "passphrase"


def passphrase_around() -> str | None:
    """The passphrase of the environment; None when there is none. Raises SpaceLocked when its file cannot be read."""
    if given := os.environ.get(PASSPHRASE):
        return given
    named = os.environ.get(PASSPHRASE_FILE)
    return passphrase_in(Path(named)) if named else None


def passphrase_in(file: Path) -> str:
    """The first line of a file. Raises SpaceLocked, also for one that other users of this computer can read."""
    try:
        _refuse_shared(file.expanduser())
        first, *_ = file.expanduser().read_text(encoding="utf-8-sig").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise SpaceLocked(f"The passphrase file {file} cannot be read.", advice="Check its path and rights.") from error
    return first


def _refuse_shared(file: Path) -> None:
    """A passphrase that others can read protects nothing from them. Windows keeps rights elsewhere: not looked at."""
    seen = file.stat()
    if os.name == "posix" and stat.S_ISREG(seen.st_mode) and seen.st_mode & 0o077:
        raise SpaceLocked(
            f"Other users of this computer can read the passphrase file {file}; it was not used.",
            advice=f"`chmod 600 {file}`, then try again.",
        )


def _from_keychain(folder: Path, wrap: Mapping[str, Any]) -> bytes:
    import keyring
    from keyring.errors import KeyringError

    why = keychain_problem()
    secret = None
    if not why:
        try:
            secret = keyring.get_password(SERVICE, str(wrap["name"]))
        except KeyringError as error:
            why = f"The keychain is locked or cannot be reached ({error})"
    if secret is None:
        raise SpaceLocked(
            f"The space in {folder} is encrypted, and its key lies in a keychain that does not give it"
            + (f": {why}." if why else "; it may have been deleted there."),
            advice="Unlock the keychain in the session in which this program runs; agents without one need a space that is encrypted with a passphrase (`tetrarium rekey`).",
        )
    return bytes.fromhex(secret)


def _read(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_text(encoding="ascii"))
        wrap: dict[str, Any] = told["wrap"]
        if told["format"] == FORMAT and wrap["kind"] in ("passphrase", "keychain"):
            return wrap
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise SpaceLocked(
        f"The key file {file} is missing, damaged, or of a newer Tetrarium; without it nobody can read the space.",
        advice="Put back a copy of it from where this folder was copied to.",
    )


def _stretched(passphrase: str, told: Mapping[str, Any]) -> bytes:
    cost = {name: int(told[name]) for name in SCRYPT}
    if cost["n"] * cost["r"] > 1 << 22:  # a key file that was tampered with must not eat the machine
        raise SpaceLocked("The key file asks for more than it may; it was changed.", advice="Put back a copy of it.")
    return hashlib.scrypt(
        passphrase.encode("utf-8", "surrogatepass"), salt=bytes.fromhex(told["salt"]), maxmem=1 << 30, dklen=32, **cost
    )


def _wrap(key: bytes, by: bytes) -> dict[str, str]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # not before it is needed

    nonce = secrets.token_bytes(12)
    return {"nonce": nonce.hex(), "key": AESGCM(by).encrypt(nonce, key, SERVICE.encode()).hex()}


def _unwrap(wrap: Mapping[str, Any], by: bytes, error_type: type[SpaceLocked], otherwise: str) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(by).decrypt(bytes.fromhex(wrap["nonce"]), bytes.fromhex(wrap["key"]), SERVICE.encode())
    except (InvalidTag, ValueError, KeyError) as error:
        raise error_type(otherwise, advice="Try the right one; without it nobody can read the space.") from error
