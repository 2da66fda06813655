"""One recall, three passes, one immutable trace: score (ranking), carve (voids), fit (budget).

The answer, the zones and the explanation of any candidate are read from the trace; nothing explains by
a second computation. A recall writes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from tetrarium.config import Settings
from tetrarium.indexing.indexes import Indexes
from tetrarium.knowledge.entities import entities_in
from tetrarium.model import (
    Bool,
    Candidate,
    Hit,
    Memory,
    Reason,
    RecallState,
    RecallTrace,
    VoidZone,
)
from tetrarium.recall import budget as budgeting
from tetrarium.recall.ranking import Question, Ranking, unknown_subject
from tetrarium.recall.themes import Theme
from tetrarium.recall.voids import Carving, carve

_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the passes decided about a ranking, before the texts are read. Positions count in ranking order.

    beyond, beyond_scores: what was ranked past the last candidate.
    """

    candidates: tuple[Candidate, ...]
    kept: tuple[int, ...]
    budget_voided: tuple[int, ...]
    zones: tuple[VoidZone, ...]
    carving: Carving
    used: int
    inhibited_skipped: int
    absent: str
    beyond: tuple[str, ...]
    beyond_scores: tuple[float, ...]


def decide(
    question: Question,
    ranking: Ranking,
    indexes: Indexes,
    *,
    budget: int,
    void_target: float,
    settings: Settings,
    through: frozenset[int] = frozenset(),
    themes: Sequence[Theme] = (),
) -> Decision:
    """Run passes 2 and 3 over the best candidates of a ranking; nothing is answered on an absent subject.

    through: numbers of memories that pass 2 may not void; themes: nor what is of these.
    """
    table = indexes.table
    nums = ranking.nums[: settings.max_candidates].tolist()
    absent = _absent(question, ranking, indexes, settings)
    theme_of = [_theme_of(table.ids[num], table.keywords[num], themes) for num in nums]
    if absent:
        carving = Carving(np.zeros(len(nums)), np.ones(len(nums), np.bool_), (), settings.void_cut, absent)
    else:
        carving = carve(
            [table.keywords[num] for num in nums],
            guarded=_guarded(question, nums, indexes),
            through=np.fromiter(
                (num in through or theme_of[at] is not None for at, num in enumerate(nums)), np.bool_, len(nums)
            ),
            rarity=indexes.rarity,
            void_target=void_target,
            settings=settings,
        )
    zone_of = {member: index for index, zone in enumerate(carving.zones) for member in zone.members}
    repeated = _repeated([table.tokens[num] for num in nums], settings.near_duplicates_kept)
    active = [position for position in range(len(nums)) if not carving.void[position] and position not in repeated]
    costs = [budgeting.cost(int(table.budget_tokens[num])) for num in nums]
    fitted = budgeting.fit([costs[position] for position in active], budget)
    kept = tuple(active[i] for i in fitted.kept)
    left_out = tuple(active[i] for i in fitted.left_out)
    reason = (
        {position: Reason.NEAR_DUPLICATE for position in repeated if not carving.void[position]}
        | dict.fromkeys(kept, Reason.KEPT)
        | dict.fromkeys(left_out, Reason.OVER_BUDGET)
    )
    parts = ranking.parts(len(nums))
    scores = ranking.scores.total[: len(nums)].tolist()
    profiles = carving.profile.tolist()
    candidates = tuple(
        Candidate(
            id=table.ids[num],
            score=scores[position],
            parts=parts[position],
            state=RecallState.ACTIVE if reason.get(position) is Reason.KEPT else RecallState.VOID,
            reason=reason.get(position, Reason.NO_EVIDENCE if absent else Reason.OFF_TOPIC),
            tokens=costs[position],
            profile=profiles[position],
            zone=zone_of.get(position, -1),
            theme=_named(theme_of[position]) if position in carving.spared else (),
        )
        for position, num in enumerate(nums)
    )
    worst = scores[-1] if scores else 0.0
    return Decision(
        candidates,
        kept,
        left_out,
        tuple(
            _zone(zone.members, zone.theme, zone.profile, zone.gap, carving.cut, candidates) for zone in carving.zones
        ),
        carving,
        fitted.used,
        int((ranking.skipped >= worst).sum()),
        absent,
        tuple(table.ids[num] for num in ranking.nums[len(nums) :].tolist()),
        tuple(ranking.scores.total[len(nums) :].tolist()),
    )


