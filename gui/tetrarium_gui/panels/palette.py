"""Ctrl+K: every command by its words, found as one types, run by Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from tetrarium_gui.style import GRID, RADIUS, Theme, plain_tip
from tetrarium_gui.words import t

WIDTH, ROWS, KEY_ROWS, ROW_HEIGHT = 460, 9, 20, 28
ACTION_ROLE = Qt.ItemDataRole.UserRole


class CommandPalette(QFrame):
    """A box over its parent; closes on Escape, on leaving, and when a command ran."""

    def __init__(self, actions: Sequence[QAction], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self._actions, self._above, self._for_keys = tuple(actions), parent, False
        self.box, self.list = QLineEdit(), QListWidget()
        self.box.setPlaceholderText(t("palette.hint"))
        self.box.setAccessibleName(t("palette.name"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.addWidget(self.box)
        column.addWidget(self.list)
        self.box.installEventFilter(self)
        self.box.textChanged.connect(self._fill)
        self.box.returnPressed.connect(self._run)
        self.list.itemClicked.connect(lambda _: self._run())
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QFrame#palette {{ background: {theme.raised}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; }}"
            f"QListWidget {{ background: {theme.raised}; }}"
            f"QListWidget::item {{ padding: 5px {GRID}px; }}"
            f"QListWidget::item:selected {{ background: {theme.accent}; color: {theme.on_accent}; border-radius: 4px; }}"
        )

    def open(self, *, for_keys: bool = False) -> None:
        """Show all commands and take the keyboard. for_keys: to read the shortcuts; those that have one come first, in as
        much room as there is."""
        self._for_keys = for_keys
        self.box.setPlaceholderText(t("palette.keys_hint" if for_keys else "palette.hint"))
        room = (self._above.height() - 12 * GRID) // ROW_HEIGHT
        rows = max(ROWS, min(KEY_ROWS, room - 3)) if for_keys else ROWS
        self.setFixedSize(WIDTH, rows * ROW_HEIGHT + 7 * GRID)
        self.move((self._above.width() - WIDTH) // 2, 6 * GRID)
        self.box.clear()
        self._fill("")
        self.show()
        self.raise_()
        self.box.setFocus(Qt.FocusReason.PopupFocusReason)

    def shown(self) -> tuple[str, ...]:
        """The words of the commands that match."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(item.text() for item in items if item.data(ACTION_ROLE) is not None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        elif event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:  # closes this box and nothing else
                event.accept()
                return True
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self.list.setCurrentRow((self.list.currentRow() + step) % max(1, self.list.count()))
                return True
        return super().eventFilter(watched, event)

    def _fill(self, text: str) -> None:
        """Commands that hold every word typed, in any order; first those whose names have a word that begins so."""
        words = text.casefold().split()
        self.list.clear()
        for action in sorted(self._actions, key=lambda action: (not _named(action, words), self._keyless(action))):
            name = action.text().replace("&", "")
            native = QKeySequence.SequenceFormat.NativeText
            keys = "  ".join(shortcut.toString(native) for shortcut in action.shortcuts())
            if all(word in f"{name} {action.statusTip()} {keys}".casefold() for word in words):
                item = QListWidgetItem(f"{name}    {keys}".rstrip())
                item.setData(ACTION_ROLE, action)
                item.setToolTip(plain_tip(action.statusTip()))
                if not action.isEnabled():  # seen, so that it can be looked for, but not to be run now
                    item.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(item)
        if not self.list.count():
            nothing = QListWidgetItem(t("palette.nothing"))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
        able = (row for row in range(self.list.count()) if self.list.item(row).flags() & Qt.ItemFlag.ItemIsEnabled)
        self.list.setCurrentRow(next(able, 0))

    def _run(self) -> None:
        item = self.list.currentItem()
        action: QAction | None = item.data(ACTION_ROLE) if item is not None else None
        if action is not None:
            self.hide()
            action.trigger()

    def _keyless(self, action: QAction) -> bool:
        return self._for_keys and not action.shortcuts()


def _named(action: QAction, words: Sequence[str]) -> bool:
    """Whether every word typed begins a word of the command's name."""
    names = action.text().replace("&", "").replace("(", " ").casefold().split()
    return all(any(name.startswith(word) for name in names) for word in words)
