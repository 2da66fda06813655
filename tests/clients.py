"""A client of bare pipes for the endpoint, and what tests and benchmarks know of the host behind it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tetrarium.mcp import meeting

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "pipe", "version": "1"},
}
PATIENCE = 60.0
"""Seconds that any answer may take on a busy machine."""

LINGER = ("--linger", "1")
"""No test leaves a host behind: it goes a second after its last client."""


class Pipe:
    """A client of bare pipes: every line that comes out is kept as it came. `standalone`: without relay and host."""

    def __init__(
        self, space: Path, *options: str, standalone: bool = False, environment: dict[str, str] | None = None
    ) -> None:
        bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        shape = ("--standalone",) if standalone else LINGER
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tetrarium.mcp", "--data-dir", str(space), *shape, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=bare | (environment or {}),
        )
        self.lines: list[bytes] = []
        self.errors: list[bytes] = []
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._kept: dict[Any, dict[str, Any]] = {}
        self._number = 0
        targets = (self._read_out, self._read_err)
        self._readers = [threading.Thread(target=target, daemon=True) for target in targets]
        for reader in self._readers:
            reader.start()

    def _read_out(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self._answers.put(json.loads(line))

    def _read_err(self) -> None:
        assert self.process.stderr
        self.errors.extend(self.process.stderr)

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, request: Any, method: str, params: dict[str, Any]) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": request, "method": method, "params": params}).encode())

    def answer(self, request: Any) -> dict[str, Any]:
        while request not in self._kept:
            answer = self._answers.get(timeout=PATIENCE)
            self._kept[answer.get("id")] = answer
        return self._kept.pop(request)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.request(f"n{self._number}", method, params)
        return self.answer(f"n{self._number}")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def hello(self) -> Pipe:
        assert self.ask("initialize", HELLO)["result"]["serverInfo"]["name"] == "tetrarium"
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return self

    def leave(self) -> tuple[int, float]:
        """Closes its side; exit code and seconds until the endpoint was gone."""
        assert self.process.stdin
        begun = time.monotonic()
        self.process.stdin.close()
        return self._gone(), time.monotonic() - begun

    def _gone(self) -> int:
        code = self.process.wait(timeout=PATIENCE)
        for reader in self._readers:
            reader.join(timeout=PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream
            stream.close()
        return code

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        if self._readers[0].is_alive() or not self.process.stdout or not self.process.stdout.closed:
            assert self.process.stdin
            self.process.stdin.close()
            self._gone()


def host_of(space: Path) -> int | None:
    """The process that hosts a space now, None when none does."""
    address = meeting.address_of(space)
    if address is None:
        return None
    lock = meeting.Lock(space)
    try:
        return None if lock.is_free() else address.process
    finally:
        lock.close()


def kill_host(space: Path) -> int:
    """Kill the host of a space, as a crash or the system would; gives the process that was killed."""
    process = host_of(space)
    assert process is not None
    os.kill(process, signal.SIGKILL)
    return process


def stop_host(space: Path) -> None:
    """Ask the host of a space to end, if there is one, and wait until it has."""
    if not space.is_dir():
        return
    if (process := host_of(space)) is not None:
        os.kill(process, signal.SIGTERM)
    lock = meeting.Lock(space)
    assert lock.take(PATIENCE), "the host did not end"
    lock.close()
