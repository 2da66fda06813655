"""The SDK's own client, in both eras of the protocol, against the real endpoint on a real space."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # publishes no types
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Implementation

from clients import LINGER
from tetrarium.mcp.tools import BY_NAME
from tetrarium.service import open_space

ERAS = ["legacy", "2026-07-28"]
SHAPES = {"legacy": ("--standalone",), "2026-07-28": LINGER}
"""Each era in one of the two shapes of the endpoint; tests/journeys/test_relay.py has both eras on the relay."""

READING = {"memory_search": {"query": "anything at all"}, "void_recall": {"query": "anything at all"}, "void_stats": {}}

OLD = "The billing service listens on port 8080 behind the proxy."
NEW = "The billing service moved to port 9090, because 8080 collided with the proxy's health check."


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return tmp_path / "space"


def talk(space: Path, era: str, journey: Callable[[Client], Awaitable[None]], *, project: str = "") -> None:
    """Runs a journey with a client of that era; the environment is the bare one that an IDE's SDK passes on."""
    endpoint = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tetrarium.mcp", "--data-dir", str(space), "--project", project, *SHAPES[era]],
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )

    async def run() -> None:
        introduced = Implementation(name="journey", version="7.1")
        async with asyncio.timeout(100), Client(endpoint, mode=era, client_info=introduced) as client:
            await journey(client)

    asyncio.run(run())


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call that must succeed; its structured content, checked against the tool's output schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    jsonschema.validate(result.structured_content, BY_NAME[tool].output_schema)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """A call that must be refused; the words of the refusal."""
    result: CallToolResult = await client.call_tool(tool, arguments)
    assert result.is_error
    (block,) = result.content
    assert block.type == "text"
    return block.text


@pytest.mark.parametrize("era", ERAS)
def test_what_is_stored_is_recalled_corrected_and_found(space: Path, era: str) -> None:
    async def journey(client: Client) -> None:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == set(BY_NAME)
        assert client.instructions is None or "void_recall" in client.instructions

        old = await call(client, "memory_create", content=OLD, keywords="billing, port", labels=["infra"])
        assert old["outcome"] == "stored"
        recalled = await call(client, "void_recall", query="Which port does billing use?")
        assert [block["id"] for block in recalled["blocks"]] == [old["id"]]
        assert recalled["blocks"][0]["content"] == OLD
        assert recalled["blocks"][0]["source"] == "journey 7.1"

        new = await call(client, "void_store", content=NEW, supersedes=old["id"])
        assert new["superseded"] == [old["id"]]
        recalled = await call(client, "void_recall", query="Which port does billing use?")
        assert [block["id"] for block in recalled["blocks"]] == [new["id"]]
        assert recalled["inhibited_skipped"] == 1

        found = await call(client, "memory_search", query="billing port")
        assert [hit["id"] for hit in found["hits"]] == [new["id"]]
        history = await call(client, "memory_search", query="billing port", state="inhibited")
        assert [(hit["id"], hit["superseded_by"]) for hit in history["hits"]] == [(old["id"], new["id"])]

        stats = await call(client, "void_stats")
        assert (stats["memories"], stats["live"], stats["inhibited"]) == (2, 1, 1)

    talk(space, era, journey)


@pytest.mark.parametrize("era", ERAS)
def test_an_empty_space_answers_every_reading_tool(space: Path, era: str) -> None:
    async def journey(client: Client) -> None:
        answers = {tool: await call(client, tool, **arguments) for tool, arguments in READING.items()}
        assert answers["memory_search"]["hits"] == []
        assert answers["void_recall"]["blocks"] == []
        assert answers["void_stats"]["memories"] == 0

    talk(space, era, journey)


@pytest.mark.parametrize("era", ERAS)
def test_malformed_calls_are_refused_with_advice_and_change_nothing(space: Path, era: str) -> None:
    async def journey(client: Client) -> None:
        assert "'content' is missing" in await refusal(client, "memory_create")
        assert "Did you mean content" in await refusal(client, "memory_create", contents=OLD)
        assert "one of decision" in await refusal(client, "memory_create", content=OLD, category="idea")
        assert "'budget'" in await refusal(client, "void_recall", query="x", budget="lots")
        assert "01ARZ3NDEKTSV4RRFFQ69G5FAV" in await refusal(
            client, "void_store", content=OLD, supersedes="01ARZ3NDEKTSV4RRFFQ69G5FAV"
        )
        assert (await call(client, "void_stats"))["memories"] == 0

    talk(space, era, journey)


