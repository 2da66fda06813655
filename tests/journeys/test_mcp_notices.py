"""Notices of change through the relay: they outlive the host that gave them, and reach the clients beside."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ResourceUpdated

from clients import LINGER, PATIENCE, Pipe, kill_host, stop_host

TEXT = "The importer reads GB18030 files because the bank still sends them in that encoding."


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Path]:
    space = tmp_path / "space"
    yield space
    stop_host(space)


def test_a_subscription_outlives_its_host_and_hears_other_clients(space: Path) -> None:
    watching, other = Pipe(space).hello(), Pipe(space).hello()
    memory = other.call("memory_create", content=TEXT)["structuredContent"]["id"]
    uri = f"memory://item/{memory}"
    assert watching.ask("resources/subscribe", {"uri": uri})["result"] == {}
    assert not other.call("memory_update", id=memory, importance=0.9).get("isError")
    assert watching.answer(None)["params"] == {"uri": uri}

    kill_host(space)
    assert (
        watching.call("void_stats")["structuredContent"]["memories"] == 1
    )  # it has its new host, and all that was said
    assert not other.call("memory_update", id=memory, importance=0.1).get("isError")
    notice = watching.answer(None)
    assert (notice["method"], notice["params"]) == ("notifications/resources/updated", {"uri": uri})
    for pipe in (watching, other):
        assert pipe.leave()[0] == 0


def test_a_stream_of_the_modern_era_outlives_its_host(space: Path) -> None:
    endpoint = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tetrarium.mcp", "--data-dir", str(space), *LINGER],
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )

    async def run() -> None:
        async with asyncio.timeout(PATIENCE), Client(endpoint, mode="2026-07-28") as client:
            stored = await client.call_tool("memory_create", {"content": TEXT})
            assert stored.structured_content
            uri = f"memory://item/{stored.structured_content['id']}"
            async with client.listen(resource_subscriptions=[uri]) as stream:
                kill_host(space)
                changed = {"id": stored.structured_content["id"], "importance": 0.9}
                assert not (await client.call_tool("memory_update", changed)).is_error
                async for event in stream:
                    assert event == ResourceUpdated(uri=uri)
                    break

    asyncio.run(run())
