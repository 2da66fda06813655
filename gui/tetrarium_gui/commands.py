"""Every action once: its name, its shortcut, its place in the menu. The window connects what they do.

The words of a command are in the catalogue under its name ("command.NAME" and "command.NAME_tip"). Shortcuts with
the scope "space" act while the space has the focus, so that Home still goes to the start of a line or a list elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from tetrarium_gui.words import t


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can do. `group`: exclusive choices; `checked`: initial state of a switch, None for a verb."""

    name: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    scope: str = "window"
    group: str = ""
    checked: bool | None = None
    separated: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("new_space", "file", ("Ctrl+N",)),
    Command("open_space", "file", ("Ctrl+O",)),
    Command("spaces", "file", ("Ctrl+Shift+O",)),
    Command("import", "file", separated=True),
    Command("connect", "file"),
    Command("screenshot", "file", ("Ctrl+P",), separated=True),
    Command("export", "file", ("Ctrl+Shift+S",)),
    Command("keep_in_tray", "file", checked=False, separated=True),
    Command("quit", "file", ("Ctrl+Q",)),
    Command("undo", "edit", ("Ctrl+Z",)),
    Command("redo", "edit", ("Ctrl+Shift+Z",)),
    Command("new_memory", "edit", ("Ctrl+Shift+N",), separated=True),
    Command("edit", "edit", ("Ctrl+E",)),
    Command("supersede", "edit", ("Ctrl+Shift+E",)),
    Command("inhibit", "edit", ("Ctrl+I",)),
    Command("release", "edit", ("Ctrl+Shift+I",)),
    Command("trash", "edit", ("Ctrl+Backspace",)),
    Command("pin", "edit"),
    Command("why_not", "edit", ("Ctrl+Y",)),
    Command("search", "find", ("Ctrl+F", "/")),
    Command("recall", "find", ("Ctrl+R",)),
    Command("palette", "find", ("Ctrl+K",)),
    Command("next_hit", "find", ("F3",), separated=True),
    Command("previous_hit", "find", ("Shift+F3",)),
    Command("filter", "find", ("Ctrl+L",), separated=True),
    Command("clear", "find", ("Escape",)),
    Command("fit_all", "view", ("Home",), scope="space"),
    Command("fit_selection", "view", ("F",), scope="space"),
    Command("step_back", "view", ("Backspace",), scope="space"),
    Command("color_cluster", "view", ("Ctrl+1",), group="color", checked=True, separated=True),
    Command("color_category", "view", ("Ctrl+2",), group="color", checked=False),
    Command("color_type", "view", ("Ctrl+3",), group="color", checked=False),
    Command("color_confidence", "view", ("Ctrl+4",), group="color", checked=False),
    Command("color_importance", "view", ("Ctrl+5",), group="color", checked=False),
    Command("color_age", "view", ("Ctrl+6",), group="color", checked=False),
    Command("color_source", "view", ("Ctrl+7",), group="color", checked=False),
    Command("look_front", "view", ("1",), scope="space"),
    Command("look_right", "view", ("3",), scope="space"),
    Command("look_top", "view", ("7",), scope="space"),
    Command("level", "view", ("5",), scope="space", checked=False),
    Command("keep_view", "view", ("Ctrl+B",), separated=True),
    Command("habit_tetrarium", "view", group="habit", checked=True),
    Command("habit_blender", "view", group="habit", checked=False),
    Command("habit_cad", "view", group="habit", checked=False),
    Command("isolate", "view", ("I",), scope="space", separated=True),
    Command("hide", "view", ("H",), scope="space"),
    Command("show_everything", "view", ("Shift+H",), scope="space"),
    Command("mark_cluster", "view", ("C",), scope="space"),
    Command("mark_touching", "view", ("N",), scope="space"),
    Command("mark_rest", "view", ("R",), scope="space"),
    Command("path", "view", ("P",), scope="space"),
    Command("replay", "view", ("G",), scope="space", separated=True),
    Command("only_space", "view", ("F11",), checked=False, separated=True),
    Command("reduced_motion", "view", checked=False),
    Command("follow", "view", ("Ctrl+Shift+A",), checked=True),
    Command("theme_system", "view", group="theme", checked=True, separated=True),
    Command("theme_dark", "view", group="theme", checked=False),
    Command("theme_light", "view", group="theme", checked=False),
    Command("language_system", "view", group="language", checked=True),
    Command("language_en", "view", group="language", checked=False),
    Command("language_zh", "view", group="language", checked=False),
    Command("reset_layout", "view", separated=True),
    Command("shortcuts", "help", ("F1",)),
    Command("how_voids", "help"),
    Command("about", "help", separated=True),
)

SUBMENUS = {
    "color_": "colors",
    "look_": "camera",
    "level": "camera",
    "habit_": "mouse",
    "theme_": "appearance",
    "language_": "language",
}
"""Submenus by how the names of their commands begin."""


class Commands(QObject):
    """The actions of one window, by name."""

    def __init__(self, window: QWidget, space: QWidget) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        self._more: list[QAction] = []
        self.menus: dict[str, QMenu] = {}
        groups: dict[str, QActionGroup] = {}
        for command in COMMANDS:
            action = QAction(t(f"command.{command.name}"), self)
            action.setObjectName(command.name)
            action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
            action.setStatusTip(t(f"command.{command.name}_tip"))
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

    def all(self) -> tuple[QAction, ...]:
        """Every command, those that panels brought included."""
        return (*self._actions.values(), *self._more)

    def add(self, action: QAction) -> None:
        """A command that only the finished window knows, such as showing a panel."""
        self._more.append(action)

    def fill(self, bar: QMenuBar) -> None:
        """Put every command in its menu, in the order file, edit, find, view, help."""
        for command in COMMANDS:
            if command.menu not in self.menus:
                self.menus[command.menu] = bar.addMenu(t(f"menu.{command.menu}"))
            if command.separated:
                self.menus[command.menu].addSeparator()
            self._menu_of(command).addAction(self._actions[command.name])

    def _menu_of(self, command: Command) -> QMenu:
        """The menu of a command, or its submenu, made where its first command stands."""
        above = self.menus[command.menu]
        name = next((sub for start, sub in SUBMENUS.items() if command.name.startswith(start)), "")
        if not name:
            return above
        if name not in self.menus:
            self.menus[name] = above.addMenu(t(f"menu.{name}"))
        return self.menus[name]

    def pick(self, menu: QMenu, names: Iterable[str]) -> None:
        """Add these commands to a context menu; "" is a line between groups."""
        for name in names:
            if name:
                menu.addAction(self._actions[name])
            else:
                menu.addSeparator()
