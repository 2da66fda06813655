"""Carries streamable HTTP to endpoints that speak lines, so that suites which know HTTP only can test them.

A test tool, never shipped. One endpoint for each session of the handshake era, one for all requests of the modern
era; ids are rewritten for each exchange, since several clients share the modern one. What belongs to HTTP alone –
Host and Origin, the protocol header, status codes – is answered here.

    python http_relay.py SOCKET      prints the port it listens on, then serves until its input ends
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Message = dict[str, Any]

MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
LOCAL = ("localhost", "127.0.0.1", "[::1]")
STATUS = {-32700: 400, -32600: 400, -32602: 400, -32601: 404, -32020: 400, -32021: 400, -32022: 400}
"""HTTP status of an error in the modern era; any other is told with 200."""


@dataclass(eq=False)
class Exchange:
    """One request under way: its own id, its progress token, and what has come for it."""

    id: Any
    method: str
    token: Any
    messages: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)


class Endpoint:
    """A connection to an endpoint, and the exchanges that are under way on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._exchanges: dict[int, Exchange] = {}
        self._last = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def reach(cls, path: str) -> Endpoint:
        return cls(*await asyncio.open_unix_connection(path, limit=1 << 26))

    async def begin(self, message: Message) -> int:
        """Send a request under an id of our own; gives that id."""
        self._last += 1
        meta = (message.get("params") or {}).get("_meta") or {}
        self._exchanges[self._last] = Exchange(message["id"], message["method"], meta.get("progressToken"))
        await self.send(message | {"id": self._last})
        return self._last

    async def next(self, number: int) -> tuple[Message, bool]:
        """The next message of an exchange, and whether it is the last."""
        exchange = self._exchanges[number]
        message = await exchange.messages.get()
        last = "method" not in message
        if last:
            del self._exchanges[number]
        return message, last

    async def abandon(self, number: int) -> None:
        """The client has hung up: cancel what it waits for."""
        if self._exchanges.pop(number, None) is not None:
            await self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    async def pass_on(self, message: Message) -> None:
        """A notification, or an answer to a request of the server."""
        if message.get("method") == "notifications/cancelled":
            wanted = message["params"]["requestId"]
            number = next((n for n, exchange in self._exchanges.items() if exchange.id == wanted), wanted)
            message = message | {"params": message["params"] | {"requestId": number}}
        await self.send(message)

    async def send(self, message: Message) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def end(self) -> None:
        """Close our side, as a client does that leaves; the endpoint answers by closing its own."""
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._reading, 10)
        self._writer.close()

    async def _read(self) -> None:
        async for line in self._reader:
            message = json.loads(line)
            if (exchange := self._exchange_of(message)) is not None:
                exchange.messages.put_nowait(message)

    def _exchange_of(self, message: Message) -> Exchange | None:
        """Whose message it is; ids of ours in it become the client's again."""
        if "method" not in message:
            exchange = self._exchanges.get(message.get("id", 0))
            if exchange is not None:
                message["id"] = exchange.id
                _restore(message.get("result"), exchange)
            return exchange
        params = message.get("params") or {}
        number = (params.get("_meta") or {}).get(SUBSCRIPTION_KEY)
        if number is not None and (exchange := self._exchanges.get(int(number))) is not None:
            _restore(params, exchange)
            return exchange
        waiting = [e for e in self._exchanges.values() if e.method != "subscriptions/listen"]
        if "progressToken" in params:
            return next((e for e in waiting if e.token == params["progressToken"]), None)
        return waiting[0] if waiting else None


def _restore(holder: Any, exchange: Exchange) -> None:
    meta = holder.get("_meta") if isinstance(holder, dict) else None
    if isinstance(meta, dict) and SUBSCRIPTION_KEY in meta:
        meta[SUBSCRIPTION_KEY] = exchange.id


