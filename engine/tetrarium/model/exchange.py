"""What lets memories out and in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Anonymity:
    """Whether an export hides each person among at least k memories: groups that share project, person, program and
    date at `level`, how many are smaller than k, and the memories in these."""

    k: int
    level: str
    memories: int
    groups: int
    below: int
    smallest: int
    exposed: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote. counts: lines of each kind; size: bytes before packing; digest: of the lines between header
    and trailer ("" for Markdown); pseudonyms: names replaced; anonymity: as it was exported, None if not asked for."""

    memories: int
    counts: dict[str, int]
    size: int
    digest: str
    pseudonyms: int = 0
    suppressed: int = 0
    anonymity: Anonymity | None = None


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line of a file that cannot be imported, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import would do or did. `batch` is empty while nothing was imported.

    same: memories that the space has already; conflicting: ids that it has with another text (kept as they are);
    refused: the first of `refused_count` lines; taken: lines of each kind beside memories; left_out: those that belong
    to memories which were there before, or to another landscape; placed_anew: memories that cannot keep their place;
    as_person: client names under which the file's memories would count as a person's own; form: what the file is, if it
    is not an export of Tetrarium.
    """

    file: str
    batch: str
    new: int
    same: int
    conflicting: tuple[str, ...]
    conflicting_count: int
    refused: tuple[RefusedLine, ...]
    refused_count: int
    taken: dict[str, int]
    left_out: dict[str, int]
    placed_anew: int
    as_person: tuple[str, ...]
    form: str = ""


@dataclass(frozen=True, slots=True)
class ImportBatch:
    """One import of the past. memories: those of it that are still in the space; undone_at: None while in force."""

    id: str
    file: str
    client: str
    at: datetime
    memories: int
    undone_at: datetime | None


@dataclass(frozen=True, slots=True)
class ImportUndone:
    """What an undoing took out, and how many memories it kept because somebody has edited them since."""

    batch: str
    removed: int
    kept: int
