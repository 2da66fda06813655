"""A file to import, read line by line: its frame checked (header, order, trailer, hash), every record validated.

The same file is read twice, once to look and once to write; both readings give the same records or raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tetrarium.errors import InvalidInput
from tetrarium.privacy import archive, validation
from tetrarium.privacy.lines import FORMAT, VERSION, Summing
from tetrarium.storage.exchange import BY_NAME, Field, Form, Record

SHOWN = 20
"""Refused lines and conflicts that a report names."""

_KEYS: dict[str, tuple[str, ...]] = {
    "memory": ("id",),
    "version": ("memory", "revision"),
    "vector": ("memory",),
    "contradiction": ("newer", "older"),
    "feedback": ("memory", "recall", "client"),
    "cluster_name": ("cluster",),
    "cluster_alias": ("alias",),
    "cluster_origin": ("cluster",),
    "plan": ("id",),
}
"""What may stand only once in a file."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the record, or why it is refused."""

    number: int
    record: Record
    why: str = ""


def read(path: Path, caps: archive.Caps, fields: Mapping[str, tuple[Field, ...]]) -> Iterator[Line]:
    """Every record of an export between its header and its trailer, refused ones with the reason.

    Raises InvalidInput for a file that is no export, of a newer format, cut, or changed.
    """
    body = Summing()
    known: set[str] = set()
    plans: set[str] = set()
    seen: set[int] = set()
    ended = False
    number = 0
    for number, line in enumerate(archive.lines(path, caps), start=1):
        if ended:
            raise InvalidInput(f"{path} goes on after its end (line {number}); nothing was imported.")
        record, why = _record(line)
        if number == 1:
            _check_header(path, record)
            continue
        if record.get("kind") == "trailer":
            _check_trailer(path, record, body)
            ended = True
            continue
        kind = str(record.get("kind", ""))
        body.add(kind, line)
        yield Line(number, record, why or _problem(record, fields, known, plans, seen))
    if not ended:
        raise InvalidInput(
            f"{path} is cut: it ends at line {number} without its trailer; nothing was imported.",
            advice="Copy or export it again.",
        )


def _record(line: bytes) -> tuple[Record, str]:
    try:
        return validation.parsed(line), ""
    except ValueError as error:
        return {}, str(error)


def _check_header(path: Path, record: Record) -> None:
    if record.get("kind") != "header" or record.get("format") != FORMAT:
        raise InvalidInput(f"{path} is not an export of Tetrarium; nothing was imported.", advice="See docs/export.md.")
    version = record.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InvalidInput(
            f"{path} was written by a newer Tetrarium (format {version!r:.20}, this one reads {VERSION}); nothing was imported.",
            advice="Update Tetrarium.",
        )


def _check_trailer(path: Path, record: Record, body: Summing) -> None:
    total = body.total()
    if record.get("hash") != total.digest or record.get("counts") != total.counts:
        raise InvalidInput(
            f"{path} was changed or damaged after it was exported (its hash does not fit); nothing was imported.",
            advice="Export it again; who edits an export on purpose must renew its trailer (docs/export.md).",
        )


def _problem(
    record: Record, fields: Mapping[str, tuple[Field, ...]], known: set[str], plans: set[str], seen: set[int]
) -> str:
    kind = record.get("kind")
    if kind == "space":
        return validation.space_problem(record)
    if kind not in BY_NAME:
        return f"there is no kind of line '{kind!s:.40}'"
    if why := validation.problem(record, fields[kind]):
        return why
    key = hash((kind, *(record[name] for name in _KEYS.get(kind, ()))))
    if kind in _KEYS and key in seen:
        return f"a second {kind} of the same"
    seen.add(key)
    for field in fields[kind]:
        name = record.get(field.name)
        if field.form is Form.MEMORY and name is not None and name not in known:
            return f"field '{field.name}' names a memory that does not stand before it"
    if kind == "memory":
        known.add(record["id"])
    elif kind == "plan":
        plans.add(record["id"])
    elif kind == "move" and record["plan"] not in plans:
        return "field 'plan' names a plan that does not stand before it"
    return ""
