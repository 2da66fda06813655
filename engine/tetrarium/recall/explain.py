"""Why a memory was or was not answered by a recall, and what would have had to be different.

The verdict – state, reason, rank, score, zone, numbers – is read from the recall's trace. The counterfactual is
found by running the very passes of the recall again with one premise changed, until the memory is answered: it
is checked before it is told. Nothing here scores, carves or fits by a rule of its own, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tetrarium.model import (
    Candidate,
    Change,
    ChangeKind,
    Explanation,
    Inhibition,
    Memory,
    Reason,
    RecallState,
    RecallTrace,
)
from tetrarium.recall.budget import fit
from tetrarium.recall.pipeline import Decision

DEEPEST_RANK = 1_000
"""Rank down to which a change of settings is looked for; further down the answer is to ask in other words."""

FINEST_STEP = 0.01
"""Steps of the void target in which the largest one that lets a memory through is looked for."""


@dataclass(frozen=True, slots=True)
class Premise:
    """On what a recall is run again. lifted: the memory's own inhibition and expiry are looked past.

    fetch, candidates, evidence_floor: settings `vector_candidates`, `max_candidates` and `evidence_floor`.
    """

    project: str
    lifted: bool
    fetch: int
    candidates: int
    evidence_floor: float
    void_target: float
    budget: int


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What keeps a memory out before it is ranked.

    then: why the recall did not rank it, when it did not; now: the changes that it needs today to be ranked at all.
    """

    then: Reason
    now: tuple[Change, ...]
    inhibition: Inhibition | None


Rerun = Callable[[Premise], Decision]
"""The passes of the same question on the space as it is, under a premise."""


def explain(
    memory: Memory, trace: RecallTrace, obstacles: Obstacles, rerun: Rerun, base: Premise, *, memories: int, most: int
) -> Explanation:
    """The verdict of the trace on a memory, and the changes that would have it answered.

    base: the premise of the recall itself; memories: how many the space holds; most: the largest budget.
    """
    position = next((at for at, candidate in enumerate(trace.candidates) if candidate.id == memory.id), -1)
    candidate = trace.candidates[position] if position >= 0 else None
    below = trace.beyond.index(memory.id) if candidate is None and memory.id in trace.beyond else -1
    ranked = len(trace.candidates) + len(trace.beyond)
    rank = position + 1 if candidate else len(trace.candidates) + below + 1 if below >= 0 else 0
    reason = candidate.reason if candidate else Reason.RANKED_BELOW if rank else obstacles.then
    changes: tuple[Change, ...] = ()
    remedy = ""
    if reason is not Reason.KEPT:
        changes, remedy = _changes(memory.id, obstacles.now, rerun, base, memories, most)
    zone = trace.void_zones[candidate.zone] if candidate and 0 <= candidate.zone < len(trace.void_zones) else None
    return Explanation(
        memory_id=memory.id,
        recall_id=trace.id,
        query=trace.query,
        state=candidate.state if candidate else _state(reason),
        reason=reason,
        rank=rank,
        ranked=ranked,
        score=candidate.score if candidate else trace.beyond_scores[below] if below >= 0 else 0.0,
        parts=candidate.parts if candidate else None,
        tokens=candidate.tokens if candidate else 0,
        profile=candidate.profile if candidate else 0.0,
        void_cut=trace.void_cut,
        zone=zone,
        budget=trace.budget,
        token_usage=trace.token_usage,
        void_target=trace.void_target,
        inhibition=obstacles.inhibition,
        why=" ".join(
            filter(None, (_why(memory, trace, reason, rank, ranked, candidate, obstacles.inhibition), _let(candidate)))
        ),
        changes=changes,
        remedy=remedy or _remedy(changes),
    )


# --- the counterfactual ----------------------------------------------------------------------------


