"""An agent as IDEs have it: the official client of the protocol over standard input and output, on a thread of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import Implementation

from clients import LINGER, PATIENCE


class Agent:
    """Connected from the start until `leave`. name: as it introduces itself; standalone: with an engine of its own."""

    def __init__(self, space: Path, name: str = "claude-code", *, standalone: bool = False) -> None:
        options = ["--standalone"] if standalone else list(LINGER)
        self._endpoint = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tetrarium.mcp", "--data-dir", str(space), *options],
            env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._name = name
        self._ready: Future[Client] = Future()
        self._leave = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.result(PATIENCE)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool."""
        called = asyncio.run_coroutine_threadsafe(self._ready.result().call_tool(tool, arguments), self._loop)
        result = called.result(PATIENCE)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    def store(self, content: str) -> str:
        return str(self.call("memory_create", content=content)["id"])

    def recall(self, query: str, **arguments: Any) -> list[str]:
        """The ids of what it got."""
        return [block["id"] for block in self.call("void_recall", query=query, **arguments)["blocks"]]

    def leave(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._leave.set)
            self._thread.join(PATIENCE)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        introduced = Implementation(name=self._name, version="2.1")
        async with Client(self._endpoint, client_info=introduced) as client:
            await client.list_tools()
            self._ready.set_result(client)
            await self._leave.wait()
