"""`tetrarium encrypt`, `decrypt`, `rekey`: a space that nobody reads without its key."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tetrarium.cli.terminal import as_json, asked, common, write
from tetrarium.errors import InvalidInput
from tetrarium.model import Recoding
from tetrarium.paths import default_data_dir


def add(commands: Any) -> None:
    """Their parsers."""
    encrypt = commands.add_parser("encrypt", help="encrypt a space, under the keychain's key or a passphrase")
    common(encrypt)
    encrypt.add_argument("--keychain", action="store_true", help="keep the key in the platform's keychain")
    encrypt.set_defaults(run=_encrypt)
    decrypt = commands.add_parser("decrypt", help="take the encryption off a space")
    common(decrypt)
    decrypt.set_defaults(run=_decrypt)
    rekey = commands.add_parser("rekey", help="give an encrypted space a new key")
    common(rekey)
    rekey.add_argument("--keychain", action="store_true", help="keep the new key in the platform's keychain")
    rekey.add_argument("--new-passphrase-file", type=Path, metavar="FILE", help="holds the new passphrase")
    rekey.set_defaults(run=_rekey)


def _encrypt(options: argparse.Namespace) -> int:
    from tetrarium.mcp.clearing import cleared
    from tetrarium.privacy import keys
    from tetrarium.service import encrypt

    passphrase = None if options.keychain else keys.passphrase_around() or _chosen()
    with cleared(_folder(options)):
        done = encrypt(_folder(options), passphrase=passphrase, keychain=options.keychain)
    return _tell(done, options)


def _decrypt(options: argparse.Namespace) -> int:
    from tetrarium.mcp.clearing import cleared
    from tetrarium.service import decrypt

    passphrase = _given(options)
    with cleared(_folder(options)):
        done = decrypt(_folder(options), passphrase=passphrase)
    return _tell(done, options)


def _rekey(options: argparse.Namespace) -> int:
    from tetrarium.mcp.clearing import cleared
    from tetrarium.privacy import keys
    from tetrarium.service import rekey

    old = _given(options)
    named = options.new_passphrase_file
    new = None if options.keychain else keys.passphrase_in(named) if named else _chosen(_NEW)
    with cleared(_folder(options)):
        done = rekey(_folder(options), passphrase=old, new_passphrase=new, keychain=options.keychain)
    return _tell(done, options, anew=True)


def _folder(options: argparse.Namespace) -> Path:
    return (options.data_dir or default_data_dir()).expanduser()


def _given(options: argparse.Namespace) -> str | None:
    """The passphrase of now: of the environment; asked for where the space has one and a person is there."""
    from tetrarium.privacy import keys

    if (given := keys.passphrase_around()) is not None or not keys.wants_passphrase(_folder(options)):
        return given
    return asked("Passphrase of now: ")


_NEW = "Give --new-passphrase-file, or --keychain."


def _chosen(otherwise: str = "") -> str:
    """A new passphrase, typed twice. otherwise: what to do where nobody can be asked."""
    first = asked("New passphrase: ", otherwise)
    if asked("Once more: ") != first:
        raise InvalidInput("The two are not the same; nothing was changed.")
    return first


def _tell(done: Recoding, options: argparse.Namespace, *, anew: bool = False) -> int:
    if options.json:
        write(as_json(asdict(done)))
        return 0
    if anew:
        write(
            f"The key of the space in {done.folder} was changed: the old one, and the old file space.key, open nothing."
        )
    elif done.encrypted:
        write(f"The space in {done.folder} is encrypted. Without its key, and the file space.key, nobody can read it.")
    else:
        write(f"The space in {done.folder} is not encrypted any more.")
    if done.lost:
        write(f"Backups that could not be read any more were destroyed: {', '.join(done.lost)}")
    if done.plain:
        write(f"Still readable by anybody, and not ours to touch: {', '.join(done.plain)}")
    return 0
