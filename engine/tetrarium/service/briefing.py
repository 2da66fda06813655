"""The verb for the start of a session: what matters of a project before anybody has asked."""

from __future__ import annotations

import time

import numpy as np

from tetrarium.errors import InvalidInput
from tetrarium.model import Brief, BriefGroup
from tetrarium.recall import budget as budgeting
from tetrarium.service.asking import PURPOSES
from tetrarium.service.door import Door


class Briefing(Door):
    """Briefs."""

    def brief(self, *, project: str | None = None, budget: int | None = None) -> Brief:
        """Whole memories of a project (None: the global ones) within a budget in tokens, sorted by what they are for.

        Pinned ones come first, then by importance plus freshness, which halves as recency does in a search. Needs no
        model, writes and counts nothing. Raises InvalidInput for a budget under 1.
        """
        tokens = self.settings.brief_budget if budget is None else budget
        if tokens < 1:
            raise InvalidInput("A budget is at least 1 token.")
        self.catch_up()
        table = self._space.indexes.table
        nums = np.flatnonzero(self._scope(project, "live").allowed)
        age = np.maximum(time.time() - table.created[nums], 0.0) / 86_400.0
        worth = table.importance[nums] + np.exp2(-age / self.settings.recency_half_life) + 2.0 * table.pinned[nums]
        ordered = nums[np.argsort(-worth, kind="stable")]
        fit = budgeting.fit([budgeting.cost(int(cost)) for cost in table.budget_tokens[ordered]], tokens)
        memories = self._space.reader.memories(ordered[list(fit.kept)].tolist())
        groups = (
            BriefGroup(name, tuple(memory for memory in memories if memory.category in kinds))
            for name, kinds in PURPOSES.items()
        )
        return Brief(tuple(group for group in groups if group.memories), len(nums), fit.used, tokens)
