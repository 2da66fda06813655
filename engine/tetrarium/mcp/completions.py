"""Offers what a person may mean while they type an argument of a prompt or the id of a resource.

Values are those of live memories the client may see: most used names first, newest ids first, those that begin so
before those that only hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tetrarium.errors import UserError
from tetrarium.mcp.arguments import nearest, visible
from tetrarium.mcp.calls import Calls
from tetrarium.mcp.context import Context
from tetrarium.mcp.prompts import BY_NAME
from tetrarium.mcp.resources import TEMPLATES
from tetrarium.mcp.tools import CATEGORY_NAMES, Caller

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

MOST = 100
"""Values of one answer: the protocol's bound."""


class Completions:
    """Completes for one client. `caller` tells who asks."""

    def __init__(self, calls: Calls, caller: Callable[[Context], Caller]) -> None:
        self._calls = calls
        self._caller = caller

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Values for what was typed so far. An unknown prompt or template is refused, any other argument has none."""
        typed, given = params.argument, (params.context.arguments if params.context else None) or {}
        caller = self._caller(context)
        project = given.get("project") or caller.project
        kind = _kind(params.ref)
        try:
            values = await self._calls.run(lambda service: _values(service, kind, typed, project, caller))
        except UserError:
            values = []  # nobody waits for an explanation while they type; the call that follows gives it
        return types.CompleteResult(
            completion=types.Completion(values=values[:MOST], total=len(values), has_more=len(values) > MOST)
        )


def _kind(ref: types.PromptReference | types.ResourceTemplateReference) -> str:
    """ "" for a prompt, else the kind of resource whose id is typed."""
    if isinstance(ref, types.PromptReference):
        if ref.name not in BY_NAME:
            name = visible(ref.name)[:60]
            raise MCPError(
                code=types.INVALID_PARAMS, message=f"There is no prompt '{name}'. {nearest(name, list(BY_NAME))}"
            )
        return ""
    for template in TEMPLATES:
        if ref.uri == template.uri_template:
            return template.kind
    known = ", ".join(template.uri_template for template in TEMPLATES)
    raise MCPError(code=types.INVALID_PARAMS, message=f"There is no such template. Use {known}.")


def _values(
    service: MemoryService, kind: str, typed: types.CompletionArgument, project: str, caller: Caller
) -> list[str]:
    if kind:
        return _ids(service, kind, typed.value, project, caller) if typed.name == "id" else []
    if typed.name == "category":
        used = service.names("categories", project=project)
        return _fitting([*used, *(name for name in CATEGORY_NAMES if name not in used)], typed.value)
    if typed.name == "label":
        return _fitting(service.names("labels", project=project), typed.value)
    if typed.name == "project":
        return _fitting(service.names("projects"), typed.value)
    return []


def _ids(service: MemoryService, kind: str, text: str, project: str, caller: Caller) -> list[str]:
    if kind == "item":
        return list(service.ids_like(text, project=project))
    if kind == "cluster":
        return [str(cluster) for cluster in service.clusters_like(text, project=project)]
    start, words = text.strip().upper(), text.strip().casefold()
    traces = service.traces(client=caller.client)
    return [trace.id for trace in traces if trace.id.startswith(start) or words in trace.query.casefold()]


def _fitting(names: Sequence[str], text: str) -> list[str]:
    words = text.strip().casefold()
    begin = [name for name in names if name.casefold().startswith(words)]
    return begin + [name for name in names if words in name.casefold() and name not in begin]
