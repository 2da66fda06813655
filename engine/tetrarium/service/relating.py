"""Verbs on what belongs together: state a relation, take it back, walk the knowledge graph."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence

import numpy as np

from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.indexing.tokens import fold
from tetrarium.knowledge.graph import Edge, Node, walk
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import may_change
from tetrarium.model import CATEGORIES, Bool, GraphEdge, GraphNode, KnowledgeGraph, Origin, Relation, Standing
from tetrarium.service.door import EVERYWHERE, named
from tetrarium.service.screening import Screening
from tetrarium.storage import memories as rows
from tetrarium.storage import relations as relation_rows
from tetrarium.storage.database import Connection

KINDS = ("related_to", "caused_by", "part_of", "depends_on", "follows", "similar_to", "contradicts", "mentions")
"""Kinds of relation that have a name (S3); a client may use others of its own."""

MAX_DEPTH = 3
"""Edges from the start that a walk goes at most."""

MAX_NODES = 200
"""Nodes that one walk gives at most."""

MENTIONS = 24
"""Newest memories that an entity leads to."""

_KIND = re.compile(r"[^\W\d_][\w-]{1,39}")


class Relating(Screening):
    """Relates."""

    def relate(
        self, source_id: str, target_id: str, kind: str = "related_to", *, note: str = "", client: str = ""
    ) -> Relation:
        """State that `source` stands in a relation to `target`, read "source kind target"; stated twice it is one.

        kind: one of KINDS or a word of the client's own. Raises NotFound, InvalidInput; a correction is not stated
        here but by `supersedes`, since it takes the older memory out of every answer.
        """
        word = _kind(kind)
        why = ingest.clean_name(self._masking().text(note, "note"), "note")
        author = ingest.clean_name(client, "client")
        if word == "supersedes":
            raise InvalidInput(
                "A correction is more than a relation; nothing changed.",
                advice="Store the newer memory with supersedes, or inhibit the older one.",
            )

        def plan() -> tuple[int, int]:
            source, target = self._number(source_id), self._number(target_id)
            if source == target:
                raise InvalidInput("A memory cannot be related to itself; nothing changed.")
            return source, target

        now = rows.now()

        def commit(connection: Connection, ends: tuple[int, int]) -> tuple[int, int]:
            relation_rows.relate(connection, *ends, word, note=why, author=author, now=now)
            return ends

        source, target = self._space.write(plan, commit, op="relate", client=author)
        ids = self._space.indexes.table.ids
        return Relation(ids[source], ids[target], word, why, author, now)

    def unrelate(self, source_id: str, target_id: str, kind: str = "", *, client: str = "") -> int:
        """Take back what was stated between two memories, of one kind or of any; gives how many relations that were.

        Raises NotFound, NotTrusted when somebody more trusted stated it, InvalidInput when there is none.
        """
        word = _kind(kind) if kind else ""

        def plan() -> tuple[int, int]:
            ends = self._number(source_id), self._number(target_id)
            for author in self._space.relations.authors(*ends, word):
                if not may_change(client, author):
                    raise NotTrusted(
                        f"This relation was stated by {named(author)}; nothing changed.",
                        advice="The person can take it back.",
                    )
            return ends

        def commit(connection: Connection, ends: tuple[int, int]) -> int:
            removed = relation_rows.unrelate(connection, *ends, word, now=rows.now())
            if not removed:
                raise InvalidInput(
                    f"Memory {source_id} has no such relation to {target_id}; nothing changed.",
                    advice="knowledge_relations shows which there are; the direction counts.",
                )
            return removed

        return self._space.write(plan, commit, op="unrelate", client=client)

    def relations(
        self,
        start: str,
        *,
        depth: int = 1,
        kinds: Sequence[str] | str = (),
        limit: int = 40,
        project: str | None = EVERYWHERE,
    ) -> KnowledgeGraph:
        """The graph around a memory (its id) or an entity (its words): stated relations, corrections, proposed
        contradictions, neighbours by shared vertices and mentioned entities, each edge marked with where it comes from.

        depth: 1 to 3 edges; kinds: only edges of these; limit: nodes beside the start. What a correction took out is
        named without its words. Reads only; never counts as an access. Raises NotFound, InvalidInput.
        """
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= MAX_DEPTH:
            raise InvalidInput(f"depth is {depth!r}.", advice=f"Give 1 to {MAX_DEPTH}.")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit is {limit!r}.", advice=f"Give 1 to {MAX_NODES}.")
        wanted = {_kind(kind) for kind in ((kinds,) if isinstance(kinds, str) else kinds) if kind}
        self.catch_up()
        seen = self._visible(self._project(project))
        first = self._start(start, seen)

        def edges_at(ring: list[Node]) -> Iterable[Edge]:
            return [edge for edge in self._edges_at(ring, seen) if not wanted or edge.kind in wanted]

        distance, edges, cut = walk(first, edges_at, depth=depth, most=min(limit, MAX_NODES))
        nodes = tuple(self._node(node, far) for node, far in distance.items())
        drawn = tuple(
            GraphEdge(self._name(e.source), self._name(e.target), e.kind, e.origin, e.weight, e.note) for e in edges
        )
        return KnowledgeGraph(self._name(first), nodes, drawn, cut)

    def _visible(self, project: str | None) -> Bool:
        table = self._space.indexes.table
        inside = table.present if project == EVERYWHERE else table.in_project(project or "")
        return inside & (table.expires > time.time())

    def _start(self, start: str, seen: Bool) -> Node:
        table = self._space.indexes.table
        words = " ".join(str(start).split())
        num = table.by_id.get(words.upper())
        if num is not None and seen[num]:
            return num
        entity = fold(words)
        if any(seen[num] for num in table.by_entity.get(entity, ())):
            return entity
        raise NotFound(
            f"There is no memory or entity '{words[:80]}' here.",
            advice="Use an id that a search gave, or a name as it stands in a memory: a person, file or symbol.",
        )

    def _edges_at(self, ring: list[Node], seen: Bool) -> Iterable[Edge]:
        table = self._space.indexes.table
        nums = [node for node in ring if isinstance(node, int)]
        for edge in self._space.relations.edges_at(nums):
            if _both(seen, edge.source, edge.target):
                yield Edge(edge.source, edge.target, edge.kind, edge.origin, 1, edge.note)
        for num in nums:
            for other, shared, _ in self._clusters.neighbours(num):
                if seen[other]:
                    low, high = sorted((num, other))
                    yield Edge(low, high, "shares_vertices", Origin.SHARED_VERTICES, shared)
            for entity in table.entities[num]:
                yield Edge(num, entity, "mentions", Origin.ENTITY)
        for node in ring:
            if isinstance(node, str):
                members = np.asarray([num for num in table.by_entity.get(node, ()) if seen[num]], np.int64)
                for num in members[np.argsort(-table.created[members], kind="stable")][:MENTIONS].tolist():
                    yield Edge(num, node, "mentions", Origin.ENTITY)

    def _name(self, node: Node) -> str:
        return node if isinstance(node, str) else self._space.indexes.table.ids[node]

    def _node(self, node: Node, distance: int) -> GraphNode:
        if isinstance(node, str):
            return GraphNode(node, True, distance)
        table = self._space.indexes.table
        waits = bool(table.quarantined[node])
        out = waits or bool(table.inhibited[node])
        return GraphNode(
            table.ids[node],
            False,
            distance,
            "" if out else table.excerpts[node],
            CATEGORIES[table.category[node]],
            Standing.QUARANTINED if waits else Standing.INHIBITED if out else Standing.LIVE,
            int(table.component[node]),
        )


def _both(seen: Bool, *nums: int) -> bool:
    return all(num < len(seen) and seen[num] for num in nums)


def _kind(kind: str) -> str:
    word = re.sub(r"[\s-]+", "_", str(kind).strip().casefold())
    if not _KIND.fullmatch(word):
        raise InvalidInput(
            f"'{str(kind)[:60]}' is no kind of relation.", advice=f"Use one word, as {', '.join(KINDS)}."
        )
    return word