def _changes(
    memory_id: str, needed: Sequence[Change], rerun: Rerun, base: Premise, memories: int, most: int
) -> tuple[tuple[Change, ...], str]:
    """The fewest changes after which a recall answers the memory, found from the first pass to the last."""
    changes = list(needed)
    premise = base
    for change in needed:
        premise = replace(premise, lifted=True)
        if change.kind is ChangeKind.PROJECT:
            premise = replace(premise, project=str(change.value))
    decision = rerun(premise)
    if not (rank := _rank(memory_id, decision)):
        premise = replace(premise, fetch=max(memories, base.fetch))
        decision = rerun(premise)
        if not (rank := _rank(memory_id, decision)):
            return (
                (),
                "It shares neither a word nor a meaning that can be measured with the question: ask in its words.",
            )
        changes.append(
            Change(ChangeKind.FETCH, premise.fetch, f"look through all {memories:,} memories (it then ranks {rank})")
        )
    if rank > DEEPEST_RANK:
        return (), f"It ranks {rank:,}: no setting is meant to reach that far down. Ask in its words."
    if rank > premise.candidates:
        premise = replace(premise, candidates=rank)
        changes.append(Change(ChangeKind.CANDIDATES, rank, f"let a recall look at {rank} candidates"))
        decision = rerun(premise)
    verdict = _candidate(memory_id, decision)
    if verdict.reason is Reason.NO_EVIDENCE:
        premise = replace(premise, evidence_floor=0.0)
        changes.append(Change(ChangeKind.EVIDENCE_FLOOR, 0.0, "an evidence floor of 0, which answers on any subject"))
        decision = rerun(premise)
        verdict = _candidate(memory_id, decision)
    if verdict.reason not in (Reason.KEPT, Reason.OVER_BUDGET):
        target = _largest_target(memory_id, rerun, premise)
        if target is None:
            return (), f"No setting lets it through ({verdict.reason}): ask more about its subject."
        premise = replace(premise, void_target=target)
        changes.append(Change(ChangeKind.VOID_TARGET, target, f"a void target of at most {target:g}"))
        decision = rerun(premise)
        verdict = _candidate(memory_id, decision)
    if verdict.reason is Reason.OVER_BUDGET:
        budget = _least_budget(memory_id, decision, premise.budget)
        if budget > most:
            return (), f"It would take a budget of {budget:,} tokens, and the largest is {most:,}: ask in its words."
        more = budget - premise.budget
        premise = replace(premise, budget=budget)
        changes.append(Change(ChangeKind.BUDGET, budget, f"a budget of {budget:,} tokens, {more:,} more"))
        decision = rerun(premise)
        verdict = _candidate(memory_id, decision)
    if verdict.reason is not Reason.KEPT:
        return (), f"No setting lets it through ({verdict.reason}): ask more about its subject."
    if not changes:
        changes.append(Change(ChangeKind.ASK_AGAIN, "", "ask again: the space has changed since"))
    return tuple(changes), ""


def _largest_target(memory_id: str, rerun: Rerun, premise: Premise) -> float | None:
    """The largest void target at which the memory is not void, to a step of 0.01; None when there is none."""

    def passes(hundredths: int) -> bool:
        decision = rerun(replace(premise, void_target=hundredths * FINEST_STEP))
        return _candidate(memory_id, decision).reason in (Reason.KEPT, Reason.OVER_BUDGET)

    start = int(premise.void_target / FINEST_STEP)
    coarse = [*range(start - start % 5, -1, -5)]
    open_at = next((at for at in coarse if passes(at)), None)
    if open_at is None:
        return None
    finer = (at for at in range(min(open_at + 4, start), open_at, -1) if passes(at))
    return round(next(finer, open_at) * FINEST_STEP, 2)


def _least_budget(memory_id: str, decision: Decision, budget: int) -> int:
    """The least budget above `budget` in which the memory fits, the better ones before it served first.

    A larger budget may let larger ones in before it, so the need is met step by step; it never falls.
    """
    costs = []
    for candidate in decision.candidates:
        if candidate.reason in (Reason.KEPT, Reason.OVER_BUDGET):
            if candidate.id == memory_id:
                own = candidate.tokens
                break
            costs.append(candidate.tokens)
    while (need := fit(costs, budget).used + own) > budget:
        budget = need
    return budget


