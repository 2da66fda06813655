"""The search for what should be gone: every file of a space, byte by byte, for a text in any form it may have taken.

Looked for are pieces of the text – rows of SQLite are parted over pages, so the whole may stand nowhere – as UTF-8,
as written and case-folded, as UTF-16, as JSON escapes, in base64 at its three alignments; its rare words and parts of
them, because the full-text index stores only what differs from the word before; and the bytes of its vector. Parts
that are compressed (zlib, gzip, zip, zstd) are unpacked and searched too, two levels deep.
"""

from __future__ import annotations

import base64
import json
import mmap
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import zstandard

from tetrarium import paths
from tetrarium.indexing.tokens import fold, tokenize
from tetrarium.model import Float32, Residue
from tetrarium.storage import cipher, descriptors

PIECE = 24
"""Characters of a piece of the text."""

MOST_PIECES = 24
"""Pieces that are looked for in every form, evenly spread; as plain UTF-8 all are."""

RARE_WORD = 6
"""Bytes from which a word tells a text, two CJK characters for one; fewer stand in any vector by chance."""
PART = 8
"""Letters of the parts of long words."""

MOST_FOUND = 20
"""Finds told of each file and form."""

UNPACKED = 64_000_000
"""Bytes to which a compressed part is unpacked at most."""

DEPTH = 2

_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_GZIP, _ZIP, _ZSTD = b"\x1f\x8b\x08", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_TASTE = 4_096
"""Bytes that are unpacked first: what only looks like a compressed part fails within them."""

