"""The live test of a connection: start the command as the IDE will, shake hands, list the tools, say what was seen."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from tetrarium import __version__
from tetrarium.connect.ide import Command
from tetrarium.connect.refusal import Refused

PATIENCE = 15.0
"""Seconds for all of it; the least patient client in the field gives a server ten."""
LEAVE = 5.0
"""Seconds for the endpoint to leave after its input was closed."""
COMPLAINT = 1.0
"""Seconds for its last words to arrive, once it has failed."""
PROTOCOL = "2025-11-25"
SAID = 400
"""Characters of what a failing endpoint said that are told."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the endpoint told of itself, and after how many seconds."""

    server: str
    version: str
    protocol: str
    tools: tuple[str, ...]
    seconds: float


def try_out(command: Command, *, environment: Mapping[str, str] | None = None, patience: float = PATIENCE) -> Seen:
    """Start the endpoint, initialize, list its tools, leave. Raises Refused with what it said when that fails."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command.call,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
        )
    except OSError as error:
        raise Refused(
            f"{command.program} does not start ({error.strerror}).", advice="Install Tetrarium again."
        ) from None
    talk = _Talk(process, started + patience)
    try:
        told = talk.ask(1, "initialize", {
            "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "tetrarium connect", "version": __version__},
        })  # fmt: skip
        talk.tell("notifications/initialized")
        tools = talk.ask(2, "tools/list", {})
        server = told["serverInfo"]
        names = tuple(tool["name"] for tool in tools["tools"])
        return Seen(server["name"], server["version"], told["protocolVersion"], names, time.monotonic() - started)
    except (KeyError, TypeError, ValueError, OSError, queue.Empty):
        raise Refused(
            f"{command.program} did not answer as an endpoint within {patience:.0f} s. {talk.complaint()}".rstrip(),
            advice="Call it in a terminal to see why.",
        ) from None
    finally:
        talk.end()


class _Talk:
    """Lines to and from one endpoint, each wait bounded by one deadline."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read, args=(process.stdout, self._lines.put), daemon=True),
            threading.Thread(target=self._read, args=(process.stderr, self._errors.append), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request. Raises queue.Empty when none comes, KeyError for an error."""
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            line = self._lines.get(timeout=max(0.01, self._deadline - time.monotonic()))
            if not line:
                raise queue.Empty  # it has left
            answer = json.loads(line)
            if answer.get("id") == number:
                result: dict[str, Any] = answer["result"]
                return result

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def complaint(self) -> str:
        """The end of what it wrote on standard error."""
        self._readers[1].join(COMPLAINT)
        said = b"".join(self._errors).decode("utf-8", "replace").split()
        return f"It said: {' '.join(said)[-SAID:]}" if said else ""

    def end(self) -> None:
        """Close its input and wait until it has left; kill it when it does not."""
        assert self._process.stdin
        try:
            self._process.stdin.close()
            self._process.wait(LEAVE)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(LEAVE)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    @staticmethod
    def _read(stream: IO[bytes] | None, keep: Any) -> None:
        assert stream
        with stream:
            for line in stream:
                keep(line)
        keep(b"")
