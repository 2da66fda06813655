"""A search, a recall with its one trace, and the explanation of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tetrarium.model.kinds import Reason, RecallState
from tetrarium.model.memory import Inhibition, Memory


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
    theme: tuple[str, ...] = ()
    """The theme that a person always lets through, without which pass 2 would have voided it."""


@dataclass(frozen=True, slots=True)
class LetThrough:
    """A theme that no recall voids. words: its name; members: memories it was made of, let through whatever they say."""

    id: str
    words: tuple[str, ...]
    members: tuple[str, ...]
    since: datetime


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
