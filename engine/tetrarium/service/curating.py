"""Verbs for looking after a space: what is in the trash, every correction, many memories at once, what is never void."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from tetrarium.config import DEFAULTS, Settings, with_overrides
from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import Trust, trust_of
from tetrarium.model import Draft, Inhibition, LetThrough, Memory, Trashed
from tetrarium.recall.themes import Theme
from tetrarium.recall.themes import made as made_theme
from tetrarium.service.door import LET_THROUGH, TUNABLE, TUNED, check_trust, page_bounds
from tetrarium.service.screening import Screening
from tetrarium.storage import memories as rows
from tetrarium.storage.database import Connection
from tetrarium.storage.identity import new_id

MOST_SHARE = 2.0
"""Greatest weight or share that a space keeps."""


_PERSON = "The person can do it in the window or with the command tetrarium."


class Curating(Screening):
    """Curates."""

    def trashed(self, *, offset: int = 0, limit: int = 200) -> tuple[Trashed, ...]:
        """What is in the trash, the last put there first."""
        first, count = page_bounds(offset, limit)
        found = self._space.reader.trashed(first, count)
        memories = self._space.reader.memories([num for num, _ in found])
        return tuple(Trashed(memory, at) for memory, (_, at) in zip(memories, found, strict=True))

    def corrections(self, *, limit: int = 500) -> tuple[Inhibition, ...]:
        """Every inhibition of the space, newest first, lifted ones too."""
        self.catch_up()
        return self._space.reader.corrections(page_bounds(0, limit)[1])

    def amend_inhibition(self, memory_id: str, reason: str, *, client: str = "") -> Memory:
        """Give the inhibition of a memory another reason: its edge is lifted, and one like it set, so that the chain
        remembers both. Raises NotFound, NotTrusted, InvalidInput when the memory is live."""
        why = ingest.clean_name(self._masking().text(reason, "reason"), "reason")
        who = ingest.clean_name(client, "client")

        def plan() -> tuple[int, list[int | None]]:
            num = self._number(memory_id)
            memory = self._memory(num)
            check_trust(client, memory)
            edges = [e for e in self._space.reader.inhibitions(num) if e.target == memory.id and e.lifted_at is None]
            if not edges:
                raise InvalidInput(f"Memory {memory_id} is not inhibited; nothing changed.")
            return num, [self._number(edge.successor, anywhere=True) if edge.successor else None for edge in edges]

        def commit(connection: Connection, planned: tuple[int, list[int | None]]) -> int:
            num, successors = planned
            rows.lift_inhibitions(connection, num, now=rows.now())
            for successor in successors:
                rows.inhibit(connection, num, successor=successor, reason=why, author=who, now=rows.now())
            return num

        return self._memory(self._space.write(plan, commit, op="amend", client=client))

    def inhibit_all(self, memory_ids: Sequence[str], *, reason: str = "", client: str = "") -> tuple[str, ...]:
        """Inhibit these memories by hand, all or none; gives the ids of those that were live. Raises NotFound, NotTrusted."""
        why = ingest.clean_name(self._masking().text(reason, "reason"), "reason")
        who = ingest.clean_name(client, "client")

        def commit(connection: Connection, nums: Sequence[int]) -> tuple[str, ...]:
            for num in nums:
                rows.inhibit(connection, num, successor=None, reason=why, author=who, now=rows.now())
            return tuple(self._space.indexes.table.ids[num] for num in nums)

        return self._space.write(
            lambda: self._live(self._trusted(memory_ids, client)), commit, op="inhibit", client=client
        )

    def label_all(
        self,
        memory_ids: Sequence[str],
        *,
        add: Sequence[str] | str = (),
        remove: Sequence[str] | str = (),
        client: str = "",
    ) -> tuple[str, ...]:
        """Add labels to these memories and take others away, all or none; gives the ids of those that changed.

        Each change is a version, as any edit. Raises NotFound, NotTrusted, InvalidInput.
        """
        more = ingest.clean_words(self._masking().words(add, "labels"), "add")
        less = ingest.clean_words(remove, "remove")

        def plan() -> list[tuple[int, Draft]]:
            planned = []
            for num in self._trusted(memory_ids, client):
                old = self._memory(num)
                labels = tuple(dict.fromkeys(label for label in (*old.labels, *more) if label not in less))
                if labels != old.labels:
                    planned.append((num, self._relabelled(old, labels)))
            return planned

        def commit(connection: Connection, planned: Sequence[tuple[int, Draft]]) -> tuple[str, ...]:
            for num, draft in planned:
                rows.rewrite(connection, num, draft, cause="labelled", now=rows.now())
            return tuple(self._space.indexes.table.ids[num] for num, _ in planned)

        return self._space.write(plan, commit, op="update", client=client)

    def let_through(self, memory_ids: Sequence[str], *, client: str = "") -> LetThrough:
        """Let the theme of these memories through from now on: no recall voids them as off topic, nor what is stored later
        and says the like. They still must rank, and fit the budget. Raises NotFound, InvalidInput, NotTrusted."""
        if trust_of(client) is not Trust.PERSON:
            raise NotTrusted(f"'{client}' may not decide that; nothing changed.", advice=_PERSON)
        if not memory_ids:
            raise InvalidInput("There is no memory to make a theme of.", advice="Choose a memory or a void zone.")

        def plan() -> Theme:
            table = self._space.indexes.table
            nums = list(dict.fromkeys(self._number(name) for name in memory_ids))
            words = [table.keywords[num] for num in nums]
            ids = [table.ids[num] for num in nums]
            return made_theme(new_id(), rows.now().timestamp(), ids, words, self._space.indexes.rarity)

        def commit(connection: Connection, theme: Theme) -> Theme:
            rows.set_meta(connection, LET_THROUGH, [asdict(one) for one in (*self._themes(), theme)])
            return theme

        return _told(self._space.write(plan, commit))

    def void_again(self, theme_id: str, *, client: str = "") -> None:
        """A theme may be void again. Raises NotFound, NotTrusted."""
        if trust_of(client) is not Trust.PERSON:
            raise NotTrusted(f"'{client}' may not decide that; nothing changed.", advice=_PERSON)

        def commit(connection: Connection, _: None) -> None:
            kept = [theme for theme in self._themes() if theme.id != theme_id]
            if len(kept) == len(self._themes()):
                raise NotFound(f"There is no theme '{theme_id}' that is let through; nothing changed.")
            rows.set_meta(connection, LET_THROUGH, [asdict(theme) for theme in kept])

        self._space.write(lambda: None, commit)

    def let_through_always(self) -> tuple[LetThrough, ...]:
        """The themes that no recall voids, newest first."""
        self.catch_up()
        return tuple(_told(theme) for theme in reversed(self._themes()))

    def tune(self, values: Mapping[str, float | int]) -> Settings:
        """Keep these settings of recall for this space, whoever opens it; those not named are the defaults again. Programs
        that have it open take them over before their next answer. Raises InvalidInput for a setting that is not tunable."""
        if strange := sorted(set(values) - set(TUNABLE)):
            raise InvalidInput(f"A space does not keep '{strange[0]}'.", advice=f"It keeps {', '.join(TUNABLE)}.")
        for name, value in values.items():
            if not 0 <= value <= (self.settings.max_budget if name == "default_budget" else MOST_SHARE):
                raise InvalidInput(
                    f"'{name}' cannot be {value!r}.", advice=f"Give 0 to {MOST_SHARE:g}; tokens for the budget."
                )
        kept = {name: value for name, value in values.items() if value != getattr(DEFAULTS, name)}
        with_overrides(DEFAULTS, dict(kept))
        self._space.write(lambda: None, lambda connection, _: rows.set_meta(connection, TUNED, kept))
        self._tune()
        return self.settings

    def _trusted(self, memory_ids: Sequence[str], client: str) -> list[int]:
        nums = list(dict.fromkeys(self._number(memory_id) for memory_id in memory_ids))
        for memory in self._space.reader.memories(nums):
            check_trust(client, memory)
        return nums

    def _live(self, nums: Sequence[int]) -> list[int]:
        return [num for num in nums if not self._space.indexes.table.inhibited[num]]

    def _relabelled(self, old: Memory, labels: tuple[str, ...]) -> Draft:
        return ingest.make_draft(
            old.content,
            keywords=old.keywords,
            labels=labels,
            entities=old.entities,
            category=old.category,
            importance=old.importance,
            source=old.source,
            created_at=old.created_at,
            expires_at=old.expires_at,
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )


def _told(theme: Theme) -> LetThrough:
    return LetThrough(theme.id, theme.name, theme.members, datetime.fromtimestamp(theme.at, UTC))
