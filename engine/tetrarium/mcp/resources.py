"""Memories, clusters, recalls and the health of the space as resources of the protocol: what a person attaches by hand.

A resource is read, never recalled: nothing that is read here counts as an access.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tetrarium.config import DEFAULTS
from tetrarium.errors import NotFound, UserError
from tetrarium.mcp.arguments import visible
from tetrarium.mcp.calls import Calls
from tetrarium.mcp.context import Context, no_resource, refuse_cursor
from tetrarium.mcp.quoting import iso, line
from tetrarium.mcp.resource_texts import Address, address_of, read
from tetrarium.mcp.tools import Caller

if TYPE_CHECKING:
    from tetrarium.model import Cluster, Overview, RecallTrace
    from tetrarium.service import MemoryService

log = logging.getLogger(__name__)

MARKDOWN, JSON = "text/markdown", "application/json"
STATS = "memory://stats"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One kind of resource that is read by its id."""

    kind: str
    title: str
    description: str

    @property
    def uri_template(self) -> str:
        return f"memory://{self.kind}/{{id}}"


TEMPLATES: tuple[Template, ...] = (
    Template(
        kind="item",
        title="One memory",
        description="A memory by its id: its words as quoted data, where it comes from, and whether it still holds.",
    ),
    Template(
        kind="cluster",
        title="One topic",
        description="A cluster by its id: what it is about, and its live memories, the most typical first.",
    ),
    Template(
        kind="recall",
        title="One recall",
        description="A recall since the start by its id: what it answered, what it carved away, what changed since.",
    ),
)


class Resources:
    """Lists and reads the resources of one client. `caller` tells who asks."""

    def __init__(self, calls: Calls, caller: Callable[[Context], Caller]) -> None:
        self._calls = calls
        self._caller = caller

    async def list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """The health of the space, this client's last recalls, the largest clusters, pinned and newest memories."""
        refuse_cursor(params)
        caller = self._caller(context)
        try:
            found = await self._calls.run(lambda service: _listing(service, caller))
        except UserError as error:
            # The list is what a client shows at its start: it must stand, also where the space cannot be opened.
            log.info("only the fixed resources are listed: %s", error)
            found = []
        return types.ListResourcesResult(resources=[_STATS, *found])

    async def templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=f"memory-{template.kind}",
                    title=template.title,
                    uri_template=template.uri_template,
                    description=template.description,
                    mime_type=MARKDOWN,
                )
                for template in TEMPLATES
            ]
        )

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """One resource. What does not exist is refused by name, in the words of the client's revision."""
        address = address_of(str(params.uri))
        if address is None:
            raise no_resource(context, params.uri, "There is no such resource.")
        try:
            text = await self._calls.run(lambda service: read(service, address))
        except NotFound as error:
            raise no_resource(context, params.uri, str(error)) from None
        except UserError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=visible(str(error))) from None
        contents = types.TextResourceContents(
            uri=str(params.uri), mime_type=JSON if address.kind == "stats" else MARKDOWN, text=text
        )
        return types.ReadResourceResult(contents=[contents])


_STATS = types.Resource(
    uri=STATS,
    name="memory-stats",
    title="Health of the memory",
    description="Counts by state, category, confidence and type; recalls, index and model.",
    mime_type=JSON,
)


def _listing(service: MemoryService, caller: Caller) -> list[types.Resource]:
    recalls = service.traces(client=caller.client)[: DEFAULTS.listed_recalls]
    overview = service.overview(
        project=caller.project, clusters=DEFAULTS.listed_clusters, memories=DEFAULTS.listed_memories
    )
    return [*map(_listed_recall, recalls), *map(_listed_cluster, overview.clusters), *_listed_memories(overview)]


def _listed_recall(trace: RecallTrace) -> types.Resource:
    return types.Resource(
        uri=Address("recall", trace.id).uri,
        name=f"recall-{trace.id}",
        title=f"Recall {iso(trace.asked_at)}: “{line(trace.query, 60)}”",
        mime_type=MARKDOWN,
        annotations=types.Annotations(last_modified=trace.asked_at.isoformat()),
    )


def _listed_cluster(cluster: Cluster) -> types.Resource:
    return types.Resource(
        uri=Address("cluster", str(cluster.id)).uri,
        name=f"cluster-{cluster.id}",
        title=f"Topic “{line(cluster.name, 60)}”, {cluster.size} memories",
        mime_type=MARKDOWN,
    )


def _listed_memories(overview: Overview) -> list[types.Resource]:
    return [
        types.Resource(
            uri=Address("item", memory.id).uri,
            name=f"memory-{memory.id}",
            title=f"{str(memory.category).capitalize()} {memory.created_at:%Y-%m-%d}: “{line(memory.content[:200], 60)}”",
            mime_type=MARKDOWN,
            annotations=types.Annotations(
                priority=round(memory.importance, 2), last_modified=memory.updated_at.isoformat()
            ),
        )
        for memory in overview.memories
    ]
