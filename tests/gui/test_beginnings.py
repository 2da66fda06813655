"""How one begins and moves about: an empty space, a sample, an import, an IDE, another space, another language, keys only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QTabBar,
    QTableView,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from waiting import pressed, until

from tetrarium.connect import Places
from tetrarium.model import Standing
from tetrarium.service import encrypt, open_space
from tetrarium_gui import words
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.shell import Shell

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]
TEXT = "The kiosk prints a paper ticket when the network is down."


@pytest.fixture
def shell(tmp_path: Path, qtbot: QtBot) -> Iterator[Shell]:
    """The program on a space with one memory, as `tetrarium` makes it."""
    folder = tmp_path / "first"
    with open_space(folder) as service:
        service.store(TEXT)
    made = Shell(folder, QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    made.window.commands["reduced_motion"].setChecked(True)
    made.show()
    qtbot.waitExposed(made.window)
    until(qtbot, lambda: made.window.state.snapshot is not None)
    yield made
    words.set_language("en")
    made.window.close()
    assert made.close()
    made.window.deleteLater()


def test_an_empty_space_offers_four_ways_and_the_sample_is_a_space_of_its_own_that_grows_until_it_is_stopped(
    tmp_path: Path, qtbot: QtBot, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TETRARIUM_DATA_DIR", str(tmp_path / "default"))
    own = tmp_path / "mine" / "empty"
    shell = Shell(own, QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    shell.show()
    first = shell.window
    until(qtbot, first.welcome.isVisible)
    picture(first)
    pressed(qtbot, first.welcome.ways["sample"])
    until(qtbot, lambda: shell.window is not first and shell.window.state.snapshot is not None)
    window = shell.window
    assert shell.path == tmp_path / "sample"
    until(qtbot, lambda: "Filling" in window.space.overlay.caption and len(window.state.snapshot) > 0)
    assert window.welcome.isHidden()
    pressed(qtbot, window.status.cancel)
    until(qtbot, window.status.work.isHidden)
    assert window.space.overlay.caption == "", "nothing is being filled any more"
    count = len(window.state.snapshot)
    assert 0 < count < 300, "what was stored before it was stopped stays"
    assert str(own) in window.notices.notice.advice, "the way back is told"
    until(qtbot, window.notices.isVisible)
    picture(window)
    with open_space(tmp_path / "sample") as service:
        assert service.stats().memories >= count
    back = next(action for action in window.places.recent_menu.actions() if action.text().endswith("empty"))
    back.trigger()
    until(qtbot, lambda: shell.window is not window and shell.window.welcome.isVisible())
    assert len(shell.window.state.snapshot) == 0, "nothing of the sample came into one's own space"
    shell.window.close()
    assert shell.close()
    shell.window.deleteLater()


def test_an_export_is_imported_after_a_preview_and_can_be_undone(
    tmp_path: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    file = tmp_path / "out.jsonl"
    with open_space(tmp_path / "other") as service:
        service.store(TEXT)
        service.store("Seat maps are drawn on a canvas with hit areas of 24 pixels.")
        service.export(file)
    window = open_window(tmp_path / "here")
    window.beginnings.preview_import(file)
    until(qtbot, lambda: window.table.sheet.isVisible())
    assert "2" in window.table.sheet.title.text()
    assert len(window.state.snapshot) == 0
    picture(window)
    pressed(qtbot, window.table.sheet.confirm)
    until(qtbot, lambda: len(window.state.snapshot) == 2)
    window.commands["undo"].trigger()
    until(qtbot, lambda: len(window.state.snapshot) == 0)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("this is no export")
    window.beginnings.preview_import(bad)
    until(qtbot, lambda: window.notices.notice is not None and "undo" not in window.notices.notice.message.lower())
    until(qtbot, window.status.work.isHidden)


def test_an_ide_is_connected_as_shown_and_taken_off_to_the_byte(
    tmp_path: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    home = tmp_path / "home"
    config = home / ".cursor" / "mcp.json"
    config.parent.mkdir(parents=True)
    before = b'{\n  // mine\n  "mcpServers": {"other": {"command": "x"}}\n}\n'
    config.write_bytes(before)
    window = open_window(tmp_path / "space")
    window.beginnings._places = Places(home=home, ledger=tmp_path / "ledger", environment={"PATH": ""})
    pressed(qtbot, window.welcome.ways["connect"])
    view = window.beginnings.connections
    until(qtbot, lambda: view.list.topLevelItemCount() > 5)
    assert view.list.choose("cursor")
    until(qtbot, lambda: "+" in view.diff.toPlainText())
    assert str(tmp_path / "space") in view.diff.toPlainText()
    assert config.read_bytes() == before, "nothing changes before it was seen"
    picture(view)
    pressed(qtbot, view.apply)
    until(qtbot, lambda: config.read_bytes() != before)
    assert b"// mine" in config.read_bytes()
    until(qtbot, lambda: view.list.topLevelItem(0).text(1) == "connected")
    pressed(qtbot, view.undo)
    until(qtbot, lambda: config.read_bytes() == before)
    view.close()


def test_another_space_is_opened_in_place_and_remembered(shell: Shell, qtbot: QtBot, tmp_path: Path) -> None:
    with open_space(tmp_path / "second") as service:
        for number in range(3):
            service.store(f"Boat {number} leaves quay {number + 4} at the full hour, whatever the tide is.", force=True)
    first = shell.window
    shell.window.places.open_folder(tmp_path / "second")
    until(qtbot, lambda: shell.window is not first and shell.window.state.snapshot is not None)
    assert len(shell.window.state.snapshot) == 3
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    shown = [bar for bar in shell.window.findChildren(QTabBar, options=direct) if bar.isVisible()]
    assert len(shown) == 3, "left, right and below: no tab bar of an earlier layout is left"
    until(qtbot, lambda: len(shell.window.places.recent()) == 2)
    actions = shell.window.places.recent_menu.actions()
    second = shell.window
    next(action for action in actions if "first" in action.text()).trigger()
    until(qtbot, lambda: shell.window is not second and shell.window.state.snapshot is not None)
    assert len(shell.window.state.snapshot) == 1


def test_an_encrypted_space_asks_for_its_passphrase_until_it_is_the_right_one(
    shell: Shell, qtbot: QtBot, tmp_path: Path, picture: Picture
) -> None:
    folder = tmp_path / "secret"
    with open_space(folder) as service:
        service.store("The vault of the harbour office opens at nine.")
    encrypt(folder, passphrase="nine ferries leave")
    shell.window.places.open_folder(folder)
    until(qtbot, lambda: shell.path == folder and shell.window.locked.isVisible())
    window, locked = shell.window, shell.window.locked
    assert locked.box.echoMode() is QLineEdit.EchoMode.Password
    assert window.focusWidget() is locked.box
    qtbot.keyClicks(locked.box, "ten ferries leave")
    qtbot.keyClick(locked.box, Qt.Key.Key_Return)
    until(qtbot, locked.told.isVisible)
    assert "not the passphrase" in locked.told.text()
    picture(window)
    qtbot.keyClicks(locked.box, "nine ferries leave")
    pressed(qtbot, locked.open)
    until(qtbot, lambda: window.state.snapshot is not None and len(window.state.snapshot) == 1)
    assert not locked.isVisible()
    assert locked.box.text() == ""
    assert all("ferries" not in str(shell._settings.value(key)) for key in shell._settings.allKeys())


def test_the_window_changes_to_chinese_and_back(shell: Shell, qtbot: QtBot, picture: Picture) -> None:
    english = shell.window
    english.commands["language_zh"].trigger()
    until(qtbot, lambda: shell.window is not english and shell.window.state.snapshot is not None)
    chinese = shell.window
    assert chinese.docks["inspector"].windowTitle() == "检查器"
    until(qtbot, lambda: "1 条记忆" in chinese.status.text())
    picture(chinese)
    chinese.commands["language_en"].trigger()
    until(qtbot, lambda: shell.window is not chinese)
    assert shell.window.docks["inspector"].windowTitle() == "Inspector"


def test_it_closes_well_in_the_first_second(tmp_path: Path, qtbot: QtBot) -> None:
    for number in range(5):
        folder = tmp_path / str(number)
        shell = Shell(folder, QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat))
        shell.show()
        for _ in range(number):
            QApplication.processEvents()
        shell.window.close()
        assert shell.close(), "the engine ends, whatever it was doing"
        shell.window.deleteLater()


def test_a_wrong_memory_is_found_superseded_and_taken_back_by_the_keyboard_alone(shell: Shell, qtbot: QtBot) -> None:
    window = shell.window
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier

    def key(code: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        qtbot.keyClick(QApplication.focusWidget() or window, code, modifiers)

    key(Qt.Key.Key_F, control)
    qtbot.keyClicks(QApplication.focusWidget(), "paper ticket")
    until(qtbot, lambda: window.search.hits.rowCount() == 1)
    key(Qt.Key.Key_Down)
    until(qtbot, lambda: window.inspector.memory is not None)
    key(Qt.Key.Key_E, control | shift)
    qtbot.keyClicks(QApplication.focusWidget(), "The kiosk shows a code instead of a ticket when offline.")
    key(Qt.Key.Key_Return, control)
    until(qtbot, lambda: len(window.state.snapshot) == 2 and bool(window.state.snapshot.inhibited.any()))
    key(Qt.Key.Key_Z, control)
    until(qtbot, lambda: len(window.state.snapshot) == 1 and window.inspector.memory is not None)
    assert window.inspector.memory.content == TEXT
    until(qtbot, lambda: window.inspector.memory.standing is Standing.LIVE)
    key(Qt.Key.Key_K, control)
    qtbot.keyClicks(QApplication.focusWidget(), "show: trash")
    key(Qt.Key.Key_Return)
    assert not window.panels.trash.visibleRegion().isEmpty()


def test_everything_that_takes_the_keyboard_has_a_name(shell: Shell) -> None:
    """A screen reader tells a control by its text, its accessible name, or its placeholder."""
    kinds = (QLineEdit, QPlainTextEdit, QComboBox, QSlider, QTreeWidget, QTableView, QPushButton)
    nameless = [
        f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"
        for kind in kinds
        for widget in shell.window.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and not (widget.accessibleName() or (isinstance(widget, QPushButton) and (widget.text() or widget.isHidden())))
    ]
    assert nameless == []
