"""A recall of before, asked again under other premises: to see what a correction, a dial or a weight would change."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from tetrarium.config import with_overrides
from tetrarium.model import RecallTrace
from tetrarium.recall.pipeline import decide, trace_of
from tetrarium.recall.ranking import Scope, rank
from tetrarium.service.curating import Curating


class Rehearsing(Curating):
    """Rehearses."""

    def rehearse(
        self,
        recall_id: str = "",
        *,
        lifted: Sequence[str] = (),
        inhibited: Sequence[str] = (),
        through: Sequence[str] = (),
        void_target: float | None = None,
        budget: int | None = None,
        settings: Mapping[str, float | int | str] | None = None,
        client: str | None = None,
    ) -> RecallTrace:
        """What a recall ("": the last one, of one client if named) would answer on the space as it is now, if …

        lifted: these memories were not inhibited; inhibited: these were; through: these could not be void; void_target,
        budget, settings (by name): these were others. Keeps and counts nothing; the trace has the id of the recall.
        Raises NotFound, InvalidInput.
        """
        started = time.perf_counter()
        self.catch_up()
        asked = self._kept(recall_id, client)
        before, changed = asked.trace, with_overrides(self.settings, dict(settings or {}))
        scope = self._supposing(before.project, lifted, inhibited)
        indexes = self._space.indexes
        ranking = rank(asked.question, indexes, self._space.reader.match, scope, now=time.time(), settings=changed)
        target = before.void_target if void_target is None else void_target
        tokens = before.budget if budget is None else budget
        free = frozenset(self._number(name) for name in through)
        decision = decide(
            asked.question, ranking, indexes, budget=tokens, void_target=target, settings=changed, through=free,
            themes=self._themes(),
        )  # fmt: skip
        kept = ranking.nums[list(decision.kept)].tolist()
        return trace_of(
            asked.question,
            decision,
            self._space.reader.memories(kept),
            recall_id=before.id,
            project=before.project,
            budget=tokens,
            void_target=target,
            now=time.time(),
            elapsed_ms=(time.perf_counter() - started) * 1e3,
            embedding_ms=0.0,
            note="",
            evidence=ranking.evidence,
        )

    def _supposing(self, project: str, lifted: Sequence[str], inhibited: Sequence[str]) -> Scope:
        """What may be answered if some memories were released and others inhibited."""
        scope = self._scope(project, "live")
        allowed, shadow = scope.allowed.copy(), scope.shadow.copy()
        for name in lifted:
            num = self._number(name)
            if shadow[num]:
                allowed[num], shadow[num] = True, False
        for name in inhibited:
            num = self._number(name)
            if allowed[num]:
                allowed[num], shadow[num] = False, True
        return Scope(allowed, shadow, int(np.count_nonzero(allowed)), filtered=scope.filtered, trust=scope.trust)
