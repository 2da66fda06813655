"""The bar on top: which space this is, who is connected, whether all is well – with the mouse, and by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import pressed, until

from agents import Agent
from clients import stop_host
from tetrarium.service import open_space
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.top_bar import Lamp

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Path]:
    space = tmp_path / "harbour"
    with open_space(space) as service:
        service.store("The ferry kiosk prints a paper ticket when the network is down.")
    yield space
    stop_host(space)


def has_color(lamp: Lamp, name: str) -> bool:
    """Whether a colour of the theme is on the lamp, to a few shades."""
    image, wanted = lamp.grab().toImage(), QColor(getattr(lamp.theme, name))
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return any(
        max(abs(p.red() - wanted.red()), abs(p.green() - wanted.green()), abs(p.blue() - wanted.blue())) < 8
        for p in pixels
    )


def test_who_is_connected_is_on_top_and_a_click_shows_what_they_do(
    space: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(space)
    bar = window.top_bar
    assert bar.space.text() == "harbour ▾"
    assert bar.agents.text() == "agents ● 0"
    assert not has_color(bar.agents, "good")
    agents = [Agent(space, name) for name in ("claude-code", "cursor")]
    until(qtbot, lambda: bar.agents.text() == "agents ● 2")
    assert bar.agents.toolTip() == "claude-code 2.1, cursor 2.1"
    assert bar.agents.accessibleName() == "2 agents connected: show what they do"
    until(qtbot, lambda: has_color(bar.agents, "good"))
    pressed(qtbot, bar.agents)
    until(qtbot, window.panels.activity.isVisible)
    picture(window)
    agents[1].leave()
    until(qtbot, lambda: bar.agents.text() == "agents ● 1")
    agents[0].leave()
    until(qtbot, lambda: bar.agents.text() == "agents ● 0")


def test_health_is_a_sign_on_top_and_a_click_leads_to_it(
    space: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(space)
    bar = window.top_bar
    until(qtbot, lambda: bar.health.text() == "health ✓")
    assert has_color(bar.health, "good")
    pressed(qtbot, bar.health)
    until(qtbot, window.panels.health.isVisible)
    assert bar.health.text() == "health ✓"
    with open_space(space) as service:
        for number in range(25):
            bait = service.store(f"Buoy number {number} is painted every May.", client="rogue", force=True).id
            service.inhibit(bait, reason="in the way", client="rogue")
    until(qtbot, lambda: bar.health.text() == "health !")
    assert "rogue" in bar.health.toolTip()
    assert has_color(bar.health, "amber")
    picture(window)


def test_the_bar_is_reached_by_tab_and_leads_to_spaces_search_and_commands(
    space: Path, tmp_path: Path, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(space)
    until(qtbot, window.isActiveWindow)
    bar = window.top_bar
    bar.space.setFocus()
    reached = [bar.space.focusWidget()]
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    assert reached[1:] == [bar.field, bar.keys, bar.agents, bar.health]
    assert all(widget.accessibleName() or widget.text() for widget in reached[1:])
    qtbot.keyClick(bar.health, Qt.Key.Key_Space)
    until(qtbot, window.panels.health.isVisible)
    pressed(qtbot, bar.keys)
    until(qtbot, window.palette_box.isVisible)
    qtbot.keyClick(window.palette_box.box, Qt.Key.Key_Escape)
    pressed(qtbot, bar.field)
    until(qtbot, window.search.box.hasFocus)
    asked: list[object] = []
    window.reopen_asked.connect(asked.append)
    window.places._desk.settings.setValue("recent", [str(space), str(tmp_path / "other")])
    window.commands["spaces"].trigger()
    until(qtbot, bar.spaces.isVisible)
    words = [action.text() for action in bar.spaces.actions() if action.text()]
    assert words == [str(space)[-80:], str(tmp_path / "other")[-80:], "&New space …", "&Open a space …"]
    assert bar.spaces.actions()[0].isChecked()
    qtbot.keyClick(bar.spaces, Qt.Key.Key_Down)
    qtbot.keyClick(bar.spaces, Qt.Key.Key_Return)
    assert asked == [tmp_path / "other"]
