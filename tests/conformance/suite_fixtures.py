"""What the official suite wants to find in a server: tools, resources and prompts by fixed names and fixed words.

A plug-in for tests. It stands in front of the handlers of a session: what is not its own goes on to them, so the suite
sees our tools, resources, prompts and errors as well. Nothing of it is in the shipped server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import PromptsListChanged, SubscriptionBus, ToolsListChanged
from suite_tools import ARGUMENTS, IMAGE, STRING, TOOLS, Outcome, Params, embedded, form, png, text_result

from tetrarium.mcp.context import Context


def plug_in(server: Server[dict[str, Any]], bus: SubscriptionBus) -> None:
    """Put the fixtures in front of the handlers of a session's server. `bus`: carries its notices of change."""
    tools = _Tools(server, bus)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, tools.list)
    server.add_request_handler("tools/call", types.CallToolRequestParams, tools.call)
    resources = _Resources(server)
    server.add_request_handler("resources/list", types.PaginatedRequestParams, resources.list)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, resources.templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, resources.read)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, resources.subscribe)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, resources.unsubscribe)
    prompts = _Prompts(server)
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, prompts.list)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, prompts.get)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, prompts.complete)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)


async def _set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def _beyond(server: Server[dict[str, Any]], method: str) -> Callable[[Context, Any], Awaitable[Any]]:
    """The session's own handler of a method."""
    entry = server.get_request_handler(method)
    assert entry is not None
    return entry.handler


class _Tools:
    def __init__(self, server: Server[dict[str, Any]], bus: SubscriptionBus) -> None:
        self._list, self._call = _beyond(server, "tools/list"), _beyond(server, "tools/call")
        self._bus = bus
        self._changes = {
            "test_trigger_tool_change": ToolsListChanged(),
            "test_trigger_prompt_change": PromptsListChanged(),
        }

    async def list(self, context: Context, params: types.PaginatedRequestParams) -> types.ListToolsResult:
        ours: types.ListToolsResult = await self._list(context, params)
        fixtures = [
            types.Tool(
                name=name,
                description=f"Fixture of the conformance suite: {name.replace('_', ' ')}.",
                input_schema=ARGUMENTS.get(name, {"type": "object", "properties": {}}),
            )
            for name in (*TOOLS, *self._changes)
        ]
        return types.ListToolsResult(tools=[*ours.tools, *fixtures])

    async def call(self, context: Context, params: Params) -> Outcome:
        if params.name in self._changes:
            await self._bus.publish(self._changes[params.name])
            return text_result("Told.")
        run = TOOLS.get(params.name)
        outcome: Outcome = await (run(context, params) if run else self._call(context, params))
        return outcome


class _Resources:
    def __init__(self, server: Server[dict[str, Any]]) -> None:
        self._list, self._read = _beyond(server, "resources/list"), _beyond(server, "resources/read")
        self._templates = _beyond(server, "resources/templates/list")
        self._subscribe = _beyond(server, "resources/subscribe")
        self._unsubscribe = _beyond(server, "resources/unsubscribe")

    async def list(self, context: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        ours: types.ListResourcesResult = await self._list(context, params)
        fixtures = [
            types.Resource(uri=uri, name=uri.partition("://")[2], description="Fixture of the suite.", mime_type=kind)
            for uri, kind in (
                ("test://static-text", "text/plain"),
                ("test://static-binary", "image/png"),
                ("test://watched-resource", "text/plain"),
            )
        ]
        return types.ListResourcesResult(resources=[*ours.resources, *fixtures])

    async def templates(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        ours: types.ListResourceTemplatesResult = await self._templates(context, params)
        fixture = types.ResourceTemplate(
            name="template", uri_template="test://template/{id}/data", description="Fixture of the suite."
        )
        return types.ListResourceTemplatesResult(resource_templates=[*ours.resource_templates, fixture])

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        contents: types.TextResourceContents | types.BlobResourceContents
        if uri == "test://static-binary":
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=png())
        elif uri in ("test://static-text", "test://watched-resource"):
            text = "This is the content of the static text resource."
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        elif uri.startswith("test://template/") and uri.endswith("/data"):
            wanted = uri.split("/")[3]
            text = f'{{"id":"{wanted}","templateTest":true,"data":"Data for ID: {wanted}"}}'
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        else:
            found: types.ReadResourceResult = await self._read(context, params)
            return found
        return types.ReadResourceResult(contents=[contents])

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        if params.uri.startswith("test://"):
            return types.EmptyResult()
        done: types.EmptyResult = await self._subscribe(context, params)
        return done

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        done: types.EmptyResult = await self._unsubscribe(context, params)
        return done


def _said(*content: types.ContentBlock) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block) for block in content])


def _words(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


_PROMPT_ARGUMENTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


class _Prompts:
    def __init__(self, server: Server[dict[str, Any]]) -> None:
        self._list, self._get = _beyond(server, "prompts/list"), _beyond(server, "prompts/get")
        self._complete = _beyond(server, "completion/complete")

    async def list(self, context: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        ours: types.ListPromptsResult = await self._list(context, params)
        fixtures = [
            types.Prompt(
                name=name,
                description="Fixture of the suite.",
                arguments=[types.PromptArgument(name=a, description="Any text.", required=True) for a in arguments],
            )
            for name, arguments in _PROMPT_ARGUMENTS.items()
        ]
        return types.ListPromptsResult(prompts=[*ours.prompts, *fixtures])

    async def get(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        given = params.arguments or {}
        if params.name == "test_simple_prompt":
            return _said(_words("This is a simple prompt for testing."))
        if params.name == "test_prompt_with_arguments":
            return _said(_words(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))
        if params.name == "test_prompt_with_embedded_resource":
            resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return _said(resource, _words("Please process the embedded resource above."))
        if params.name == "test_prompt_with_image":
            return _said(IMAGE, _words("Please analyze the image above."))
        if params.name == "test_input_required_result_prompt":
            if "user_context" in (params.input_responses or {}):
                return _said(_words("The context was told."))
            asked = form("What context should the prompt use?", context=STRING)
            return types.InputRequiredResult(input_requests={"user_context": asked})
        found: types.GetPromptResult = await self._get(context, params)
        return found

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        if isinstance(params.ref, types.PromptReference) and params.ref.name in _PROMPT_ARGUMENTS:
            values = [city for city in ("paris", "park", "party") if city.startswith(params.argument.value)]
            return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
        found: types.CompleteResult = await self._complete(context, params)
        return found
