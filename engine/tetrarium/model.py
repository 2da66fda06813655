"""The records that cross rooms, and the words that name their values.

All of them are frozen and slotted; arrays inside are set read-only before they leave the room that
made them. Times are aware datetimes in UTC, or float64 seconds since the epoch inside arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Bool = NDArray[np.bool_]


class Category(StrEnum):
    """The nine kinds of memory (S1 + S2). The tenth verdict, noise, is never stored."""

    DECISION = "decision"
    PATTERN = "pattern"
    BUG = "bug"
    SESSION = "session"
    FACT = "fact"
    PREFERENCE = "preference"
    CONTEXT = "context"
    SKILL = "skill"
    EPISODE = "episode"


class MemoryType(StrEnum):
    """The five layers of S3, derived from the category and the people named."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    SOCIAL = "social"


class Confidence(StrEnum):
    """stored → accessed (recalled once) → confirmed (recalled three times or more) (S2)."""

    STORED = "stored"
    ACCESSED = "accessed"
    CONFIRMED = "confirmed"


class Standing(StrEnum):
    """What a memory is between recalls: live, inhibited by a correction (S2), or in quarantine because it reads like an
    instruction to an agent: silent until a person releases it, whether inhibited besides or not."""

    LIVE = "live"
    INHIBITED = "inhibited"
    QUARANTINED = "quarantined"


class RecallState(IntEnum):
    """What a memory is for one recall (S2). VOID is never stored."""

    ACTIVE = 1
    VOID = 0
    INHIBITED = -1


class Reason(StrEnum):
    """Why a candidate of a recall has its state."""

    KEPT = "kept"
    OFF_TOPIC = "void:off_topic_cluster"
    OVER_BUDGET = "void:over_budget"
    NO_EVIDENCE = "void:no_evidence"
    NEAR_DUPLICATE = "void:near_duplicate"
    SUPERSEDED = "inhibited:superseded"
    INHIBITED = "inhibited:by_hand"
    OTHER_PROJECT = "filtered:project"
    EXPIRED = "filtered:expired"
    QUARANTINED = "filtered:quarantined"
    STORED_LATER = "filtered:stored_later"
    RANKED_BELOW = "no_candidate:ranked_below"
    NOT_FETCHED = "no_candidate:not_fetched"


class Outcome(StrEnum):
    """What a store did."""

    STORED = "stored"
    MERGED = "merged"
    NOISE = "noise"
    MATCHES_INHIBITED = "matches_inhibited"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"


CATEGORIES: tuple[Category, ...] = tuple(Category)
"""Order is the code that arrays carry: index into this tuple."""

MEMORY_TYPES: tuple[MemoryType, ...] = tuple(MemoryType)
CONFIDENCES: tuple[Confidence, ...] = tuple(Confidence)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from. Empty strings mean "not told"."""

    client: str = ""
    author: str = ""
    session: str = ""
    project: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it stands in the store.

    `place` is the voxel (i, j, k) of its tetrahedron in lattice units; `cluster` the id of its
    connected component. `revision` counts from 1; every edit keeps the version before it.
    """

    id: str
    content: str
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    category: Category
    memory_type: MemoryType
    importance: float
    confidence: Confidence
    standing: Standing
    superseded_by: str | None
    supersedes: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    expires_at: datetime | None
    source: Source
    position: int
    revision: int
    place: tuple[int, int, int]
    cluster: int
    pinned: bool = False
    helped: int = 0
    misled: int = 0
    distinct_queries: int = 0
    stored_again: int = 0
    quarantined: str = ""
    """Why it is in quarantine, or ""."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way into the store: everything but what the store itself gives (id, number, revision)."""

    content: str
    content_hash: bytes
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    category: Category
    memory_type: MemoryType
    importance: float
    language: str
    tokens: tuple[str, ...]
    budget_tokens: int
    source: Source
    created_at: datetime
    expires_at: datetime | None
    quarantined: str = ""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the indexes keep of one memory that is not in the trash.

    num: row number in the store, dense and never reused; tokens: space-separated; times in seconds since
    the epoch (accessed 0 = never, expires inf = never); place: voxel; component: id of the cluster.
    importance is the effective one: what the store has, moved by feedback; evidence: recalls that it was shown in,
    with feedback counted in (under 0 where it misled more), the number that confidence is read from; distinct_queries: different questions that
    it was shown for.
    """

    num: int
    id: str
    excerpt: str
    tokens: str
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    author: str
    session: str
    position: int
    project: str
    language: str
    category: int
    memory_type: int
    importance: float
    created: float
    accessed: float
    access_count: int
    expires: float
    inhibited: bool
    budget_tokens: int
    place: tuple[int, int, int]
    component: int
    pinned: bool
    evidence: int
    distinct_queries: int
    quarantined: bool = False
    client: str = ""


@dataclass(frozen=True, slots=True)
class Inhibition:
    """One edge: `target` was taken out of every answer, by its `successor` or by hand (None). `lifted_at` None: in force."""

    target: str
    successor: str | None
    reason: str
    author: str
    created_at: datetime
    lifted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Trashed:
    """A memory in the trash, and since when."""

    memory: Memory
    at: datetime


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A live pair that may not both be true. Proposed, never applied: only `supersedes` or `inhibit` takes one out."""

    newer: str
    older: str
    why: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A stated relation between two memories: source `kind` target, as in "caused_by"."""

    source: str
    target: str
    kind: str
    note: str
    author: str
    created_at: datetime


class Origin(StrEnum):
    """Where an edge of the knowledge graph comes from, the most deliberate first."""

    STATED = "stated"
    CORRECTION = "correction"
    CONTRADICTION = "contradiction"
    SHARED_VERTICES = "shared_vertices"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory or an entity in the graph around a start. id: a memory's id, else the entity's words; distance: edges
    from the start; excerpt: empty for an entity and for what a correction took out."""

    id: str
    is_entity: bool
    distance: int
    excerpt: str = ""
    category: Category | None = None
    standing: Standing = Standing.LIVE
    cluster: int | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """source `kind` target. weight: shared vertices of neighbours in space, else 1; note: why, where somebody said it."""

    source: str
    target: str
    kind: str
    origin: Origin
    weight: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """What surrounds a memory or an entity, nearest first. cut: nodes that the limit left out."""

    start: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    cut: int


