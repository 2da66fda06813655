"""The one door. MCP tools, command line and window are one-line translations of these verbs.

Everything runs on one thread (the lane is the lock). A verb that writes is one transaction; what was
acknowledged is on disk. A recall or search writes nothing: accesses are counted later, in `maintain`.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tetrarium import paths
from tetrarium.config import DEFAULTS, Settings, with_overrides
from tetrarium.errors import InvalidInput, NotFound, NotTrusted, StaleEdit
from tetrarium.events import Events, Recalled, Searched, SpaceChanged
from tetrarium.geometry.placement import Placement
from tetrarium.lifecycle import correction, forms, ingest
from tetrarium.lifecycle.classify import noise_reason
from tetrarium.lifecycle.sample import sample_memories
from tetrarium.lifecycle.trust import WINDOW, Trust, may_change, trust_of
from tetrarium.model import (
    CATEGORIES,
    CONFIDENCES,
    MEMORY_TYPES,
    Bool,
    Category,
    Change,
    ChangeKind,
    Changes,
    Cluster,
    Contradiction,
    Draft,
    Explanation,
    Float32,
    Forgetting,
    Gathered,
    Group,
    Hit,
    Inhibition,
    Likely,
    Memory,
    Outcome,
    Reason,
    RecallTrace,
    SearchResult,
    Source,
    SpaceSnapshot,
    SpaceStats,
    Standing,
    StoreResult,
    Version,
)
from tetrarium.recall import budget as budgeting
from tetrarium.recall.explain import Obstacles, Premise, explain
from tetrarium.recall.pipeline import Decision, decide, trace_of
from tetrarium.recall.ranking import Question, Ranking, Scope, analyse, rank
from tetrarium.space import Space
from tetrarium.storage import memories as rows
from tetrarium.storage.database import Connection
from tetrarium.storage.identity import moment_of, new_id
from tetrarium.storage.migrations import SCHEMA_VERSION

EVERYWHERE = "*"
"""As a project: memories of every project."""

SAMPLE = "sample"
"""The client name under which the sample memories are stored."""

MAX_QUESTION = 100_000
"""Characters of a question that are looked at."""

CATCH_UP_VECTORS = 64
"""Memories without a vector that a question embeds before it is answered; the rest follow in `maintain`."""

MAX_PAGE = 1_000
"""Hits or rows that one call gives."""

KEPT_CLIENTS = 32
"""Clients whose last recalls are kept."""

SHOWN_CANDIDATES = 5
"""Best matches of a description that are weighed against each other, and shown when none is certain."""

EXAMPLES = 8
"""Memories that the preview of a forgetting names."""

NEVER = ("", "never", "none")
"""As an expiry: no longer one."""

_GROUPS: dict[str, tuple[Category, ...]] = {
    "identity": (Category.PREFERENCE, Category.CONTEXT),
    "decisions": (Category.DECISION,),
    "how-to": (Category.SKILL, Category.PATTERN),
    "problems": (Category.BUG,),
    "facts": (Category.FACT,),
    "recent": (Category.SESSION, Category.EPISODE),
}
"""What the memories of a gathered recall are for, by category, in the order in which they are told."""

_NEIGHBOURED = 5
"""Best blocks of a recall whose neighbours in their session are gathered."""

_Array = TypeVar("_Array", bound=NDArray[Any])
_STATES = ("live", "inhibited", "all")
_ORDERS = ("created", "accessed", "importance", "access_count", "category", "cluster", "content")


class MemoryService:
    """The memories of one space. Opened by `open_space`; a context manager."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._space = Space(folder, settings)
        self._asked: dict[str, deque[_Asked]] = {}
        self._accesses: dict[int, tuple[int, datetime]] = {}
        self._questions: dict[int, set[bytes]] = {}
        self._recalls: list[float] = []
        self.path = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        return self._space.settings

    @property
    def events(self) -> Events:
        return self._space.events

    # --- store --------------------------------------------------------------------------------

    def store(
        self,
        content: str,
        *,
        keywords: Sequence[str] | str = (),
        labels: Sequence[str] | str = (),
        category: str | None = None,
        importance: float | None = None,
        entities: Sequence[str] | str = (),
        author: str = "",
        session: str = "",
        project: str = "",
        file: str = "",
        client: str = "",
        created_at: datetime | str | None = None,
        expires_at: datetime | str | None = None,
        supersedes: Sequence[str] | str = (),
        reason: str = "",
        idempotency_key: str = "",
        force: bool = False,
    ) -> StoreResult:
        """Remember one statement. When this returns, it is on disk.

        The same text again, or one that differs in nothing that matters, becomes a new version of the memory
        that is there. `supersedes` names memories that this one corrects, by id or by a description that means
        exactly one: they are out of every later answer until released. Where a description may mean several, or a
        target was stored by somebody more trusted than `client`, nothing is stored and the answer says so.
        `force` skips the noise gate and deduplication, for imports. A repeated `idempotency_key` gets the first
        answer again. Raises InvalidInput, NotFound for an unknown id, SpaceUnavailable.
        """
        text = ingest.clean_content(content, self.settings)
        noise = (
            ""
            if force
            else noise_reason(
                text, min_length=self.settings.min_content_length, min_letter_share=self.settings.min_letter_share
            )
        )
        if noise:
            return StoreResult(Outcome.NOISE, None, None, (), None, "", None, (), noise)
        key = ingest.clean_name(idempotency_key, "idempotency_key")
        draft = ingest.make_draft(
            text,
            keywords=ingest.clean_words(keywords, "keywords"),
            labels=ingest.clean_words(labels, "labels"),
            entities=ingest.clean_words(entities, "entities"),
            category=None if category is None else ingest.parse_category(category),
            importance=None if importance is None else ingest.parse_share(importance, "importance"),
            source=Source(
                client=ingest.clean_name(client, "client"),
                author=ingest.clean_name(author, "author"),
                session=ingest.clean_name(session, "session"),
                project=ingest.clean_project(project),
                file=ingest.clean_name(file, "file"),
            ),
            created_at=rows.now() if created_at is None else ingest.parse_moment(created_at, "created_at"),
            expires_at=None if expires_at is None else ingest.parse_moment(expires_at, "expires_at"),
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        wanted = (supersedes,) if isinstance(supersedes, str) else tuple(supersedes)
        why = ingest.clean_name(reason, "reason")
        (vector,) = self._space.embed_passages([ingest.spoken(text, draft.source)])
        return self._space.write(
            lambda: self._plan_store(draft, vector, [x.strip() for x in wanted if x.strip()], key=key, force=force),
            lambda connection, plan: self._commit_store(connection, plan, draft, vector, key=key, reason=why),
        )

    def _plan_store(
        self, draft: Draft, vector: Float32 | None, supersedes: Sequence[str], *, key: str, force: bool
    ) -> _StorePlan:
        """What a store will do, on the state as it is now. Raises NotFound for an unknown target."""
        if key and (before := self._space.reader.request(draft.source.project, key)):
            return _StorePlan(refusal=_first_answer(key, draft, *before))
        found: dict[int, None] = {}
        for name in supersedes:
            target, candidates = self._target(name, draft.source.project)
            if target is None:
                return _StorePlan(refusal=_ambiguous(name, candidates))
            memory = self._memory(target)
            if memory.source.project not in ("", draft.source.project):
                raise InvalidInput(
                    f"Memory {memory.id} belongs to project '{memory.source.project}'; nothing was stored.",
                    advice="Correct it from that project, or store this as a memory of its own.",
                )
            if not may_change(draft.source.client, owner := memory.source.client):
                return _StorePlan(refusal=_not_trusted(self._space.indexes.table.ids[target], owner))
            found[target] = None
        targets = tuple(found)
        twin = None if force else self._twin(draft, vector, exact_only=bool(targets))
        if twin is None:
            proposals = () if force else self._contradicted(draft, vector, targets)
            placement = self._space.place(vector, draft.keywords)
            return _StorePlan(targets=targets, placement=placement, contradicted=proposals)
        inhibited = bool(self._space.indexes.table.inhibited[twin])
        return _StorePlan(twin, inhibited, tuple(target for target in targets if target != twin))

    def _target(self, name: str, project: str) -> tuple[int | None, tuple[Likely, ...]]:
        """The memory that an id or a description means; None, and what it may mean, when that is not certain."""
        if correction.is_id(name):
            return self._number(name), ()
        ranking, _, _ = self._ranked(_question(name), self._scope(project, "live"))
        table = self._space.indexes.table
        scores = ranking.scores.total[:SHOWN_CANDIDATES].tolist()
        nums = ranking.nums[: len(scores)].tolist()
        described = [
            correction.Described(num, score, frozenset(table.tokens[num].split(" ")))
            for num, score in zip(nums, scores, strict=True)
        ]
        num = correction.meant(name, described, rarity=self._space.indexes.keywords.rarity, settings=self.settings)
        likely = tuple(Likely(table.ids[n], table.excerpts[n], s) for n, s in zip(nums, scores, strict=True))
        return num, likely

    def _contradicted(
        self, draft: Draft, vector: Float32 | None, targets: Sequence[int]
    ) -> tuple[tuple[int, str], ...]:
        """(number, why) of the near live memories that the draft may contradict; those it corrects aside."""
        table = self._space.indexes.table
        near, _, _ = self._space.indexes.relatives(vector, draft.keywords, self.settings.relatives)
        reachable = table.in_project(draft.source.project)
        nums = [num for num in near.tolist() if reachable[num] and num not in targets]
        contents = self._space.reader.contents(nums)
        rarity = self._space.indexes.keywords.rarity
        whys = (
            (num, correction.contradiction(draft.content, contents[num], rarity=rarity, settings=self.settings))
            for num in nums
        )
        return tuple((num, why) for num, why in whys if why)

    def _commit_store(
        self,
        connection: Connection,
        plan: _StorePlan,
        draft: Draft,
        vector: Float32 | None,
        *,
        key: str,
        reason: str,
    ) -> StoreResult:
        now = rows.now()
        if plan.refusal is not None:
            return plan.refusal
        if plan.twin is not None and plan.twin_inhibited:
            twin = self._memory(plan.twin)
            by = f" by {twin.superseded_by}" if twin.superseded_by else ""
            return StoreResult(
                Outcome.MATCHES_INHIBITED, twin.id, twin.category, twin.keywords, twin.cluster, "", None, (),
                f"Not stored: it says what inhibited memory {twin.id} says, which was superseded{by}. "
                "Release that memory, or store this one in other words.",
            )  # fmt: skip
        if plan.twin is not None:
            result = self._merge(connection, plan.twin, draft, vector, now)
            num = plan.twin
        else:
            assert plan.placement is not None
            num, memory_id = rows.insert(connection, draft, now=now)
            if vector is not None:
                rows.set_vector(connection, num, self._space.model, vector)
            self._space.settle(connection, num, plan.placement)
            name = self._cluster_name(plan.placement.component, draft.keywords)
            result = StoreResult(
                Outcome.STORED, memory_id, draft.category, draft.keywords, plan.placement.component, name, None, (), ""
            )
        for target, conflict in plan.contradicted:
            rows.propose_contradiction(connection, num, target, conflict, now=now)
        for target in plan.targets:
            rows.inhibit(connection, target, successor=num, reason=reason, author=draft.source.client, now=now)
        table = self._space.indexes.table
        result = replace(
            result,
            superseded=tuple(table.ids[target] for target in plan.targets),
            contradicts=tuple(
                Contradiction(str(result.id), table.ids[target], conflict, table.excerpts[target])
                for target, conflict in plan.contradicted
            ),
        )
        if key:
            rows.remember_request(connection, key, draft, num, asdict(result))
        return result

    def _merge(
        self, connection: Connection, num: int, draft: Draft, vector: Float32 | None, now: datetime
    ) -> StoreResult:
        """The newer text wins, words unite, counters and the older text stay."""
        old = self._memory(num)
        merged = replace(
            draft,
            keywords=tuple(dict.fromkeys((*draft.keywords, *old.keywords)))[: ingest.MAX_WORDS],
            labels=tuple(dict.fromkeys((*draft.labels, *old.labels)))[: ingest.MAX_WORDS],
            entities=tuple(dict.fromkeys((*draft.entities, *old.entities))),
            importance=max(draft.importance, old.importance),
            expires_at=draft.expires_at or old.expires_at,
        )
        changed = merged.content != old.content or merged.keywords != old.keywords or merged.labels != old.labels
        rows.count_repetition(connection, num)
        if changed:
            rows.rewrite(connection, num, merged, cause="merged with a newer text", now=now)
            rows.drop_contradictions(connection, num)
            if vector is not None:
                rows.set_vector(connection, num, self._space.model, vector)
        how = "The newer text replaced it; the older one stays as a version." if changed else "Nothing was new."
        return StoreResult(
            Outcome.MERGED, old.id, merged.category, merged.keywords, old.cluster,
            self._cluster_name(old.cluster, merged.keywords), old.id, (), f"Memory {old.id} says the same. {how}",
        )  # fmt: skip

    def _twin(self, draft: Draft, vector: Float32 | None, *, exact_only: bool) -> int | None:
        """The memory of the same project that says the same, live ones first, or None.

        A correction is only ever the twin of the very same text: near-identical wording is what corrections have.
        """
        table = self._space.indexes.table
        now = time.time()
        same = self._space.reader.same_content(draft.content_hash, draft.source.project)
        for num, _ in sorted(same, key=lambda pair: pair[1]):
            if table.expires[num] > now:
                return num
        if vector is None or exact_only:
            return None
        code = table.projects.find(draft.source.project)
        nums, cosines = self._space.indexes.vectors.search(
            vector, 8, table.present & (table.project == code) & (table.expires > now)
        )
        near = nums[cosines >= self.settings.duplicate_cosine].tolist()
        contents = self._space.reader.contents(near)
        for num in sorted(near, key=lambda num: bool(table.inhibited[num])):
            if ingest.say_the_same(draft.content, contents[num]):
                return int(num)
        return None

    # --- search and recall --------------------------------------------------------------------

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
        client: str = "",
    ) -> SearchResult:
        """Rank the memories that pass every filter. Reads only.

        labels: all of them; categories: any of them; project: its memories and the global ones, None the
        global ones, "*" all; since ≤ created < until; state: live, inhibited or all. Raises InvalidInput.
        """
        started = time.perf_counter()
        text = _question(query)
        first, count = _page_bounds(offset, limit)
        self.catch_up()
        scope = self._filtered(
            self._scope(project, state),
            ingest.clean_words(labels, "labels"),
            [ingest.parse_category(x) for x in ((categories,) if isinstance(categories, str) else categories) if x],
            None if since is None else ingest.parse_moment(since, "since"),
            None if until is None else ingest.parse_moment(until, "until"),
        )
        ranking, _, embedding_ms = self._ranked(text, replace(scope, shadow=np.zeros_like(scope.shadow)))
        page = ranking.nums[first : first + count].tolist()
        parts = ranking.parts(first + len(page))
        hits = tuple(
            Hit(memory.id, float(ranking.scores.total[position]), parts[position], memory)
            for position, memory in enumerate(self._space.reader.memories(page), start=first)
        )
        elapsed = (time.perf_counter() - started) * 1e3
        result = SearchResult(text, hits, len(ranking.nums), first, elapsed, embedding_ms, self._space.model_note)
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
        text = _question(query)
        tokens = self.settings.default_budget if budget is None else _budget(budget, self.settings.max_budget)
        target = self.settings.void_target if void_target is None else _void_target(void_target)
        self.catch_up()
        ranking, question, embedding_ms = self._ranked(text, self._scope(project, "live"))
        decision = decide(
            question, ranking, self._space.indexes, budget=tokens, void_target=target, settings=self.settings
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
            note=self._note(question, ranking),
            evidence=ranking.evidence,
        )
        self._keep(_Asked(trace, question), client)
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
            lambda premise: self._rerun(asked.question, num, premise),
            base,
            memories=len(self._space.indexes.table),
            most=self.settings.max_budget,
        )

    def _rerun(self, question: Question, num: int, premise: Premise) -> Decision:
        """The passes of a question on the space as it is now, under a premise. Keeps and counts nothing."""
        scope = self._scope(premise.project, "live", beside=num if premise.lifted else None)
        settings = replace(
            self.settings,
            vector_candidates=premise.fetch,
            max_candidates=premise.candidates,
            evidence_floor=premise.evidence_floor,
        )
        indexes = self._space.indexes
        ranking = rank(question, indexes, self._space.reader.match, scope, now=time.time(), settings=settings)
        return decide(
            question, ranking, indexes, budget=premise.budget, void_target=premise.void_target, settings=settings
        )

    def _obstacles(self, num: int, memory: Memory, trace: RecallTrace) -> Obstacles:
        """What kept a memory from being ranked by a recall, and what would now."""
        at, now = trace.asked_at, rows.now()
        edges = [edge for edge in self._space.reader.inhibitions(num) if edge.target == memory.id]
        then = next((e for e in edges if e.created_at <= at and (e.lifted_at is None or e.lifted_at > at)), None)
        force = next((e for e in edges if e.lifted_at is None), None)
        elsewhere = trace.project != EVERYWHERE and memory.source.project not in ("", trace.project)
        if moment_of(memory.id) > at:
            reason = Reason.STORED_LATER
        elif then:
            reason = Reason.SUPERSEDED if then.successor else Reason.INHIBITED
        elif memory.expires_at and memory.expires_at <= at:
            reason = Reason.EXPIRED
        else:
            reason = Reason.OTHER_PROJECT if elsewhere else Reason.NOT_FETCHED
        changes = []
        if memory.standing is Standing.INHIBITED:
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

    def _keep(self, asked: _Asked, client: str) -> None:
        if client not in self._asked and len(self._asked) >= KEPT_CLIENTS:
            del self._asked[min(self._asked, key=lambda name: self._asked[name][-1].trace.id)]
        self._asked.setdefault(client, deque(maxlen=self.settings.kept_traces)).append(asked)

    def _kept_of(self, client: str | None) -> list[_Asked]:
        """Newest first: ids of recalls ascend."""
        kept = (
            self._asked.get(client, ())
            if client is not None
            else [asked for recalls in self._asked.values() for asked in recalls]
        )
        return sorted(kept, key=lambda asked: asked.trace.id, reverse=True)

    def _kept(self, recall_id: str, client: str | None) -> _Asked:
        wanted = recall_id.strip().upper()
        for asked in self._kept_of(client if not wanted else None):
            if wanted in ("", asked.trace.id):
                return asked
        raise NotFound(
            f"There is no recall '{recall_id}'." if recall_id else "Nothing was recalled yet.",
            advice=f"The last {self.settings.kept_traces} recalls since the start are kept.",
        )

    # --- one memory ---------------------------------------------------------------------------

    def get(self, memory_id: str) -> Memory:
        """One memory, inhibited ones too. Raises NotFound."""
        self.catch_up()
        return self._memory(self._number(memory_id))

    def versions(self, memory_id: str) -> tuple[Version, ...]:
        """Its earlier texts, newest first. Raises NotFound."""
        self.catch_up()
        return self._space.reader.versions(self._number(memory_id))

    def update(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        keywords: Sequence[str] | str | None = None,
        labels: Sequence[str] | str | None = None,
        category: str | None = None,
        importance: float | None = None,
        pinned: bool | None = None,
        expires_at: datetime | str | None = None,
        expected_revision: int | None = None,
        client: str = "",
    ) -> Memory:
        """Edit a memory; the text before stays as a version, id, place and counters stay.

        A pinned memory is spared by every forgetting by filter. expires_at: a time, or "never". Pin and expiry alone
        make no version. Raises NotFound, InvalidInput, StaleEdit when its revision is not the expected one, and
        NotTrusted when `client` may not change what its owner stored.
        """
        text = None if content is None else ingest.clean_content(content, self.settings)
        words = None if keywords is None else ingest.clean_words(keywords, "keywords")
        tags = None if labels is None else ingest.clean_words(labels, "labels")
        kind = None if category is None else ingest.parse_category(category)
        weight = None if importance is None else ingest.parse_share(importance, "importance")
        until = None if expires_at is None or expires_at in NEVER else ingest.parse_moment(expires_at, "expires_at")
        rewritten = any(value is not None for value in (text, words, tags, kind, weight))

        def plan() -> tuple[int, Memory, Draft, Float32 | None]:
            num = self._number(memory_id)
            old = self._memory(num)
            _check_trust(client, old)
            if expected_revision is not None and expected_revision != old.revision:
                raise StaleEdit(
                    f"Memory {memory_id} was changed meanwhile (revision {old.revision}, not {expected_revision}); nothing was stored.",
                    stored=old.content,
                    offered=text or old.content,
                    advice="Look at the text that is there now, then edit again.",
                )
            draft = ingest.make_draft(
                text or old.content,
                keywords=old.keywords if words is None and text is None else words or (),
                labels=old.labels if tags is None else tags,
                entities=() if text else old.entities,
                category=kind or old.category,
                importance=old.importance if weight is None else weight,
                source=old.source,
                created_at=old.created_at,
                expires_at=old.expires_at if expires_at is None else until,
                rarity=self._space.indexes.keywords.rarity,
                settings=self.settings,
            )
            vector = None if text is None else self._space.embed_passages([ingest.spoken(text, draft.source)])[0]
            return num, old, draft, vector

        def commit(connection: Connection, planned: tuple[int, Memory, Draft, Float32 | None]) -> int:
            num, old, draft, vector = planned
            if rewritten:
                rows.rewrite(connection, num, draft, cause="edited", now=rows.now())
            if pinned is not None or expires_at is not None:
                pin = old.pinned if pinned is None else bool(pinned)
                rows.set_standing(connection, num, pinned=pin, expires_at=draft.expires_at, now=rows.now())
            if text is not None:
                rows.drop_contradictions(connection, num)
            if vector is not None:
                rows.set_vector(connection, num, self._space.model, vector)
            return num

        return self._memory(self._space.write(plan, commit))

    def revert(self, memory_id: str, *, client: str = "") -> Memory:
        """Undo the last edit: text, keywords, labels, category and importance of the version before, as a new one.

        Raises NotFound, NotTrusted, and InvalidInput when it was never edited.
        """
        versions = self.versions(memory_id)
        if not versions:
            raise InvalidInput(f"Memory {memory_id} was never edited; nothing changed.")
        before = versions[0]
        return self.update(
            memory_id,
            content=before.content,
            keywords=before.keywords,
            labels=before.labels,
            category=before.category,
            importance=before.importance,
            client=client,
        )

    def inhibit(
        self, memory_id: str, *, reason: str = "", successor: str = "", author: str = "", client: str = ""
    ) -> Memory:
        """Take a memory out of every answer until it is released; `successor` is the id of what replaces it, if anything.

        author: who says so, else the client. Raises NotFound, NotTrusted, and InvalidInput when it is inhibited
        already or its successor is.
        """
        why, who = ingest.clean_name(reason, "reason"), ingest.clean_name(author or client, "author")

        def plan() -> tuple[int, int | None]:
            num = self._number(memory_id)
            _check_trust(client, self._memory(num))
            heir = self._number(successor) if successor else None
            inhibited = self._space.indexes.table.inhibited
            if inhibited[num]:
                raise InvalidInput(f"Memory {memory_id} is inhibited already; nothing changed.")
            if heir is not None and (heir == num or inhibited[heir]):
                raise InvalidInput(
                    f"Memory {successor} cannot supersede it; nothing changed.",
                    advice="Name a live memory, not itself.",
                )
            return num, heir

        def commit(connection: Connection, planned: tuple[int, int | None]) -> int:
            num, heir = planned
            rows.inhibit(connection, num, successor=heir, reason=why, author=who, now=rows.now())
            return num

        return self._memory(self._space.write(plan, commit))

    def release(self, memory_id: str, *, client: str = "") -> Memory:
        """Lift the inhibition of a memory: it may be answered again, as before.

        Raises NotFound, InvalidInput when it is not inhibited, NotTrusted when somebody more trusted inhibited it.
        """

        def plan() -> int:
            num = self._number(memory_id)
            for author in self._space.reader.inhibitors(num):
                if not may_change(client, author):
                    raise NotTrusted(
                        f"Memory {memory_id} was inhibited by a person; nothing changed.",
                        advice="The person can release it in the window.",
                    )
            return num

        def commit(connection: Connection, num: int) -> int:
            if not rows.lift_inhibitions(connection, num, now=rows.now()):
                raise InvalidInput(f"Memory {memory_id} is not inhibited; nothing changed.")
            return num

        return self._memory(self._space.write(plan, commit))

    def inhibitions(self, memory_id: str) -> tuple[Inhibition, ...]:
        """The chain of corrections that a memory belongs to, oldest first, lifted ones too. Raises NotFound."""
        self.catch_up()
        return self._space.reader.inhibitions(self._number(memory_id))

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Pairs of live memories that may not both be true, newest first. Proposals: nothing was done about them."""
        self.catch_up()
        return self._space.reader.contradictions()

    def dismiss_contradiction(self, one: str, other: str) -> None:
        """Both are true after all: the pair is not proposed again. Raises NotFound, InvalidInput."""

        def commit(connection: Connection, pair: tuple[int, int]) -> None:
            if not rows.dismiss_contradiction(connection, *pair, now=rows.now()):
                raise InvalidInput(f"No contradiction of {one} and {other} is proposed; nothing changed.")

        self._space.write(lambda: (self._number(one), self._number(other)), commit)

    def feedback(self, memory_id: str, helped: bool | None, *, recall_id: str = "", client: str = "") -> Memory:
        """Say that a recalled memory helped or misled; None takes that word back.

        One word for each client, memory and recall: a later one replaces it, so that nobody can push a memory by
        repeating himself. It moves confidence (as three recalls do) and, within bounds, effective importance.
        Raises NotFound for an unknown memory or recall, InvalidInput when the recall did not answer the memory.
        """
        recall = self._kept(recall_id, None).trace if recall_id else None
        wanted = memory_id.strip().upper()
        if recall and wanted not in (block.id for block in recall.blocks):
            raise InvalidInput(
                f"Recall {recall.id} did not answer memory {memory_id}; nothing changed.",
                advice="Leave recall_id out to speak of the memory itself.",
            )
        source = ingest.clean_name(client, "client")

        def commit(connection: Connection, num: int) -> int:
            rows.set_feedback(
                connection, num, recall=recall.id if recall else "", client=source, helped=helped, now=rows.now()
            )
            return num

        return self._memory(self._space.write(lambda: self._number(memory_id), commit))

    def forget_matching(
        self,
        *,
        labels: Sequence[str] | str = (),
        categories: Sequence[str] | str = (),
        project: str = "",
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        state: str = "all",
        confirm: str = "",
        client: str = "",
    ) -> Forgetting:
        """Preview what a filter would put into the trash; with the preview's `confirm`, put it there.

        labels: all of them; categories: any of them; project: exactly it, "*" all; since ≤ created < until. Pinned
        memories and those that `client` may not change stay. The token holds while the same memories match: if others
        do by then, nothing is done and the answer is a new preview. Raises InvalidInput for an empty filter.
        """
        tags = ingest.clean_words(labels, "labels")
        kinds = [ingest.parse_category(x) for x in ((categories,) if isinstance(categories, str) else categories) if x]
        start = None if since is None else ingest.parse_moment(since, "since")
        end = None if until is None else ingest.parse_moment(until, "until")
        if not (tags or kinds or start or end or state == "inhibited"):
            raise InvalidInput(
                "The filter matches everything; nothing was forgotten.",
                advice="Give labels, categories, since, until, or state inhibited.",
            )

        def plan() -> tuple[Forgetting, list[int]]:
            return self._would_forget(tags, kinds, project, start, end, state, client)

        def commit(connection: Connection, planned: tuple[Forgetting, list[int]]) -> Forgetting:
            preview, nums = planned
            if confirm != preview.confirm:
                return preview
            for num in nums:
                self._trash(connection, num)
            return replace(preview, done=True, confirm="", ids=tuple(self._space.indexes.table.ids[n] for n in nums))

        if not confirm:
            self.catch_up()
            return plan()[0]
        return self._space.write(plan, commit)

    def forget_all(self, memory_ids: Sequence[str], *, client: str = "") -> Forgetting:
        """Put these memories into the trash, all or none. Raises NotFound, NotTrusted."""

        def plan() -> list[int]:
            nums = list(dict.fromkeys(self._number(memory_id) for memory_id in memory_ids))
            for memory in self._space.reader.memories(nums):
                _check_trust(client, memory)
            return nums

        def commit(connection: Connection, nums: list[int]) -> tuple[str, ...]:
            for num in nums:
                self._trash(connection, num)
            return tuple(self._space.indexes.table.ids[num] for num in nums)

        ids = self._space.write(plan, commit)
        return Forgetting(True, len(ids), {}, (), 0, "", ids)

    def restore_all(self, memory_ids: Sequence[str], *, client: str = "") -> Forgetting:
        """Take these memories out of the trash, one after the other. Raises NotFound."""
        ids = tuple(self.restore(memory_id.strip().upper()).id for memory_id in memory_ids)
        return Forgetting(True, len(ids), {}, (), 0, "", ids)

    def _would_forget(
        self,
        labels: Sequence[str],
        categories: Sequence[Category],
        project: str,
        since: datetime | None,
        until: datetime | None,
        state: str,
        client: str,
    ) -> tuple[Forgetting, list[int]]:
        table = self._space.indexes.table
        scope = self._filtered(self._scope(EVERYWHERE, state), labels, categories, since, until)
        mask = scope.allowed
        if project != EVERYWHERE:
            mask = mask & (table.project == table.projects.find(project))
        matching = self._space.reader.memories(np.flatnonzero(mask).tolist())
        going = [m for m in matching if not m.pinned and may_change(client, m.source.client)]
        nums = [table.by_id[memory.id] for memory in going]
        token = hashlib.blake2b(" ".join(f"{m.id}:{m.revision}" for m in going).encode(), digest_size=6).hexdigest()
        examples = tuple(
            (m.id, "" if m.standing is Standing.INHIBITED else table.excerpts[table.by_id[m.id]])
            for m in going[:EXAMPLES]
        )
        counts = dict(Counter(str(m.category) for m in going).most_common())
        spared = len(matching) - len(going)
        return Forgetting(False, len(going), counts, examples, spared, token if going else "", ()), nums

    def _trash(self, connection: Connection, num: int) -> None:
        self._space.take_out(connection, num, lambda: rows.move_to_trash(connection, num, now=rows.now()))

    def record_decision(
        self, title: str, decision: str, rationale: str, *, alternatives: Sequence[str] = (), **more: Any
    ) -> StoreResult:
        """Store a decision told in parts (S1). more: arguments of `store`. Raises as `store` does."""
        text = forms.decision_text(title, decision, rationale, alternatives)
        return self.store(text, category=Category.DECISION, **more)

    def learn_pattern(
        self,
        when: str,
        steps: Sequence[str],
        *,
        example: str = "",
        pitfalls: Sequence[str] = (),
        language: str = "",
        **more: Any,
    ) -> StoreResult:
        """Store how something is done, told in parts (S1). more: arguments of `store`. Raises as `store` does."""
        text = forms.pattern_text(when, steps, example, pitfalls, language)
        return self.store(text, category=Category.PATTERN, **more)

    def forget(self, memory_id: str, *, permanently: bool = False, client: str = "") -> None:
        """Put a memory into the trash; `permanently` deletes it, from the trash too, with its versions and vector.

        Raises NotFound, and NotTrusted when `client` may not change what its owner stored.
        """

        def plan() -> int:
            num = self._number(memory_id, anywhere=permanently)
            _check_trust(client, self._memory(num))
            return num

        if permanently:
            self._space.write(
                plan,
                lambda connection, num: self._space.take_out(
                    connection, num, lambda: rows.purge(connection, num, now=rows.now())
                ),
            )
            self._accesses, self._questions = {}, {}
            self._asked.clear()
            self._space.database.fold_log()
            return
        self._space.write(plan, self._trash)

    def restore(self, memory_id: str) -> Memory:
        """Take a memory out of the trash; it gets a place anew. Raises NotFound."""

        def plan() -> tuple[int, Placement]:
            num = self._space.reader.number(memory_id, in_trash=True)
            if num is None:
                raise NotFound(f"There is no memory '{memory_id}' in the trash.")
            (memory,) = self._space.reader.memories([num])
            vector = self._space.reader.vector_in_trash(num, self._space.model)
            return num, self._space.place(vector, memory.keywords)

        def commit(connection: Connection, planned: tuple[int, Placement]) -> int:
            num, placement = planned
            rows.take_from_trash(connection, num, now=rows.now())
            self._space.settle(connection, num, placement)
            return num

        return self._memory(self._space.write(plan, commit))

    # --- the space ----------------------------------------------------------------------------

    def page(
        self, *, offset: int = 0, limit: int = 100, order: str = "created", descending: bool = True
    ) -> tuple[Memory, ...]:
        """Memories in order, for a list; inhibited ones too. Raises InvalidInput for an unknown order."""
        if order not in _ORDERS:
            raise InvalidInput(f"There is no order '{order}'.", advice=f"Use one of: {', '.join(_ORDERS)}.")
        first, count = _page_bounds(offset, limit)
        self.catch_up()
        nums = self._space.in_order(order, descending=descending)
        return tuple(self._space.reader.memories(nums[first : first + count]))

    def snapshot(self) -> SpaceSnapshot:
        """Everything the space view draws, as read-only arrays."""
        self.catch_up()
        table = self._space.indexes.table
        nums = table.numbers()
        components, cluster = np.unique(table.component[nums], return_inverse=True)
        sizes = np.bincount(cluster, minlength=len(components))
        return SpaceSnapshot(
            version=self._space.indexes.version,
            ids=tuple(table.ids[num] for num in nums.tolist()),
            excerpts=tuple(table.excerpts[num] for num in nums.tolist()),
            places=_frozen(table.place[nums]),
            cluster=_frozen(cluster.astype(np.int32)),
            category=_frozen(table.category[nums]),
            memory_type=_frozen(table.memory_type[nums]),
            confidence=_frozen(np.searchsorted([1, 3], table.evidence[nums], side="right").astype(np.uint8)),
            inhibited=_frozen(table.inhibited[nums]),
            importance=_frozen(table.importance[nums]),
            created=_frozen(table.created[nums]),
            accessed=_frozen(table.accessed[nums]),
            access_count=_frozen(table.access_count[nums]),
            clusters=tuple(
                Cluster(int(component), self._cluster_name(int(component)), int(size), int(component) % 24)
                for component, size in zip(components, sizes, strict=True)
            ),
        )

    def stats(self) -> SpaceStats:
        """Health of the space (S2)."""
        self.catch_up()
        table, indexes = self._space.indexes.table, self._space.indexes
        nums = table.numbers()
        inhibited = int(table.inhibited[nums].sum())
        sizes = np.unique(table.component[nums], return_counts=True)[1]
        confidence = np.searchsorted([1, 3], table.evidence[nums], side="right")
        recalls = self._space.reader.meta("recalls", {"count": 0, "void_fraction_sum": 0.0})
        count = recalls["count"] + len(self._recalls)
        return SpaceStats(
            space=str(self.path),
            version=indexes.version,
            memories=len(nums),
            live=len(nums) - inhibited,
            inhibited=inhibited,
            in_trash=self._space.reader.trash_count(),
            by_category=_counted(table.category[nums], CATEGORIES),
            by_confidence=_counted(confidence, CONFIDENCES),
            by_type=_counted(table.memory_type[nums], MEMORY_TYPES),
            clusters=len(sizes),
            clustered_share=float(sizes[sizes > 1].sum() / max(1, len(nums))),
            recalls=count,
            void_fraction_mean=(recalls["void_fraction_sum"] + sum(self._recalls)) / max(1, count),
            index=indexes.vectors.kind,
            index_note=indexes.vectors.note,
            keyword_terms=indexes.keywords.terms,
            model=self._space.model,
            model_note=self._space.model_note,
            writable=self._space.database.writable,
            store_bytes=self._space.database.size(),
            schema=SCHEMA_VERSION,
            settings={f.name: getattr(self.settings, f.name) for f in fields(Settings)},
            contradictions=len(self._space.reader.contradictions()),
            pinned=int(table.pinned[nums].sum()),
        )

    def catch_up(self) -> Changes | None:
        """Take over what other processes committed to this space; 3 µs when there is nothing."""
        return self._space.catch_up()

    def warm_up(self) -> None:
        """Load the model now instead of at first use."""
        self._space.embed_query("warm up")

    def maintain(self, *, most: int = 16) -> bool:
        """Work for a quiet moment: count accesses, embed what has no vector yet. True while there is more to do."""
        self._count_accesses()
        return self._space.complete_vectors(most) > 0

    def close(self) -> None:
        """Count what is still to count, fold the log, close the file. Twice is harmless."""
        if self._space.database.closed:
            return
        try:
            self._count_accesses()
        finally:
            self._space.close()

    # --- private ------------------------------------------------------------------------------

    def _ranked(self, text: str, scope: Scope) -> tuple[Ranking, Question, float]:
        embedding_ms = 0.0

        def embed(words: str) -> Float32 | None:
            nonlocal embedding_ms
            started = time.perf_counter()
            vector = self._space.embed_query(words)
            embedding_ms = (time.perf_counter() - started) * 1e3
            return vector

        question = analyse(text, embed, self._space.indexes, self._space.synonyms)
        if question.vector is not None:
            # Memories that were stored while the model was away are not found by meaning before they are embedded.
            self._space.complete_vectors(CATCH_UP_VECTORS)
        ranking = rank(
            question, self._space.indexes, self._space.reader.match, scope, now=time.time(), settings=self.settings
        )
        return ranking, question, embedding_ms

    def _scope(self, project: str | None, state: str, *, beside: int | None = None) -> Scope:
        """What may be answered. `beside`: a memory whose inhibition and expiry are looked past."""
        if state not in _STATES:
            raise InvalidInput(f"There is no state '{state}'.", advice=f"Use one of: {', '.join(_STATES)}.")
        table = self._space.indexes.table
        inside = table.in_project(project or "")
        unexpired = table.expires > time.time()
        live, inhibited = inside & ~table.inhibited & unexpired, inside & table.inhibited & unexpired
        if beside is not None and inside[beside]:
            live[beside], inhibited[beside] = True, False
        allowed = {"live": live, "inhibited": inhibited, "all": live | inhibited}[state]
        return Scope(allowed, inhibited & ~allowed, int(live.sum()), filtered=state != "live")

    def _filtered(
        self,
        scope: Scope,
        labels: Sequence[str],
        categories: Sequence[Category],
        since: datetime | None,
        until: datetime | None,
    ) -> Scope:
        table = self._space.indexes.table
        mask: Bool = scope.allowed.copy()
        if labels:
            mask &= table.with_labels(labels)
        if categories:
            mask &= np.isin(table.category, [CATEGORIES.index(category) for category in categories])
        if since:
            mask &= table.created >= since.timestamp()
        if until:
            mask &= table.created < until.timestamp()
        narrowed = bool(labels or categories or since or until)
        return replace(scope, allowed=mask, filtered=scope.filtered or narrowed)

    def _number(self, memory_id: str, *, anywhere: bool = False) -> int:
        name = str(memory_id).strip().upper()
        num = self._space.reader.number(name)
        if num is None and anywhere:
            num = self._space.reader.number(name, in_trash=True)
        if num is None:
            raise NotFound(
                f"There is no memory '{memory_id}'; nothing changed.",
                advice="Use an id that a store, search or recall gave.",
            )
        return num

    def _memory(self, num: int) -> Memory:
        (memory,) = self._space.reader.memories([num])
        return memory

    def _cluster_name(self, component: int, more: Sequence[str] = ()) -> str:
        return self._space.cluster_name(component, more)

    def _note(self, question: Question, ranking: Ranking) -> str:
        notes = [self._space.model_note]
        if not question.text:
            notes.append("The question is empty.")
        elif not question.terms:
            notes.append("The question holds no content word; it was answered by meaning alone.")
        if not len(ranking.nums):
            notes.append(
                "Nothing in this space answers it." if len(self._space.indexes.table) else "The space is empty."
            )
        return " ".join(filter(None, notes))

    def _count_accesses(self) -> None:
        """Write the counters of past recalls, outside every answer."""
        accesses, recalls = self._accesses, self._recalls
        if not (accesses or recalls) or not self._space.database.writable:
            return
        totals = self._space.reader.meta("recalls", {"count": 0, "void_fraction_sum": 0.0})
        with self._space.database.write(durable=False) as connection:
            rows.count_accesses(connection, accesses)
            distinct = rows.count_questions(connection, self._questions)
            rows.set_meta(
                connection,
                "recalls",
                {
                    "count": totals["count"] + len(recalls),
                    "void_fraction_sum": totals["void_fraction_sum"] + sum(recalls),
                },
            )
        self._accesses, self._recalls, self._questions = {}, [], {}
        table = self._space.indexes.table
        for num, (count, when) in accesses.items():
            table.count_access(num, count, when.timestamp())
        for num, different in distinct.items():
            table.distinct_queries[num] = different
        counted = tuple(table.ids[num] for num in accesses if table.present[num])
        self.events.emit(SpaceChanged(Changes(self._space.indexes.version, accessed=counted)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A recall that is kept: its trace, and the question as it was analysed, to run the passes again."""

    trace: RecallTrace
    question: Question


