"""The one door. MCP tools, command line and window are one-line translations of these verbs.

Everything runs on one thread (the lane is the lock). A verb that writes is one transaction; what was
acknowledged is on disk. A recall or search writes nothing: accesses are counted later, in `maintain`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tetrarium import paths, snapshots
from tetrarium.clusters import Clusters
from tetrarium.config import DEFAULTS, Settings, with_overrides
from tetrarium.errors import InvalidInput, NotFound, StaleEdit
from tetrarium.events import Events, Recalled, Searched, SpaceChanged
from tetrarium.geometry.placement import Placement
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.classify import noise_reason
from tetrarium.lifecycle.sample import sample_memories
from tetrarium.model import (
    CATEGORIES,
    CONFIDENCES,
    MEMORY_TYPES,
    Bool,
    Category,
    Cause,
    Changes,
    ClusterDetail,
    ClusterPlan,
    Draft,
    Float32,
    HealthReport,
    Hit,
    Memory,
    Move,
    Neighbour,
    Outcome,
    PlanRecord,
    RecallTrace,
    SearchResult,
    SnapshotDelta,
    Source,
    SpaceSnapshot,
    SpaceStats,
    StoreResult,
    Version,
)
from tetrarium.recall.pipeline import decide, trace_of
from tetrarium.recall.ranking import Question, Ranking, Scope, analyse, rank
from tetrarium.space import Space
from tetrarium.storage import memories as rows
from tetrarium.storage.database import Connection
from tetrarium.storage.identity import new_id
from tetrarium.storage.migrations import SCHEMA_VERSION

EVERYWHERE = "*"
"""As a project: memories of every project."""

WINDOW = "window"
"""The client name of the window."""

MAX_QUESTION = 100_000
"""Characters of a question that are looked at."""

MAX_PAGE = 1_000
"""Hits or rows that one call gives."""

_STATES = ("live", "inhibited", "all")
_PLANNED = ("fission", "merge", "attach", "mend", "settle", "layout")
_ORDERS = ("created", "accessed", "importance", "access_count", "category", "cluster", "content")


class MemoryService:
    """The memories of one space. Opened by `open_space`; a context manager."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._space = Space(folder, settings)
        self._clusters = Clusters(self._space)
        self._traces: deque[RecallTrace] = deque(maxlen=settings.kept_traces)
        self._accesses: dict[int, tuple[int, datetime]] = {}
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
        that is there. `supersedes` names memories (ids) that this one corrects: they are out of every later
        answer until released. `force` skips the noise gate and deduplication, for imports. A repeated
        `idempotency_key` gets the first answer again. Raises InvalidInput, NotFound, SpaceUnavailable.
        """
        text = ingest.clean_content(content, self.settings)
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
                project=ingest.clean_name(project, "project"),
                file=ingest.clean_name(file, "file"),
            ),
            created_at=rows.now() if created_at is None else ingest.parse_moment(created_at, "created_at"),
            expires_at=None if expires_at is None else ingest.parse_moment(expires_at, "expires_at"),
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        if key and (before := self._space.reader.request(key)):
            return _as_result(before)
        wanted = (supersedes,) if isinstance(supersedes, str) else tuple(supersedes)
        why = ingest.clean_name(reason, "reason")
        noise = (
            ""
            if force
            else noise_reason(
                text, min_length=self.settings.min_content_length, min_letter_share=self.settings.min_letter_share
            )
        )
        if noise:
            return StoreResult(Outcome.NOISE, None, None, (), None, "", None, (), noise)
        (vector,) = self._space.embed_passages([text])
        return self._space.write(
            lambda: self._plan_store(draft, vector, [x for x in wanted if x], force=force),
            lambda connection, plan: self._commit_store(connection, plan, draft, vector, key=key, reason=why),
        )

    def _plan_store(
        self, draft: Draft, vector: Float32 | None, supersedes: Sequence[str], *, force: bool
    ) -> _StorePlan:
        """What a store will do, on the state as it is now. Raises NotFound for an unknown target."""
        targets = tuple(dict.fromkeys(self._number(memory_id) for memory_id in supersedes))
        twin = None if force else self._twin(draft, vector, exact_only=bool(targets))
        if twin is None:
            return _StorePlan(None, False, targets, self._space.place(vector, draft.keywords))
        inhibited = bool(self._space.indexes.table.inhibited[twin])
        return _StorePlan(twin, inhibited, tuple(target for target in targets if target != twin), None)

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
        if plan.twin is not None and plan.twin_inhibited:
            twin = self._memory(plan.twin)
            by = f" by {twin.superseded_by}" if twin.superseded_by else ""
            return StoreResult(
                Outcome.MATCHES_INHIBITED, twin.id, twin.category, twin.keywords, twin.cluster, "", None, (),
                f"Not stored: it says what inhibited memory {twin.id} says, which was superseded{by}. "
                "Store it with force to have it all the same.",
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
        for target in plan.targets:
            rows.inhibit(connection, target, successor=num, reason=reason, author=draft.source.client, now=now)
        table = self._space.indexes.table
        result = replace(result, superseded=tuple(table.ids[target] for target in plan.targets))
        if key:
            rows.remember_request(connection, key, num, asdict(result))
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
        if changed:
            rows.rewrite(connection, num, merged, cause="merged with a newer text", now=now)
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
        same = self._space.reader.same_content(draft.content_hash, draft.source.project)
        for num, _ in sorted(same, key=lambda pair: pair[1]):
            return num
        if vector is None or exact_only:
            return None
        table = self._space.indexes.table
        code = table.projects.find(draft.source.project)
        nums, cosines = self._space.indexes.vectors.search(vector, 8, table.present & (table.project == code))
        near = nums[cosines >= self.settings.duplicate_cosine].tolist()
        contents = self._space.reader.contents(near)
        for num in sorted(near, key=lambda num: bool(table.inhibited[num])):
            if ingest.say_the_same(draft.content, contents[num], overlap=self.settings.duplicate_overlap):
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
        )
        self._traces.append(trace)
        self._recalls.append(trace.void_fraction)
        # A person who looks around in the window confirms nothing.
        for num in () if client == WINDOW else kept:
            self._accesses[num] = (self._accesses.get(num, (0, trace.asked_at))[0] + 1, trace.asked_at)
        self.events.emit(Recalled(trace, client))
        return trace

    def trace(self, recall_id: str = "") -> RecallTrace:
        """A recall of before, "" for the last one. Raises NotFound."""
        for trace in reversed(self._traces):
            if recall_id in ("", trace.id):
                return trace
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
        expected_revision: int | None = None,
    ) -> Memory:
        """Edit a memory; the text before stays as a version, id, place and counters stay.

        Raises NotFound, InvalidInput, and StaleEdit when its revision is not the expected one.
        """
        text = None if content is None else ingest.clean_content(content, self.settings)
        words = None if keywords is None else ingest.clean_words(keywords, "keywords")
        tags = None if labels is None else ingest.clean_words(labels, "labels")
        kind = None if category is None else ingest.parse_category(category)
        weight = None if importance is None else ingest.parse_share(importance, "importance")
        vector = None if text is None else self._space.embed_passages([text])[0]

        def plan() -> tuple[int, Draft]:
            num = self._number(memory_id)
            old = self._memory(num)
            if expected_revision is not None and expected_revision != old.revision:
                raise StaleEdit(
                    f"Memory {memory_id} was changed meanwhile (revision {old.revision}, not {expected_revision}); nothing was stored.",
                    stored=old.content,
                    offered=text or old.content,
                    advice="Look at the text that is there now, then edit again.",
                )
            return num, ingest.make_draft(
                text or old.content,
                keywords=old.keywords if words is None and text is None else words or (),
                labels=old.labels if tags is None else tags,
                entities=() if text else old.entities,
                category=kind or old.category,
                importance=old.importance if weight is None else weight,
                source=old.source,
                created_at=old.created_at,
                expires_at=old.expires_at,
                rarity=self._space.indexes.keywords.rarity,
                settings=self.settings,
            )

        def commit(connection: Connection, planned: tuple[int, Draft]) -> int:
            num, draft = planned
            rows.rewrite(connection, num, draft, cause="edited", now=rows.now())
            if vector is not None:
                rows.set_vector(connection, num, self._space.model, vector)
            return num

        return self._memory(self._space.write(plan, commit))

    def release(self, memory_id: str) -> Memory:
        """Lift the inhibition of a memory: it may be answered again, as before. Raises NotFound, InvalidInput."""

        def commit(connection: Connection, num: int) -> int:
            if not rows.lift_inhibitions(connection, num, now=rows.now()):
                raise InvalidInput(f"Memory {memory_id} is not inhibited; nothing changed.")
            return num

        return self._memory(self._space.write(lambda: self._number(memory_id), commit))

    def forget(self, memory_id: str, *, permanently: bool = False) -> None:
        """Put a memory into the trash; `permanently` deletes it, from the trash too, with its versions and vector.

        Raises NotFound.
        """
        if permanently:
            self._space.write(
                lambda: self._number(memory_id, anywhere=True),
                lambda connection, num: self._space.take_out(
                    connection, num, lambda: rows.purge(connection, num, now=rows.now())
                ),
            )
            self._accesses = {}
            self._traces.clear()
            self._space.database.fold_log()
            snapshots.discard(self.path)
            return
        self._space.write(
            lambda: self._number(memory_id),
            lambda connection, num: self._space.take_out(
                connection, num, lambda: rows.move_to_trash(connection, num, now=rows.now())
            ),
        )

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
        return snapshots.whole(self._space)

    def snapshot_since(self, version: int) -> SnapshotDelta | None:
        """What changed since a snapshot of that version; None when it is too long ago and a whole one is cheaper."""
        self.catch_up()
        return snapshots.since(self._space, version)

    def stats(self) -> SpaceStats:
        """Health of the space (S2)."""
        self.catch_up()
        table, indexes = self._space.indexes.table, self._space.indexes
        nums = table.numbers()
        inhibited = int(table.inhibited[nums].sum())
        sizes = np.unique(table.component[nums], return_counts=True)[1]
        confidence = np.searchsorted([1, 3], table.access_count[nums], side="right")
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
            figures=self._clusters.figures(),
            settings={f.name: getattr(self.settings, f.name) for f in fields(Settings)},
        )

    # --- clusters -----------------------------------------------------------------------------

    def cluster(self, cluster: int) -> ClusterDetail:
        """One cluster closely, by its id or one that it had before it merged. Raises NotFound."""
        self.catch_up()
        return self._clusters.detail(cluster)

    def name_cluster(self, cluster: int, name: str, *, client: str = "") -> ClusterDetail:
        """Give a cluster a name that sticks; "" lets its words name it again. Raises NotFound, InvalidInput."""
        self._clusters.rename(cluster, ingest.clean_name(name, "name"), ingest.clean_name(client, "client"))
        return self.cluster(cluster)

    def neighbours(self, memory_id: str) -> tuple[Neighbour, ...]:
        """The memories whose tetrahedra share vertices with one, most shared and most alike first. Raises NotFound."""
        self.catch_up()
        found = self._clusters.neighbours(self._number(memory_id))
        memories = self._space.reader.memories([num for num, _, _ in found])
        return tuple(
            Neighbour(memory, shared, alike) for memory, (_, shared, alike) in zip(memories, found, strict=True)
        )

    def path_between(self, memory_id: str, other_id: str) -> tuple[Memory, ...]:
        """A shortest way between two memories through shared vertices, both included; empty when they stand in
        different clusters. Raises NotFound."""
        self.catch_up()
        return tuple(self._space.reader.memories(self._clusters.path(self._number(memory_id), self._number(other_id))))

    def plan_clusters(self, cause: str, cluster: int | None = None, *, onto: int | None = None) -> ClusterPlan:
        """What a rearrangement would do, to look at; changes nothing.

        cause: fission (split what holds two topics), merge (join what means the same; `onto` names the second),
        attach (lone memories and small clusters), mend (what deletions cut off), settle (better places inside
        clusters), layout (whole clusters near what is like them); cluster: only this one. Raises NotFound, InvalidInput.
        """
        if cause not in list(Cause):
            raise InvalidInput(f"There is no plan '{cause}'.", advice=f"Use one of: {', '.join(_PLANNED)}.")
        self.catch_up()
        return self._clusters.plan(Cause(cause), cluster, onto)

    def apply_plan(self, plan: ClusterPlan) -> PlanRecord:
        """Do what a plan says, in small transactions, each move logged. Steps that no longer fit are left out."""
        return self._clusters.apply(plan)

    def undo_plan(self, plan_id: str) -> PlanRecord:
        """Take an applied plan back, to the last place. Raises NotFound, and InvalidInput when a later plan builds on it."""
        self.catch_up()
        return self._clusters.apply(self._clusters.undoing(plan_id.strip().upper()))

    def plans(self, *, limit: int = 50) -> tuple[PlanRecord, ...]:
        """The plans that were applied, newest first."""
        return tuple(self._space.clusters.plans(_page_bounds(0, limit)[1]))

    def plan_moves(self, plan_id: str) -> tuple[Move, ...]:
        """The logged moves of an applied plan, in order, of memories that still exist; for a replay."""
        self.catch_up()
        table = self._space.indexes.table
        return tuple(
            Move(table.ids[m.num], m.source, m.source_cluster, m.target, m.target_cluster)
            for m in self._space.clusters.moves(plan_id.strip().upper())
            if m.num < table.capacity and table.present[m.num]
        )

    def examine(self) -> HealthReport:
        """Compare what the store holds of places and embeddings with what it should hold. Reads only; O(n)."""
        self.catch_up()
        return self._clusters.examine()

    def repair(self) -> PlanRecord:
        """Put right what `examine` finds, from what is left; no memory loses its text."""
        return self._clusters.repair()

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
            snapshots.keep(self._space)
        finally:
            self._space.close()

    # --- private ------------------------------------------------------------------------------

    def _ranked(self, text: str, scope: Scope) -> tuple[Ranking, Question, float]:
        started = time.perf_counter()
        vector = self._space.embed_query(text) if text else None
        embedding_ms = (time.perf_counter() - started) * 1e3
        question = analyse(text, vector, self._space.indexes)
        ranking = rank(
            question, self._space.indexes, self._space.reader.match, scope, now=time.time(), settings=self.settings
        )
        return ranking, question, embedding_ms

    def _scope(self, project: str | None, state: str) -> Scope:
        if state not in _STATES:
            raise InvalidInput(f"There is no state '{state}'.", advice=f"Use one of: {', '.join(_STATES)}.")
        table = self._space.indexes.table
        inside = table.in_project(project or "")
        unexpired = table.expires > time.time()
        live, inhibited = inside & ~table.inhibited & unexpired, inside & table.inhibited & unexpired
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
            rows.set_meta(
                connection,
                "recalls",
                {
                    "count": totals["count"] + len(recalls),
                    "void_fraction_sum": totals["void_fraction_sum"] + sum(recalls),
                },
            )
        self._accesses, self._recalls = {}, []
        table = self._space.indexes.table
        for num, (count, when) in accesses.items():
            table.count_access(num, count, when.timestamp())
        counted = tuple(table.ids[num] for num in accesses if table.present[num])
        self.events.emit(SpaceChanged(Changes(self._space.indexes.version, accessed=counted)))


@dataclass(frozen=True, slots=True)
class _StorePlan:
    """twin: the memory that says the same, if one does; targets: what will be inhibited; placement: of a new memory."""

    twin: int | None
    twin_inhibited: bool
    targets: tuple[int, ...]
    placement: Placement | None


def open_space(path: str | Path | None = None, **settings: float | int | str) -> MemoryService:
    """Open the space in a folder, making it if it is new; None opens the default one (paths.default_data_dir).

    Further names override `Settings`. Raises InvalidInput for an unknown one, SpaceUnavailable when the
    folder cannot be used.
    """
    folder = paths.default_data_dir() if path is None else Path(path).expanduser()
    return MemoryService(folder, with_overrides(DEFAULTS, dict(settings)))


def kept_snapshot(path: str | Path | None = None) -> SpaceSnapshot | None:
    """The picture that the space in a folder kept of itself at its last close, without opening it; None when there is
    none of its present state. 100,000 memories take about 0.1 s of CPU (measured)."""
    return snapshots.kept(paths.default_data_dir() if path is None else Path(path).expanduser())


def fill_sample(service: MemoryService) -> int:
    """Store the sample memories in an empty space; gives how many were stored (0 when the space has memories)."""
    if service.stats().memories:
        return 0
    ids: dict[str, str] = {}
    for memory in sample_memories():
        stored = service.store(
            memory.content,
            keywords=memory.keywords,
            labels=memory.labels,
            category=memory.category,
            importance=memory.importance,
            author=memory.author,
            session=memory.session,
            client="sample",
            created_at=memory.created_at,
            supersedes=[ids[ref] for ref in memory.supersedes],
            force=True,
        )
        assert stored.id is not None
        ids[memory.ref] = stored.id
    return len(ids)


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
    )
