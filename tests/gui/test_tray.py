"""The tray, where there is one: agents, the way back, the way out – and nothing of it where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot
from waiting import until

from agents import Agent
from clients import stop_host
from tetrarium_gui.main_window import MainWindow

pytestmark = [
    pytest.mark.needs_display,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="owns the tray of an X display"),
]
OpenWindow = Callable[[Path], MainWindow]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Path]:
    space = tmp_path / "space"
    yield space
    stop_host(space)


@contextmanager
def tray() -> Iterator[None]:
    """A desktop with a tray."""
    program, pipe = Path(__file__).with_name("tray_owner.py"), subprocess.PIPE
    with subprocess.Popen([sys.executable, str(program)], stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


@pytest.fixture
def owner() -> Iterator[None]:
    """A desktop with a tray, of which the application of these tests hears nothing."""
    with tray():
        yield


@pytest.fixture
def desktop(qtbot: QtBot) -> Iterator[None]:
    """The same, of which it knows – and of whose end, so that no later test has half a tray."""
    with tray():
        until(qtbot, QSystemTrayIcon.isSystemTrayAvailable)
        yield
    until(qtbot, lambda: not QSystemTrayIcon.isSystemTrayAvailable())


def has_dot(window: MainWindow) -> bool:
    """Whether the icon carries the dot of connected agents."""
    assert window.tray.icon is not None
    image = window.tray.icon.icon().pixmap(64, 64).toImage()
    return image.pixelColor(50, 50) == QColor(window.theme.good)


def test_without_a_tray_the_window_closes_and_nothing_offers_one(space: Path, open_window: OpenWindow) -> None:
    window = open_window(space)
    assert window.tray.icon is None
    assert not window.commands["keep_in_tray"].isVisible()
    window.commands["keep_in_tray"].setChecked(True)
    assert window.close()
    assert not window.isVisible()


def test_the_tray_tells_who_is_connected_and_keeps_the_window_only_if_the_person_wants_it(
    space: Path, desktop: None, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(space)
    tray = window.tray
    assert tray.icon is not None
    assert tray.icon.isVisible()
    assert not has_dot(window)
    agent = Agent(space)
    until(qtbot, lambda: tray.icon.toolTip() == "Tetrarium · 1 agent connected\nclaude-code 2.1")
    assert has_dot(window)
    window.commands["keep_in_tray"].trigger()
    assert not window.close(), "it stays"
    assert window.isHidden()
    agent.store("The ferry kiosk prints a paper ticket when the network is down.")
    until(qtbot, lambda: window.state.snapshot is not None and len(window.state.snapshot) == 1)
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    qtbot.waitExposed(window)
    assert window.isVisible()
    window.close()
    tray.agents.trigger()
    until(qtbot, window.panels.activity.isVisible)
    agent.leave()
    until(qtbot, lambda: not has_dot(window))
    window.commands["keep_in_tray"].trigger()
    assert window.close(), "it goes"
    assert not tray.icon.isVisible()


PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication
from tetrarium_gui.shell import Shell
application = QApplication([])
settings = QSettings(str(Path(sys.argv[1]) / "window.ini"), QSettings.Format.IniFormat)
settings.setValue("keep_in_tray", True)
shell = Shell(Path(sys.argv[1]) / "space", settings, opengl=False)
seen = []
def close():
    shell.window.close()
    seen.append(shell.window.isHidden())
    QTimer.singleShot(300, reopen)
def reopen():
    shell.reopen(None)
    seen.append(shell.window.isVisible())
    shell.bridge.opened.connect(lambda: QTimer.singleShot(0, close_again))
def close_again():
    shell.window.close()
    QTimer.singleShot(300, shell.window.commands["quit"].trigger)
shell.bridge.opened.connect(lambda: QTimer.singleShot(0, close))
shell.show()
code = application.exec()
assert seen == [True, True], seen
assert shell.close()
sys.exit(code)
"""


def test_quit_in_the_tray_ends_the_program_and_another_space_opens_from_there(tmp_path: Path, owner: None) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], env=os.environ, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
