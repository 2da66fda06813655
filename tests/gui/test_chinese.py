"""The window in Chinese to the last sentence: what the engine says of errors, reasons, health and history too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringError
from pyqtgraph.graphicsItems.DateAxisItem import MONTH_SPACING, YEAR_MONTH_ZOOM_LEVEL
from PySide6.QtCore import QSettings, Qt
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, pressed, selected, until

from tetrarium.service import encrypt, open_space
from tetrarium_gui import words
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.charts import time_axis
from tetrarium_gui.panels.parts import client_words
from tetrarium_gui.shell import Shell
from tetrarium_gui.worker import lock_of

pytestmark = pytest.mark.needs_display
ENGLISH = re.compile(r"\b(?:the|is|of|was|nothing|it|and|a|to)\b", re.IGNORECASE)
"""Words that no sentence of ours in English goes without."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A space whose memories are Chinese, so that what is English in the window is ours."""
    made = tmp_path / "space"
    with open_space(made) as service:
        for text in (
            "渡轮自助机在断网时打印纸质船票。",
            "座位图画在画布上,点击区域为二十四像素。",
            "退款在每月第一个星期一手工入账。",
        ):
            service.store(text, client="window")
    return made


@pytest.fixture
def chinese(folder: Path, tmp_path: Path, qtbot: QtBot) -> Iterator[Shell]:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    settings.setValue("language", "zh")
    made = Shell(folder, settings)
    made.window.commands["reduced_motion"].setChecked(True)
    made.show()
    qtbot.waitExposed(made.window)
    yield made
    words.set_language("en")
    made.window.close()
    assert made.close()
    made.window.deleteLater()


def noticed(window: MainWindow) -> str:
    notice = window.notices.notice
    return "" if notice is None else f"{notice.message} {notice.advice}"


def test_errors_explanations_findings_and_history_of_the_engine_are_read_in_chinese(
    chinese: Shell, qtbot: QtBot
) -> None:
    window = chinese.window
    until(qtbot, lambda: window.state.snapshot is not None and window.status.filled)
    memory = window.state.snapshot.ids[0]
    inspector = selected(qtbot, window, memory)
    window.commands["edit"].trigger()
    inspector.form.content.setPlainText("  ")
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: "内容为空" in noticed(window))
    assert not ENGLISH.search(noticed(window))
    pressed(qtbot, inspector.form.leave)
    window.search.box.setText("断网时怎么办")
    pressed(qtbot, window.search.recall_mode)
    until(qtbot, lambda: window.voids.trace is not None)
    assert not ENGLISH.search(window.voids.summary.text())
    window.recalls.explain(memory)
    until(qtbot, window.voids.explanation.isVisible)
    assert not ENGLISH.search(window.voids.explanation.text()), window.voids.explanation.text()
    window.docks.show("health")
    pressed(qtbot, window.panels.health.examine)
    checks = window.panels.health.checks
    until(qtbot, lambda: checks.topLevelItemCount() > 5)
    told = [checks.topLevelItem(at).text(column) for at in range(checks.topLevelItemCount()) for column in (0, 1)]
    assert [text for text in told if ENGLISH.search(text)] == []
    window.commands["undo"].trigger()
    until(qtbot, lambda: "已撤销" in noticed(window))
    assert "移入回收站" in noticed(window)


class Locked(KeyringBackend):
    """A keychain that keeps what it is given until it is locked."""

    priority = 1  # type: ignore[assignment]
    is_locked = False

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise KeyringError("locked")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


def test_a_locked_keychain_is_told_in_chinese(folder: Path, tmp_path: Path, qtbot: QtBot) -> None:
    before, backend = keyring.get_keyring(), Locked()
    keyring.set_keyring(backend)
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    settings.setValue("language", "zh")
    try:
        encrypt(folder, keychain=True)
        assert lock_of(folder) == "keychain"
        backend.is_locked = True
        shell = Shell(folder, settings)
        with qtbot.waitSignal(shell.bridge.unavailable, timeout=PATIENCE):
            shell.show()
        told = noticed(shell.window)
        assert "钥匙串已锁定或无法访问" in told
        assert not ENGLISH.search(told.replace(str(folder), "").replace("tetrarium rekey", "")), told
        qtbot.keyClick(shell.window, Qt.Key.Key_Escape)
        shell.window.close()
        assert shell.close()
        shell.window.deleteLater()
    finally:
        words.set_language("en")
        keyring.set_keyring(before)


def test_months_of_the_timeline_and_the_window_as_a_client_are_named_in_chinese(chinese: Shell) -> None:
    axis = time_axis()["bottom"]
    axis.zoomLevel = YEAR_MONTH_ZOOM_LEVEL
    ticks = axis.tickStrings([datetime(2026, 11, 15, tzinfo=UTC).timestamp()], 1.0, MONTH_SPACING)
    assert ticks == ["11月"]
    assert client_words("window") == "窗口"
    assert client_words("codex") == "codex"
