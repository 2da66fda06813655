"""Lines that are no good requests, and what an endpoint owes each of them: an answer wherever an id is legible.

What is owed is found out here by rules of our own, not by asking the code under test: a line that is JSON owes an
answer to its id; one that is not owes it where the id stands untouched before the first damage.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DEEP = b"[" * 100_000 + b"]" * 100_000

CASES: tuple[tuple[bytes, Any], ...] = (
    (b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":[1]}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":5}', True),
    (b'{"id":%d,"method":"ping"}', True),
    (b'{"jsonrpc":"1.0","id":%d,"method":"ping"}', True),
    (b'{"jsonrpc":2.0,"id":%d,"method":"ping"}', True),
    (b'{"jsonrpc":"2.0","id":%d}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":""}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":null,"params":{}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":"text"}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"tools/li', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":NaN}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"\xff\xfe"}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"\\ud800"}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"\x00"}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":' + DEEP + b"}}", True),
    (b'{"method":"ping","params":{"x":Infinity},"jsonrpc":"2.0","id":%d}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"nonsense"}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":7}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"void_stats","arguments":"x"}}', True),
    (b'{"jsonrpc":"2.0","id":%d,"method":"tools/call"}', True),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
    (b"[]", None),
    (b"null", None),
    (b"\x00\x01\x02", None),
    (b"no JSON at all", None),
)
"""25 malformed lines; True: the id, which stands for %d, is legible; None: the answer has none."""

_TEMPLATES = (
    b'{"jsonrpc":"2.0","id":%d,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"prompts/list","params":{}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"void_stats","arguments":{}}}',
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"x","limit":3}}}',
    b'{"method":"ping","params":{},"jsonrpc":"2.0","id":%d}',
)
_BYTES = b'{}[]",:\\ \x00\xff\xc3a0-.eE9nt'


@dataclass(frozen=True)
class Line:
    """A line, and the id that it owes an answer; `certain`: it owes one, else it may get one."""

    line: bytes
    request: Any
    certain: bool


def cases() -> Iterator[Line]:
    """The 25 cases, each under an id of its own."""
    for number, (line, legible) in enumerate(CASES):
        yield Line(line.replace(b"%d", b"%d" % number), number if legible else None, True)


def mutations(count: int, seed: int) -> Iterator[Line]:
    """Good requests with one to four bytes overwritten, taken out, doubled, or the line cut."""
    chance = random.Random(seed)
    for number in range(count):
        good = chance.choice(_TEMPLATES) % (1_000 + number)
        line, first = bytearray(good), len(good)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(line))
            first = min(first, at)
            kind = chance.randrange(8)
            if kind == 0:
                del line[at]
            elif kind == 1:
                line[at:at] = line[at : at + 5]
            elif kind == 2 and at > 1:
                del line[at:]
            else:
                line[at] = chance.choice(_BYTES)
        yield _owed(bytes(line), first)


def _owed(line: bytes, first: int) -> Line:
    try:
        message = json.loads(line.decode(), parse_constant=_refuse)
    except ValueError:
        begin = line.find(b'"id":')
        end = line.find(b",", begin)
        untouched = 0 < begin < end < first and line.startswith(b'{"jsonrpc":"2.0","id":')
        return Line(line, int(line[begin + 5 : end]) if untouched else None, untouched)
    request = message.get("id") if isinstance(message, dict) else None
    if (
        isinstance(request, bool)
        or not isinstance(request, str | int)
        or ("method" not in message and "result" in message)
    ):
        return Line(line, None, False)
    return Line(line, request, True)


def unanswered(lines: list[Line], answers: list[Any]) -> Counter[Any]:
    """Ids that were owed more answers than came."""
    return Counter(line.request for line in lines if line.certain and line.request is not None) - Counter(answers)


def _refuse(name: str) -> float:
    raise ValueError(name)
