"""k-anonymity of an export: how many memories share what could point at one person.

Quasi-identifiers are the project, the person who wrote, the program and the day. A group of fewer than k memories
that share all four can be coarsened (day → month → year, then without person, program, project) or left out.
Sessions and files are finer than any group and never go along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tetrarium.storage.exchange import Record

QUASI = ("project", "author", "client", "day")
"""What makes a group, in this order."""

Row = tuple[int, str, str, str, str]
"""num, project, author, client, day ("2026-11-30")."""


@dataclass(frozen=True, slots=True)
class Level:
    """How coarse an export is told: characters of the date that stay, and which names."""

    name: str
    date: int
    kept: tuple[str, ...]

    def group(self, row: Row) -> tuple[str, ...]:
        _, project, author, client, day = row
        names = zip(QUASI, (project, author, client), strict=False)
        return (*(value if name in self.kept else "" for name, value in names), day[: self.date])


LEVELS = (
    Level("day", 10, ("project", "author", "client")),
    Level("month", 7, ("project", "author", "client")),
    Level("year", 4, ("project", "author", "client")),
    Level("year, without person", 4, ("project", "client")),
    Level("year, without person and program", 4, ("project",)),
    Level("year alone", 4, ()),
    Level("no date", 0, ()),
)
"""From the finest to the coarsest."""


@dataclass(frozen=True, slots=True)
class Groups:
    """What a check found at one level: groups, those below k, and the numbers of the memories in these."""

    level: Level
    k: int
    groups: int
    below: int
    smallest: int
    exposed: tuple[int, ...]


def check(rows: Sequence[Row], k: int, level: Level = LEVELS[0]) -> Groups:
    """Count the groups of memories and those that are too small."""
    sizes = Counter(map(level.group, rows))
    small = {group for group, size in sizes.items() if size < k}
    exposed = tuple(row[0] for row in rows if level.group(row) in small) if small else ()
    return Groups(level, k, len(sizes), len(small), min(sizes.values(), default=0), exposed)


def coarsened(rows: Sequence[Row], k: int, share: float) -> Groups:
    """The finest level at which at most this share of the memories is in too small a group; the rest is left out."""
    found = check(rows, k)
    for level in LEVELS[1:]:
        if len(found.exposed) <= share * len(rows):
            break
        found = check(rows, k, level)
    return found


def told_as(level: Level) -> Callable[[Record], Record]:
    """What makes a record as coarse as a level: names that go, and every time cut to its start."""

    def applied(record: Record) -> Record:
        coarse = {name: _cut(value, level) if name.endswith("_at") or name == "at" else value for name, value in record.items()}  # fmt: skip
        for name in ("project", "author", "client"):
            if name in coarse and name not in level.kept:
                coarse[name] = ""
        for name in ("session", "file"):
            if name in coarse:
                coarse[name] = ""
        if "position" in coarse:
            coarse["position"] = 0
        return coarse

    return applied


_START = "0001-01-01T00:00:00.000000Z"


def _cut(value: str | None, level: Level) -> str | None:
    if value is None:
        return None
    # Without any date a file must still be read again: one instant for all, within the years that a memory may name.
    return (value[: level.date] + _START[level.date :]) if level.date else "2000-01-01T00:00:00.000000Z"


def rows_of(found: Iterable[tuple[int, str, str, str, int]], day: Callable[[int], str]) -> list[Row]:
    """(num, project, author, client, created_at) of the store as rows."""
    return [(num, project, author, client, day(created)[:10]) for num, project, author, client, created in found]
