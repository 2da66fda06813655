"""Verbs that add memories: checked, deduplicated, placed and committed as one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from tetrarium.errors import InvalidInput
from tetrarium.geometry.placement import Placement
from tetrarium.lifecycle import correction, forms, ingest
from tetrarium.lifecycle.classify import noise_reason
from tetrarium.lifecycle.trust import may_change
from tetrarium.model import (
    Category,
    Contradiction,
    Draft,
    Float32,
    Likely,
    Outcome,
    Source,
    StoreResult,
)
from tetrarium.privacy.masking import Masking
from tetrarium.service.door import named, question_text
from tetrarium.service.screening import Screening
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows
from tetrarium.storage.database import Connection

SHOWN_CANDIDATES = 5
"""Best matches of a description that are weighed against each other, and shown when none is certain."""


class Storing(Screening):
    """Stores."""

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
        answer again. Secrets are masked in every field before anything else happens, the answer says which; a space
        may refuse them instead. What reads like an instruction to an agent goes into quarantine, unless a person said
        it; what a person excluded is refused. Raises InvalidInput, NotFound for an unknown id, SpaceUnavailable.
        """
        hide = self._masking()
        text = hide.text(ingest.clean_content(content, self.settings), "content")
        noise = (
            ""
            if force
            else noise_reason(
                text, min_length=self.settings.min_content_length, min_letter_share=self.settings.min_letter_share
            )
        )
        if noise:
            self._note_masked(hide, ingest.clean_name(client, "client"))
            return _not_stored(Outcome.NOISE, noise, hide)
        key = ingest.clean_name(hide.text(idempotency_key, "idempotency_key"), "idempotency_key")
        draft = ingest.make_draft(
            text,
            keywords=ingest.clean_words(hide.words(keywords, "keywords"), "keywords"),
            labels=ingest.clean_words(hide.words(labels, "labels"), "labels"),
            entities=ingest.clean_words(hide.words(entities, "entities"), "entities"),
            category=None if category is None else ingest.parse_category(category),
            importance=None if importance is None else ingest.parse_share(importance, "importance"),
            source=Source(
                client=ingest.clean_name(hide.client(client), "client"),
                author=ingest.clean_name(hide.text(author, "author"), "author"),
                session=ingest.clean_name(hide.text(session, "session"), "session"),
                project=ingest.clean_project(hide.text(project, "project")),
                file=ingest.clean_name(hide.text(file, "file"), "file"),
            ),
            created_at=rows.now() if created_at is None else ingest.parse_moment(created_at, "created_at"),
            expires_at=None if expires_at is None else ingest.parse_moment(expires_at, "expires_at"),
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        wanted = tuple(
            hide.text(name, "supersedes") for name in ((supersedes,) if isinstance(supersedes, str) else supersedes)
        )
        why = ingest.clean_name(hide.text(reason, "reason"), "reason")
        if unwanted := self._unwanted(draft, hide):
            self._note_masked(hide, draft.source.client)
            return _not_stored(Outcome.REFUSED, unwanted, hide)
        suspicion = self._suspicion(draft.source.client, text, *draft.keywords, *draft.labels, *draft.entities)
        draft = replace(draft, quarantined=suspicion)
        (vector,) = self._space.embed_passages([ingest.spoken(text, draft.source)])
        return self._space.write(
            lambda: self._plan_store(draft, vector, [x.strip() for x in wanted if x.strip()], key=key, force=force),
            lambda connection, plan: self._commit_store(connection, plan, draft, vector, hide, key=key, reason=why),
            op="store",
            client=draft.source.client,
        )

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

    def _plan_store(
        self, draft: Draft, vector: Float32 | None, supersedes: Sequence[str], *, key: str, force: bool
    ) -> _StorePlan:
        """What a store will do, on the state as it is now. Raises NotFound for an unknown target."""
        if key and (before := self._space.reader.request(draft.source.project, key)):
            return _StorePlan(refusal=_first_answer(key, draft, *before))
        if draft.quarantined:
            # It corrects nothing and merges with nothing before a person has read it.
            twin = self._quarantined_twin(draft)
            return _StorePlan(twin) if twin else _StorePlan(placement=self._space.place(vector, draft.keywords))
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
        ranking, _, _ = self._ranked(question_text(name), self._scope(project, "live"))
        if ranking.evidence is not None and ranking.evidence < self.settings.evidence_floor:
            return None, ()  # nothing here is about that: the nearest are no candidates
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
        hide: Masking,
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
        notes = (result.reason, hide.told(), _in_quarantine(draft.quarantined))
        result = replace(result, masked=hide.kinds(), reason=" ".join(filter(None, notes)))
        privacy_rows.note_masked(connection, str(result.id), hide.found, client=draft.source.client, now=now)
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
            self._space.give_vector(connection, num, vector)
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
            if table.expires[num] > now and not table.quarantined[num]:
                return num
        if vector is None or exact_only:
            return None
        code = table.projects.find(draft.source.project)
        nums, cosines = self._space.indexes.vectors.search(
            vector, 8, table.present & ~table.quarantined & (table.project == code) & (table.expires > now)
        )
        near = nums[cosines >= self.settings.duplicate_cosine].tolist()
        contents = self._space.reader.contents(near)
        for num in sorted(near, key=lambda num: bool(table.inhibited[num])):
            if ingest.say_the_same(draft.content, contents[num]):
                return int(num)
        return None

    def _quarantined_twin(self, draft: Draft) -> int | None:
        """The memory in quarantine with this very text, or None."""
        table = self._space.indexes.table
        same = self._space.reader.same_content(draft.content_hash, draft.source.project)
        return next((num for num, _ in same if table.quarantined[num]), None)


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


def _not_stored(outcome: Outcome, why: str, hide: Masking) -> StoreResult:
    return StoreResult(outcome, None, None, (), None, "", None, (), why, masked=hide.kinds())


def _in_quarantine(why: str) -> str:
    return f"In quarantine, because it {why}: not recalled until a person releases it." if why else ""


def _ambiguous(description: str, candidates: tuple[Likely, ...]) -> StoreResult:
    what = "may mean several memories" if candidates else "means no memory"
    why = (
        f"Nothing was stored: '{description[:80]}' {what}. Name the id in supersedes, or describe it in its own words."
    )
    return StoreResult(Outcome.AMBIGUOUS, None, None, (), None, "", None, (), why, candidates)


def _not_trusted(memory_id: str, owner: str) -> StoreResult:
    why = f"Nothing was stored: memory {memory_id} was stored by {named(owner)}, who can correct it in the window."
    return StoreResult(Outcome.REFUSED, None, None, (), None, "", None, (), why)


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
        masked=tuple(before.get("masked", ())),
    )
