"""Verbs on memories that are there: read, edit, inhibit, judge, forget – each one transaction, each reversible but one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from tetrarium.errors import InvalidInput, NotFound, NotTrusted, StaleEdit
from tetrarium.geometry.placement import Placement
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import Trust, may_change, trust_of
from tetrarium.model import (
    Category,
    Contradiction,
    Draft,
    Float32,
    Forgetting,
    Inhibition,
    Memory,
    Standing,
    Version,
)
from tetrarium.service.door import EVERYWHERE, NEVER, check_trust
from tetrarium.service.erasing import Erasing
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows
from tetrarium.storage.database import Connection

EXAMPLES = 8
"""Memories that the preview of a forgetting names."""


class Editing(Erasing):
    """Corrects."""

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
        NotTrusted when `client` may not change what its owner stored. Secrets are masked as in a store; `told` of the
        memory says which.
        """
        hide = self._masking()
        text = None if content is None else hide.text(ingest.clean_content(content, self.settings), "content")
        words = None if keywords is None else ingest.clean_words(hide.words(keywords, "keywords"), "keywords")
        tags = None if labels is None else ingest.clean_words(hide.words(labels, "labels"), "labels")
        source = ingest.clean_name(client, "client")
        self._refuse_secrets(hide, source)
        suspicion = self._suspicion(source, text or "", *(words or ()), *(tags or ()))
        kind = None if category is None else ingest.parse_category(category)
        weight = None if importance is None else ingest.parse_share(importance, "importance")
        until = None if expires_at is None or expires_at in NEVER else ingest.parse_moment(expires_at, "expires_at")
        rewritten = any(value is not None for value in (text, words, tags, kind, weight))

        def plan() -> tuple[int, Memory, Draft, Float32 | None]:
            num = self._number(memory_id)
            old = self._memory(num)
            check_trust(client, old)
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
            if (text or words or tags) and (unwanted := self._unwanted(draft, hide)):
                raise InvalidInput(f"{unwanted} Nothing changed.")
            vector = None if text is None else self._space.embed_passages([ingest.spoken(text, draft.source)])[0]
            return num, old, draft, vector

        def commit(connection: Connection, planned: tuple[int, Memory, Draft, Float32 | None]) -> int:
            num, old, draft, vector = planned
            if rewritten:
                rows.rewrite(connection, num, draft, cause="edited", now=rows.now())
            if suspicion:
                privacy_rows.set_quarantined(connection, num, suspicion, now=rows.now())
            privacy_rows.note_masked(connection, old.id, hide.found, client=source, now=rows.now())
            if pinned is not None or expires_at is not None:
                pin = old.pinned if pinned is None else bool(pinned)
                rows.set_standing(connection, num, pinned=pin, expires_at=draft.expires_at, now=rows.now())
            if text is not None:
                rows.drop_contradictions(connection, num)
                self._space.give_vector(connection, num, vector)
            return num

        memory = self._memory(self._space.write(plan, commit, op="update", client=client))
        return replace(memory, told=hide.told())

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
        hide = self._masking()
        why = ingest.clean_name(hide.text(reason, "reason"), "reason")
        who = ingest.clean_name(hide.text(author or client, "author"), "author")

        def plan() -> tuple[int, int | None]:
            num = self._number(memory_id)
            check_trust(client, self._memory(num))
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

        memory = self._memory(self._space.write(plan, commit, op="inhibit", client=client))
        return replace(memory, told=hide.told())

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

        return self._memory(self._space.write(plan, commit, op="release", client=client))

    def inhibitions(self, memory_id: str) -> tuple[Inhibition, ...]:
        """The chain of corrections that a memory belongs to, oldest first, lifted ones too. Raises NotFound."""
        self.catch_up()
        return self._space.reader.inhibitions(self._number(memory_id))

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Pairs of live memories that may not both be true, newest first. Proposals: nothing was done about them."""
        self.catch_up()
        return self._space.reader.contradictions()

    def dismiss_contradiction(self, one: str, other: str, *, client: str = "") -> None:
        """Both are true after all: the pair is not proposed again. Raises NotFound, InvalidInput."""

        def commit(connection: Connection, pair: tuple[int, int]) -> None:
            if not rows.dismiss_contradiction(connection, *pair, now=rows.now()):
                raise InvalidInput(f"No contradiction of {one} and {other} is proposed; nothing changed.")

        self._space.write(lambda: (self._number(one), self._number(other)), commit, op="dismiss", client=client)

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

        number = self._space.write(lambda: self._number(memory_id), commit, op="feedback", client=source)
        return self._memory(number)

    def forget(self, memory_id: str, *, permanently: bool = False, client: str = "") -> None:
        """Put a memory into the trash; `permanently` deletes it, from the trash too, with its versions and vector, and
        leaves no byte of it in any file of the space (see `erase`).

        Raises NotFound, and NotTrusted when `client` may not change what its owner stored.
        """

        def plan() -> int:
            num = self._number(memory_id, anywhere=permanently)
            check_trust(client, self._memory(num))
            return num

        if permanently:
            self._space.write(plan, self._purge, op="forget for good", client=client, frees=True)
            self._finish_erasures()
            return
        self._space.write(plan, self._trash, op="forget", client=client, frees=True)

    def forget_all(self, memory_ids: Sequence[str], *, client: str = "") -> Forgetting:
        """Put these memories into the trash, all or none. Raises NotFound, NotTrusted."""

        def plan() -> list[int]:
            nums = list(dict.fromkeys(self._number(memory_id) for memory_id in memory_ids))
            for memory in self._space.reader.memories(nums):
                check_trust(client, memory)
            return nums

        def commit(connection: Connection, nums: list[int]) -> tuple[str, ...]:
            for num in nums:
                self._trash(connection, num)
            return tuple(self._space.indexes.table.ids[num] for num in nums)

        self._copy_first("deletion", len(memory_ids), self.settings.backup_deletion)
        ids = self._space.write(plan, commit, op="forget", client=client, frees=True)
        return Forgetting(True, len(ids), {}, (), 0, "", ids)

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
        permanently: bool = False,
        client: str = "",
    ) -> Forgetting:
        """Preview what a filter would put into the trash; with the preview's `confirm`, put it there.

        permanently: erase them instead, as `forget` does; the trash itself is not looked through (`empty_trash` is for
        that), and a preview of the one confirms only the one.
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
            preview, nums = self._would_forget(tags, kinds, project, start, end, state, client)
            return (
                (replace(preview, confirm=preview.confirm and f"{preview.confirm}-for-good"), nums)
                if permanently
                else (preview, nums)
            )

        def commit(connection: Connection, planned: tuple[Forgetting, list[int]]) -> Forgetting:
            preview, nums = planned
            if confirm != preview.confirm:
                return preview
            for num in nums:
                (self._purge if permanently else self._trash)(connection, num)
            return replace(preview, done=True, confirm="", ids=tuple(self._space.indexes.table.ids[n] for n in nums))

        project = self._project(project)
        self.catch_up()
        preview = plan()[0]
        if not confirm:
            return preview
        if permanently:
            done = self._space.write(plan, commit, op="forget for good", client=client, frees=True)
            self._finish_erasures()
            return done
        if confirm == preview.confirm:
            self._copy_first("deletion", preview.total, self.settings.backup_deletion)
        return self._space.write(plan, commit, op="forget", client=client, frees=True)

    def restore(self, memory_id: str, *, client: str = "") -> Memory:
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

        return self._memory(self._space.write(plan, commit, op="restore", client=client))

    def restore_all(self, memory_ids: Sequence[str], *, client: str = "") -> Forgetting:
        """Take these memories out of the trash, one after the other. Raises NotFound."""
        ids = tuple(self.restore(memory_id.strip().upper(), client=client).id for memory_id in memory_ids)
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
        scope = self._filtered(
            self._scope(EVERYWHERE, state, of_person=trust_of(client) is Trust.PERSON), labels, categories, since, until
        )
        mask = scope.allowed
        if project != EVERYWHERE:
            mask = mask & (table.project == table.projects.find(project))
        matching = self._space.reader.memories(np.flatnonzero(mask).tolist())
        going = [m for m in matching if not m.pinned and may_change(client, m.source.client)]
        nums = [table.by_id[memory.id] for memory in going]
        token = hashlib.blake2b(" ".join(f"{m.id}:{m.revision}" for m in going).encode(), digest_size=6).hexdigest()
        examples = tuple(
            (m.id, table.excerpts[table.by_id[m.id]] if m.standing is Standing.LIVE else "") for m in going[:EXAMPLES]
        )
        counts = dict(Counter(str(m.category) for m in going).most_common())
        spared = len(matching) - len(going)
        return Forgetting(False, len(going), counts, examples, spared, token if going else "", ()), nums

    def _trash(self, connection: Connection, num: int) -> None:
        self._space.take_out(connection, num, lambda: rows.move_to_trash(connection, num, now=rows.now()))
