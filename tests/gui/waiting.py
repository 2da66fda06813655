"""What tests of the window wait for, and how long at most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.inspector import InspectorPanel
from tetrarium_gui.space.view import SpaceView

PATIENCE = 30_000
"""Milliseconds that a test waits for the engine at most."""


@dataclass(frozen=True)
class Sample:
    """A sample space filled by the program itself, and how many memories each picture on the way showed."""

    folder: Path
    growth: tuple[int, ...]


def settled(qtbot: QtBot, view: SpaceView) -> None:
    """Wait until nothing moves, and the last frame has been drawn."""
    qtbot.waitUntil(lambda: view.is_still, timeout=5_000)
    view.repaint()
    QApplication.processEvents()


def until(qtbot: QtBot, true: Callable[[], bool]) -> None:
    """Wait for something that the engine brings about."""
    qtbot.waitUntil(true, timeout=PATIENCE)


def selected(qtbot: QtBot, window: MainWindow, memory_id: str) -> InspectorPanel:
    """Select a memory and wait until the inspector shows it."""
    inspector = window.inspector
    window.state.select(memory_id)
    until(qtbot, lambda: inspector.memory is not None and inspector.memory.id == memory_id)
    return inspector


def pressed(qtbot: QtBot, button: QWidget) -> None:
    """Click a button with the mouse."""
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
