"""Another key for a space that agents have used: an idle host makes room, a host with clients is named and left alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients import Pipe, host_of, stop_host
from tetrarium.cli import main
from tetrarium.errors import SpaceBusy
from tetrarium.mcp import meeting
from tetrarium.mcp.clearing import cleared
from tetrarium.mcp.news import Clients
from tetrarium.privacy import keys
from tetrarium.service import lock_of, open_space
from tetrarium.storage import cipher
from watching import watching

TEXT = "The kiosk prints a paper ticket when the network is down."
LONG = ("--linger", "600")
"""As hosts linger outside tests."""


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv(keys.PASSPHRASE_FILE, raising=False)
    monkeypatch.setenv(keys.PASSPHRASE, "nine ferries leave")
    folder = tmp_path / "space"
    yield folder
    cipher._keys.clear()
    stop_host(folder)


def hosted_and_left(space: Path) -> int:
    """The host that an agent has left behind, once it knows that it is idle."""
    space.mkdir(exist_ok=True)
    with watching(space) as heard:
        agent = Pipe(space, *LONG).hello()
        agent.call("memory_create", content=TEXT)
        heard.until(Clients, lambda clients: clients.count == 1)
        assert agent.leave()[0] == 0
        heard.until(Clients, lambda clients: clients.count == 0)
    host = host_of(space)
    assert host is not None, "it lingers"
    return host


def test_a_space_is_encrypted_right_after_an_agent_has_left_it(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hosted_and_left(space)
    begun = time.monotonic()
    assert main(["encrypt", "--data-dir", str(space)]) == 0, capsys.readouterr().err
    assert time.monotonic() - begun < 30, "it waits for no one to linger"
    assert host_of(space) is None
    assert lock_of(space) == "passphrase"
    with open_space(space, passphrase="nine ferries leave") as opened:
        assert [memory.content for memory in opened.page()] == [TEXT]
    assert main(["decrypt", "--data-dir", str(space)]) == 0
    agent = Pipe(space, *LONG).hello()
    assert "kiosk" in str(agent.call("memory_search", query="paper ticket")), "the next agent gets the next host"
    assert agent.leave()[0] == 0


def test_a_host_with_clients_is_named_and_goes_on(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = Pipe(space, *LONG).hello()
    agent.call("memory_create", content=TEXT)
    host = host_of(space)
    assert main(["encrypt", "--data-dir", str(space)]) != 0
    said = capsys.readouterr().err
    assert "pipe 1" in said
    assert "nothing was changed" in said
    assert host_of(space) == host
    assert lock_of(space) == ""
    assert "kiosk" in str(agent.call("memory_search", query="paper ticket"))
    with pytest.raises(SpaceBusy, match="pipe 1"), cleared(space):
        pytest.fail("it was not cleared")
    assert agent.leave()[0] == 0


def test_no_host_starts_while_a_space_is_cleared(space: Path) -> None:
    hosted_and_left(space)
    with cleared(space):
        assert host_of(space) is None, "it has taken its address with it"
        other = meeting.Lock(space)
        assert not other.take(), "whoever would start a host has to wait"
        with cleared(space):  # a second one finds the lock taken and nobody who answers
            assert not other.take()
        other.close()
    free = meeting.Lock(space)
    assert free.take()
    free.close()
