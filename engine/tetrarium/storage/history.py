"""The log of operations, read: entries, their effects, and the states that they speak of as they are now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tetrarium.storage.database import Database
from tetrarium.storage.effects import GONE, Effect, State, standing_state
from tetrarium.storage.seals import MEMORY

_PART = 30_000
"""Values that one statement takes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation, as the log has it. undoes: the entries that it took back, newest first."""

    id: int
    op: str
    client: str
    at: datetime
    undoes: tuple[int, ...]


class HistoryReader:
    """Reads of these tables and of the states that they speak of, with the driver's errors explained."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, limit: int, *, client: str = "", since: int = 0) -> list[Entry]:
        """Entries from a moment on (microseconds), newest first; of one client if named."""
        rows = self._all(
            "SELECT id, op, client, at FROM history WHERE at >= ? AND (?2 = '' OR client = ?2) ORDER BY id DESC LIMIT ?3",
            (since, client, limit),
        )
        return self._as_entries(rows)

    def entry(self, number: int) -> Entry | None:
        found = self._as_entries(self._all("SELECT id, op, client, at FROM history WHERE id = ?", (number,)))
        return found[0] if found else None

    def of_client(self, client: str) -> Iterator[Entry]:
        """Every entry of exactly this client, newest first."""
        last = 1 << 62
        while rows := self._all(
            "SELECT id, op, client, at FROM history WHERE client = ? AND id < ? ORDER BY id DESC LIMIT 100",
            (client, last),
        ):
            yield from self._as_entries(rows)
            last = rows[-1][0]

    def undo_of(self, number: int) -> Entry | None:
        """The undo of an entry that stands, or None."""
        undone = self.undone()
        rows = self._all(
            "SELECT h.id, h.op, h.client, h.at FROM undoings u JOIN history h ON h.id = u.entry WHERE u.undoes = ? "
            "ORDER BY h.id DESC",
            (number,),
        )
        return next((entry for entry in self._as_entries(rows) if entry.id not in undone), None)

    def effects(self, entries: Sequence[int]) -> dict[int, list[Effect]]:
        """The effects of entries, in the order in which they came."""
        found: dict[int, list[Effect]] = {entry: [] for entry in entries}
        for start in range(0, len(entries), _PART):
            part = entries[start : start + _PART]
            for row in self._all(
                f"SELECT entry, num, aspect, key, before, after FROM effects WHERE entry IN ({_marks(part)}) ORDER BY seq",
                part,
            ):
                found[row[0]].append(Effect(*row))
        return found

    def undone(self) -> frozenset[int]:
        """Entries that are taken back, and not done again since."""
        links = self._all("SELECT entry, undoes FROM undoings ORDER BY entry DESC, undoes", ())
        undone: set[int] = set()
        for entry, undoes in links:
            # An entry is younger than what it undoes, so its own fate is settled by now.
            if entry not in undone:
                undone.add(undoes)
        return frozenset(undone)

    def later(self, effect: Effect, but: Collection[int]) -> Entry | None:
        """The newest entry after an effect's that changed the same, those in `but` aside."""
        rows = self._all(
            "SELECT DISTINCT h.id, h.op, h.client, h.at FROM effects e JOIN history h ON h.id = e.entry "
            "WHERE e.num = ? AND e.aspect = ? AND e.key = ? AND e.entry > ? ORDER BY h.id DESC",
            (effect.num, effect.aspect, effect.key, effect.entry),
        )
        if effect.aspect == "text":
            rows = self._all(
                "SELECT DISTINCT h.id, h.op, h.client, h.at FROM effects e JOIN history h ON h.id = e.entry "
                "WHERE e.num = ? AND e.aspect = 'text' AND e.entry > ? ORDER BY h.id DESC",
                (effect.num, effect.entry),
            )
        return next((entry for entry in self._as_entries(rows) if entry.id not in but), None)

    def state(self, num: int, aspect: str, key: str) -> State:
        """What an aspect is now. Of a text: its revision; `says_the_same` compares those."""
        queries: dict[str, tuple[str, tuple[Any, ...]]] = {
            "presence": ("SELECT iif(trashed_at IS NULL, 1, 2) FROM memories WHERE num = ?", (num,)),
            "text": ("SELECT revision FROM memories WHERE num = ?", (num,)),
            "quarantine": ("SELECT quarantined <> '' FROM memories WHERE num = ?", (num,)),
            "standing": ("SELECT pinned, expires_at FROM memories WHERE num = ?", (num,)),
            "edge": ("SELECT lifted_at IS NULL FROM inhibitions WHERE edge = ?", (int(key) if key.isdigit() else 0,)),
            "relation": (
                "SELECT removed_at IS NULL FROM relations WHERE edge = ?",
                (int(key) if key.isdigit() else 0,),
            ),
            "feedback": (
                "SELECT helped FROM feedback WHERE num = ? AND recall = ? AND client = ?",
                (num, *(key.split("\n", 1) if "\n" in key else (key, ""))),
            ),
            "contradiction": (
                "SELECT dismissed_at IS NOT NULL FROM contradictions WHERE newer = ? AND older = ?",
                (num, int(key) if key.isdigit() else 0),
            ),
            "name": ("SELECT name FROM cluster_names WHERE cluster = ?", (int(key) if key.isdigit() else 0,)),
        }
        rows = self._all(*queries[aspect])
        if aspect == "standing":
            return standing_state(*rows[0]) if rows else None
        missing: dict[str, State] = {"presence": GONE, "name": ""}
        return rows[0][0] if rows else missing.get(aspect)

    def last_place(self, num: int) -> tuple[tuple[int, int, int], int] | None:
        """The voxel and cluster in which a memory stood before it last went to the trash, if history knows it."""
        rows = self._all(
            "SELECT before FROM effects WHERE num = ? AND aspect = 'place' ORDER BY entry DESC, seq DESC LIMIT 1",
            (num,),
        )
        numbers: list[object] = json.loads(rows[0][0]) if rows else []
        match numbers:
            case [int(i), int(j), int(k), int(component)]:
                return (i, j, k), component
        return None

    def says_the_same(self, num: int, one: State, other: State) -> bool:
        """Whether two revisions of a memory are the same text, words, category and importance."""
        columns = "content, keywords, labels, category, importance"
        rows = self._all(
            f"SELECT {columns} FROM (SELECT revision, {columns} FROM versions WHERE num = ?1 UNION ALL "
            f"SELECT revision, {columns} FROM memories WHERE num = ?1) WHERE revision IN (?2, ?3)",
            (num, one, other),
        )
        return one == other or (len(rows) == 2 and rows[0] == rows[1])

    def ids(self, nums: Collection[int]) -> dict[int, tuple[str, str]]:
        """num → (id, first words) of memories that the store still has, those in the trash too."""
        found: dict[int, tuple[str, str]] = {}
        wanted = list(nums)
        for start in range(0, len(wanted), _PART):
            part = wanted[start : start + _PART]
            rows = self._all(
                "SELECT num, iif(id GLOB '*[^0-9A-Z]*', '', id), "
                f"iif({MEMORY.is_sound('m')} IS NOT 0, substr(content, 1, 60) || iif(length(content) > 60, '…', ''), '') "
                f"FROM memories m WHERE num IN ({_marks(part)})",
                part,
            )
            found.update((num, (memory_id, words)) for num, memory_id, words in rows)
        return found

    def owners(self, nums: Collection[int]) -> dict[str, str]:
        """Memory id → the client that stored it."""
        part = list(nums)[:_PART]
        return dict(self._all(f"SELECT id, client FROM memories WHERE num IN ({_marks(part)})", part))

    def _as_entries(self, rows: Sequence[Any]) -> list[Entry]:
        undoes: dict[int, list[int]] = {}
        for start in range(0, len(rows), _PART):
            part = [row[0] for row in rows[start : start + _PART]]
            for entry, other in self._all(
                f"SELECT entry, undoes FROM undoings WHERE entry IN ({_marks(part)}) ORDER BY undoes DESC", part
            ):
                undoes.setdefault(entry, []).append(other)
        return [
            Entry(number, op, client, datetime.fromtimestamp(at / 1e6, UTC), tuple(undoes.get(number, ())))
            for number, op, client, at in rows
        ]

    def _all(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._database.read() as connection:
            return connection.execute(query, tuple(values)).fetchall()


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