class Relay:
    """The HTTP side."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._sessions: dict[str, Endpoint] = {}
        self._shared: asyncio.Task[Endpoint] | None = None

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        for endpoint in self._sessions.values():
            await endpoint.end()
        if self._shared is not None:
            await (await self._shared).end()

    async def answer(self, request: Request) -> Response:
        if not _is_local(request):
            return Response("not a local host", 403)
        if request.method == "GET":
            return Response(status_code=405)
        if request.method == "DELETE":
            return await self._forget(request)
        try:
            message = json.loads(await request.body())
        except ValueError:
            return JSONResponse(_error(None, -32700, "The body is not JSON."), 400)
        if _is_modern(request, message):
            return await self._answer_modern(request, message)
        return await self._answer_session(request, message)

    async def _forget(self, request: Request) -> Response:
        endpoint = self._sessions.pop(request.headers.get("mcp-session-id", ""), None)
        if endpoint is None:
            return Response(status_code=404)
        await endpoint.end()
        return Response(status_code=200)

    async def _answer_session(self, request: Request, message: Message) -> Response:
        session = request.headers.get("mcp-session-id", "")
        if message.get("method") == "initialize":
            session = secrets.token_hex(16)
            self._sessions[session] = await Endpoint.reach(self._path)
        endpoint = self._sessions.get(session)
        if endpoint is None:
            return JSONResponse(_error(message.get("id"), -32600, "There is no such session."), 404 if session else 400)
        if "method" not in message or "id" not in message:
            await endpoint.pass_on(message)
            return Response(status_code=202)
        return await _exchange(endpoint, message, {"mcp-session-id": session}, {})

    async def _answer_modern(self, request: Request, message: Message) -> Response:
        version = ((message.get("params") or {}).get("_meta") or {}).get(VERSION_KEY)
        header = request.headers.get("mcp-protocol-version")
        if version is not None and header != version:
            text = "The protocol version of the header is not that of the body."
            return JSONResponse(_error(message.get("id"), -32020, text), 400)
        if message.get("method") == "initialize":  # over HTTP no connection has an era: the method does not exist
            return JSONResponse(_error(message.get("id"), -32601, "Method not found"), 404)
        endpoint = await self._modern_endpoint()
        if "id" not in message:
            await endpoint.pass_on(message)
            return Response(status_code=202)
        return await _exchange(endpoint, message, {}, STATUS)

    async def _modern_endpoint(self) -> Endpoint:
        if self._shared is None:
            self._shared = asyncio.create_task(self._start_modern())
        return await asyncio.shield(self._shared)

    async def _start_modern(self) -> Endpoint:
        """The first request decides the era of a pipe: ours does, whatever the client's first one is."""
        endpoint = await Endpoint.reach(self._path)
        meta = {VERSION_KEY: MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        opening = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": meta}}
        await endpoint.next(await endpoint.begin(opening))
        return endpoint


async def _exchange(endpoint: Endpoint, message: Message, headers: dict[str, str], status: dict[int, int]) -> Response:
    """JSON when the answer comes first, else a stream of events up to the answer."""
    number = await endpoint.begin(message)
    first, last = await endpoint.next(number)
    if last:
        return JSONResponse(first, status.get(first.get("error", {}).get("code"), 200), headers)

    async def events() -> AsyncIterator[bytes]:
        told, done = first, False
        try:
            while True:
                yield f"event: message\ndata: {json.dumps(told)}\n\n".encode()
                if done:
                    return
                told, done = await endpoint.next(number)
        finally:
            await endpoint.abandon(number)

    return StreamingResponse(events(), media_type="text/event-stream", headers=headers)


def _is_modern(request: Request, message: Message) -> bool:
    meta = (message.get("params") or {}).get("_meta") or {}
    return VERSION_KEY in meta or request.headers.get("mcp-protocol-version", "") >= MODERN


def _is_local(request: Request) -> bool:
    def is_ours(host: str) -> bool:
        return host in LOCAL or host.rpartition(":")[0] in LOCAL

    origin = request.headers.get("origin")
    return is_ours(request.headers.get("host", "")) and (origin is None or is_ours(origin.partition("://")[2]))


def _error(request: Any, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}}


async def _serve(path: str) -> None:
    relay = Relay(path)
    app = Starlette(routes=[Route("/mcp", relay.answer, methods=["GET", "POST", "DELETE"])], lifespan=relay.lifespan)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
