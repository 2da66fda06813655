"""Verbs for those who look around instead of asking: what is there, by time, by use and by name.

They only read, and nothing that is read here counts as an access: what a client lists, embeds into a prompt
or offers for completion is not thereby confirmed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from tetrarium.clusters import HUES
from tetrarium.indexing.tokens import budget_tokens
from tetrarium.lifecycle import ingest
from tetrarium.model import (
    CATEGORIES,
    Bool,
    Briefing,
    Category,
    Cluster,
    Contradiction,
    Float64,
    Int64,
    Memory,
    Overview,
    Review,
    Section,
)
from tetrarium.recall import budget as budgeting
from tetrarium.service.door import Door
from tetrarium.storage import memories as rows

Names = Literal["labels", "keywords", "categories", "projects", "clients"]

_DAY = 86_400.0

_BRIEFED: tuple[tuple[str, tuple[Category, ...], float], ...] = (
    ("who you work with, and how", (Category.PREFERENCE, Category.CONTEXT), 0.30),
    ("where the work stands", (Category.SESSION, Category.EPISODE), 0.25),
    ("decisions", (Category.DECISION,), 0.18),
    ("problems", (Category.BUG,), 0.12),
    ("how things are done here", (Category.SKILL, Category.PATTERN), 0.08),
    ("facts", (Category.FACT,), 0.07),
)
"""Sections of a briefing: heading, categories, share of the budget. What one leaves goes to the next."""

_CONSIDERED = 200
"""Memories of a section that are looked at, best first, while its room fills."""

_REVIEWED = 20
"""Contradictions, edges and memories of a kind that one review names."""

_NAMED = 1_000
"""Largest clusters whose names are looked through."""

_LATELY = 200
"""Newest memories that are looked through for those of one client."""


class Reading(Door):
    """Looks around."""

    def known(self, memory_ids: Iterable[str]) -> dict[str, Memory]:
        """Memories as they are now, inhibited ones too, by id; those that are gone or in the trash are not among them."""
        self.catch_up()
        found = (self._space.reader.number(memory_id) for memory_id in dict.fromkeys(memory_ids))
        nums = [num for num in found if num is not None]
        return {memory.id: memory for memory in self._space.reader.memories(nums)}

    def overview(self, *, project: str | None = None, clusters: int, memories: int) -> Overview:
        """The largest clusters of two live memories or more, and live memories, pinned ones first, then the newest."""
        self.catch_up()
        table = self._space.indexes.table
        nums = np.flatnonzero(self._scope(project, "live").allowed)
        ids, sizes = np.unique(table.component[nums], return_counts=True)
        largest = np.lexsort((ids, -sizes))[:clusters]
        newest = nums[np.lexsort((-nums, -table.created[nums], ~table.pinned[nums]))][:memories]
        return Overview(
            tuple(
                Cluster(int(ids[at]), self._cluster_name(int(ids[at])), int(sizes[at]), int(ids[at]) % HUES)
                for at in largest
                if sizes[at] > 1 and ids[at]
            ),
            tuple(self._space.reader.memories(newest.tolist())),
        )

    def members(self, cluster: int, *, most: int) -> tuple[tuple[Memory, ...], int, int]:
        """Live memories of a cluster, the most typical one first, then the newest; how many live ones there are, and
        how many that stay silent. Raises NotFound."""
        self.catch_up()
        detail, table = self._clusters.detail(cluster), self._space.indexes.table
        nums = np.asarray([table.by_id[memory_id] for memory_id in detail.members], np.int64)
        live = nums[self._scope("*", "live").allowed[nums]]
        typical = live == table.by_id[detail.medoid]
        first = live[np.lexsort((-live, ~typical))][:most]
        return tuple(self._space.reader.memories(first.tolist())), len(live), len(nums) - len(live)

    def briefing(self, *, project: str | None = None, budget: int) -> Briefing:
        """What somebody who forgot everything should know first, without a question: preferences, where the work
        stands, decisions, problems, how-to, facts. Pinned memories lead their section; whole memories only, within the budget."""
        self.catch_up()
        table = self._space.indexes.table
        allowed = self._scope(project, "live").allowed
        sections: list[Section] = []
        used, shares = 0, 0.0
        for name, kinds, share in _BRIEFED:
            shares += share
            nums = self._of(allowed, kinds)
            lasting = {Category.PREFERENCE, Category.SKILL, Category.FACT} & set(kinds)
            weight = table.importance[nums] if lasting else table.created[nums]
            ordered = nums[np.lexsort((-nums, -weight, ~table.pinned[nums]))]
            section, cost = self._section(name, ordered, int(budget * shares) - used)
            used += cost
            if section.memories or section.left_out:
                sections.append(section)
        return Briefing(tuple(sections), budget, used)

    def lately(self, *, client: str, project: str | None = None, budget: int) -> Briefing:
        """What a client stored in the last hours (`lately_hours`), newest first, within a budget of tokens."""
        self.catch_up()
        table = self._space.indexes.table
        since = time.time() - self.settings.lately_hours * 3_600
        nums = np.flatnonzero(self._scope(project, "live").allowed & (table.created >= since))[::-1][:_LATELY]
        own = [
            num
            for num, memory in zip(nums, self._space.reader.memories(nums.tolist()), strict=True)
            if memory.source.client == client
        ]
        section, used = self._section("stored in this session", np.asarray(own, np.int64), budget)
        return Briefing((section,) if own else (), budget, used)

    def review(
        self,
        *,
        project: str | None = None,
        labels: Sequence[str] | str = (),
        categories: Sequence[str] | str = (),
        budget: int,
    ) -> Review:
        """What may want to be put right: pairs that may contradict, what misled, what expires soon, what was not used
        for long, and what was inhibited last. Raises InvalidInput for an unknown category."""
        self.catch_up()
        kinds = [ingest.parse_category(x) for x in ((categories,) if isinstance(categories, str) else categories) if x]
        wanted = ingest.clean_words(labels, "labels")
        live = self._filtered(self._scope(project, "live"), wanted, kinds, None, None).allowed
        silent = self._filtered(self._scope(project, "inhibited"), wanted, kinds, None, None).allowed
        open_pairs = [pair for pair in self._space.reader.contradictions() if self._stand(pair, live)]
        sections, used = [], 0
        for name, nums in self._reviewed(open_pairs[:_REVIEWED], live):
            section, cost = self._section(name, nums, budget - used)
            used += cost
            if section.memories or section.left_out:
                sections.append(section)
        told = {memory.id for section in sections for memory in section.memories}
        edges = [edge for num, edge in self._space.reader.latest_inhibitions() if num < len(silent) and silent[num]]
        return Review(
            tuple(pair for pair in open_pairs if {pair.newer, pair.older} <= told),
            len(open_pairs),
            tuple(edges[:_REVIEWED]),
            tuple(sections),
            budget,
            used,
        )

    def names(self, kind: Names, *, project: str | None = None) -> tuple[str, ...]:
        """The labels, keywords, categories, projects or clients of live memories, most used first. Projects and clients are those of
        the whole space."""
        self.catch_up()
        table = self._space.indexes.table
        counts: Counter[str] = Counter()
        if kind == "projects":
            codes = np.bincount(table.project[self._scope("*", "live").allowed])
            counts.update({table.projects.names[code]: int(n) for code, n in enumerate(codes) if n and code})
        elif kind == "clients":
            codes = np.bincount(table.client[self._scope("*", "live").allowed])
            counts.update({table.clients.names[code]: int(n) for code, n in enumerate(codes) if n})
            counts.pop("", None)
        else:
            nums = np.flatnonzero(self._scope(project, "live").allowed)
            if kind == "labels":
                counts.update(label for num in nums for label in table.labels[num])
            elif kind == "keywords":
                counts.update(word for num in nums for word in table.keywords[num])
            else:
                counts.update(str(CATEGORIES[code]) for code in table.category[nums])
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))

    def weigh(self, text: str) -> tuple[int, int]:
        """What a text would take of an answer as a memory, and the budget of an answer that names none; both tokens."""
        return budgeting.cost(budget_tokens(text)), self.settings.default_budget

    def ids_like(self, text: str, *, project: str | None = None) -> tuple[str, ...]:
        """Ids of live memories that begin so, else of those whose first words hold the text; newest first."""
        self.catch_up()
        table = self._space.indexes.table
        nums = np.flatnonzero(self._scope(project, "live").allowed)[::-1].tolist()
        start, words = text.strip().upper(), text.strip().casefold()
        found = [table.ids[num] for num in nums if table.ids[num].startswith(start)]
        return tuple(found or (table.ids[num] for num in nums if words in table.excerpts[num].casefold()))

    def clusters_like(self, text: str, *, project: str | None = None) -> tuple[int, ...]:
        """Ids of clusters that begin so, or whose name holds the text; largest first."""
        words = text.strip().casefold()
        everything = self.overview(project=project, clusters=_NAMED, memories=0).clusters
        return tuple(c.id for c in everything if str(c.id).startswith(words) or words in c.name.casefold())

    def changed_clusters(self, since: int) -> set[int] | None:
        """Clusters whose members changed after a version; None when that is too long ago to tell."""
        return self._space.clusters_changed_since(since)

    def _of(self, allowed: Bool, kinds: Sequence[Category]) -> Int64:
        codes = [CATEGORIES.index(kind) for kind in kinds]
        return np.flatnonzero(allowed & np.isin(self._space.indexes.table.category, codes))

    def _section(self, name: str, nums: Int64, room: int) -> tuple[Section, int]:
        """Whole memories, in order, as far as the room (tokens) goes, and what they take of it."""
        first = nums[:_CONSIDERED]
        costs = [budgeting.cost(tokens) for tokens in self._space.indexes.table.budget_tokens[first].tolist()]
        fit = budgeting.fit(costs, max(0, room))
        memories = tuple(self._space.reader.memories([int(first[at]) for at in fit.kept]))
        return Section(name, memories, len(nums) - len(memories)), fit.used

    def _stand(self, pair: Contradiction, live: Bool) -> bool:
        """Whether both sides of a contradiction are among these memories."""
        by_id = self._space.indexes.table.by_id
        return all((num := by_id.get(side)) is not None and bool(live[num]) for side in (pair.newer, pair.older))

    def _reviewed(self, pairs: Sequence[Contradiction], live: Bool) -> Iterable[tuple[str, Int64]]:
        """Headings of a review with the memories under them, each memory under its first heading only."""
        table, now = self._space.indexes.table, rows.now().timestamp()
        sides = [table.by_id[side] for pair in pairs for side in (pair.newer, pair.older)]
        rest = live.copy()

        def those(mask: Bool, order: Float64) -> Int64:
            nums = np.flatnonzero(rest & mask)
            return nums[np.lexsort((nums, order[nums]))]

        found = np.asarray(list(dict.fromkeys(sides)), np.int64)
        yield "contradicting", found
        rest[found] = False
        found = those(table.evidence < 0, table.evidence.astype(np.float64))
        yield "misled", found
        rest[found] = False
        found = those(table.expires < now + self.settings.expiry_days * _DAY, table.expires)
        yield "expires soon", found
        rest[found] = False
        used = np.maximum(table.created, table.accessed)
        long_ago = now - self.settings.stale_days * _DAY
        yield "not used for long", those((used < long_ago) & ~table.pinned, used)
