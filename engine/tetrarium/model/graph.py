"""Stated relations, and the knowledge graph around a memory or an entity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tetrarium.model.kinds import Category, Standing


@dataclass(frozen=True, slots=True)
class Relation:
    """A stated relation between two memories: source `kind` target, as in "caused_by"."""

    source: str
    target: str
    kind: str
    note: str
    author: str
    created_at: datetime


class Origin(StrEnum):
    """Where an edge of the knowledge graph comes from, the most deliberate first."""

    STATED = "stated"
    CORRECTION = "correction"
    CONTRADICTION = "contradiction"
    SHARED_VERTICES = "shared_vertices"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory or an entity in the graph around a start. id: a memory's id, else the entity's words; distance: edges
    from the start; excerpt: empty for an entity and for what a correction took out."""

    id: str
    is_entity: bool
    distance: int
    excerpt: str = ""
    category: Category | None = None
    standing: Standing = Standing.LIVE
    cluster: int | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """source `kind` target. weight: shared vertices of neighbours in space, else 1; note: why, where somebody said it."""

    source: str
    target: str
    kind: str
    origin: Origin
    weight: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """What surrounds a memory or an entity, nearest first. cut: nodes that the limit left out."""

    start: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    cut: int