@dataclass(frozen=True, slots=True)
class _StorePlan:
    """twin: the memory that says the same, if one does; targets: what will be inhibited; placement: of a new memory;
    contradicted: (number, why) of what it may contradict; refusal: why nothing will be done at all."""

    twin: int | None = None
    twin_inhibited: bool = False
    targets: tuple[int, ...] = ()
    placement: Placement | None = None
    contradicted: tuple[tuple[int, str], ...] = ()
    refusal: StoreResult | None = None


def open_space(path: str | Path | None = None, **settings: float | int | str) -> MemoryService:
    """Open the space in a folder, making it if it is new; None opens the default one (paths.default_data_dir).

    Further names override `Settings`. Raises InvalidInput for an unknown one, SpaceUnavailable when the
    folder cannot be used.
    """
    folder = paths.default_data_dir() if path is None else Path(path).expanduser()
    return MemoryService(folder, with_overrides(DEFAULTS, dict(settings)))


def fill_sample(service: MemoryService, *, stop: Callable[[], bool] = lambda: False) -> int:
    """Store the sample memories in a space; gives how many the space gained.

    Goes on where it was stopped, and two programs that fill at once store each memory once. `stop` is asked
    before each. A space that has memories of somebody's own is left as it is.
    """
    before = service.stats().memories
    if before and service.page(order="created", descending=False, limit=1)[0].source.client != SAMPLE:
        return 0
    ids: dict[str, str] = {}
    for memory in sample_memories():
        if stop():
            break
        stored = service.store(
            memory.content,
            keywords=memory.keywords,
            labels=memory.labels,
            category=memory.category,
            importance=memory.importance,
            author=memory.author,
            session=memory.session,
            client=SAMPLE,
            created_at=memory.created_at,
            supersedes=[ids[ref] for ref in memory.supersedes],
            idempotency_key=f"sample {memory.ref}",
            force=True,
        )
        assert stored.id is not None
        ids[memory.ref] = stored.id
    return service.stats().memories - before


