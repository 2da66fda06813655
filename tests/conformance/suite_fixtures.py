"""What the official suite wants to find in a server: tools, resources and prompts by fixed names and fixed words.

A plug-in for tests. It stands in front of the handlers of a session: what is not its own goes on to them, so the suite
sees our tools, resources, prompts and errors as well. Nothing of it is in the shipped server.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import PromptsListChanged, SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError

from tetrarium.mcp.context import Context

Params = types.CallToolRequestParams
Outcome = types.CallToolResult | types.InputRequiredResult
Run = Callable[[Context, Params], Awaitable[Outcome]]

STEP = 0.05
"""Seconds between two notices of a tool, as the suite asks."""

_SECRET = b"nothing outside a test run"


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


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + body).decode()


def _wav() -> str:
    """Four samples of silence."""
    samples = b"\x80" * 4
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 40, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 4)
    return base64.b64encode(head + samples).decode()


IMAGE = types.ImageContent(type="image", data=_png(), mime_type="image/png")


def _resource(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


# --- tools that answer at once ------------------------------------------------------------------------


def _always(*content: types.ContentBlock) -> Run:
    async def run(context: Context, params: Params) -> Outcome:
        return types.CallToolResult(content=list(content))

    return run


async def _failing(context: Context, params: Params) -> Outcome:
    text = "This tool intentionally returns an error for testing"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


async def _logging(context: Context, params: Params) -> Outcome:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", words, related_request_id=context.request_id)
        await asyncio.sleep(STEP)
    return _text("Logged three times.")


async def _progressing(context: Context, params: Params) -> Outcome:
    for progress in (0, 50, 100):
        await context.session.report_progress(progress, 100)
        await asyncio.sleep(STEP)
    return _text("Told its progress three times.")


# --- tools that ask the client ------------------------------------------------------------------------


async def _sampling(context: Context, params: Params) -> Outcome:
    prompt = str((params.arguments or {})["prompt"])
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    said = answer.content.text if isinstance(answer.content, types.TextContent) else ""
    return _text(f"LLM response: {said}")


def _eliciting(told: str, schema: dict[str, Any], message: str = "Please tell.") -> Run:
    async def run(context: Context, params: Params) -> Outcome:
        words = str((params.arguments or {}).get("message", message))
        answer = await context.session.elicit_form(words, schema, related_request_id=context.request_id)
        return _text(f"{told}: action={answer.action}, content={answer.content}")

    return run


def _properties(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


USER = _properties(
    ["username", "email"],
    username={"type": "string", "description": "User's response"},
    email={"type": "string", "description": "User's email address"},
)
DEFAULTS = _properties(
    [],
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
_PLAIN = [f"option{n}" for n in (1, 2, 3)]
_ORDINALS = ("First", "Second", "Third")
ENUMS = _properties(
    [],
    untitledSingle={"type": "string", "enum": _PLAIN},
    titledSingle={
        "type": "string",
        "oneOf": [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(_ORDINALS, 1)],
    },
    legacyEnum={
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _PLAIN}},
    titledMulti={
        "type": "array",
        "items": {"anyOf": [{"const": f"value{n}", "title": f"{word} Choice"} for n, word in enumerate(_ORDINALS, 1)]},
    },
)


# --- tools that need input before they can answer (2026-07-28) ------------------------------------------


def _form(message: str, **properties: Any) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message=message, requested_schema=_properties(list(properties), **properties)
        )
    )


def _sample(question: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=question))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


ROOTS = types.ListRootsRequest()
NAME = _form("What is your name?", name={"type": "string"})
CONFIRM = _form("Please confirm", ok={"type": "boolean"})
STRING = {"type": "string"}


def _sealed(state: str) -> str:
    return f"{state}.{hmac.new(_SECRET, state.encode(), hashlib.sha256).hexdigest()}"


def _unsealed(sealed: str | None) -> str | None:
    """The state that we gave out; None when there is none yet. Raises MCPError for one that is not ours."""
    if sealed is None:
        return None
    state = sealed.partition(".")[0]
    if not hmac.compare_digest(sealed, _sealed(state)):
        raise MCPError(code=types.INVALID_PARAMS, message="The request state is not one that was given out.")
    return state


def _needing(told: str, *, state: str | None = None, **requests: Any) -> Run:
    """Asks until every request is answered; with a state, also until that comes back as it was given out."""

    async def run(context: Context, params: Params) -> Outcome:
        echoed = _unsealed(params.request_state)
        answers = params.input_responses or {}
        if requests.keys() <= answers.keys() and echoed == state:
            return _text(f"{told} {[answers[key].model_dump(by_alias=True, exclude_none=True) for key in requests]}")
        return types.InputRequiredResult(input_requests=requests, request_state=_sealed(state) if state else None)

    return run


async def _rounds(context: Context, params: Params) -> Outcome:
    reached, answers = _unsealed(params.request_state), params.input_responses or {}
    if reached == "round-2" and "step2" in answers:
        return _text("Two rounds were answered.")
    if reached == "round-1" and "step1" in answers:
        second = _form("Step 2: What is your favorite color?", color=STRING)
        return types.InputRequiredResult(input_requests={"step2": second}, request_state=_sealed("round-2"))
    first = _form("Step 1: What is your name?", name=STRING)
    return types.InputRequiredResult(input_requests={"step1": first}, request_state=_sealed("round-1"))


async def _capable(context: Context, params: Params) -> Outcome:
    able = context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, Any] = {}
    if able.elicitation is not None:
        requests["user_name"] = NAME
    if able.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting", 50)
    return types.InputRequiredResult(input_requests=requests) if requests else _text("The client can do neither.")


async def _needing_sampling(context: Context, params: Params) -> Outcome:
    able = context.session.client_capabilities
    if able is None or able.sampling is None:
        wanted = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message="This tool needs sampling.", data=wanted)
    return _text("The client can sample.")


# --- the tables ---------------------------------------------------------------------------------------

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": STRING, "city": STRING},
        }
    },
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

TOOLS: dict[str, Run] = {
    "test_simple_text": _always(types.TextContent(type="text", text="This is a simple text response for testing.")),
    "test_image_content": _always(IMAGE),
    "test_audio_content": _always(types.AudioContent(type="audio", data=_wav(), mime_type="audio/wav")),
    "test_embedded_resource": _always(
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": _always(
        types.TextContent(type="text", text="Multiple content types test:"),
        IMAGE,
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": _failing,
    "test_tool_with_logging": _logging,
    "test_logging_tool": _logging,
    "test_tool_with_progress": _progressing,
    "test_sampling": _sampling,
    "test_elicitation": _eliciting("User response", USER),
    "test_elicitation_sep1034_defaults": _eliciting("Elicitation completed", DEFAULTS),
    "test_elicitation_sep1330_enums": _eliciting("Elicitation completed", ENUMS),
    "json_schema_2020_12_tool": _always(types.TextContent(type="text", text="Nothing to do.")),
    "test_missing_capability": _needing_sampling,
    "test_streaming_elicitation": _needing("Hello", user_name=NAME),
    "test_input_required_result_elicitation": _needing("Hello", user_name=NAME),
    "test_input_required_result_sampling": _needing(
        "Heard", capital_question=_sample("What is the capital of France?", 100)
    ),
    "test_input_required_result_list_roots": _needing("Roots", client_roots=ROOTS),
    "test_input_required_result_request_state": _needing("state-ok", state="confirming", confirm=CONFIRM),
    "test_input_required_result_multiple_inputs": _needing(
        "All there",
        state="asking",
        user_name=NAME,
        greeting=_sample("Generate a greeting", 50),
        client_roots=ROOTS,
    ),
    "test_input_required_result_multi_round": _rounds,
    "test_input_required_result_tampered_state": _needing("Untouched", state="sealed", confirm=CONFIRM),
    "test_input_required_result_capabilities": _capable,
}

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "test_sampling": _properties(["prompt"], prompt=STRING),
    "test_elicitation": _properties(["message"], message=STRING),
    "json_schema_2020_12_tool": SCHEMA_2020_12,
}


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
                input_schema=_ARGUMENTS.get(name, {"type": "object", "properties": {}}),
            )
            for name in (*TOOLS, *self._changes)
        ]
        return types.ListToolsResult(tools=[*ours.tools, *fixtures])

    async def call(self, context: Context, params: Params) -> Outcome:
        if params.name in self._changes:
            await self._bus.publish(self._changes[params.name])
            return _text("Told.")
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
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=_png())
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
            embedded = _resource(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return _said(embedded, _words("Please process the embedded resource above."))
        if params.name == "test_prompt_with_image":
            return _said(IMAGE, _words("Please analyze the image above."))
        if params.name == "test_input_required_result_prompt":
            if "user_context" in (params.input_responses or {}):
                return _said(_words("The context was told."))
            asked = _form("What context should the prompt use?", context=STRING)
            return types.InputRequiredResult(input_requests={"user_context": asked})
        found: types.GetPromptResult = await self._get(context, params)
        return found

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        if isinstance(params.ref, types.PromptReference) and params.ref.name in _PROMPT_ARGUMENTS:
            values = [city for city in ("paris", "park", "party") if city.startswith(params.argument.value)]
            return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
        found: types.CompleteResult = await self._complete(context, params)
        return found
