"""Configuration files on disk: read as the bytes they are, replaced whole or not at all.

A file is replaced by a rename in its own folder, after the new one is on the disk; links are followed, so that
a file kept elsewhere stays there; mode and owner stay.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from tetrarium.connect.refusal import Broken, Refused

LARGEST = 20_000_000
"""Bytes of a configuration file that are read; the largest seen in the field are a few megabytes of history."""

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text without its byte order mark, and whether it had one."""

    text: str
    has_bom: bool


def read(path: Path) -> bytes | None:
    """The file's bytes; None when there is none. Raises Refused for what is no readable file."""
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(f"{path} is not a file.", advice="Nothing was changed.")
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}).", advice="Nothing was changed.") from None
    if len(content) > LARGEST:
        raise Refused(f"{path} is larger than {LARGEST // 1_000_000} MB.", advice="Nothing was changed.")
    return content


def decoded(content: bytes | None) -> Text:
    """The bytes as UTF-8; no file is an empty text. Raises Broken where they are none."""
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - (error.object.rfind(b"\n", 0, error.start) + 1) + 1
        raise Broken(line, column, "this is not UTF-8") from None
    return Text(text.removeprefix(BOM), text.startswith(BOM))


def encoded(text: str, *, has_bom: bool) -> bytes:
    return (BOM + text if has_bom else text).encode("utf-8")


def replace(path: Path, content: bytes, *, expected: bytes | None) -> None:
    """Put `content` in the place of the file, or make it with its folders.

    Raises Refused when the file is no longer as `expected`, must not be written, or the disk says no; nothing has
    changed then.
    """
    target = _target(path)
    if read(target) != expected:
        raise Refused(f"{path} was changed by another program meanwhile.", advice="Nothing was changed; try again.")
    if expected is not None and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise Refused(f"{path} is read-only for you.", advice="Nothing was changed; make it writable first.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _swap(target, content, mode=target.stat() if expected is not None else None)
    except OSError as error:
        raise Refused(
            f"{path} cannot be written ({error.strerror}).",
            advice="Nothing was changed; close the program that holds it.",
        ) from None


def remove(path: Path, *, expected: bytes, down_to: Path) -> None:
    """Remove a file that is still as `expected`, and the empty folders above it below `down_to`. Raises Refused."""
    target = _target(path)
    if read(target) != expected:
        raise Refused(f"{path} was changed by another program meanwhile.", advice="Nothing was changed; try again.")
    try:
        target.unlink()
    except OSError as error:
        raise Refused(f"{path} cannot be removed ({error.strerror}).", advice="Nothing was changed.") from None
    for folder in target.parents:
        if folder == down_to or down_to not in folder.parents:
            break
        try:
            folder.rmdir()
        except OSError:  # not empty, or somebody else's
            break


def _target(path: Path) -> Path:
    """Where a path leads through its links, also when nothing is there yet."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise Refused(f"{path} is a link that leads in a circle.", advice="Nothing was changed.") from None


def _swap(target: Path, content: bytes, *, mode: os.stat_result | None) -> None:
    beside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(beside, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and sys.platform != "win32":
                _take_over(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _settle(target.parent)


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the owner and the mode of the old one."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(PermissionError):  # only root can give a file away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _settle(folder: Path) -> None:
    """Have the rename on the disk too, where folders can be synced."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems know no sync of folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
