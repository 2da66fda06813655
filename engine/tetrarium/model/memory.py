"""A memory, what is stored of it, its versions and corrections, and what a store answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tetrarium.model.kinds import Category, Confidence, MemoryType, Outcome, Standing


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
    told: str = ""
    """What the edit that gave it has to say – which secrets were masked –, or ""."""


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
