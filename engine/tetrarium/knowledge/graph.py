"""The graph around a memory or an entity: a walk in rings, the most deliberate edges first (S1, S3).

Pure: the edges at a ring of nodes come from a function. A node is a memory's number or an entity's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tetrarium.model import Origin

Node = int | str


@dataclass(frozen=True, slots=True)
class Edge:
    """source `kind` target. weight: shared vertices of neighbours in space, else 1."""

    source: Node
    target: Node
    kind: str
    origin: Origin
    weight: int = 1
    note: str = ""


_ORDER = {origin: at for at, origin in enumerate(Origin)}


def walk(
    start: Node, edges_at: Callable[[list[Node]], Iterable[Edge]], *, depth: int, most: int
) -> tuple[dict[Node, int], list[Edge], int]:
    """Nodes within `depth` edges of `start` with their distance, at most `most` of them beside it, nearest first; the
    edges between them; and how many nodes of the last ring reached were left out.

    Inside a ring the more deliberate edge brings its node first, then the heavier one.
    """
    distance: dict[Node, int] = {start: 0}
    edges: dict[Edge, None] = {}
    ring: list[Node] = [start]
    cut = 0
    for step in range(1, depth + 1):
        found = sorted(edges_at(ring), key=lambda edge: (_ORDER[edge.origin], -edge.weight))
        edges.update(dict.fromkeys(found))
        reached = dict.fromkeys(end for edge in found for end in (edge.source, edge.target) if end not in distance)
        room = most - (len(distance) - 1)
        ring = list(reached)[:room]
        cut = len(reached) - len(ring)
        distance.update(dict.fromkeys(ring, step))
        if cut or not ring:
            break
    return distance, [edge for edge in edges if edge.source in distance and edge.target in distance], cut
