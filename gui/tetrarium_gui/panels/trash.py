"""What was put into the trash: to restore, or to delete for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tetrarium.model import Memory, Trashed
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, day, when
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import Sheet, button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme
from tetrarium_gui.words import t


@dataclass(frozen=True, slots=True)
class Kept:
    """Days after which the engine erases by itself: from the trash, and after an expiry; 0: never."""

    trashed: float = 0.0
    expired: float = 0.0


def last_day(memory: Memory, at: datetime, kept: Kept) -> datetime | None:
    """When a memory that came into the trash `at` goes for good by itself; None: never, as pinned ones."""
    if memory.pinned:
        return None
    ends = [at + timedelta(days=kept.trashed)] if kept.trashed else []
    if memory.expires_at is not None and kept.expired:
        ends.append(memory.expires_at + timedelta(days=kept.expired))
    return min(ends, default=None)


class TrashPanel(QWidget):
    """Emits what to restore and what to delete; deleting asks first, with the count."""

    restore_asked = Signal(object)  # ids
    delete_asked = Signal(object)  # ids

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        columns = [f"trash.{name}" for name in ("text", "category", "client", "at", "until")]
        self.list = RowList("trash.name", columns, (0, 120, 140, 150, 150), several=True)
        self.empty, self.count = EmptyState(t("trash.empty"), theme), PlainLabel(size=SIZE_SMALL)
        self.sheet = Sheet(self.list)
        self.restore = button("trash.restore", self._restore, primary=True)
        self.delete = button("trash.delete", self._delete)
        top = QHBoxLayout()
        top.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        top.addWidget(self.count)
        top.addSpacing(2 * GRID)
        top.addWidget(self.delete)
        top.addStretch()  # what cannot be taken back stands apart
        top.addWidget(self.restore)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.sheet)
        column.addWidget(self.empty, 1)
        column.addWidget(self.list, 1)
        self.list.keys_changed.connect(self._allow)
        self.show_trash((), 0)

    def set_theme(self, theme: Theme) -> None:
        self.empty.set_theme(theme)
        self.count.setStyleSheet(f"color: {theme.muted};")

    def show_trash(self, items: Sequence[Trashed], total: int, kept: Kept = Kept()) -> None:
        """items: the newest of `total` memories in the trash; kept: how long."""
        self.list.set_rows(
            Row(
                item.memory.id,
                (
                    item.memory.content[:300],
                    t(f"category.{item.memory.category.value}"),
                    item.memory.source.client,
                    when(item.at),
                    day(gone) if (gone := last_day(item.memory, item.at, kept)) else t("common.never"),
                ),
                tip=item.memory.content,
            )
            for item in items
        )
        self.empty.setVisible(not items)
        self.list.setVisible(bool(items))
        self.count.setText(t("trash.count", count=total))
        self._allow()

    def _allow(self) -> None:
        for made in (self.restore, self.delete):
            made.setEnabled(bool(self.list.keys()))

    def _restore(self) -> None:
        self.restore_asked.emit(self.list.keys())

    def _delete(self) -> None:
        keys = self.list.keys()
        self.sheet.ask(
            t("trash.delete_title", count=len(keys)),
            t("trash.delete_hint"),
            t("trash.delete"),
            lambda *_: self.delete_asked.emit(keys),
        )
