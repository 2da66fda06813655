"""Verbs that answer: search, recall, gather, and why or why not. They write nothing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from tetrarium.errors import InvalidInput
from tetrarium.events import Recalled, Searched
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import WINDOW, Trust, trust_of
from tetrarium.model import (
    Category,
    Change,
    ChangeKind,
    Explanation,
    Gathered,
    Group,
    Hit,
    Memory,
    Reason,
    RecallTrace,
    ScoreParts,
    SearchResult,
    Standing,
)
from tetrarium.recall import budget as budgeting
from tetrarium.recall.explain import Obstacles, Premise, explain
from tetrarium.recall.pipeline import Decision, decide, trace_of
from tetrarium.recall.ranking import Question, Scope, rank, reordered
from tetrarium.service.door import EVERYWHERE, NEVER, Asked, page_bounds
from tetrarium.service.reranking import Reranking
from tetrarium.service.screening import Screening
from tetrarium.storage import memories as rows
from tetrarium.storage.identity import new_id

_GROUPS: dict[str, tuple[Category, ...]] = {
    "identity": (Category.PREFERENCE, Category.CONTEXT),
    "decisions": (Category.DECISION,),
    "how-to": (Category.SKILL, Category.PATTERN),
    "problems": (Category.BUG,),
    "facts": (Category.FACT,),
    "recent": (Category.SESSION, Category.EPISODE),
}
"""What the memories of a gathered recall are for, by category, in the order in which they are told."""

_UNSCORED = ScoreParts(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
"""The parts of a hit that was found by filters alone."""

_NEIGHBOURED = 5
"""Best blocks of a recall whose neighbours in their session are gathered."""


class Asking(Screening, Reranking):
    """Answers."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        labels: Sequence[str] | str = (),
        categories: Sequence[str] | str = (),
        project: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        state: str = "live",
        stored_by: str = "",
        keywords: Sequence[str] | str = (),
        client: str = "",
    ) -> SearchResult:
        """Rank the memories that pass every filter; filters without words list what passes them, newest first. Reads only.

        labels, keywords: all of them; categories: any of them; project: its memories and the global ones, None the
        global ones, "*" all; since ≤ created < until; state: live, inhibited or all; for a person also quarantined;
        stored_by: the client that stored it. Raises InvalidInput.
        """
        started = time.perf_counter()
        text = self._question(query)
        first, count = page_bounds(offset, limit)
        self.catch_up()
        scope = self._filtered(
            self._scope(project, state, of_person=trust_of(client) is Trust.PERSON),
            ingest.clean_words(labels, "labels"),
            [ingest.parse_category(x) for x in ((categories,) if isinstance(categories, str) else categories) if x],
            None if since is None else ingest.parse_moment(since, "since"),
            None if until is None else ingest.parse_moment(until, "until"),
            stored_by,
            ingest.clean_words(keywords, "keywords"),
        )
        if not text and (scope.filtered or project not in (None, EVERYWHERE)):
            return self._newest(scope, first, count, started, client)
        ranking, _, embedding_ms = self._ranked(text, replace(scope, shadow=np.zeros_like(scope.shadow)))
        page = ranking.nums[first : first + count].tolist()
        parts = ranking.parts(first + len(page))
        hits = tuple(
            Hit(memory.id, float(ranking.scores.total[position]), parts[position], memory)
            for position, memory in enumerate(self._space.reader.memories(page), start=first)
        )
        elapsed = (time.perf_counter() - started) * 1e3
        result = SearchResult(text, hits, len(ranking.nums), first, elapsed, embedding_ms, self._space.note)
        self.events.emit(Searched(result, client))
        return result

    def _newest(self, scope: Scope, first: int, count: int, started: float, client: str) -> SearchResult:
        """What passes the filters of a search that has no words; nothing is scored."""
        nums = np.flatnonzero(scope.allowed)
        nums = nums[np.lexsort((-nums, -self._space.indexes.table.created[nums]))]
        page = self._space.reader.memories(nums[first : first + count].tolist())
        hits = tuple(Hit(memory.id, 0.0, _UNSCORED, memory) for memory in page)
        elapsed = (time.perf_counter() - started) * 1e3
        result = SearchResult("", hits, len(nums), first, elapsed, 0.0, self._space.note)
        self.events.emit(Searched(result, client))
        return result

    def recall(
        self,
        query: str,
        *,
        budget: int | None = None,
        project: str | None = None,
        void_target: float | None = None,
        client: str = "",
        session: str = "",
    ) -> RecallTrace:
        """Answer a question: score, carve the voids, fit the budget (tokens). Reads only; the trace is kept.

        Raises InvalidInput for a budget under 1 or a void target outside 0 … 0.6.
        """
        started = time.perf_counter()
        text, project = self._question(query), self._project(project)
        self.catch_up()  # first: the space may keep other dials by now
        tokens = self.settings.default_budget if budget is None else _budget(budget, self.settings.max_budget)
        target = self.settings.void_target if void_target is None else _void_target(void_target)
        ranked, question, embedding_ms = self._ranked(text, self._scope(project, "live"), answering=True)
        reranked = self._reranked(question, ranked)
        ranking = reranked.ranking
        decision = decide(
            question,
            ranking,
            self._space.indexes,
            budget=tokens,
            void_target=target,
            settings=self.settings,
            themes=self._themes(),
        )
        kept = ranking.nums[list(decision.kept)].tolist()
        trace = trace_of(
            question,
            decision,
            self._space.reader.memories(kept),
            recall_id=new_id(),
            project=project or "",
            budget=tokens,
            void_target=target,
            now=time.time(),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
            embedding_ms=embedding_ms,
            note=" ".join(filter(None, (self._note(question, ranking), reranked.note))),
            evidence=ranking.evidence,
            reranked_by=reranked.by,
        )
        self._keep(Asked(trace, question, reranked.order), client)
        self._recalls.append(trace.void_fraction)
        mark = _mark(question)
        # A person who looks around in the window confirms nothing.
        for num in () if client == WINDOW else kept:
            self._accesses[num] = (self._accesses.get(num, (0, trace.asked_at))[0] + 1, trace.asked_at)
            self._questions.setdefault(num, set()).add(mark)
        self.events.emit(Recalled(trace, client))
        return trace

    def trace(self, recall_id: str = "", *, client: str | None = None) -> RecallTrace:
        """A recall of before; "" for the last one, of one client if named. Raises NotFound."""
        return self._kept(recall_id, client).trace

    def traces(self, *, client: str | None = None) -> tuple[RecallTrace, ...]:
        """The recalls that are kept, newest first; of one client if named."""
        return tuple(asked.trace for asked in self._kept_of(client))

    def adopt(self, trace: RecallTrace, *, client: str = "") -> None:
        """Keep a recall that another program answered on this space, as if it had been asked here: so that it can be
        explained and rehearsed. Its question is analysed anew, as of when it was asked. One that is kept stays as it is."""
        self.catch_up()
        if any(asked.trace.id == trace.id for asked in self._kept_of(None)):
            return
        question, _ = self._analysed(self._question(trace.query), trace.asked_at.astimezone())
        nums = self._space.indexes.table.by_id
        order = tuple(nums[c.id] for c in trace.candidates if c.id in nums) if trace.reranked_by else ()
        self._keep(Asked(trace, question, order), client)

    def gather(
        self,
        query: str,
        *,
        budget: int | None = None,
        project: str | None = None,
        client: str = "",
        session: str = "",
    ) -> Gathered:
        """A recall sorted by what its memories are for, with the memories stored next to the best of them.

        The recall takes its share of the budget first (`gathered_share`), neighbours what is left; what is off topic
        stays out of both. Errors as in `recall`.
        """
        tokens = self.settings.default_budget if budget is None else _budget(budget, self.settings.max_budget)
        share = max(1, int(tokens * self.settings.gathered_share))
        trace = self.recall(query, budget=share, project=project, client=client, session=session)
        groups = (
            Group(name, tuple(hit for hit in trace.blocks if hit.memory.category in kinds))
            for name, kinds in _GROUPS.items()
        )
        neighbours, used = self._neighbours(trace, tokens - trace.token_usage)
        return Gathered(trace, tuple(g for g in groups if g.hits), neighbours, tokens, trace.token_usage + used)

    def explain(self, memory_id: str, recall_id: str = "", *, client: str | None = None) -> Explanation:
        """Why a memory was or was not answered by a recall ("": the last one, of one client if named). Reads only.

        The verdict is the trace's; the changes that would have it answered are checked by running the passes
        again on the space as it is now. Raises NotFound for an unknown memory or recall.
        """
        self.catch_up()
        num = self._number(memory_id)
        asked = self._kept(recall_id, client)
        trace, memory = asked.trace, self._memory(num)
        base = Premise(
            project=trace.project,
            lifted=False,
            fetch=self.settings.vector_candidates,
            candidates=self.settings.max_candidates,
            evidence_floor=self.settings.evidence_floor,
            void_target=trace.void_target,
            budget=trace.budget,
        )
        return explain(
            memory,
            trace,
            self._obstacles(num, memory, trace),
            lambda premise: self._rerun(asked, num, premise),
            base,
            memories=len(self._space.indexes.table),
            most=self.settings.max_budget,
        )

    def _rerun(self, asked: Asked, num: int, premise: Premise) -> Decision:
        """The passes of a question on the space as it is now, under a premise, its head as a reranker ordered it then.
        Keeps and counts nothing."""
        question = asked.question
        scope = self._scope(premise.project, "live", beside=num if premise.lifted else None)
        settings = replace(
            self.settings,
            vector_candidates=premise.fetch,
            max_candidates=premise.candidates,
            evidence_floor=premise.evidence_floor,
        )
        indexes = self._space.indexes
        ranking = rank(question, indexes, self._space.reader.match, scope, now=time.time(), settings=settings)
        ranking = reordered(ranking, asked.order)
        return decide(
            question,
            ranking,
            indexes,
            budget=premise.budget,
            void_target=premise.void_target,
            settings=settings,
            themes=self._themes(),
        )

    def _obstacles(self, num: int, memory: Memory, trace: RecallTrace) -> Obstacles:
        """What kept a memory from being ranked by a recall, and what would now."""
        at, now = trace.asked_at, rows.now()
        edges = [edge for edge in self._space.reader.inhibitions(num) if edge.target == memory.id]
        then = next((e for e in edges if e.created_at <= at and (e.lifted_at is None or e.lifted_at > at)), None)
        force = next((e for e in edges if e.lifted_at is None), None)
        elsewhere = trace.project != EVERYWHERE and memory.source.project not in ("", trace.project)
        if memory.id > trace.id:  # both made in order, also after the clock was wrong for a while
            reason = Reason.STORED_LATER
        elif then:
            reason = Reason.SUPERSEDED if then.successor else Reason.INHIBITED
        elif memory.standing is Standing.QUARANTINED:
            reason = Reason.QUARANTINED
        elif memory.expires_at and memory.expires_at <= at:
            reason = Reason.EXPIRED
        else:
            reason = Reason.OTHER_PROJECT if elsewhere else Reason.NOT_FETCHED
        changes = []
        if memory.standing is Standing.QUARANTINED:
            changes.append(
                Change(ChangeKind.QUARANTINE, memory.id, f"a person's release of {memory.id} from quarantine")
            )
        if force:
            changes.append(Change(ChangeKind.RELEASE, memory.id, f"the release of {memory.id}"))
        if memory.expires_at and memory.expires_at <= now:
            changes.append(Change(ChangeKind.EXPIRY, NEVER[1], "no expiry"))
        if elsewhere:
            project = memory.source.project
            changes.append(Change(ChangeKind.PROJECT, project, f"the question asked in project '{project}'"))
        return Obstacles(reason, tuple(changes), then or force)

    def _neighbours(self, trace: RecallTrace, room: int) -> tuple[tuple[Memory, ...], int]:
        """Memories stored just before and after the best blocks, as far as the room goes, and their tokens."""
        table = self._space.indexes.table
        allowed = self._scope(trace.project, "live").allowed
        told = {c.id for c in trace.candidates if c.reason is not Reason.OVER_BUDGET}
        used, chosen = 0, list[int]()
        for hit in trace.blocks[:_NEIGHBOURED]:
            num = table.by_id[hit.id]
            for near in (int(table.before[num]), int(table.after[num])):
                tokens = budgeting.cost(int(table.budget_tokens[near]))
                fits = used + tokens <= room
                if near and allowed[near] and near not in chosen and table.ids[near] not in told and fits:
                    chosen.append(near)
                    used += tokens
        return tuple(self._space.reader.memories(chosen)), used


def _mark(question: Question) -> bytes:
    """The same for questions of the same words, whatever their order; 8 bytes, from which no question can be read."""
    words = " ".join(sorted(question.terms)) or question.text
    return hashlib.blake2b(words.encode(), digest_size=8).digest()


def _budget(value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= most:
        raise InvalidInput(f"The budget {value!r} cannot be used.", advice=f"Give tokens, 1 to {most:,}.")
    return int(value)


def _void_target(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 0.6:
        raise InvalidInput(
            f"The void target {value!r} cannot be used.", advice="Give a share from 0 (no voids) to 0.6."
        )
    return float(value)
