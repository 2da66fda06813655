"""What every verb stands on: the open space, who may see what of it, and how a question is ranked."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self

import numpy as np

from tetrarium import snapshots
from tetrarium.clusters import Clusters
from tetrarium.config import DEFAULTS, Settings, with_overrides
from tetrarium.errors import InvalidInput, NotFound, NotTrusted, SpaceUnavailable
from tetrarium.events import Events, SpaceChanged
from tetrarium.lifecycle.trust import Trust, may_change, trust_of
from tetrarium.model import (
    CATEGORIES,
    Bool,
    Category,
    Changes,
    Float32,
    Memory,
    RecallTrace,
    UInt8,
)
from tetrarium.recall.ranking import Question, Ranking, Scope, analyse, rank
from tetrarium.recall.themes import Theme
from tetrarium.recall.themes import read as read_themes
from tetrarium.service.auditor import Auditor
from tetrarium.space import Space
from tetrarium.storage import memories as rows

log = logging.getLogger(__name__)

EVERYWHERE = "*"
"""As a project: memories of every project."""

MAX_QUESTION = 100_000
"""Characters of a question that are looked at."""

WINDOWS_A_SLICE = 4
"""Windows of a long memory that one slice of maintenance embeds: a third of a second, then the lane is asked again."""

CATCH_UP_VECTORS = 64
"""Memories without a vector that a question embeds before it is answered; the rest follow in `maintain`."""

MAX_PAGE = 1_000
"""Hits or rows that one call gives."""

NEVER = ("", "never", "none")
"""As an expiry: no longer one."""

KEPT_CLIENTS = 32
"""Clients whose last recalls are kept."""

LET_THROUGH = "let_through"
"""Under this name the space keeps the themes that no recall may void."""

TUNED = "tuned"
"""Under this name the space keeps the settings of recall that its owner chose."""
TUNABLE = ("void_target", "vector_weight", "keyword_weight", "label_weight", "entity_weight", "default_budget")
"""Settings that a space may keep."""

_STATES = ("live", "inhibited", "all")

QUARANTINED = "quarantined"
"""A state that only a person may ask for."""


class Door:
    """The open space behind the verbs, and what several of them need."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._space = Space(folder, settings)
        self._given = settings
        self._clusters = Clusters(self._space)
        self._auditor = Auditor(self._space)
        self._asked: dict[str, deque[Asked]] = {}
        self._erased = 0  # as `Space.erased`, when the kept recalls were looked at last
        self._accesses: dict[int, tuple[int, datetime]] = {}
        self._questions: dict[int, set[bytes]] = {}
        self._recalls: list[float] = []
        self._checking: Generator[None] | None = None
        self._copying: Iterator[object] | None = None
        self._copy_again: datetime | None = None
        self.path = folder
        self._questions_at = -1
        self._tuned_at = self._space.database.data_version()
        self._tune()

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

    def catch_up(self) -> Changes | None:
        """Take over what other processes committed to this space; 3 µs when there is nothing."""
        changes = self._space.catch_up()
        if (version := self._space.database.data_version()) != self._tuned_at:
            self._tuned_at = version
            self._tune()
        return changes

    def warm_up(self) -> None:
        """Load the model now instead of at first use."""
        self._space.embed_query("warm up")

    def maintain(self, *, most: int = 16) -> bool:
        """Work for a quiet moment: count accesses, embed what has no vector yet. True while there is more to do."""
        self.catch_up()
        self._count_accesses()
        self._auditor.flush()
        if self._space.keep_long_memories(WINDOWS_A_SLICE):
            return True
        return self._space.complete_vectors(most) > 0 or self._check_a_slice()

    def _check_a_slice(self) -> bool:
        """One slice of the full check of the store, once after the start; True while there is more."""
        if self._checking is None:
            if not self._space.check_due:
                return False
            self._checking = self._space.check()
        if next(self._checking, self) is self:
            self._checking = None
            return False
        return True

    def close(self) -> None:
        """Count what is still to count, fold the log, close the file. Twice is harmless."""
        if self._space.database.closed:
            return
        if self._checking is not None:
            self._checking.close()  # it holds tables of its own in the connection that goes
        # Nor may a copy under way read on: the log could not be folded, and closing waited 5 s for it.
        self._copying = None
        try:
            self._count_accesses()
            self._auditor.flush()
            snapshots.keep(self._space)
        except (SpaceUnavailable, OSError) as error:
            # Nothing that was acknowledged is among it, and whoever leaves cannot do anything about a disk or a folder.
            log.warning("What was read last could not be noted: %s", error)
        finally:
            self._auditor.closed(folded=self._space.close())

    def _analysed(self, text: str, now: datetime) -> tuple[Question, float]:
        """What a question asks for, of this space, and how long its embedding took (ms). now: with a zone."""
        embedding_ms = 0.0

        def embed(words: str) -> Float32 | None:
            nonlocal embedding_ms
            started = time.perf_counter()
            vector = self._space.embed_query(words)
            embedding_ms = (time.perf_counter() - started) * 1e3
            return vector

        space = self._space
        return analyse(text, embed, space.pieces, space.indexes, space.synonyms, now), embedding_ms

    def _ranked(self, text: str, scope: Scope, *, answering: bool = False) -> tuple[Ranking, Question, float]:
        question, embedding_ms = self._analysed(text, datetime.now().astimezone())
        if question.vector is not None:
            # Memories that were stored while the model was away are not found by meaning before they are embedded.
            self._space.complete_vectors(CATCH_UP_VECTORS)
            self._space.read_long_memories(CATCH_UP_VECTORS)
        if answering and not question.terms and not question.intent.identity and question.intent.since is None:
            # Stop words and punctuation ask for nothing.
            nothing = np.zeros_like(scope.allowed)
            scope = replace(scope, allowed=nothing, shadow=nothing)
        ranking = rank(
            question, self._space.indexes, self._space.reader.match, scope, now=time.time(), settings=self.settings
        )
        return ranking, question, embedding_ms

    def _scope(self, project: str | None, state: str, *, beside: int | None = None, of_person: bool = False) -> Scope:
        """What may be answered. `beside`: a memory whose inhibition, quarantine and expiry are looked past; of_person:
        a person asks, who may look into the quarantine too."""
        known = (*_STATES, QUARANTINED) if of_person else _STATES
        if state not in known:
            raise InvalidInput(f"There is no state '{state}'.", advice=f"Use one of: {', '.join(known)}.")
        table = self._space.indexes.table
        everything = table.in_project(project or "")
        trust = self._trust_levels()
        unexpired = table.expires > time.time()
        if state == QUARANTINED:
            waiting = everything & table.quarantined
            return Scope(waiting, np.zeros_like(waiting), int(waiting.sum()), filtered=True, trust=trust)
        inside = everything & ~table.quarantined
        live, inhibited = inside & ~table.inhibited & unexpired, inside & table.inhibited & unexpired
        if beside is not None and everything[beside]:
            live[beside], inhibited[beside] = True, False
        allowed = {"live": live, "inhibited": inhibited, "all": live | inhibited}[state]
        return Scope(allowed, inhibited & ~allowed, int(live.sum()), filtered=state != "live", trust=trust)

    def _trust_levels(self) -> UInt8:
        """(capacity,) how much the source of each memory is trusted."""
        table = self._space.indexes.table
        levels: UInt8 = np.array([trust_of(name) for name in table.clients.names], np.uint8)[table.client]
        return levels

    def _filtered(
        self,
        scope: Scope,
        labels: Sequence[str],
        categories: Sequence[Category],
        since: datetime | None,
        until: datetime | None,
        stored_by: str = "",
        keywords: Sequence[str] = (),
    ) -> Scope:
        table = self._space.indexes.table
        mask: Bool = scope.allowed.copy()
        if labels:
            mask &= table.with_labels(labels)
        if keywords:
            mask &= table.with_keywords(keywords)
        if categories:
            mask &= np.isin(table.category, [CATEGORIES.index(category) for category in categories])
        if since:
            mask &= table.created >= since.timestamp()
        if until:
            mask &= table.created < until.timestamp()
        if stored_by:
            mask &= table.client == table.clients.find(stored_by)
        narrowed = bool(labels or keywords or categories or since or until or stored_by)
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
        notes = [self._space.note, *(f"'{name}' is unknown; read as '{near}'." for name, near in question.read_as)]
        if not question.text:
            notes.append("The question is empty.")
        elif not question.terms:
            notes.append("The question holds no content word: nothing was looked for.")
        if not len(ranking.nums):
            notes.append(
                "Nothing in this space answers it." if len(self._space.indexes.table) else "The space is empty."
            )
        return " ".join(filter(None, notes))

    def _tune(self) -> None:
        """Take the settings over that this space keeps; what its opener asked for by name goes before."""
        kept = self._space.reader.meta(TUNED, {})
        free = {
            name: value
            for name, value in kept.items()
            if getattr(self._given, name, None) == getattr(DEFAULTS, name, None)
        }
        self._space.settings = with_overrides(self._given, free)

    def _themes(self) -> tuple[Theme, ...]:
        """The themes that a person always lets through."""
        return read_themes(self._space.reader.meta(LET_THROUGH, []))

    def _keep(self, asked: Asked, client: str) -> None:
        if client not in self._asked and len(self._asked) >= KEPT_CLIENTS:
            del self._asked[min(self._asked, key=lambda name: self._asked[name][-1].trace.id)]
        self._asked.setdefault(client, deque(maxlen=self.settings.kept_traces)).append(asked)

    def _kept_of(self, client: str | None) -> list[Asked]:
        """Newest first: ids of recalls ascend. None outlives an erasure, whichever program did it."""
        self.catch_up()
        if self._erased != self._space.erased:
            self._erased = self._space.erased
            self._asked.clear()
        kept = (
            self._asked.get(client, ())
            if client is not None
            else [asked for recalls in self._asked.values() for asked in recalls]
        )
        return sorted(kept, key=lambda asked: asked.trace.id, reverse=True)

    def _kept(self, recall_id: str, client: str | None) -> Asked:
        wanted = recall_id.strip().upper()
        for asked in self._kept_of(client if not wanted else None):
            if wanted in ("", asked.trace.id):
                return asked
        raise NotFound(
            f"There is no recall '{recall_id}'." if recall_id else "Nothing was recalled yet.",
            advice=f"The last {self.settings.kept_traces} recalls since the start are kept.",
        )

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
class Asked:
    """A recall that is kept: its trace, and the question as it was analysed, to run the passes again.

    order: numbers of the best memories as a reranker had them; () without one.
    """

    trace: RecallTrace
    question: Question
    order: tuple[int, ...] = ()


def question_text(query: object) -> str:
    if not isinstance(query, str):
        raise InvalidInput(f"The question is {type(query).__name__}, not text.", advice="Ask with one string.")
    return " ".join(query[:MAX_QUESTION].encode("utf-8", "ignore").decode().split())


def page_bounds(offset: int, limit: int) -> tuple[int, int]:
    for name, value in (("offset", offset), ("limit", limit)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidInput(f"'{name}' is {value!r}.", advice="Give a whole number, 0 or more.")
    return offset, min(limit, MAX_PAGE)


def check_trust(client: str, memory: Memory) -> None:
    if not may_change(client, memory.source.client):
        raise NotTrusted(
            f"Memory {memory.id} was stored by {named(memory.source.client)}; nothing changed.",
            advice="Ask the person to change it in the window, or store your own memory beside it.",
        )


def named(client: str) -> str:
    return "a person" if trust_of(client) is Trust.PERSON else client
