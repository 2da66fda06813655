"""The tools that the official suite calls by name: content of every kind, tools that ask the client, tools that need input.

Names and words are the suite's; nothing of it is in the shipped server.
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
from mcp.shared.exceptions import MCPError

from tetrarium.mcp.context import Context

Params = types.CallToolRequestParams
Outcome = types.CallToolResult | types.InputRequiredResult
Run = Callable[[Context, Params], Awaitable[Outcome]]

STEP = 0.05
"""Seconds between two notices of a tool, as the suite asks."""

_SECRET = b"nothing outside a test run"


def text_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + body).decode()


def wav() -> str:
    """Four samples of silence."""
    samples = b"\x80" * 4
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 40, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 4)
    return base64.b64encode(head + samples).decode()


IMAGE = types.ImageContent(type="image", data=png(), mime_type="image/png")


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
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
    return text_result("Logged three times.")


async def _progressing(context: Context, params: Params) -> Outcome:
    for progress in (0, 50, 100):
        await context.session.report_progress(progress, 100)
        await asyncio.sleep(STEP)
    return text_result("Told its progress three times.")


# --- tools that ask the client ------------------------------------------------------------------------


async def _sampling(context: Context, params: Params) -> Outcome:
    prompt = str((params.arguments or {})["prompt"])
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    said = answer.content.text if isinstance(answer.content, types.TextContent) else ""
    return text_result(f"LLM response: {said}")


def _eliciting(told: str, schema: dict[str, Any], message: str = "Please tell.") -> Run:
    async def run(context: Context, params: Params) -> Outcome:
        words = str((params.arguments or {}).get("message", message))
        answer = await context.session.elicit_form(words, schema, related_request_id=context.request_id)
        return text_result(f"{told}: action={answer.action}, content={answer.content}")

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


def form(message: str, **properties: Any) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message=message, requested_schema=_properties(list(properties), **properties)
        )
    )


def _sample(question: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=question))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


ROOTS = types.ListRootsRequest()
NAME = form("What is your name?", name={"type": "string"})
CONFIRM = form("Please confirm", ok={"type": "boolean"})
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
            return text_result(
                f"{told} {[answers[key].model_dump(by_alias=True, exclude_none=True) for key in requests]}"
            )
        return types.InputRequiredResult(input_requests=requests, request_state=_sealed(state) if state else None)

    return run


async def _rounds(context: Context, params: Params) -> Outcome:
    reached, answers = _unsealed(params.request_state), params.input_responses or {}
    if reached == "round-2" and "step2" in answers:
        return text_result("Two rounds were answered.")
    if reached == "round-1" and "step1" in answers:
        second = form("Step 2: What is your favorite color?", color=STRING)
        return types.InputRequiredResult(input_requests={"step2": second}, request_state=_sealed("round-2"))
    first = form("Step 1: What is your name?", name=STRING)
    return types.InputRequiredResult(input_requests={"step1": first}, request_state=_sealed("round-1"))


async def _capable(context: Context, params: Params) -> Outcome:
    able = context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, Any] = {}
    if able.elicitation is not None:
        requests["user_name"] = NAME
    if able.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting", 50)
    return types.InputRequiredResult(input_requests=requests) if requests else text_result("The client can do neither.")


async def _needing_sampling(context: Context, params: Params) -> Outcome:
    able = context.session.client_capabilities
    if able is None or able.sampling is None:
        wanted = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=types.MISSING_REQUIRED_CLIENT_CAPABILITY, message="This tool needs sampling.", data=wanted)
    return text_result("The client can sample.")


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
    "test_audio_content": _always(types.AudioContent(type="audio", data=wav(), mime_type="audio/wav")),
    "test_embedded_resource": _always(
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": _always(
        types.TextContent(type="text", text="Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
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

ARGUMENTS: dict[str, dict[str, Any]] = {
    "test_sampling": _properties(["prompt"], prompt=STRING),
    "test_elicitation": _properties(["message"], message=STRING),
    "json_schema_2020_12_tool": SCHEMA_2020_12,
}
