"""Every action once: its words, its shortcut, its place in the menu. The window connects what they do.

Shortcuts with the scope "space" act while the space has the focus, so that Home still goes to the start
of a line or a list elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenuBar, QWidget


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can do. `group`: exclusive choices; `checked`: initial state of a switch, None for a verb."""

    name: str
    text: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    tip: str = ""
    scope: str = "window"
    group: str = ""
    checked: bool | None = None
    separated: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("quit", "&Quit", "&File", ("Ctrl+Q",), "Close the space and the window"),
    Command("search", "&Search", "F&ind", ("Ctrl+F", "/"), "Rank memories as you type"),
    Command(
        "recall", "&Recall", "F&ind", ("Ctrl+R",), "What an agent would be given for this question, within its budget"
    ),
    Command("palette", "&Commands …", "F&ind", ("Ctrl+K",), "Every command by its words"),
    Command("next_hit", "&Next hit", "F&ind", ("F3",), separated=True),
    Command("previous_hit", "&Previous hit", "F&ind", ("Shift+F3",)),
    Command("clear", "&Clear", "F&ind", ("Escape",), "Show all memories lit again"),
    Command("fit_all", "Fit &all", "&View", ("Home",), "Every memory in view", scope="space"),
    Command("fit_selection", "&Fit selection", "&View", ("F",), "The cluster of the selected memory", scope="space"),
    Command("step_back", "Step &back", "&View", ("Backspace",), "Where the camera was before", scope="space"),
    Command("color_cluster", "Colour by &cluster", "&View", ("Ctrl+1",), group="color", checked=True, separated=True),
    Command("color_category", "Colour by ca&tegory", "&View", ("Ctrl+2",), group="color", checked=False),
    Command("only_space", "&Only the space", "&View", ("F11",), checked=False, separated=True),
    Command("reduced_motion", "&Reduced motion", "&View", checked=False, tip="Every move is instant"),
    Command("theme_system", "Appearance: &system", "&View", group="theme", checked=True, separated=True),
    Command("theme_dark", "Appearance: &dark", "&View", group="theme", checked=False),
    Command("theme_light", "Appearance: &light", "&View", group="theme", checked=False),
    Command("reset_layout", "Reset &layout", "&View", separated=True),
)


class Commands(QObject):
    """The actions of one window, by name."""

    def __init__(self, window: QWidget, space: QWidget) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        groups: dict[str, QActionGroup] = {}
        for command in COMMANDS:
            action = QAction(command.text, self)
            action.setObjectName(command.name)
            action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
            action.setStatusTip(command.tip)
            if command.checked is not None:
                action.setCheckable(True)
                action.setChecked(command.checked)
            if command.group:
                group = groups.setdefault(command.group, QActionGroup(self))
                group.addAction(action)
            if command.scope == "space":
                action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
                space.addAction(action)
            else:
                window.addAction(action)
            self._actions[command.name] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def others(self, name: str) -> tuple[QAction, ...]:
        """Every command but one."""
        return tuple(action for action in self._actions.values() if action.objectName() != name)

    def fill(self, bar: QMenuBar) -> None:
        """Put every command in its menu."""
        menus = {}
        for command in COMMANDS:
            if command.menu not in menus:
                menus[command.menu] = bar.addMenu(command.menu)
            if command.separated:
                menus[command.menu].addSeparator()
            menus[command.menu].addAction(self._actions[command.name])
