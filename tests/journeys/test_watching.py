"""A window watches the host of its space: it is told who is there and exactly what they got, and costs nobody anything."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import Pipe, kill_host, stop_host
from tetrarium.mcp import meeting
from tetrarium.mcp.meeting import WIRE, Address
from tetrarium.mcp.news import Attached, Clients, Committed, RecallSeen, SearchSeen
from tetrarium.service import open_space
from watching import PATIENCE, watching

TEXTS = (
    "The kiosk prints a paper ticket when the network is down.",
    "Seat maps are drawn on a canvas with hit areas of 24 pixels.",
    "Refunds are booked by hand on the first Monday of each month.",
)
QUESTION = "what does the kiosk do when the network is down?"


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Path]:
    space = tmp_path / "a space of 记忆"
    yield space
    stop_host(space)


def stored(agent: Pipe) -> list[str]:
    return [agent.call("memory_create", content=text)["structuredContent"]["id"] for text in TEXTS]


def asked(agent: Pipe, question: str = QUESTION) -> list[str]:
    """Recall; the ids that the agent got."""
    answer = agent.call("void_recall", query=question)["structuredContent"]
    return [block["id"] for block in answer["blocks"]]


def test_a_watcher_is_told_who_is_there_and_exactly_what_they_got(space: Path) -> None:
    with watching(space) as heard:
        agent = Pipe(space).hello()
        ids = stored(agent)
        heard.until(Clients, lambda clients: clients.names == ("pipe 1",) and clients.count == 1)
        got = asked(agent)
        seen = heard.until(RecallSeen)
        assert (seen.client, seen.query, list(seen.ids), seen.fresh) == ("pipe 1", QUESTION, got, True)
        assert ids[0] in got
        assert seen.trace is not None
        assert seen.trace.blocks[0].content == TEXTS[0]
        whole = agent.ask("resources/read", {"uri": f"memory://recall/{seen.trace.id}"})["result"]["contents"][0]
        assert seen.trace.query in whole["text"]
        hits = agent.call("memory_search", query="refunds")["structuredContent"]["hits"]
        found = heard.until(SearchSeen)
        assert (found.client, found.query, list(found.ids)) == ("pipe 1", "refunds", [hit["id"] for hit in hits])
        with open_space(space) as owner:
            assert heard.until(Committed).version == owner.stats().version
        other = Pipe(space).hello()
        other.call("void_stats")
        heard.until(Clients, lambda clients: clients.names == ("pipe 1", "pipe 1"))
        assert [pipe.leave()[0] for pipe in (agent, other)] == [0, 0]
        heard.until(Clients, lambda clients: clients.count == 0)


def test_a_watcher_who_comes_later_hears_the_last_questions_as_past_ones(space: Path) -> None:
    agent = Pipe(space).hello()
    stored(agent)
    got = [asked(agent, f"{QUESTION} ({number})") for number in range(20)]
    with watching(space) as heard:
        last = heard.until(RecallSeen, lambda seen: seen.query.endswith("(19)"))
        assert list(last.ids) == got[-1]
        assert [seen.query for seen in heard.of(RecallSeen)] == [f"{QUESTION} ({number})" for number in range(4, 20)]
        assert not any(seen.fresh for seen in heard.of(RecallSeen))
        asked(agent)
        assert heard.until(RecallSeen, lambda seen: seen.query == QUESTION).fresh
    assert agent.leave()[0] == 0


def test_the_next_host_is_watched_when_one_is_killed(space: Path) -> None:
    agent = Pipe(space).hello()
    stored(agent)
    with watching(space) as heard:
        heard.until(Attached)
        kill_host(space)
        heard.until(Attached, lambda attached: not attached.here)
        got = asked(agent)
        seen = heard.until(RecallSeen)
        assert (seen.client, list(seen.ids)) == ("pipe 1", got)
        assert [attached.here for attached in heard.of(Attached)] == [True, False, True]
        heard.until(Clients, lambda clients: clients.names == ("pipe 1",))
    assert agent.leave()[0] == 0


def test_a_watcher_starts_no_host_and_keeps_none_alive(space: Path) -> None:
    space.mkdir()
    with watching(space) as heard:
        agent = Pipe(space).hello()
        asked(agent)
        heard.until(RecallSeen)
        assert agent.leave()[0] == 0
        lock = meeting.Lock(space)
        assert lock.take(PATIENCE), "the host lingers for a second only"
        lock.close()
        assert not heard.until(Attached, lambda attached: not attached.here).here
    assert not (space / "space.host").exists()


def visit(address: Address, **changed: Any) -> bytes:
    """What a host says to a visitor: its greeting, or nothing when it hangs up."""
    with meeting.connect(address, patience=PATIENCE) as connection:
        hello = {"wire": WIRE, "token": address.token, "watches": True} | changed
        connection.sendall(json.dumps(hello).encode() + b"\n")
        return connection.recv(1_000)


@pytest.mark.parametrize(
    "changed",
    [{"token": "0" * 64}, {"token": ""}, {"token": 7}, {"token": None}, {"token": "\ud800"}, {"wire": 99}, {"wire": "1"},
     {"watches": "yes"}, {"watches": [[]]}],
)  # fmt: skip
def test_whoever_has_not_the_word_is_told_nothing(watched: tuple[Pipe, Address], changed: dict[str, Any]) -> None:
    _, address = watched
    assert visit(address, **changed) == b""
    assert json.loads(visit(address).splitlines()[0])["wire"] == WIRE


@pytest.mark.parametrize("said", [b"\n", b"[1]\n", b"null\n", b"[" * 50_000 + b"\n", b"\xff\xfe\n", b"x" * 20_000])
def test_a_visitor_who_talks_nonsense_is_sent_away_and_the_clients_notice_nothing(
    watched: tuple[Pipe, Address], said: bytes
) -> None:
    agent, address = watched
    with meeting.connect(address, patience=PATIENCE) as connection:
        connection.sendall(said)
        assert received(connection) == b""
    assert asked(agent)


def test_a_watcher_who_speaks_is_sent_away(watched: tuple[Pipe, Address]) -> None:
    agent, address = watched
    with meeting.connect(address, patience=PATIENCE) as connection:
        hello = {"wire": WIRE, "token": address.token, "watches": True}
        connection.sendall(json.dumps(hello).encode() + b"\n")
        assert connection.recv(1_000)
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
        assert b"jsonrpc" not in received(connection)
    assert asked(agent)


def test_a_ninth_watcher_finds_no_seat_and_the_eight_are_served(watched: tuple[Pipe, Address]) -> None:
    agent, address = watched
    hello = json.dumps({"wire": WIRE, "token": address.token, "watches": True}).encode() + b"\n"
    seats = [meeting.connect(address, patience=PATIENCE) for _ in range(8)]
    try:
        for connection in seats:
            connection.sendall(hello)
            assert b'"kind":"clients"' in until(connection, b'"clients"')
        with meeting.connect(address, patience=PATIENCE) as ninth:
            ninth.sendall(hello)
            assert b'"kind"' not in received(ninth)
        asked(agent, "which watcher sees this question?")
        for connection in seats:
            assert until(connection, b"which watcher sees this question?")
    finally:
        for connection in seats:
            connection.close()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pipe, Address]]:
    """An agent, and the address of its host."""
    space = tmp_path_factory.mktemp("watched") / "space"
    agent = Pipe(space).hello()
    stored(agent)
    address = meeting.address_of(space)
    assert address is not None
    yield agent, address
    agent.end()
    stop_host(space)


def received(connection: socket.socket) -> bytes:
    """Everything until the other end hangs up."""
    whole = b""
    try:
        while piece := connection.recv(1 << 16):
            whole += piece
    except ConnectionResetError:
        pass
    return whole


def until(connection: socket.socket, words: bytes) -> bytes:
    whole = b""
    while words not in whole:
        piece = connection.recv(1 << 16)
        assert piece
        whole += piece
    return whole
