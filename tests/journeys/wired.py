"""A client of the SDK and a session of ours in one process, wired by lines of bytes: every byte of the protocol, no pipe.

For journeys that must hold the lane still, look at the space from the side, or count what a client hears.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp.types import Implementation

from tetrarium.mcp.host import Host
from tetrarium.mcp.session import Session

ERAS = ["legacy", "2026-07-28"]
CLIENT = "wired 3.2"
PATIENCE = 60.0
"""Seconds that any journey may take on a busy machine."""


class Ear:
    """Keeps what a client of the handshake era hears beside its answers."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self._news = asyncio.Event()

    async def __call__(self, message: Any) -> None:
        self.heard.append(message)
        self._news.set()

    async def until(self, fits: Callable[[Any], bool]) -> Any:
        """The first notice that fits; it may have come already."""
        while not (found := [message for message in self.heard if fits(message)]):
            self._news.clear()
            await self._news.wait()
        return found[0]

    def updates(self) -> list[str]:
        return [m.params.uri for m in self.heard if isinstance(m, types.ResourceUpdatedNotification)]


@asynccontextmanager
async def _wire(session: Session) -> AsyncIterator[tuple[Any, Any]]:
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](1_000)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage]()

    async def received() -> AsyncIterator[bytes]:
        while (line := await lines.get()) is not None:
            yield line

    async def write(line: bytes) -> None:
        assert line.endswith(b"\n")
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await to_client.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(line)))

    async def pump() -> None:
        async with from_client:
            async for item in from_client:
                lines.put_nowait(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        lines.put_nowait(None)

    async with asyncio.TaskGroup() as tasks:
        pumping = tasks.create_task(pump())
        serving = tasks.create_task(session.serve(received(), write))
        try:
            yield from_server, to_server
        finally:
            for stream in (to_server, from_server):
                await stream.aclose()
            await asyncio.wait([pumping, serving], timeout=PATIENCE)
            await to_client.aclose()


Journey = Callable[[Client, Host], Awaitable[None]]


def converse(
    space: Path, era: str, journey: Journey, *, project: str = "", name: str = "wired", ear: Ear | None = None
) -> None:
    """Run a journey with a client of that era against a session on its own host."""

    async def run() -> None:
        host = Host(space)
        session = Session(host, project=project, version="0")
        introduced = Implementation(name=name, version="3.2")
        try:
            async with asyncio.timeout(PATIENCE):
                client = Client(_wire(session), mode=era, client_info=introduced, message_handler=ear)
                async with client:
                    await journey(client, host)
        finally:
            assert await asyncio.to_thread(host.close, PATIENCE)

    asyncio.run(run())


async def store(client: Client, content: str, **arguments: Any) -> str:
    """Store a memory through the tool; its id."""
    result = await client.call_tool("memory_create", {"content": content, **arguments})
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return str(result.structured_content["id"])


async def text_of(client: Client, uri: str) -> str:
    """The text of a resource."""
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert contents.uri == uri
    return contents.text
