"""What a relay must tell a new host: the requests without an answer, and what made the session what it is.

Pure bookkeeping, standard library only. Lines are numbered in the order in which the client said them; a line that
is told again keeps its number.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tetrarium.mcp.lines import RequestId, request_id

_ANSWER = re.compile(rb'^\{"jsonrpc":\s*"2\.0",\s*"id":\s*(-?\d+|"(?:[^"\\]|\\.)*"),\s*"(?:result|error)":')
"""A response as our host writes it."""

_STATE = {
    "initialize": "initialize",
    "notifications/initialized": "initialized",
    "logging/setLevel": "level",
    "resources/list": "list",
    "resources/subscribe": "subscription",
    "resources/unsubscribe": "subscription",
}
"""What a session remembers: method → what of it a later one replaces."""

_ONCE = "once"


@dataclass(slots=True)
class _Entry:
    """A line that a new host must see: unanswered, or one with a `state` that a session remembers."""

    line: bytes
    request: RequestId | None
    state: str
    answered: bool = False


class Ledger:
    """The lines that count. `name`: of the relay, the beginning of the ids under which it repeats answered requests."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last = 0
        self._entries: dict[int, _Entry] = {}
        self._open: dict[RequestId, deque[int]] = {}
        self._states: dict[str, int] = {}
        self.size = 0

    @property
    def has_session(self) -> bool:
        """Whether a host has answered this client before."""
        return any(entry.answered and entry.request is not None for entry in self._entries.values())

    @property
    def is_settled(self) -> bool:
        """Whether nothing is unanswered."""
        return all(entry.answered for entry in self._entries.values())

    def take(self, line: bytes, message: Any, *, sent: bool) -> bytes:
        """Enter a line of the client (`message`: its JSON value); gives it with its number, as hosts read it.

        sent: it goes to a host at once; else also a line that has no answer is kept until there is one.
        """
        self._last += 1
        told = message if isinstance(message, dict) else {}
        request, method, params = request_id(told), told.get("method"), told.get("params")
        if method == "notifications/cancelled" and isinstance(params, dict):
            self.settle(params.get("requestId"))
        state = _STATE.get(method, "") if isinstance(method, str) else ""
        if state == "subscription" and isinstance(params, dict):
            state += f" {params.get('uri')}"
        answers = "method" not in told and not {"result", "error"}.isdisjoint(told)  # a question of the host's
        if request is not None and not answers:
            self._open.setdefault(request, deque()).append(self._last)
            self._enter(_Entry(line, request, state))
        elif state:
            self._enter(_Entry(line, None, state))
            self._close(self._last)
        elif not sent:
            self._enter(_Entry(line, None, _ONCE))
        return b"%d %b\n" % (self._last, line)

    def pass_on(self, line: bytes) -> bool:
        """Enter a line of the host; False for an answer that only the relay has asked for."""
        if match := _ANSWER.match(line):
            request = json.loads(match[1])
            if isinstance(request, str) and request.startswith(self._name):
                return False
            self.settle(request)
        return True

    def settle(self, request: Any) -> None:
        """The oldest request of this id is answered, or cancelled."""
        if not isinstance(request, str | int) or request not in self._open:
            return
        numbers = self._open[request]
        number = numbers.popleft()
        if not numbers:
            del self._open[request]
        self._close(number)

    def for_a_new_host(self) -> Iterator[bytes]:
        """All that counts, numbered, in order; what was answered before under an id of the relay's own."""
        for number, entry in list(self._entries.items()):
            line = entry.line
            if entry.answered and entry.request is not None:
                line = json.dumps(json.loads(line) | {"id": f"{self._name}-{number}"}).encode()
            yield b"%d %b\n" % (number, line)
            if entry.state == _ONCE:
                self._drop(number)

    def _enter(self, entry: _Entry) -> None:
        self._entries[self._last] = entry
        self.size += len(entry.line)

    def _close(self, number: int) -> None:
        """Nothing is waited for any more; what a session remembers stays, in place of what it replaces."""
        entry = self._entries[number]
        entry.answered = True
        done: int | None = number
        if entry.state:
            done = self._states.get(entry.state)
            self._states[entry.state] = number
        if done is not None:
            self._drop(done)

    def _drop(self, number: int) -> None:
        self.size -= len(self._entries.pop(number).line)
