"""Undo and redo from the space's own history: over restarts, and of anything, not only of the last change."""

from __future__ import annotations

from PySide6.QtCore import QObject

from tetrarium.errors import NotFound, StaleEdit
from tetrarium.model import HistoryEntry
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

SHOWN = 200
"""Entries of history that the window lists."""


class History(QObject):
    """Connects undo, redo and the list of changes with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        desk.commands["undo"].triggered.connect(lambda: self.undo())
        desk.commands["redo"].triggered.connect(lambda: self.redo())
        desk.panels.activity.undo_asked.connect(self.undo)
        desk.panels.activity.redo_asked.connect(self.redo)
        desk.bridge.opened.connect(self.refresh)
        desk.bridge.changed.connect(lambda _: self.refresh())

    def refresh(self) -> None:
        self._desk.bridge.ask("history", lambda s: s.history(limit=SHOWN), self._desk.panels.activity.show_history)

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
        self._desk.tell(t(words, what=visible(entry.summary)[:120]))
        if len(entry.ids) == 1:
            self._desk.bridge.ask(
                "told",
                lambda s: s.get(entry.ids[0]),
                lambda memory: self._desk.state.select(memory.id),
                otherwise=lambda _: True,  # an undone store is in the trash: there is nothing to show
            )

    def _refused(self, error: Exception, nothing: str) -> bool:
        if isinstance(error, StaleEdit):
            self._desk.tell(t("done.stale"), error.message)
            return True
        if isinstance(error, NotFound):
            self._desk.tell(t(nothing))
            return True
        return False