@dataclass(frozen=True, slots=True)
class Likely:
    """A memory that a description may mean."""

    id: str
    excerpt: str
    score: float


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier text of a memory."""

    revision: int
    content: str
    keywords: tuple[str, ...]
    category: Category
    replaced_at: datetime
    cause: str
    labels: tuple[str, ...] = ()
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What a store did.

    `id` is None when nothing was stored: noise, an ambiguous description of what it corrects (`candidates` are
    the memories that it may mean), or a correction of somebody it may not correct. `contradicts` are proposals.
    """

    outcome: Outcome
    id: str | None
    category: Category | None
    keywords: tuple[str, ...]
    cluster: int | None
    cluster_name: str
    merged_with: str | None
    superseded: tuple[str, ...]
    reason: str
    candidates: tuple[Likely, ...] = ()
    contradicts: tuple[Contradiction, ...] = ()
    masked: tuple[str, ...] = ()
    """Kinds of the secrets that were masked before anything was stored; `reason` says it in words."""


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The parts of one score, in the order in which every view shows them.

    `vector`, `keyword`, `label` (labels, and the kind and time asked for), `entity` and `context` are summands, already weighted; `recency`,
    `importance`, `access` and `confidence` are factors. score = (sum of summands) · (product of factors).
    """

    vector: float
    keyword: float
    label: float
    entity: float
    context: float
    recency: float
    importance: float
    access: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked answer of a search."""

    id: str
    score: float
    parts: ScoreParts
    memory: Memory

    @property
    def content(self) -> str:
        return self.memory.content


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A ranked page; iterates over its hits. `total` counts every memory that passed the filters and matched.

    `note` says what a reader must know, for instance that only keywords were searched.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    offset: int
    elapsed_ms: float
    embedding_ms: float
    note: str = ""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate of a recall: its score, what became of it, and why. `zone` is the index of its void zone or -1."""

    id: str
    score: float
    parts: ScoreParts
    state: RecallState
    reason: Reason
    tokens: int
    profile: float
    zone: int


@dataclass(frozen=True, slots=True)
class VoidZone:
    """A cluster of candidates that was carved away as one (S2).

    `profile` is its mean fit to the query's topic profile in standard deviations over the candidates;
    `gap` how far that lies under the cut.
    """

    theme: tuple[str, ...]
    members: tuple[str, ...]
    best_score: float
    profile: float
    gap: float
    reason: str


@dataclass(frozen=True, slots=True)
class RecallTrace:
    """One recall, whole: the answer, the zones, the budget, and every candidate with its reason.

    `beyond` are the memories that were ranked but lie past the last candidate, best first, with their scores.
    The answer of the tool, `void_zones`, `void_explain` and the window all read this record; nothing
    computes an explanation a second time.
    """

    id: str
    query: str
    project: str
    asked_at: datetime
    candidates: tuple[Candidate, ...]
    blocks: tuple[Hit, ...]
    void_zones: tuple[VoidZone, ...]
    budget: int
    token_usage: int
    budget_voided: tuple[str, ...]
    best_left_out: str | None
    best_left_out_tokens: int
    void_fraction: float
    void_target: float
    void_cut: float
    inhibited_skipped: int
    evidence: float | None
    note: str
    elapsed_ms: float
    embedding_ms: float
    beyond: tuple[str, ...] = ()
    beyond_scores: tuple[float, ...] = ()
    reranked_by: str = ""


class ChangeKind(StrEnum):
    """What may be changed so that a recall would have answered a memory."""

    RELEASE = "release"
    QUARANTINE = "quarantine"
    PROJECT = "project"
    EXPIRY = "expiry"
    ASK_AGAIN = "ask_again"
    FETCH = "vector_candidates"
    CANDIDATES = "max_candidates"
    EVIDENCE_FLOOR = "evidence_floor"
    VOID_TARGET = "void_target"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the setting, argument or verb, the value it needs, and the same as a sentence."""

    kind: ChangeKind
    value: float | str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory was or was not answered by one recall.

    rank: place among everything that was ranked, from 1; 0 when it was not ranked. ranked: how many were.
    zone: its void zone. changes: what would have had to be different, all of it together, for the memory to be
    answered – empty when it was, and when no change is enough (`remedy` says so). inhibition: the edge in force.
    """

    memory_id: str
    recall_id: str
    query: str
    state: RecallState
    reason: Reason
    rank: int
    ranked: int
    score: float
    parts: ScoreParts | None
    tokens: int
    profile: float
    void_cut: float
    zone: VoidZone | None
    budget: int
    token_usage: int
    void_target: float
    inhibition: Inhibition | None
    why: str
    changes: tuple[Change, ...]
    remedy: str


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks of one kind in a gathered recall, best first."""

    name: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """A recall sorted by what its memories are for, and the memories stored next to the best of them.

    neighbours fit into what the recall left of the budget; token_usage counts both. trace.budget is the recall's share.
    """

    trace: RecallTrace
    groups: tuple[Group, ...]
    neighbours: tuple[Memory, ...]
    budget: int
    token_usage: int


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a filter would put, or has put, into the trash.

    done: it is in the trash now; confirm: the token that makes it so, valid while the same memories match; examples:
    (id, first words) of some, no words of inhibited ones; spared: matching ones that stay (pinned, or a person's).
    """

    done: bool
    total: int
    by_category: dict[str, int]
    examples: tuple[tuple[str, str], ...]
    spared: int
    confirm: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskedSecret:
    """One secret that was masked: its kind and where it stood, never what it was. memory: "" where nothing was stored."""

    kind: str
    field: str
    memory: str
    client: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What a space does with secrets: mask them, refuse the memory, or allow them. mail: e-mail addresses count too."""

    action: str = "mask"
    mail: bool = False


@dataclass(frozen=True, slots=True)
class SecretScan:
    """Secrets that the rules find in what is stored now. by_kind: finds; memories: ids of those that hold any."""

    by_kind: dict[str, int]
    memories: tuple[str, ...]
    looked_at: int


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is never stored. kind: pattern (text, * for anything), topic (words), folder (path), client (name)."""

    id: int
    kind: str
    pattern: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class ExclusionTrial:
    """What an exclusion would have kept out of what is stored now: how many, and some of them as (id, first words)."""

    total: int
    of: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Residue:
    """Bytes of a text that were found. form: as what (UTF-8, base64 …); inside: of which compressed part, or ""."""

    file: str
    offset: int
    form: str
    inside: str = ""


@dataclass(frozen=True, slots=True)
class DeletionProof:
    """What a search of every file of a space for a text found; proved when `residues` is empty.

    forms: how many byte strings were looked for; compressed: parts that were unpacked; skipped: words of the text that
    kept memories use too and that say nothing; still_stored: ids of memories that hold the text.
    """

    files: int
    bytes: int
    forms: int
    compressed: int
    skipped: tuple[str, ...]
    still_stored: tuple[str, ...]
    residues: tuple[Residue, ...]

    @property
    def is_gone(self) -> bool:
        return not self.residues and not self.still_stored


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """A memory that is gone from the store while files may still hold bytes of it; it is gone on with by itself.

    backups: copies of the store that lie in the space, of which some may hold it until then.
    """

    memory: str
    asked_at: datetime
    backups: tuple[str, ...] = ()


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
    inhibited: (n,) bool, silent: inhibited or in quarantine; importance: (n,) float32, 0 … 1
    created, accessed: (n,) float64, seconds since the epoch (accessed 0 = never)
    access_count: (n,) int32
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
    importance: Float32
    created: Float64
    accessed: Float64
    access_count: Int32
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
        columns: dict[str, Any] = {}
        for name in _SNAPSHOT_COLUMNS:
            mine, theirs = getattr(self, name), getattr(delta.rows, name)
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
            **columns,
        )

    @property
    def orientation(self) -> UInt8:
        """(n,) 0 or 1: which of the lattice's two tetrahedra each one is."""
        odd: UInt8 = (self.places.sum(axis=1) & 1).astype(np.uint8)
        return odd


_SNAPSHOT_COLUMNS = tuple(
    f.name for f in fields(SpaceSnapshot) if f.name not in ("version", "ids", "excerpts", "clusters")
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
class HistoryEntry:
    """One operation that changed memories or clusters.

    op: the verb; ids: memories it changed, those deleted for good too; summary: one line, plain text
    undone: it is taken back, and not done again since; undoes: the entry that it took back itself, of several the newest
    reversible: there is a way back; whether it is still open, `undo` says
    """

    id: int
    at: datetime
    client: str
    op: str
    ids: tuple[str, ...]
    summary: str
    undone: bool
    undoes: int | None
    reversible: bool = True


@dataclass(frozen=True, slots=True)
class BulkUndo:
    """What taking back everything of one client does, or did.

    done: it is done; entries, memories: how many are taken back and touched; by_op: entries by verb
    spared: entries that cannot be taken back, and why, at most a few; spared_total: how many there are
    confirm: the token that makes it so, valid while the same entries would be taken back; entry: the history entry of it
    """

    done: bool
    client: str
    entries: int
    memories: int
    by_op: dict[str, int]
    spared: tuple[tuple[int, str], ...]
    spared_total: int
    confirm: str
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Whole memories that a reader gets under one heading, in order; left_out: how many more belong there."""

    name: str
    memories: tuple[Memory, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Briefing:
    """What to know before work goes on, or before it ends: sections that say something, within a budget of tokens."""

    sections: tuple[Section, ...]
    budget: int
    token_usage: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a space holds, shortly: its largest clusters, and memories – pinned ones first, then the newest."""

    clusters: tuple[Cluster, ...]
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """What a person or an agent may want to put right.

    contradictions: open proposals whose memories stand in the section "contradicting"; contradictions_total: all
    that are open in the same scope; inhibited: edges in force, newest first, with no word of what they silence.
    """

    contradictions: tuple[Contradiction, ...]
    contradictions_total: int
    inhibited: tuple[Inhibition, ...]
    sections: tuple[Section, ...]
    budget: int
    token_usage: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the space. cause: daily, migration, deletion, plan, restore, repair, or asked; memories: −1 unknown."""

    name: str
    at: datetime
    cause: str
    bytes: int
    memories: int


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """What going back to a backup would change in the space.

    returning, leaving, changing: how many memories would come back, go, or read otherwise; staying: the same in both.
    examples: (what, id, first words), at most a few of each kind.
    """

    backup: Backup
    returning: int
    leaving: int
    changing: int
    staying: int
    examples: tuple[tuple[str, str, str], ...]


class CheckState(StrEnum):
    """How one part of a space is."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part of a space that was looked at. words: what was found; remedy: what a person can do, or "".

    repairable: `heal` puts it right. examples: ids or names, at most a few.
    """

    name: str
    state: CheckState
    words: str
    remedy: str = ""
    repairable: bool = False
    count: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """How a space is, part by part. kept: the backup that was made before a repair, or ""."""

    version: int
    at: datetime
    checks: tuple[HealthCheck, ...]
    kept: str = ""

    @property
    def state(self) -> CheckState:
        """The worst of its parts."""
        order = (CheckState.BAD, CheckState.WARN)
        return next((state for state in order if any(c.state is state for c in self.checks)), CheckState.OK)


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


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One read or write: who, when, how many memories. kind: read, write, delete, inhibit, refused (nothing changed)."""

    seq: int
    at: datetime
    verb: str
    kind: str
    client: str
    session: str
    count: int


@dataclass(frozen=True, slots=True)
class AuditProof:
    """Whether the audit is whole. anchor: COUNT:HASH of its end, to be kept elsewhere and asked for later;
    first_bad: 0 when it is sound, else the row, the kind (altered, dropped, reordered, truncated) and why."""

    rows: int
    anchor: str
    first_bad: int = 0
    kind: str = ""
    why: str = ""

    @property
    def is_sound(self) -> bool:
        return not self.first_bad


@dataclass(frozen=True, slots=True)
class AuditFlag:
    """Unusual behaviour: a client read, deleted or inhibited (kind) so many memories within a short time from `since`."""

    kind: str
    client: str
    count: int
    since: datetime


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
    as_person: client names under which the file's memories would count as a person's own.
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


@dataclass(frozen=True, slots=True)
class Recoding:
    """What an encryption, decryption or change of key did. lost: backups that could not be read and were destroyed;
    plain: SQLite files in the folder that are still readable by anybody, which are not ours to touch."""

    folder: str
    encrypted: bool
    lost: tuple[str, ...]
    plain: tuple[str, ...]
