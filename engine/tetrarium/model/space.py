"""Clusters, plans, pictures and figures of a whole space."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np

from tetrarium.model.care import AuditFlag
from tetrarium.model.kinds import Bool, Float32, Float64, Int32, UInt8
from tetrarium.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connected component of tetrahedra: one topic."""

    id: int
    name: str
    size: int
    hue: int


@dataclass(frozen=True, slots=True)
class ClusterDetail:
    """One topic, closely.

    is_named: a person gave the name; aliases: ids of clusters that became this one; members: ids, oldest first
    medoid: id of the member that is most like all others
    purity: share of the members that are more like this cluster than any other of two members or more
    entropy: of the members' keywords, 0 (one word) … 1 (all different); radius: edges, from the centre to the 95th percentile
    """

    id: int
    name: str
    is_named: bool
    size: int
    hue: int
    aliases: tuple[int, ...]
    words: tuple[str, ...]
    purity: float
    entropy: float
    radius: float
    medoid: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory whose tetrahedron shares vertices with another's. shared: 1 or 2; similarity: standard deviations above
    a random pair of the space."""

    memory: Memory
    shared: int
    similarity: float


class Cause(StrEnum):
    """Why a memory moves."""

    FISSION = "fission"
    MERGE = "merge"
    ATTACH = "attach"
    MEND = "mend"
    SETTLE = "settle"
    LAYOUT = "layout"
    REPAIR = "repair"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Move:
    """One memory from one voxel to another. source is None when it had no place that could be used."""

    id: str
    source: tuple[int, int, int] | None
    source_cluster: int
    target: tuple[int, int, int]
    target_cluster: int


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A rearrangement that can be looked at before it is done. Immutable.

    version: last change of the store when it was made; why: one sentence a cluster it touches
    steps: each is one transaction, after which every invariant of the geometry holds
    undoes: the plan that this one takes back, or ""
    """

    id: str
    cause: Cause
    version: int
    why: tuple[str, ...]
    steps: tuple[tuple[Move, ...], ...]
    undoes: str = ""

    @property
    def moves(self) -> tuple[Move, ...]:
        return tuple(move for step in self.steps for move in step)

    def __len__(self) -> int:
        return sum(map(len, self.steps))


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A plan that was applied, as the log has it. skipped: steps that no longer fitted; undone_by: a plan's id or ""."""

    id: str
    cause: Cause
    why: tuple[str, ...]
    started_at: datetime
    moves: int
    undoes: str = ""
    undone_by: str = ""
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class SpaceFigures:
    """The figures of S1 for the space as it stands.

    purity: share of clustered memories (of a sample) that are more like their own cluster than any other
    association_density: mean share of its cluster, itself aside, that a clustered memory touches
    orphan_rate: share of memories that stand alone (S1: 4 %)
    shared_vertices: mean number of its four vertices that a memory shares with another
    mean_size: memories a cluster, lone memories aside
    """

    purity: float
    association_density: float
    orphan_rate: float
    shared_vertices: float
    mean_size: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of damage: what it is, in words, and the memories (or clusters, as text) it concerns."""

    kind: str
    about: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HealthReport:
    """What an examination of the store found; nothing when `findings` is empty."""

    version: int
    memories: int
    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        return not self.findings


@dataclass(frozen=True, slots=True)
class SpaceSnapshot:
    """Everything the space view draws, as read-only arrays of one row a live or inhibited memory.

    version: last change of the store that it holds
    ids: (n,) unicode, memory ids; excerpts: first words of each memory, plain text
    places: (n, 3) int32, voxel of each tetrahedron, lattice units
    cluster: (n,) int32, index into `clusters`
    category, memory_type, confidence: (n,) uint8, index into CATEGORIES, MEMORY_TYPES, CONFIDENCES
    inhibited: (n,) bool, silent: inhibited or in quarantine; quarantined: (n,) bool, those of them that wait for a person
    importance: (n,) float32, 0 … 1
    created, accessed: (n,) float64, seconds since the epoch (accessed 0 = never)
    access_count: (n,) int32
    client: (n,) int32, index into `clients`, the programs that stored them, by name ("": unknown)
    """

    version: int
    ids: tuple[str, ...]
    excerpts: tuple[str, ...]
    places: Int32
    cluster: Int32
    category: UInt8
    memory_type: UInt8
    confidence: UInt8
    inhibited: Bool
    quarantined: Bool
    importance: Float32
    created: Float64
    accessed: Float64
    access_count: Int32
    client: Int32
    clients: tuple[str, ...]
    clusters: tuple[Cluster, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def with_delta(self, delta: SnapshotDelta) -> SpaceSnapshot:
        """This snapshot brought up to date: rows keep their order, new ones come last. `delta.since` is its version.

        Costs a copy of the arrays; nothing is computed anew for rows that stayed.
        """
        row_of = {memory_id: row for row, memory_id in enumerate(self.ids)}
        gone = set(delta.removed)
        stays = np.array([memory_id not in gone for memory_id in self.ids], np.bool_)
        old_ids = tuple([memory_id for memory_id in self.ids if memory_id not in gone]) if gone else self.ids
        if gone:
            row_of = {memory_id: row for row, memory_id in enumerate(old_ids)}
        new = [at for at, memory_id in enumerate(delta.rows.ids) if memory_id not in row_of]
        old = [at for at, memory_id in enumerate(delta.rows.ids) if memory_id in row_of]
        where = [row_of[delta.rows.ids[at]] for at in old]
        clusters = {c.id: c for c in (*self.clusters, *delta.clusters, *delta.rows.clusters)}
        shown = sorted((c for c in clusters.values() if c.size), key=lambda c: c.id)
        clients = (*self.clients, *(name for name in delta.rows.clients if name not in self.clients))
        columns: dict[str, Any] = {}
        for name in _SNAPSHOT_COLUMNS:
            mine, theirs = getattr(self, name), getattr(delta.rows, name)
            if name == "client" and len(theirs):
                theirs = np.array([clients.index(client) for client in delta.rows.clients], np.int32)[theirs]
            if name == "cluster":
                mine = np.array([c.id for c in self.clusters] or [0])[mine]
                theirs = np.array([c.id for c in delta.rows.clusters] or [0])[theirs]
            column = np.concatenate([mine[stays] if gone else mine, theirs[new]])
            column[where] = theirs[old]
            if name == "cluster":
                column = np.searchsorted(np.array([c.id for c in shown], np.int64), column).astype(np.int32)
            column.setflags(write=False)
            columns[name] = column
        excerpts = (
            [x for x, kept in zip(self.excerpts, stays.tolist(), strict=True) if kept] if gone else list(self.excerpts)
        )
        for at, row in zip(old, where, strict=True):
            excerpts[row] = delta.rows.excerpts[at]
        return SpaceSnapshot(
            version=delta.version,
            ids=old_ids + tuple(delta.rows.ids[at] for at in new),
            excerpts=(*excerpts, *(delta.rows.excerpts[at] for at in new)),
            clusters=tuple(shown),
            clients=clients,
            **columns,
        )

    @property
    def orientation(self) -> UInt8:
        """(n,) 0 or 1: which of the lattice's two tetrahedra each one is."""
        odd: UInt8 = (self.places.sum(axis=1) & 1).astype(np.uint8)
        return odd


