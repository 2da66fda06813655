"""The panels' docks: where each stands at the first start, shown, hidden, remembered.

A panel that floats, moves or hides keeps its place over restarts; "Reset layout" brings the first one back.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

from tetrarium_gui.words import t

LEFT_WIDTH, RIGHT_WIDTH, BOTTOM_HEIGHT = 320, 320, 240
LAYOUT_VERSION = 3
"""Counts up when a panel is added: a layout of before is then left aside."""

_AREAS = Qt.DockWidgetArea
PLACES: dict[str, Qt.DockWidgetArea] = {
    "search": _AREAS.LeftDockWidgetArea,
    "clusters": _AREAS.LeftDockWidgetArea,
    "inspector": _AREAS.RightDockWidgetArea,
    "health": _AREAS.RightDockWidgetArea,
    "privacy": _AREAS.RightDockWidgetArea,
    "settings": _AREAS.RightDockWidgetArea,
    "list": _AREAS.BottomDockWidgetArea,
    "voids": _AREAS.BottomDockWidgetArea,
    "inhibition": _AREAS.BottomDockWidgetArea,
    "activity": _AREAS.BottomDockWidgetArea,
    "timeline": _AREAS.BottomDockWidgetArea,
    "trash": _AREAS.BottomDockWidgetArea,
}
"""Where every panel stands at first; those of one area are tabs, in this order, the first in front."""


class Docks:
    """The docks of one window by the names of their panels."""

    def __init__(self, window: QMainWindow, panels: Mapping[str, QWidget]) -> None:
        self._window = window
        self._docks = {name: self._dock(name, panels[name]) for name in PLACES}

    def __getitem__(self, name: str) -> QDockWidget:
        return self._docks[name]

    def values(self) -> tuple[QDockWidget, ...]:
        return tuple(self._docks.values())

    def show(self, name: str) -> None:
        """Bring a panel to the front."""
        self._docks[name].show()
        self._docks[name].raise_()

    def uncover(self, name: str) -> None:
        """Bring a panel before the other tabs of its place; one that was closed or floats stays as the person left it."""
        dock = self._docks[name]
        if not dock.isHidden() and not dock.isFloating():
            dock.raise_()

    def enter(self, name: str) -> None:
        """Bring a panel to the front, with the keyboard in it."""
        self.show(name)
        panel = self._docks[name].widget()
        panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not panel.hasFocus():
            panel.focusNextChild()

    def actions(self) -> tuple[QAction, ...]:
        """One action a panel: shows it, in front, with the keyboard in it."""
        return tuple(self._action(name) for name in PLACES)

    def arrange(self) -> None:
        """The layout of the first start."""
        first: dict[Qt.DockWidgetArea, QDockWidget] = {}
        for name, area in PLACES.items():
            dock = self._docks[name]
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
            if area in first:  # not put beside the others before: Qt then leaves a tab bar of the two first ones behind
                self._window.tabifyDockWidget(first[area], dock)
            else:
                self._window.addDockWidget(area, dock)
            first.setdefault(area, dock)
            dock.show()
        for dock in first.values():
            dock.raise_()
        sides = [self._docks["search"], self._docks["inspector"]]
        self._window.resizeDocks(sides, [LEFT_WIDTH, RIGHT_WIDTH], Qt.Orientation.Horizontal)
        self._window.resizeDocks([self._docks["list"]], [BOTTOM_HEIGHT], Qt.Orientation.Vertical)
        QTimer.singleShot(0, self._window, self._tidy)

    def hide_all(self, hidden: bool) -> None:
        """Leave the space alone, or bring every panel back."""
        for dock in self._docks.values():
            dock.setVisible(not hidden)
        if not hidden:
            for name in ("search", "inspector", "list"):
                self._docks[name].raise_()
            QTimer.singleShot(0, self._window, self._tidy)

    def tab_bars(self) -> tuple[tuple[str, ...], ...]:
        """The tabs of every tab bar that is drawn in the window."""
        return tuple(_tabs(bar) for bar in self._bars() if bar.geometry().intersects(self._window.rect()))

    def restore(self, settings: QSettings) -> None:
        """The layout of the last time, else the first one. Docks get their places here and not before: laid out twice,
        Qt leaves tab bars behind that nobody sees to."""
        geometry, layout = settings.value("geometry"), settings.value("layout")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        if not (isinstance(layout, QByteArray) and self._window.restoreState(layout, LAYOUT_VERSION)):
            self.arrange()

    def keep(self, settings: QSettings) -> None:
        settings.setValue("geometry", self._window.saveGeometry())
        settings.setValue("layout", self._window.saveState(LAYOUT_VERSION))

    def _tidy(self) -> None:
        """Hide tab bars that Qt left behind while panels moved: all their tabs are in another one, that is in use."""
        bars = self._bars()
        for bar in bars:
            if any(set(_tabs(bar)) < set(_tabs(other)) for other in bars):
                bar.hide()

    def _bars(self) -> list[QTabBar]:
        children = Qt.FindChildOption.FindDirectChildrenOnly
        return [bar for bar in self._window.findChildren(QTabBar, options=children) if bar.isVisible()]

    def _dock(self, name: str, panel: QWidget) -> QDockWidget:
        dock = QDockWidget(t(f"window.{name}"), self._window)
        dock.setObjectName(name)
        dock.setWidget(panel)
        return dock

    def _action(self, name: str) -> QAction:
        action = QAction(t("command.show_panel", panel=t(f"window.{name}")), self._window)
        action.setObjectName(f"show_{name}")
        action.setStatusTip(t(f"window.{name}_tip"))
        action.triggered.connect(lambda: self.enter(name))
        return action


def _tabs(bar: QTabBar) -> tuple[str, ...]:
    return tuple(bar.tabText(at) for at in range(bar.count()))
