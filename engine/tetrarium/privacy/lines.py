"""An export as JSON Lines: one header, one line a record, one trailer (docs/export.md).

The header tells how many lines of each kind follow and their hash, so it is written after a first reading of the
same state of the store; the trailer tells them again, so that a file that was cut is recognised. Nothing is held
but the line in hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from tetrarium.errors import Bug
from tetrarium.indexing.tokens import tokenize
from tetrarium.storage.exchange import Record

FORMAT = "tetrarium-export"
VERSION = 1
"""Of the format: a reader refuses a greater one."""


@dataclass(frozen=True, slots=True)
class Sum:
    """What a body of lines adds up to: lines of each kind, bytes, and the hash of all of them."""

    counts: dict[str, int]
    size: int
    digest: str


class Summing:
    """Adds up lines as they pass."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._digest = blake2b(digest_size=32)
        self._size = 0

    def add(self, kind: str, line: bytes) -> None:
        self._counts[kind] += 1
        self._digest.update(line)
        self._size += len(line)

    def total(self) -> Sum:
        return Sum(dict(self._counts), self._size, self._digest.hexdigest())


def write(records: Callable[[], Iterable[Record]], facts: Mapping[str, Any]) -> Iterator[bytes]:
    """The lines of an export. records: gives the same records each time it is called; facts: more of the header."""
    first = Summing()
    for record in records():
        first.add(record["kind"], encoded(record))
    told = first.total()
    yield encoded({"kind": "header", "format": FORMAT, "version": VERSION, **facts, **_total(told)})
    second = Summing()
    for record in records():
        line = encoded(record)
        second.add(record["kind"], line)
        yield line
    if second.total() != told:
        raise Bug("The store changed while it was exported.")
    yield encoded({"kind": "trailer", **_total(told)})


def encoded(record: Record) -> bytes:
    """One line, UTF-8, with its line feed."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _total(told: Sum) -> Record:
    return {"counts": told.counts, "hash": told.digest}


def with_found_by(record: Record) -> Record:
    """A memory's line: the words that find it beside those of its own text, instead of all its tokens."""
    tokens = record.pop("tokens")
    own = " ".join(tokenize(record["content"]))
    if tokens == own or tokens.startswith(f"{own} ") or not own:
        record["found_by"] = tokens[len(own) :].strip(" ")
    else:  # tokens of an older Tetrarium
        record["found_by"] = " ".join(tokenize(" ".join((*record["keywords"], *record["labels"]))))
    return record


def tokens_of(record: Record) -> str:
    """The inverse: all tokens of a memory's line."""
    return " ".join([*tokenize(record["content"]), *record["found_by"].split()])