def trace_of(
    question: Question,
    decision: Decision,
    memories: Sequence[Memory],
    *,
    recall_id: str,
    project: str,
    budget: int,
    void_target: float,
    now: float,
    elapsed_ms: float,
    embedding_ms: float,
    note: str,
    evidence: float | None,
    reranked_by: str = "",
) -> RecallTrace:
    """The trace of a decision. memories: those of `decision.kept`, in that order."""
    candidates = decision.candidates
    best = decision.budget_voided[0] if decision.budget_voided else None
    voided = sum(candidate.reason is Reason.OFF_TOPIC for candidate in candidates)
    blocks = tuple(
        Hit(memory.id, candidates[position].score, candidates[position].parts, memory)
        for position, memory in zip(decision.kept, memories, strict=True)
    )
    return RecallTrace(
        id=recall_id,
        query=question.text,
        project=project,
        asked_at=datetime.fromtimestamp(now, UTC),
        candidates=candidates,
        blocks=blocks,
        void_zones=decision.zones,
        budget=budget,
        token_usage=decision.used,
        budget_voided=tuple(candidates[position].id for position in decision.budget_voided),
        best_left_out=candidates[best].id if best is not None else None,
        best_left_out_tokens=candidates[best].tokens if best is not None else 0,
        void_fraction=voided / len(candidates) if candidates else 0.0,
        void_target=void_target,
        void_cut=decision.carving.cut,
        inhibited_skipped=decision.inhibited_skipped,
        evidence=evidence,
        note=" ".join(part for part in (note, decision.carving.note) if part),
        elapsed_ms=elapsed_ms,
        embedding_ms=embedding_ms,
        beyond=decision.beyond,
        beyond_scores=decision.beyond_scores,
        reranked_by=reranked_by,
    )


def _absent(question: Question, ranking: Ranking, indexes: Indexes, settings: Settings) -> str:
    """Why nothing can be answered, or "": an identifier that this space has never seen, or too little evidence."""
    if settings.evidence_floor <= 0 or not len(ranking.nums) or question.intent.identity:
        return ""
    if stranger := unknown_subject(question, indexes):
        return f"Nothing in this space knows '{stranger}'."
    if ranking.evidence is not None and ranking.evidence < settings.evidence_floor:
        return (
            f"This space does not seem to know the subject (evidence {ranking.evidence:.1f}, "
            f"{settings.evidence_floor:.1f} would do); a search shows the nearest memories all the same."
        )
    return ""


def _repeated(tokens: Sequence[str], most: int) -> set[int]:
    """Positions, best first, of what says the same but for numbers as `most` better ones do."""
    if len(tokens) <= most:
        return set()
    seen: Counter[str] = Counter()
    repeated: set[int] = set()
    for position, text in enumerate(tokens):
        shape = _DIGITS.sub("0", text)
        seen[shape] += 1
        if seen[shape] > most:
            repeated.add(position)
    return repeated


def _theme_of(memory_id: str, keywords: tuple[str, ...], themes: Sequence[Theme]) -> Theme | None:
    """The first theme that a memory is of."""
    return next((theme for theme in themes if memory_id in theme.members or theme.holds(keywords)), None)


def _named(theme: Theme | None) -> tuple[str, ...]:
    return theme.name if theme is not None else ()


def _guarded(question: Question, nums: list[int], indexes: Indexes) -> Bool:
    """(n,) candidates that carry an identifier of the question which few memories carry."""
    table = indexes.table
    rare: set[int] = set()
    for entity in entities_in(question.text):
        members = table.by_entity.get(entity, set())
        if len(members) <= 3:
            rare |= members
    return np.fromiter((num in rare for num in nums), np.bool_, len(nums))


def _zone(
    members: tuple[int, ...],
    theme: tuple[str, ...],
    profile: float,
    gap: float,
    cut: float,
    candidates: tuple[Candidate, ...],
) -> VoidZone:
    best = max(candidates[position].score for position in members)
    what = ", ".join(theme) or "no common keyword"
    count = "1 memory" if len(members) == 1 else f"{len(members)} memories"
    return VoidZone(
        theme=theme,
        members=tuple(candidates[position].id for position in members),
        best_score=best,
        profile=profile,
        gap=gap,
        reason=f"{count} about {what}: {-profile:.1f} sd under the question's topic, the cut is at {-cut:.1f} sd.",
    )
