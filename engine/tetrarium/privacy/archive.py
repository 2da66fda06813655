"""Lines of a file that somebody hands us, plain or packed (.gz, .zip, .zst), with caps that a bomb cannot pass.

Nothing is unpacked to disk and no name inside an archive is used, so there is no path to escape by. Memory stays
within one line.
"""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

import zstandard

from tetrarium.errors import InvalidInput

CHUNK = 1 << 18
MEMBERS = 16
"""Files that a .zip may hold; only one of them may be an export."""

_ZSTD_WINDOW = 1 << 27
"""Bytes of history that a .zst may ask for; more is a bomb or nothing that we wrote."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What a file may cost. line, total: bytes, unpacked; ratio: of unpacked to packed bytes."""

    line: int
    total: int
    ratio: int


def lines(path: Path, caps: Caps) -> Iterator[bytes]:
    """The lines of a file, each with its line feed, the last one perhaps without.

    Raises InvalidInput for what cannot be read, is damaged, or passes a cap.
    """
    try:
        size = path.stat().st_size
        with ExitStack() as stack:
            stream = _opened(path, stack)
            packed = path.suffix in _PACKED
            yield from _split(stream, caps, min(caps.total, size * caps.ratio + CHUNK) if packed else caps.total)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise _damaged(path) from error
        raise InvalidInput(
            f"{path} cannot be read ({error.strerror}); nothing was imported.", advice="Check the path."
        ) from error
    except (EOFError, zlib.error, zipfile.BadZipFile, zstandard.ZstdError, NotImplementedError, RuntimeError) as error:
        raise _damaged(path) from error


@contextmanager
def written(to: Path | BinaryIO) -> Iterator[IO[bytes]]:
    """A stream that writes a file, packed as its name says: beside it, synced, then renamed; or an open stream.

    Only the person who runs this may read the file. Raises InvalidInput when it cannot be written.
    """
    if not isinstance(to, Path):
        yield to
        return
    beside = to.with_name(f"{to.name}.{os.getpid()}.new")
    try:
        raw = os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")
        try:
            with raw:
                with ExitStack() as stack:
                    yield (
                        _zipped(raw, stack, to) if to.suffix == ".zip" else _WRITERS.get(to.suffix, _plain)(raw, stack)
                    )
                raw.flush()
                os.fsync(raw.fileno())
            beside.replace(to)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{to} cannot be written ({error.strerror}); nothing was exported.", advice="Name a file that can be made."
        ) from error


def _split(stream: IO[bytes], caps: Caps, most: int) -> Iterator[bytes]:
    total, rest = 0, b""
    while chunk := stream.read(CHUNK):
        total += len(chunk)
        if total > most:
            raise InvalidInput(
                f"The file unpacks to more than {most:,} bytes; nothing was imported.",
                advice="Import it in parts, or unpacked if you trust it.",
            )
        whole = (rest + chunk).split(b"\n")
        rest = whole.pop()
        if len(rest) > caps.line or any(len(line) > caps.line for line in whole):
            raise InvalidInput(
                f"A line of the file is longer than {caps.line:,} bytes; nothing was imported.",
                advice="An export of Tetrarium has one record a line.",
            )
        yield from (line + b"\n" for line in whole)
    if rest:
        yield rest


def _opened(path: Path, stack: ExitStack) -> IO[bytes]:
    raw = stack.enter_context(path.open("rb"))
    return _PACKED.get(path.suffix, _plain)(raw, stack)


def _plain(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    return raw


def _gz(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    return cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=raw)))


def _zst(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    stream = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(raw, read_across_frames=True)
    return cast("IO[bytes]", stack.enter_context(stream))


def _zip(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    archive = stack.enter_context(zipfile.ZipFile(raw))
    members = archive.infolist()
    found = [member for member in members if member.filename.endswith((".jsonl", ".md")) and not member.is_dir()]
    if len(members) > MEMBERS or len(found) != 1:
        raise InvalidInput(
            f"The archive holds {len(members)} files, {len(found)} of them exports; nothing was imported.",
            advice="Pack one .jsonl file.",
        )
    return stack.enter_context(archive.open(found[0]))


def _to_gz(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    return cast("IO[bytes]", stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)))


def _to_zst(raw: IO[bytes], stack: ExitStack) -> IO[bytes]:
    stream = zstandard.ZstdCompressor(level=6).stream_writer(raw, closefd=False)
    return cast("IO[bytes]", stack.enter_context(stream))


def _zipped(raw: IO[bytes], stack: ExitStack, to: Path) -> IO[bytes]:
    """The one member of a .zip; "notes.md.zip" holds notes.md, "notes.zip" notes.jsonl."""
    archive = stack.enter_context(zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED))
    name = to.stem if to.stem.endswith((".jsonl", ".md")) else f"{to.stem}.jsonl"
    return stack.enter_context(archive.open(name, "w", force_zip64=True))


_WRITERS = {".gz": _to_gz, ".zst": _to_zst}
_PACKED = {".gz": _gz, ".zip": _zip, ".zst": _zst}


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path} is damaged, cut, or not what its name says; nothing was imported.", advice="Export it again."
    )