_SNAPSHOT_COLUMNS = tuple(
    f.name for f in fields(SpaceSnapshot) if f.name not in ("version", "ids", "excerpts", "clients", "clusters")
)


@dataclass(frozen=True, slots=True)
class SnapshotDelta:
    """What changed between two versions of a snapshot: one store is one row.

    rows: the new and changed memories alone, with the clusters that they belong to
    removed: ids that are gone; clusters: every cluster whose name or size changed (size 0: gone)
    """

    since: int
    version: int
    rows: SpaceSnapshot
    removed: tuple[str, ...]
    clusters: tuple[Cluster, ...]

    def __len__(self) -> int:
        return len(self.rows) + len(self.removed)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a commit changed, so that views can decide what to refresh. `version` is the last change.

    moved: memories whose place or cluster changed while their text stayed.
    """

    version: int
    stored: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    inhibited: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    accessed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpaceStats:
    """Health of a space (S2 `void_stats`)."""

    space: str
    version: int
    memories: int
    live: int
    inhibited: int
    in_trash: int
    by_category: dict[str, int]
    by_confidence: dict[str, int]
    by_type: dict[str, int]
    clusters: int
    clustered_share: float
    recalls: int
    void_fraction_mean: float
    index: str
    index_note: str
    keyword_terms: int
    model: str
    model_note: str
    writable: bool
    store_bytes: int
    schema: int
    figures: SpaceFigures
    settings: dict[str, float | int | str] = field(default_factory=dict)
    contradictions: int = 0
    relations: int = 0
    pinned: int = 0
    quarantined: int = 0
    audit_flags: tuple[AuditFlag, ...] = ()
    trouble: str = ""
    """What is damaged, or why it is only read any more, as far as that is known without an examination; "" else."""
