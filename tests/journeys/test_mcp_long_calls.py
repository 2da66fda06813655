"""Calls that take long: signs of life, and cancellation. The lane is held still where a call must wait."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from mcp import Client
from wired import ERAS, PATIENCE, converse

from tetrarium.mcp.host import Host

TEXT = "The importer reads GB18030 files because the bank still sends them in that encoding."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "space"


class Gate:
    """Holds the lane until it is opened."""

    def __init__(self, host: Host) -> None:
        self._open = threading.Event()
        self._reached = threading.Event()
        self.held = host.submit(lambda service: (self._reached.set(), self._open.wait(PATIENCE)))

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, PATIENCE)

    def open(self) -> None:
        self._open.set()


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_waits_gives_signs_of_life_to_a_client_that_asked_for_them(folder: Path, era: str) -> None:
    async def journey(client: Client, host: Host) -> None:
        gate = Gate(host)
        heard: list[tuple[float, str]] = []
        alive = asyncio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, message or ""))
            if len(heard) == 2:
                alive.set()

        calling = asyncio.create_task(client.call_tool("memory_create", {"content": TEXT}, progress_callback=hear))
        await alive.wait()
        gate.open()
        assert not (await calling).is_error
        assert heard[0][0] < heard[1][0]
        assert heard[0][1].startswith("waiting")

    converse(folder, era, journey)


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_cancelled_while_it_queues_is_not_run(folder: Path, era: str, progress: bool) -> None:
    async def journey(client: Client, host: Host) -> None:
        gate = Gate(host)
        await gate.reached()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            pass

        calling = asyncio.create_task(
            client.call_tool("memory_create", {"content": TEXT}, progress_callback=hear if progress else None)
        )
        following = asyncio.create_task(client.call_tool("void_stats", {}))
        # Another request's answer shows that the first one has arrived: the wire keeps the order.
        await client.list_tools(cache_mode="bypass")
        calling.cancel()
        await asyncio.wait([calling])
        await client.list_tools(cache_mode="bypass")
        gate.open()
        stats = await following
        assert stats.structured_content
        assert stats.structured_content["memories"] == 0

    converse(folder, era, journey)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_cancelled_while_it_runs_ends_quietly_and_what_it_did_stands(folder: Path, era: str) -> None:
    async def journey(client: Client, host: Host) -> None:
        running, going_on = threading.Event(), threading.Event()
        await host.call(lambda service: service.stats())

        def hold(event: object) -> None:
            running.set()
            going_on.wait(PATIENCE)

        await host.call(lambda service: service.events.subscribe(hold))
        calling = asyncio.create_task(client.call_tool("memory_create", {"content": TEXT}))
        assert await asyncio.to_thread(running.wait, PATIENCE)
        calling.cancel()
        await asyncio.wait([calling])
        await client.list_tools(cache_mode="bypass")
        going_on.set()
        stats = await client.call_tool("void_stats", {})
        assert stats.structured_content
        assert stats.structured_content["memories"] == 1

    converse(folder, era, journey)


def test_a_storm_of_cancelled_calls_leaves_a_session_that_answers(folder: Path) -> None:
    async def journey(client: Client, host: Host) -> None:
        gate = Gate(host)
        await gate.reached()
        calls = [
            asyncio.create_task(client.call_tool("memory_create", {"content": f"{TEXT} Number {number}."}))
            for number in range(64)
        ]
        await client.list_tools(cache_mode="bypass")
        for call in calls[::2]:
            call.cancel()
        await asyncio.wait(calls[::2])
        await client.list_tools(cache_mode="bypass")
        gate.open()
        answers = await asyncio.gather(*calls[1::2])
        assert not any(answer.is_error for answer in answers)
        stored = {answer.structured_content["id"] for answer in answers if answer.structured_content}
        assert (await host.call(lambda service: service.stats())).memories == len(stored)

    converse(folder, "legacy", journey)