def _ambiguous(description: str, candidates: tuple[Likely, ...]) -> StoreResult:
    what = "may mean several memories" if candidates else "means no memory"
    why = (
        f"Nothing was stored: '{description[:80]}' {what}. Name the id in supersedes, or describe it in its own words."
    )
    return StoreResult(Outcome.AMBIGUOUS, None, None, (), None, "", None, (), why, candidates)


def _not_trusted(memory_id: str, owner: str) -> StoreResult:
    why = f"Nothing was stored: memory {memory_id} was stored by {_named(owner)}, who can correct it in the window."
    return StoreResult(Outcome.REFUSED, None, None, (), None, "", None, (), why)


def _check_trust(client: str, memory: Memory) -> None:
    if not may_change(client, memory.source.client):
        raise NotTrusted(
            f"Memory {memory.id} was stored by {_named(memory.source.client)}; nothing changed.",
            advice="Ask the person to change it in the window, or store your own memory beside it.",
        )


def _named(client: str) -> str:
    return "a person" if trust_of(client) is Trust.PERSON else client


def _mark(question: Question) -> bytes:
    """The same for questions of the same words, whatever their order; 8 bytes, from which no question can be read."""
    words = " ".join(sorted(question.terms)) or question.text
    return hashlib.blake2b(words.encode(), digest_size=8).digest()


