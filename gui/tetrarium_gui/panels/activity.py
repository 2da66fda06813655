"""What every client does, as it happens, and everything that was changed, to take back."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from PySide6.QtCore import QDateTime, QLocale, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from tetrarium.model import HistoryEntry, RecallTrace
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, client_words, when
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import t

KEPT = 300
"""Events that the feed keeps."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that a client did. kind: of the catalogue's section "activity"; trace: of a recall; ids: what a question
    was answered with; at: when, None for now; note: row of the audit that knows the ids, 0 for none."""

    kind: str
    client: str
    text: str
    memory_id: str = ""
    trace: RecallTrace | None = None
    ids: tuple[str, ...] = ()
    at: datetime | None = None
    note: int = 0


class ActivityPanel(QWidget):
    """A feed, newest first, and the history of changes with a way back for each."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    recall_opened = Signal(object)  # RecallTrace
    ids_opened = Signal(str, object)  # what was asked, and the ids that it was answered with
    note_opened = Signal(str, int)  # the same, of which a row of the audit knows the ids
    undo_asked = Signal(int)
    redo_asked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._feed: deque[tuple[int, datetime, Happening]] = deque(maxlen=KEPT)
        self._seen = 0
        self._entries: dict[str, HistoryEntry] = {}
        columns = [f"activity.{name}" for name in ("at", "client", "kind", "what")]
        self.feed = RowList("activity.feed_name", columns, (90, 150, 110, 0))
        columns = [f"activity.{name}" for name in ("summary", "client", "at", "state")]
        self.changes = RowList("activity.changes_name", columns, (0, 150, 150, 110))
        self.empty, self.unchanged = EmptyState(t("activity.empty"), theme), EmptyState(t("activity.unchanged"), theme)
        self.clients = PlainLabel(size=SIZE_SMALL)
        self.who = QComboBox()
        self.who.setAccessibleName(t("activity.who_name"))
        self.who.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.who.addItem(t("activity.everybody"))
        self.follow = QCheckBox(t("activity.follow"))
        self.follow.setToolTip(t("activity.follow_tip"))
        self.undo = button("activity.undo", lambda: self._with_entry(self.undo_asked.emit))
        self.redo = button("activity.redo", lambda: self._with_entry(self.redo_asked.emit))
        self._lay_out()
        for rows in (self.feed, self.changes):
            rows.memory_selected.connect(self.memory_selected)
        self.changes.memory_opened.connect(self.memory_opened)
        self.feed.itemActivated.connect(lambda _: self._open())
        self.changes.keys_changed.connect(self._allow)
        self.who.activated.connect(lambda _: self.show_feed())
        self.show_feed()
        self.show_history(())

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        for empty in (self.empty, self.unchanged):
            empty.set_theme(theme)
        self.clients.setStyleSheet(f"color: {theme.muted};")

    def add(self, happenings: Sequence[Happening]) -> None:
        """Put what happened on top of the feed; `show_feed` shows it."""
        for happening in happenings:
            self._seen += 1
            self._feed.appendleft((self._seen, happening.at or datetime.now(UTC), happening))

    def set_following(self, follow: QAction) -> None:
        """The switch of the command, here as well."""
        self.follow.setChecked(follow.isChecked())
        self.follow.toggled.connect(follow.setChecked)
        follow.toggled.connect(self.follow.setChecked)

    def show_clients(self, names: Sequence[str] | None) -> None:
        """Who is connected now; None where nobody can know."""
        if names is None:
            self.clients.setText(t("activity.unwatched"))
            return
        told = ", ".join(f"{name} × {n}" if n > 1 else name for name, n in Counter(names).items())
        self.clients.setText(t("activity.connected", names=visible(told)[:200]) if names else t("activity.nobody"))

    def show_history(self, entries: Sequence[HistoryEntry]) -> None:
        self._entries = {str(entry.id): entry for entry in entries}
        self.changes.set_rows(
            Row(
                str(entry.id),
                (entry.summary, _client(entry.client), when(entry.at), self._state(entry)),
                entry.ids[0] if len(entry.ids) == 1 else "",
                self.theme.muted if entry.undone else "",
            )
            for entry in entries
        )
        self.unchanged.setVisible(not entries)
        self.changes.setVisible(bool(entries))
        self._allow()

    def show_feed(self) -> None:
        """Show the feed as it is now, of the chosen client."""
        self._offer_clients()
        chosen = self.who.currentData()
        shown = [item for item in self._feed if chosen is None or item[2].client == chosen]
        self.feed.set_rows(
            Row(
                str(number),
                (_time(at), _client(done.client), t(f"activity.{done.kind}"), done.text),
                done.memory_id,
                tip=done.text,
            )
            for number, at, done in sorted(shown, key=lambda item: (item[1], item[0]), reverse=True)
        )
        self.empty.setVisible(not self._feed)
        self.feed.setVisible(bool(self._feed))

    def _offer_clients(self) -> None:
        """Every client of the feed, to be shown alone; the choice stays."""
        chosen = self.who.currentData()
        names = sorted({done.client for _, _, done in self._feed} | ({chosen} if chosen is not None else set()))
        if names != [self.who.itemData(at) for at in range(1, self.who.count())]:
            while self.who.count() > 1:
                self.who.removeItem(1)
            for name in names:
                self.who.addItem(visible(_client(name))[:60], name)
            self.who.setCurrentIndex(max(0, self.who.findData(chosen)) if chosen is not None else 0)

    def _open(self) -> None:
        key = self.feed.current_key()
        for number, _, done in self._feed:
            if str(number) == key:
                if done.trace is not None:
                    self.recall_opened.emit(done.trace)
                elif done.memory_id:
                    self.memory_opened.emit(done.memory_id)
                elif done.note:
                    self.note_opened.emit(f"{_client(done.client)}: {done.text}", done.note)
                elif done.ids:
                    self.ids_opened.emit(f"{_client(done.client)}: {done.text}", done.ids)

    @staticmethod
    def _state(entry: HistoryEntry) -> str:
        if entry.undone:
            return t("activity.undone")
        return t("activity.reversible" if entry.reversible else "activity.final")

    def _with_entry(self, act: Callable[[int], object]) -> None:
        if (entry := self._entries.get(self.changes.current_key())) is not None:
            act(entry.id)

    def _allow(self) -> None:
        entry = self._entries.get(self.changes.current_key())
        self.undo.setEnabled(entry is not None and entry.reversible and not entry.undone)
        self.redo.setEnabled(entry is not None and entry.undone)

    def _lay_out(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        pages: tuple[tuple[str, tuple[QWidget | None, ...], tuple[QWidget, ...]], ...] = (
            ("activity.tab_feed", (self.clients, None, self.follow, self.who), (self.empty, self.feed)),
            ("activity.tab_changes", (None, self.redo, self.undo), (self.unchanged, self.changes)),
        )
        for name, top, parts in pages:
            page, row = QWidget(), QHBoxLayout()
            column = QVBoxLayout(page)
            column.setContentsMargins(0, 0, 0, 0)
            row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
            row.setSpacing(GRID)
            for piece in top:
                if piece is None:
                    row.addStretch()
                else:
                    row.addWidget(piece)
            column.addLayout(row)
            for part in parts:
                column.addWidget(part, 1)
            self.tabs.addTab(page, t(name))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.tabs)


def _time(at: datetime) -> str:
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(round(at.timestamp())).time(), "HH:mm:ss")


def _client(name: str) -> str:
    return client_words(name) or t("activity.owner")