Bytes = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes that must not be found, and what they are."""

    form: str
    bytes: bytes


@dataclass(slots=True)
class Search:
    """What was searched so far."""

    files: int = 0
    bytes: int = 0
    compressed: int = 0


def needles_of(
    text: str, vector: Float32 | None, is_kept: Callable[[str], bool]
) -> tuple[tuple[Needle, ...], tuple[str, ...]]:
    """What to look for, and the words that are left out because kept memories use them too.

    vector: the embedding of the text, if there is a model; is_kept: whether case-folded words stand in what is kept.
    """
    found: dict[bytes, str] = {}
    pieces = [piece for piece in _pieces(text) if not is_kept(fold(piece))]
    for piece in pieces:
        found.setdefault(piece.encode(), "UTF-8")
        found.setdefault(fold(piece).encode(), "UTF-8, case-folded")
    for piece in pieces[:: max(1, len(pieces) // MOST_PIECES)]:
        for form, encoded in _encodings(piece):
            found.setdefault(encoded, form)
    skipped: list[str] = []
    for word in dict.fromkeys(tokenize(text)):
        if len(word.encode()) < RARE_WORD:
            continue
        if is_kept(word):
            skipped.append(word)
            continue
        found.setdefault(word.encode(), "word")
        for part in (word[-PART:], word[len(word) // 3 :][:PART]) if len(word) > PART + 2 else ():
            if not is_kept(part):
                found.setdefault(part.encode(), "part of a word")
    for form, values in _vector_forms(vector):
        for start in (0, len(values) // 2 // 32 * 32, len(values) - 32):
            found.setdefault(values[start : start + 32], form)
    return tuple(Needle(form, value) for value, form in found.items()), tuple(skipped)


def search(folder: Path, needles: Sequence[Needle], done: Search) -> Iterator[Residue]:
    """Every find in every file below a folder, in its name too."""
    for path in sorted(paths.files_in(folder)):
        name = path.relative_to(folder).as_posix()
        done.files += 1
        with suppress(FileNotFoundError):  # another program's log or lock may just have gone
            for needle in needles:
                if needle.bytes in name.encode():
                    yield Residue(name, 0, f"name, {needle.form}")
            size = path.stat().st_size
            done.bytes += size
            if size:
                with descriptors.mapped(path) as content:
                    yield from _search(name, content, needles, "", 0, done)
                if inside := cipher.laid_open(path):
                    yield from _search(name, inside, needles, "decrypted", 0, done)


# --- private -------------------------------------------------------------------------------------


def _pieces(text: str) -> list[str]:
    """The text in pieces that overlap by half, so that any run of one and a half pieces holds a whole one."""
    if len(text) <= PIECE:
        return [text] if text else []
    starts = [*range(0, len(text) - PIECE, PIECE // 2), len(text) - PIECE]
    return [text[start : start + PIECE] for start in starts]


def _encodings(piece: str) -> Iterator[tuple[str, bytes]]:
    yield "UTF-16 LE", piece.encode("utf-16-le")
    yield "UTF-16 BE", piece.encode("utf-16-be")
    yield "JSON escapes", json.dumps(piece)[1:-1].encode()
    plain = piece.encode()
    for shift in range(3):
        # Of the first and last characters some bits belong to the neighbours: they are left out.
        coded = base64.b64encode(b"\0" * shift + plain)
        inner = coded[(0, 2, 3)[shift] : len(coded) // 4 * 4 - (4 if (shift + len(plain)) % 3 else 0)]
        if len(inner) >= 12:
            yield "base64", inner
            yield "base64", inner.translate(bytes.maketrans(b"+/", b"-_"))


def _vector_forms(vector: Float32 | None) -> Iterator[tuple[str, bytes]]:
    if vector is not None:
        yield "vector, float16", vector.astype("<f2").tobytes()
        yield "vector, float32", vector.astype("<f4").tobytes()


def _search(
    name: str, content: Bytes, needles: Sequence[Needle], inside: str, depth: int, done: Search
) -> Iterator[Residue]:
    for needle in needles:
        at, found = content.find(needle.bytes), 0
        while at >= 0 and found < MOST_FOUND:
            yield Residue(name, at, needle.form, inside)
            found += 1
            at = content.find(needle.bytes, at + 1)
    if depth < DEPTH:
        for kind, at, unpacked in _unpacked(content):
            done.compressed += 1
            where = f"{inside}/{kind} at {at}".lstrip("/")
            yield from _search(name, unpacked, needles, where, depth + 1, done)


def _unpacked(content: Bytes) -> Iterator[tuple[str, int, bytes]]:
    for magic, kind, unpack in _KINDS:
        at = content.find(magic)
        while at >= 0:
            if unpacked := unpack(content, at):
                yield kind, at, unpacked
            at = content.find(magic, at + 1)


def _inflated(content: Bytes, at: int, wbits: int) -> bytes:
    """What a deflated part holds, as far as it can be unpacked; nothing where it is none."""
    try:
        if len(zlib.decompressobj(wbits).decompress(content[at : at + _TASTE], _TASTE)) < PART:
            return b""
        return zlib.decompressobj(wbits).decompress(content[at : at + UNPACKED], UNPACKED)
    except zlib.error:
        return _broken(content, at, wbits)


def _broken(content: Bytes, at: int, wbits: int) -> bytes:
    """The start of a deflated part that breaks off or is damaged further on."""
    machine, parts, total = zlib.decompressobj(wbits), list[bytes](), 0
    with suppress(zlib.error):
        for start in range(at, min(len(content), at + UNPACKED), 64):
            parts.append(machine.decompress(content[start : start + 64], UNPACKED))
            total += len(parts[-1])
            if machine.eof or total > UNPACKED:
                break
    return b"".join(parts) if total >= 4 * PART else b""


def _unzlib(content: Bytes, at: int) -> bytes:
    return _inflated(content, at, zlib.MAX_WBITS)


def _ungzip(content: Bytes, at: int) -> bytes:
    return _inflated(content, at, zlib.MAX_WBITS | 16)


def _unzip(content: Bytes, at: int) -> bytes:
    """A member of a zip archive that is deflated; a stored one is found as it lies."""
    head = content[at : at + 30]
    if len(head) < 30 or int.from_bytes(head[8:10], "little") != 8:
        return b""
    start = at + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    return _inflated(content, start, -zlib.MAX_WBITS)


def _unzstd(content: Bytes, at: int) -> bytes:
    machine = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    parts = list[bytes]()
    with suppress(zstandard.ZstdError):
        for start in range(at, min(len(content), at + UNPACKED), 65_536):
            parts.append(machine.decompress(content[start : start + 65_536]))
            if machine.eof or sum(map(len, parts)) > UNPACKED:
                break
    return b"".join(parts)


_KINDS: tuple[tuple[bytes, str, Callable[[Bytes, int], bytes]], ...] = (
    *((magic, "zlib", _unzlib) for magic in _ZLIB),
    (_GZIP, "gzip", _ungzip),
    (_ZIP, "zip", _unzip),
    (_ZSTD, "zstd", _unzstd),
)


def kept_texts(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether case-folded words stand in any of these texts."""
    everything = "\n".join(map(fold, texts))
    return lambda words: words in everything