def _question(query: object) -> str:
    if not isinstance(query, str):
        raise InvalidInput(f"The question is {type(query).__name__}, not text.", advice="Ask with one string.")
    return " ".join(query[:MAX_QUESTION].encode("utf-8", "ignore").decode().split())


def _page_bounds(offset: int, limit: int) -> tuple[int, int]:
    for name, value in (("offset", offset), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidInput(f"'{name}' is {value!r}.", advice="Give a whole number, 0 or more.")
    return offset, min(limit, MAX_PAGE)


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


def _counted(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(codes, minlength=len(names))
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def _frozen(array: _Array) -> _Array:
    array.setflags(write=False)
    return array


def _first_answer(key: str, draft: Draft, content_hash: bytes, answer: dict[str, Any]) -> StoreResult:
    """The answer to a retried request. Raises InvalidInput when another text came with the key."""
    if content_hash != draft.content_hash:
        raise InvalidInput(
            f"The idempotency key '{key}' was used for another text; nothing was stored.",
            advice="Give each new memory a key of its own, or none.",
        )
    return _as_result(answer)


def _as_result(before: dict[str, Any]) -> StoreResult:
    """A StoreResult from its stored JSON."""
    return StoreResult(
        outcome=Outcome(before["outcome"]),
        id=before["id"],
        category=Category(before["category"]) if before["category"] else None,
        keywords=tuple(before["keywords"]),
        cluster=before["cluster"],
        cluster_name=before["cluster_name"],
        merged_with=before["merged_with"],
        superseded=tuple(before["superseded"]),
        reason=before["reason"],
        contradicts=tuple(Contradiction(**found) for found in before.get("contradicts", ())),
    )