def _candidate(memory_id: str, decision: Decision) -> Candidate:
    return next(candidate for candidate in decision.candidates if candidate.id == memory_id)


def _rank(memory_id: str, decision: Decision) -> int:
    """Place from 1 among everything ranked, 0 when it was not."""
    for at, candidate in enumerate(decision.candidates, start=1):
        if candidate.id == memory_id:
            return at
    return len(decision.candidates) + decision.beyond.index(memory_id) + 1 if memory_id in decision.beyond else 0


# --- the words -------------------------------------------------------------------------------------


def _state(reason: Reason) -> RecallState:
    return RecallState.INHIBITED if reason in (Reason.SUPERSEDED, Reason.INHIBITED) else RecallState.VOID


def _why(
    memory: Memory,
    trace: RecallTrace,
    reason: Reason,
    rank: int,
    ranked: int,
    candidate: Candidate | None,
    inhibition: Inhibition | None,
) -> str:
    place = f"rank {rank} of {ranked}" if rank else "not ranked"
    if reason is Reason.KEPT and candidate:
        return f"Answered: {place}, score {candidate.score:.2f}, {candidate.tokens} of {trace.budget} tokens."
    if reason is Reason.OVER_BUDGET and candidate:
        return (
            f"On topic, {place}, but over budget: it takes {candidate.tokens} tokens, and better ones "
            f"had taken {trace.token_usage} of {trace.budget}."
        )
    if reason is Reason.RANKED_BELOW:
        return f"No candidate: {place}, and a recall looks at the best {len(trace.candidates)}."
    if reason is Reason.NOT_FETCHED:
        return "No candidate: neither its meaning nor its words were near enough to the question to be ranked."
    if reason in (Reason.SUPERSEDED, Reason.INHIBITED):
        return _inhibited(inhibition)
    if reason is Reason.OTHER_PROJECT:
        return f"It belongs to project '{memory.source.project}'; the question was asked in '{trace.project}'."
    if reason is Reason.EXPIRED:
        return f"It expired at {memory.expires_at:%Y-%m-%d %H:%M} UTC." if memory.expires_at else "It had expired."
    if reason is Reason.QUARANTINED:
        return "It waits in quarantine until a person releases it, because it reads like an instruction to an agent."
    if reason is Reason.STORED_LATER:
        return "It was stored after this recall."
    if reason is Reason.NO_EVIDENCE:
        return f"Nothing was answered, {place}: {trace.note}"
    zone = trace.void_zones[candidate.zone] if candidate and 0 <= candidate.zone < len(trace.void_zones) else None
    if zone:
        return (
            f"Void, {place}: its zone ({', '.join(zone.theme)}) lies {zone.gap:.2f} sd under the cut at "
            f"{trace.void_cut:.2f} sd of the question's topic."
        )
    return f"Void ({reason}), {place}."


def _let(candidate: Candidate | None) -> str:
    """That it would be void, had a person not said otherwise."""
    if candidate is None or not candidate.theme:
        return ""
    return f"Let through because a person always lets the theme {', '.join(candidate.theme)} through."


def _inhibited(inhibition: Inhibition | None) -> str:
    if inhibition is None:
        return "It was inhibited then."
    how = f"superseded by {inhibition.successor}" if inhibition.successor else "inhibited by hand"
    who = f" by {inhibition.author}" if inhibition.author else ""
    why = f": {inhibition.reason}" if inhibition.reason else ""
    return f"Inhibited: {how}{who} on {inhibition.created_at:%Y-%m-%d}{why}."


def _remedy(changes: Sequence[Change]) -> str:
    if not changes:
        return ""
    said = [change.text for change in changes]
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return f"It would have been answered with: {listed}."
