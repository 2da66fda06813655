"""The window beside agents: both see what the other does, and the window's end is nothing to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from waiting import PATIENCE

from clients import Pipe, host_of, stop_host
from tetrarium_gui.main_window import MainWindow

pytestmark = pytest.mark.needs_display


def test_an_agent_and_the_window_share_a_space_and_neither_needs_the_other(
    open_window: Callable[[Path], MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "space"
    agent = Pipe(folder).hello()
    agent.call("memory_create", content="The ferry kiosk restarts its card reader every night at three.")
    host = host_of(folder)
    window = open_window(folder)
    assert len(window.state.snapshot) == 1
    stored = agent.call("memory_create", content="The kiosk prints a paper ticket when the network is down.")
    qtbot.waitUntil(lambda: len(window.state.snapshot) == 2, timeout=PATIENCE)
    assert stored["structuredContent"]["id"] in window.state.snapshot.ids
    window.close()
    assert host_of(folder) == host
    assert not agent.call("memory_create", content="Tickets are counted at noon by two people.")["isError"]
    assert agent.call("void_stats")["structuredContent"]["memories"] == 3
    assert agent.leave()[0] == 0
    stop_host(folder)
