"""The best memories of a recall in the order of a person's own model, where one is configured."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tetrarium.privacy import secrets
from tetrarium.recall.endpoint import Endpoint
from tetrarium.recall.ranking import Question, Ranking, reordered
from tetrarium.service.door import Door

KEY = "TETRARIUM_RERANK_KEY"
"""Environment variable with the bearer token of the endpoint; it is never stored."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """A ranking and who ordered its head: the model's name, or "" with a note on why not. order: the head's numbers."""

    ranking: Ranking
    by: str = ""
    note: str = ""
    order: tuple[int, ...] = ()


class Reranking(Door):
    """Asks the endpoint."""

    def _reranked(self, question: Question, ranking: Ranking) -> Reranked:
        """The ranking with its best memories in the endpoint's order. Secrets are masked before they leave; a failure of
        any kind leaves the order as it is and says so. Costs nothing where no endpoint is set."""
        settings = self.settings
        head = ranking.nums[: settings.rerank_depth].tolist()
        if not settings.rerank_url or len(head) < 2:
            return Reranked(ranking)
        endpoint = Endpoint(
            settings.rerank_url,
            settings.rerank_model,
            os.environ.get(KEY, ""),
            settings.rerank_time_limit,
            bool(settings.rerank_anywhere),
        )
        contents = self._space.reader.contents(head)
        masked = [secrets.mask(contents[num])[0] for num in head]
        verdict = endpoint.rank(secrets.mask(question.text)[0], masked)
        if not verdict.order:
            return Reranked(ranking, note=f"The reranker was left out: {verdict.why}.")
        order = tuple(head[at] for at in verdict.order)
        return Reranked(reordered(ranking, order), settings.rerank_model, order=order)
