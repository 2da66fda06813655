"""Undo and redo from the space's own history: over restarts, and of anything, not only of the last change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

from tetrarium.errors import NotFound, StaleEdit
from tetrarium.model import HistoryEntry, Memory
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.sentences import back_words, done_words, said
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t

TOLD = 120
"""Characters of what was taken back that the notice has."""
SHOWN = 200
"""Entries of history that the window lists."""


FOLLOWED = 4
"""An undo of at most so many memories shows one of them."""


class History(QObject):
    """Connects undo, redo and the list of changes with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        desk.commands["undo"].triggered.connect(lambda: self.undo())
        desk.commands["redo"].triggered.connect(lambda: self.redo())
        desk.panels.activity.undo_asked.connect(self.undo)
        desk.panels.activity.redo_asked.connect(self.redo)
        for line in desk.window.findChildren(QLineEdit):
            line.installEventFilter(self)
        self._due = WhenSeen(desk.docks["activity"], self._ask)
        desk.bridge.opened.connect(self._due.ask)
        desk.bridge.changed.connect(lambda _: self._due.ask())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A line of text keeps Ctrl+Z for what was typed in it; with nothing to take back there, it means the last deed."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(watched, QLineEdit)
        ):
            keys = QKeySequence.StandardKey
            idle = (event.matches(keys.Undo) and not watched.isUndoAvailable()) or (
                event.matches(keys.Redo) and not watched.isRedoAvailable()
            )
            if idle:
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _ask(self) -> None:
        self._desk.bridge.ask("history", lambda s: s.history(limit=SHOWN), self._show)

    def _show(self, entries: Sequence[HistoryEntry]) -> None:
        told = [replace(entry, summary=done_words(entry.summary)) for entry in entries]
        self._desk.panels.activity.show_history(told)

    def undo(self, entry_id: int | None = None) -> None:
        """Take an operation back; without a number the last one of this window that stands."""
        self._desk.bridge.edit(
            lambda s: s.undo(entry_id, client=CLIENT),
            lambda entry: self._told(entry, "done.undone"),
            otherwise=lambda error: self._refused(error, "done.nothing_to_undo"),
        )

    def redo(self, entry_id: int | None = None) -> None:
        """Do again what was taken back."""
        self._desk.bridge.edit(
            lambda s: s.redo(entry_id, client=CLIENT),
            lambda entry: self._told(entry, "done.redone"),
            otherwise=lambda error: self._refused(error, "done.nothing_to_redo"),
        )

    def _told(self, entry: HistoryEntry, words: str) -> None:
        what = visible(back_words(entry.summary))
        self._desk.tell(t(words, what=what if len(what) <= TOLD else f"{what[: TOLD - 1]}…"))
        if len(entry.ids) <= FOLLOWED:
            self._desk.bridge.ask("told", lambda s: _first_there(s, entry.ids), self._follow)

    def _follow(self, memory: Memory | None) -> None:
        if memory is not None:
            self._desk.state.select(memory.id)

    def _refused(self, error: Exception, nothing: str) -> bool:
        if isinstance(error, StaleEdit):
            self._desk.tell(t("done.stale"), said(error.message), done=False)
            return True
        if isinstance(error, NotFound):
            self._desk.tell(t(nothing), done=False)
            return True
        return False


def _first_there(service: Any, ids: Sequence[str]) -> Memory | None:
    """The first of these memories that is not in the trash: an undone store is."""
    for memory_id in ids:
        try:
            memory: Memory = service.get(memory_id)
        except NotFound:
            continue
        return memory
    return None
