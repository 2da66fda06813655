"""Lines of the wire: cut out of a stream of bytes, and read as far as JSON goes.

Standard library only, because relay and session share it. The protocol's own SDK drops a line that it
cannot read without a word, and its client would wait for ever: here every request whose id can be made
out gets an answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tetrarium.config import DEFAULTS

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Codes of JSON-RPC 2.0."""

RequestId = str | int

_TAIL = 400
"""Bytes kept of the end of a line that is too long: where some clients write the id."""

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,100}"\s*,\s*){0,2}' + _ID)
_ID_LAST = re.compile(rb'\}\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*' + _ID + rb"\s*\}\s*$")


class Unreadable(Exception):
    """A line that is no message: `code` and `request` (None: its id cannot be made out) for the answer."""

    def __init__(self, code: int, message: str, request: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request = request

    def answer(self) -> bytes:
        """The error response, without the line's end."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.request, "error": error}).encode()


class Splitter:
    """Cuts pieces of a stream into lines, without their ends.

    A line beyond `limit` bytes comes once, cut to one more than the limit with its last bytes kept, so that
    it can be refused, by its id, without being kept.
    """

    def __init__(self, limit: int = DEFAULTS.request_limit) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._tail = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that end in this piece."""
        *ends, rest = piece.split(b"\n")
        lines = []
        for end in ends:
            self._keep(end)
            lines.append(self._take())
        self._keep(rest)
        return lines

    def rest(self) -> bytes:
        """What came after the last line's end: a last line that lacks its own."""
        return self._take()

    @property
    def held(self) -> int:
        """Bytes of the line that has begun."""
        return min(self._size, self._limit)

    def _keep(self, piece: bytes) -> None:
        if self._size <= self._limit:
            self._pieces.append(piece)
        if self._size + len(piece) > self._limit:
            self._tail = (self._tail + piece)[-_TAIL:]
        self._size += len(piece)

    def _take(self) -> bytes:
        line, size, tail = b"".join(self._pieces), self._size, self._tail[-self._limit :]
        self._pieces, self._size, self._tail = [], 0, b""
        return line if size <= self._limit else line[: self._limit + 1 - len(tail)] + tail


def read_json(line: bytes) -> Any:
    """The JSON value of a line. Raises Unreadable with the id of the request where it can be made out."""
    if len(line) > DEFAULTS.request_limit:
        raise Unreadable(
            INVALID_REQUEST,
            f"The message is longer than {DEFAULTS.request_limit} bytes; nothing was done.",
            legible_id(line),
        )
    try:
        return json.loads(line.decode(), parse_constant=_no_number)
    except _NoNumberError as error:
        raise Unreadable(PARSE_ERROR, f"The line cannot be read: {error}.", _id_beside(line)) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "it is not JSON in UTF-8"
        raise Unreadable(PARSE_ERROR, f"The line cannot be read: {reason}.", legible_id(line)) from None


def request_id(message: dict[str, Any]) -> RequestId | None:
    """The id of a message that was read, None when it has none that an answer could carry."""
    request = message.get("id")
    if isinstance(request, bool) or not isinstance(request, str | int) or not is_unicode(request):
        return None
    return request


def is_unicode(value: Any) -> bool:
    """Whether the value can be written as UTF-8: no half of a surrogate pair anywhere in it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def legible_id(line: bytes) -> RequestId | None:
    """The id of a request that is otherwise unreadable: where it stands before the trouble, or at the very end."""
    match = _ID_FIRST.match(line) or _ID_LAST.search(line[-_TAIL:])
    try:
        request = json.loads(match[1]) if match else None
    except ValueError:
        return None
    return request if isinstance(request, str | int) else None


class _NoNumberError(ValueError):
    """A line that is JSON but for NaN or Infinity, as some programs write them."""


def _no_number(name: str) -> float:
    raise _NoNumberError(f"{name} is no JSON number")


def _id_beside(line: bytes) -> RequestId | None:
    """The id of a request in which something is no number: wherever it stands, where the rest can be read."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return legible_id(line)
    return request_id(message) if isinstance(message, dict) else None
