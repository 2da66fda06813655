"""News between host and watcher: read as input, told to nobody's cost."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tetrarium import paths
from tetrarium.events import Recalled, SpaceChanged
from tetrarium.mcp import meeting, news, observers, watcher
from tetrarium.mcp.news import Attached, Clients, Committed, Missed, RecallSeen, SearchSeen
from tetrarium.mcp.observers import Observers
from tetrarium.mcp.watcher import Watcher
from tetrarium.model import Changes, RecallTrace
from tetrarium.service import MemoryService
from watching import PATIENCE, watching

TEXTS = [
    f"Locker number {n} by the {place} pier opens with key {n * 7}." for n in range(6) for place in ("north", "south")
]


@pytest.fixture
def trace(space: MemoryService) -> RecallTrace:
    for text in TEXTS:
        space.store(text, force=True)
    return space.recall("which key opens the locker by the north pier?")


def told(trace: RecallTrace | None) -> RecallSeen:
    return RecallSeen("cursor 1.0", 1.7e9, "where?", ("a",), 0.25, trace)


def test_what_is_told_is_read_as_it_was_to_the_last_bit(trace: RecallTrace) -> None:
    assert trace.blocks
    for piece in (
        told(trace),
        told(replace(trace, query="\u202e<img src=file:///x> \x00 ", note="x" * 100_000)),
        SearchSeen("", 0.0, "😀", (), 0),
        Clients(("claude-code 2.1", "记忆"), 2, 1.7e9),
        Committed(7),
        Missed(3),
    ):
        line = news.line_of(piece)
        assert line.count(b"\n") == 1
        assert news.read(line[:-1]) == piece


def test_a_recall_too_long_for_a_line_is_told_without_its_trace(trace: RecallTrace) -> None:
    block = trace.blocks[0]
    long = replace(block, memory=replace(block.memory, content="\x01" * (news.LONGEST_LINE // 6)))
    line = news.line_of(told(replace(trace, blocks=(long,))))
    assert len(line) < 1_000
    assert news.read(line) == told(None)


def changed(line: bytes, **values: Any) -> bytes:
    """The line of a recall with other values in it; a dot leads into the trace."""
    whole = json.loads(line)
    for name, value in values.items():
        target = whole if name in whole else whole["trace"]
        target[name] = value
    return json.dumps(whole).encode()


NONSENSE: list[bytes] = [
    b"", b"{", b"[]", b"null", b"{}", b'{"kind":"recalled"}', b'{"kind":"stored"}', b'{"kind":["clients"]}',
    b"\xff\xfe", b'"' + b"x" * 100, b"[" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    b'{"kind":"clients","names":["a"],"count":0,"at":1}', b'{"kind":"clients","names":"abc","count":3,"at":1}',
    b'{"kind":"clients","names":[null],"count":1,"at":1}', b'{"kind":"clients","names":[],"count":0,"at":-1}', b'{"kind":"committed","version":"soon"}',
    json.dumps({"kind": "clients", "names": ["x"] * 65, "count": 65, "at": 1}).encode(),
    json.dumps({"kind": "clients", "names": ["x" * 1_000_000], "count": 1, "at": 1}).encode(),
    json.dumps({"kind": "searched", "client": "x" * 201, "at": 1, "query": "", "ids": [], "total": 1}).encode(),
    b'{"kind":"missed","count":1e400}', b'{"kind":"committed","version":' + b"9" * 5_000 + b"}",
    b'{"kind":"searched","client":"a","at":NaN,"query":"","ids":[],"total":1}',
    b'{"kind":"searched","client":"a","at":1e300,"query":"","ids":[],"total":1}',
    b" " * (news.LONGEST_LINE + 1),
]  # fmt: skip


@pytest.mark.parametrize("line", NONSENSE, ids=range(len(NONSENSE)))
def test_a_line_that_is_no_news_is_none(line: bytes) -> None:
    assert news.read(line) is None


def test_a_trace_whose_parts_do_not_fit_together_is_none(trace: RecallTrace) -> None:
    line = news.line_of(told(trace))
    assert news.read(line) is not None
    candidates = json.loads(line)["trace"]["candidates"]
    blocks = json.loads(line)["trace"]["blocks"]
    for values in (
        {"void_fraction": float("nan")},
        {"void_cut": float("inf")},
        {"budget": 0},
        {"token_usage": -1},
        {"beyond": ["x"], "beyond_scores": []},
        {"candidates": [candidates[0] | {"zone": 99}, *candidates[1:]]},
        {"candidates": [candidates[0] | {"state": "shiny"}, *candidates[1:]]},
        {"candidates": []},
        {"blocks": [blocks[0] | {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}]},
        {"blocks": [blocks[0] | {"memory": None}]},
        {"blocks": [blocks[0] | {"score": float("nan")}]},
        {"void_zones": [{"theme": [], "members": ["x"], "best_score": 1, "profile": 1, "gap": 1, "reason": ""}]},
        {"asked_at": "yesterday"},
        {"trace": {"blocks": []}},
    ):
        assert news.read(changed(line, **values)) is None, values


@contextmanager
def pretending(folder: Path, *pieces: bytes) -> Iterator[list[bytes]]:
    """A program that listens where the host of a space should, and says these pieces to whoever comes; gives the first
    words of each visitor."""
    listening, address = meeting.listen(folder)
    meeting.announce(folder, address)
    visits: list[bytes] = []
    open_ones: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                open_ones.append(connection)
                visits.append(connection.recv(1_000))
                for piece in pieces:
                    connection.sendall(piece)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield visits
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        for connection in open_ones:
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        listening.close()
        thread.join(PATIENCE)
        meeting.withdraw(folder, address)


GREETING = b'{"wire":1,"version":"9"}\n'


@pytest.mark.expects_log_warning
def test_a_host_that_talks_nonsense_is_left_alone_and_nobody_hears_any_of_it(tmp_path: Path) -> None:
    nonsense = b"\n".join(line for line in NONSENSE * 5 if len(line) < 1_000_000) + b"\n"
    with pretending(tmp_path, GREETING, nonsense) as visits, watching(tmp_path) as heard:
        heard.until(Attached, lambda attached: not attached.here)
        assert [told for _, told in heard.news] == [Attached(True), Attached(False)]
        assert len(visits) == 1
        assert json.loads(visits[0])["watches"] is True


def test_news_among_nonsense_are_told(tmp_path: Path) -> None:
    lines = b"".join((b"{}\n", b" " * (news.LONGEST_LINE + 1), b"\n", news.line_of(Committed(4))))
    with pretending(tmp_path, GREETING, lines), watching(tmp_path) as heard:
        assert heard.until(Committed).version == 4


@pytest.mark.parametrize("greeting", [b"", b"x" * 3_000, b"[]\n", b"\xff\n", b'{"wire":'], ids=range(5))
def test_a_host_that_greets_badly_is_not_attached_to(
    tmp_path: Path, greeting: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "PATIENCE", 0.3)
    monkeypatch.setattr(watcher, "PAUSE", 0.02)
    monkeypatch.setattr(watcher, "GRUDGE", 0.1)
    with pretending(tmp_path, greeting) as visits, watching(tmp_path) as heard:
        until = time.monotonic() + PATIENCE
        while len(visits) < 2:  # it comes again later: the next host may be a better one
            assert time.monotonic() < until
            os.sched_yield()
    assert heard.news == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"wire":1,"process":1,"socket":"/nowhere","token":"x"}', b'{"wire":1,"process":1,"socket":3,"token":4}',
                b'{"wire":1,"process":1,"socket":"a\\u0000b","token":"x"}', b"\xff"], ids=range(6)
)  # fmt: skip
def test_an_address_that_leads_nowhere_is_no_host(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "PAUSE", 0.01)
    (tmp_path / paths.ADDRESS_FILE).write_bytes(content)
    looking = Watcher(tmp_path, print)
    assert looking._reach() is None
    looking.stop()
    looking.run()
    with watching(tmp_path) as heard:
        (tmp_path / paths.ADDRESS_FILE).unlink()
        with pretending(tmp_path, GREETING, news.line_of(Committed(4))):
            assert heard.until(Committed).version == 4
    assert heard.of(Attached)[0].here


def test_one_who_does_not_read_is_cut_off_and_another_hears_everything_that_still_fits(
    trace: RecallTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observers, "PATIENCE", 0.3)
    block = replace(trace.blocks[0], memory=replace(trace.blocks[0].memory, content="x" * 200_000))
    long = replace(trace, blocks=(block,))

    async def run() -> None:
        seats = Observers(lambda: ["cursor 1.0", "cursor 1.0"])
        deaf, hearing = await _seat(seats), await asyncio.open_unix_connection(sock=await _seat(seats), limit=1 << 24)
        for number in range(3 * observers.WAITING):
            seats.hear(Recalled(replace(long, query=str(number)), "cursor 1.0"))
            seats.hear(SpaceChanged(Changes(number)))
        lines: list[Any] = []
        while not lines or getattr(lines[-1], "query", "") != str(3 * observers.WAITING - 1):
            lines.append(news.read(await hearing[0].readuntil(b"\n")))
        assert (lines[0].names, lines[0].count) == (("cursor 1.0", "cursor 1.0"), 2)
        missed = sum(line.count for line in lines if isinstance(line, Missed))
        told_of = [int(line.query) for line in lines if isinstance(line, RecallSeen)]
        assert told_of == sorted(told_of)
        assert len(told_of) + missed == 3 * observers.WAITING
        assert len(told_of) <= observers.WAITING + 8, "a queue is short"
        versions = [line.version for line in lines if isinstance(line, Committed)]
        assert versions[-1] == 3 * observers.WAITING - 1
        assert len(versions) < 10, "of versions the last one counts"
        async with asyncio.timeout(PATIENCE):
            while len(seats) == 2:
                await asyncio.sleep(0.01)
            seats.clients_changed()
            assert isinstance(news.read(await hearing[0].readuntil(b"\n")), Clients)
            seats.close()
            assert await hearing[0].read() == b""
        deaf.close()
        hearing[1].close()
        while len(seats):
            await asyncio.sleep(0.01)

    asyncio.run(run())


async def _seat(seats: Observers) -> socket.socket:
    """The watcher's end of a connection to a seat."""
    ours, theirs = socket.socketpair()
    seats.admit(*await asyncio.open_unix_connection(sock=theirs))
    await asyncio.sleep(0)
    return ours


def test_a_watcher_may_be_stopped_after_it_ended(tmp_path: Path) -> None:
    """Whoever closes a window twice writes into nobody's file."""
    ended = watcher.Watcher(tmp_path, lambda _: None)
    ended.stop()
    ended.run()
    files = [(tmp_path / str(number)).open("wb") for number in range(4)]  # take the numbers that became free
    ended.stop()
    for file in files:
        file.close()
        assert not Path(file.name).read_bytes()
