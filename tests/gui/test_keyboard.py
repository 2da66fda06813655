"""Every panel by Tab, arrows and Enter alone, and every control with a name that a screen reader says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, until

from tetrarium_gui.docks import PLACES
from tetrarium_gui.main_window import MainWindow

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
STEPS = 160
"""Tabs after which everything that can be reached was."""
QUESTION = "what happens when the payment provider does not answer?"


def focusable(panel: QWidget) -> list[QWidget]:
    """What takes the keyboard of a panel that is in front, as it stands now."""
    return [
        widget
        for widget in (panel, *panel.findChildren(QWidget))
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not widget.objectName().startswith("qt_")
    ]


def walked(qtbot: QtBot, window: MainWindow) -> set[QWidget]:
    """Where Tab leads, from where the keyboard is."""
    seen: set[QWidget] = set()
    for _ in range(STEPS):
        here = QApplication.focusWidget() or window
        seen.add(here)
        if isinstance(here, QAbstractButton) and (group := here.group()) is not None:
            seen.update(group.buttons())  # Tab stops once at a group; the arrows go on inside
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    return seen


def long_lists(panel: QWidget) -> list[QAbstractItemView]:
    """Lists of a panel that show more than one row."""
    views = [view for view in panel.findChildren(QAbstractItemView) if view.isVisible()]
    return [view for view in views if view.model() is not None and view.model().rowCount() > 1]


def named(widget: QWidget) -> str:
    return f"{type(widget).__name__} '{widget.accessibleName() or getattr(widget, 'text', str)()}'"


def said(widget: QWidget) -> str:
    """What a screen reader says of a control."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


@pytest.fixture
def filled(sample_folder: Path, open_window: OpenWindow, qtbot: QtBot) -> MainWindow:
    """The window on the sample, with an answer in it and a memory selected."""
    window = open_window(sample_folder)
    until(qtbot, window.isActiveWindow)
    window.commands["recall"].trigger()
    qtbot.keyClicks(window.search.box, QUESTION)
    with qtbot.waitSignal(window.bridge.recalled, timeout=PATIENCE):
        qtbot.keyClick(window.search.box, Qt.Key.Key_Return)
    qtbot.keyClick(window.search.box, Qt.Key.Key_Down)
    until(qtbot, lambda: window.inspector.memory is not None)
    return window


def test_tab_reaches_every_control_of_every_panel_and_a_screen_reader_has_a_name_for_it(
    filled: MainWindow, qtbot: QtBot
) -> None:
    unreached, nameless = [], []
    show = {action.objectName(): action for action in filled.commands.all()}
    for name in PLACES:
        panel = filled.docks[name].widget()
        show[f"show_{name}"].trigger()
        until(qtbot, lambda panel=panel: not panel.visibleRegion().isEmpty())
        QApplication.processEvents()
        held = QApplication.focusWidget()
        assert held is not None, name
        assert held is panel or panel.isAncestorOf(held), f"{name}: its command puts the keyboard into it"
        pages = filled.panels.privacy.tabs.count() if name == "privacy" else 1
        for page in range(pages):
            if name == "privacy":
                filled.panels.privacy.tabs.setCurrentIndex(page)
                QApplication.processEvents()
            wanted = focusable(panel)
            seen = walked(qtbot, filled)
            unreached += [f"{name}: {named(widget)}" for widget in wanted if widget not in seen and widget.isEnabled()]
            nameless += [f"{name}: {type(widget).__name__}" for widget in wanted if not said(widget)]
    assert unreached == []
    assert nameless == []


def test_arrows_walk_and_enter_opens_in_every_list(filled: MainWindow, qtbot: QtBot) -> None:
    opened: list[str] = []
    filled.desk.state.selection_changed.connect(opened.append)
    for name in ("search", "voids", "inhibition", "list"):
        filled.docks.show(name)
        panel = filled.docks[name].widget()
        until(qtbot, lambda panel=panel: bool(long_lists(panel)))
        view = long_lists(panel)[0]
        view.setFocus()
        view.setCurrentIndex(view.model().index(0, 0))
        before, count = view.currentIndex(), len(opened)
        qtbot.keyClick(view, Qt.Key.Key_Down)
        after = view.currentIndex()
        assert after.isValid(), name
        assert (after.row(), after.parent()) != (before.row(), before.parent()), name
        if name == "voids":
            qtbot.keyClick(view, Qt.Key.Key_Down)
        assert len(opened) > count, f"{name}: the row that is walked to is selected"
    clusters = filled.panels.clusters
    filled.docks.show("clusters")
    until(qtbot, lambda: clusters.list.topLevelItemCount() > 2)
    clusters.list.setFocus()
    clusters.list.setCurrentItem(clusters.list.topLevelItem(0))
    qtbot.keyClick(clusters.list, Qt.Key.Key_Down)
    count = len(opened)
    qtbot.keyClick(clusters.list, Qt.Key.Key_Return)
    until(qtbot, lambda: len(opened) > count)