def test_noise_is_answered_not_stored_and_a_repetition_is_merged(space: Path) -> None:
    async def journey(client: Client) -> None:
        noise = await call(client, "memory_create", content="ok thanks, great!")
        assert noise["outcome"] == "noise"
        assert noise["reason"]
        assert "id" not in noise
        first = await call(client, "memory_create", content=NEW)
        again = await call(client, "void_store", content=NEW)
        assert again["outcome"] == "merged"
        assert again["merged_with"] == first["id"]
        assert (await call(client, "void_stats"))["memories"] == 1

    talk(space, "legacy", journey)


def test_a_retried_store_with_its_key_stores_nothing_twice(space: Path) -> None:
    async def journey(client: Client) -> None:
        first = await call(client, "memory_create", content=OLD, idempotency_key="call-1")
        again = await call(client, "memory_create", content=OLD, idempotency_key="call-1")
        assert again["id"] == first["id"]
        assert (await call(client, "void_stats"))["memories"] == 1

    talk(space, "2026-07-28", journey)


def test_search_filters_and_pages(space: Path) -> None:
    async def journey(client: Client) -> None:
        for number in range(12):
            await call(
                client,
                "memory_create",
                content=f"Deployment runbook number {number}: restart worker {number * 7} before the cache in zone {number * 13}.",
                labels=["runbook", "even" if number % 2 == 0 else "odd"],
                category="skill" if number < 6 else "bug",
                created_at=f"2026-0{1 + number // 4}-10",
            )
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await call(client, "memory_search", query="deployment runbook", limit=5, offset=offset)
            assert page["total"] == 12
            seen += [hit["id"] for hit in page["hits"]]
            offset = page.get("next_offset")
        assert len(seen) == len(set(seen)) == 12

        async def total(**filters: Any) -> int:
            return int((await call(client, "memory_search", query="deployment runbook", **filters))["total"])

        assert await total(labels="even") == 6
        assert await total(labels=["even", "runbook"]) == 6
        assert await total(categories="bug") == 6
        assert await total(categories=["bug", "skill"]) == 12
        assert await total(since="2026-03-01") == 4
        assert await total(until="2026-01-10") == 4
        assert await total(since="2026-02-10", until="2026-02-10") == 4
        assert await total(state="inhibited") == 0

    talk(space, "legacy", journey)


def test_a_client_sees_its_own_project_and_what_all_share(space: Path) -> None:
    async def journey(client: Client) -> None:
        mine = await call(client, "memory_create", content="The lantern module writes its cache to /var/lantern/cache.")
        shared = await call(
            client, "memory_create", content="Every module writes its cache below the folder /var.", project=""
        )
        other = await call(
            client, "memory_create", content="The harbor module writes its cache to a ramdisk.", project="harbor"
        )
        for tool, key in (("memory_search", "hits"), ("void_recall", "blocks")):
            own = await call(client, tool, query="where does a module write its cache")
            assert {row["id"] for row in own[key]} == {mine["id"], shared["id"]}, tool
            everything = await call(client, tool, query="where does a module write its cache", project="*")
            assert {row["id"] for row in everything[key]} == {mine["id"], shared["id"], other["id"]}, tool

    talk(space, "legacy", journey, project="lantern")


def test_default_lists_stay_short_and_a_budget_is_never_exceeded(space: Path) -> None:
    with open_space(space) as service:
        for number in range(60):
            service.store(
                f"Service {number} retries its queue {number + 2} times, "
                + "because the broker drops messages under load. " * (number % 9 + 1)
            )

    async def journey(client: Client) -> None:
        page = await call(client, "memory_search", query="how often does a service retry its queue", limit=100)
        assert len(str(page)) / 3.5 < 2_000
        assert page["next_offset"] == len(page["hits"])
        for budget in (60, 500, 4_000):
            recalled = await call(
                client, "void_recall", query="how often does a service retry its queue", budget=budget
            )
            assert recalled["token_usage"] <= recalled["budget"] == budget
            assert all(block["content"].endswith("under load.") for block in recalled["blocks"])

    talk(space, "legacy", journey)
