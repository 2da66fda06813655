"""What of a file comes into a space: which lines are new, what they may bring along, and where they can stand.

Into an empty space everything comes, to the last place. Into one that lives comes what belongs to a new memory;
what is there is never changed, inhibited or moved by a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tetrarium.geometry.health import examine
from tetrarium.geometry.lattice import corner_keys, pack
from tetrarium.model import Float32, ImportReport, RefusedLine
from tetrarium.privacy.reading import SHOWN, Line
from tetrarium.storage.exchange import BY_NAME, LANDSCAPE, Field, Record

IMPORTED = "import"
"""The client of memories that a file of somebody else's brings."""

SAID = ("content", "keywords", "labels", "category", "importance", "project")
"""What two memories of one id must agree in to be the same; counters may differ."""

_EITHER = {"contradiction": ("newer", "older"), "relation": ("source", "target")}
"""Kinds that take nobody out of an answer: enough that one of both memories is new."""

Spot = tuple[int, int, int, int]
"""Voxel (i, j, k) and cluster."""

_ADDED = {
    "cluster_name": ("cluster_names", "cluster"),
    "cluster_alias": ("cluster_aliases", "alias"),
    "cluster_origin": ("cluster_origins", "cluster"),
    "plan": ("plans", "id"),
}
"""Rows that belong to no memory, by which an undoing finds them again."""


@dataclass(slots=True)
class Incoming:
    """The findings of a first reading.

    foreign: the file is somebody else's; existing: id → number of the space's memories; exact: there are none;
    new: ids that come, in order; spots: where those will stand that keep their place; added: table → keys of rows
    that belong to no memory; form: what the file is, if it is not an export (peers.py): what is known of it is the same
    then, since it is known by its words; project: of such notes; vectors: their embeddings, by id.
    """

    path: Path
    foreign: bool
    existing: Mapping[str, int]
    fields: Mapping[str, tuple[Field, ...]]
    form: str = ""
    project: str = ""
    vectors: dict[str, Float32] = field(default_factory=dict)
    new: dict[str, None] = field(default_factory=dict)
    spots: dict[str, Spot] = field(default_factory=dict)
    added: dict[str, list[Any]] = field(default_factory=dict)
    _standing: int = 0
    _same: int = 0
    _conflicts: list[str] = field(default_factory=list)
    _refused: list[RefusedLine] = field(default_factory=list)
    _refused_count: int = 0
    _taken: dict[str, int] = field(default_factory=dict)
    _left: dict[str, int] = field(default_factory=dict)
    _persons: dict[str, None] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        return not self.existing

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the file comes in."""
        return not (self.new or self._taken)

    def see(self, line: Line, said: Callable[[str], tuple[Any, ...] | None], is_person: Callable[[str], bool]) -> None:
        """Take account of one line. said: what the space's memory of an id says, in the order of SAID."""
        record = line.record
        if line.why:
            self._refused_count += 1
            if len(self._refused) < SHOWN:
                self._refused.append(RefusedLine(line.number, line.why))
        elif record["kind"] == "memory":
            self._see_memory(record, said, is_person)
        else:
            self._see_other(record)

    def takes(self, record: Record) -> bool:
        """Whether a record is written: it belongs to a new memory, or to the landscape of an empty space."""
        kind = record["kind"]
        if kind == "memory":
            return record["id"] in self.new
        if kind == "space" or kind in LANDSCAPE:
            return self.exact and not self.foreign
        if kind in _EITHER:
            return any(record[name] in self.new for name in _EITHER[kind])
        if kind == "feedback" and self.foreign:
            return False
        owner = next(f.name for f in BY_NAME[kind].fields if f.column == BY_NAME[kind].key)
        return record[owner] in self.new

    def told(self, record: Record) -> Record:
        """The record as it is written: of a foreign file, nobody is a person here and nothing is pinned or judged."""
        if not self.foreign:
            return record
        if record["kind"] == "memory":
            return record | {"client": IMPORTED, "pinned": False, "helped": 0, "misled": 0}
        return record | {"author": IMPORTED} if record["kind"] in ("inhibition", "relation") else record

    def settle(self, owned: Callable[[int], bool], next_cluster: int) -> None:
        """Keep the places that can be kept; the rest is to be found anew.

        owned: whether a vertex (packed) belongs to a cluster of the space; next_cluster: its least free id.
        """
        self.spots = _sound(self.spots)
        if not self.exact:
            self.spots = _free(self.spots, owned, next_cluster)

    @property
    def report(self) -> ImportReport:
        return ImportReport(
            file=str(self.path),
            batch="",
            new=len(self.new),
            same=self._same,
            conflicting=tuple(self._conflicts[:SHOWN]),
            conflicting_count=len(self._conflicts),
            refused=tuple(self._refused),
            refused_count=self._refused_count,
            taken=dict(self._taken),
            left_out=dict(self._left),
            placed_anew=self._standing - len(self.spots),
            as_person=tuple(self._persons),
            form=self.form,
        )

    def _see_memory(
        self, record: Record, said: Callable[[str], tuple[Any, ...] | None], is_person: Callable[[str], bool]
    ) -> None:
        memory_id = record["id"]
        if memory_id in self.existing:
            if self.form or said(memory_id) == tuple(record[name] for name in SAID):
                self._same += 1
            else:
                self._conflicts.append(memory_id)
            return
        self.new[memory_id] = None
        if is_person(record["client"]) and not self.foreign:
            self._persons[record["client"]] = None
        if record["trashed_at"] is None:
            self._standing += 1
            if record["place"]:
                self.spots[memory_id] = (*record["place"], record["cluster"])

    def _see_other(self, record: Record) -> None:
        kind, taken = record["kind"], self.takes(record)
        counts = self._taken if taken else self._left
        counts[kind] = counts.get(kind, 0) + 1
        if taken and kind in _ADDED:
            table, key = _ADDED[kind]
            self.added.setdefault(table, []).append(record[key])


def _sound(spots: Mapping[str, Spot]) -> dict[str, Spot]:
    """Places that can stand together, with the clusters that they really form; those that overlap are left out."""
    if not spots:
        return {}
    ids = list(spots)
    found = np.array(list(spots.values()), np.int64)
    nums = np.arange(len(ids))
    damage = examine(nums, found[:, :3].astype(np.int32), found[:, 3], 1)
    gone = set(damage.unplaced)
    return {
        memory_id: (*spots[memory_id][:3], damage.labels.get(num, spots[memory_id][3]))
        for num, memory_id in enumerate(ids)
        if num not in gone
    }


def _free(spots: Mapping[str, Spot], owned: Callable[[int], bool], next_cluster: int) -> dict[str, Spot]:
    """Whole clusters that touch nobody, under their own ids where no cluster ever had these."""
    members: dict[int, list[str]] = {}
    for memory_id, spot in spots.items():
        members.setdefault(spot[3], []).append(memory_id)
    following = max([next_cluster, *(cluster + 1 for cluster in members)])
    kept: dict[str, Spot] = {}
    for cluster, ids in members.items():
        if _touches(spots, ids, owned):
            continue
        number = cluster
        if cluster < next_cluster:
            number, following = following, following + 1
        kept.update((memory_id, (*spots[memory_id][:3], number)) for memory_id in ids)
    return kept


def _touches(spots: Mapping[str, Spot], ids: Sequence[str], owned: Callable[[int], bool]) -> bool:
    return any(owned(vertex) for memory_id in ids for vertex in corner_keys(pack(spots[memory_id][:3])))
