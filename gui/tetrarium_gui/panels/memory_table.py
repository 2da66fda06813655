"""The rows of the list: the snapshot's arrays in one order, narrowed by a filter.

The model holds one order (an array of row numbers) and makes no object a memory, so 100,000 rows sort in a few
milliseconds and nothing has to be fetched while scrolling.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor

from tetrarium.model import CATEGORIES, CONFIDENCES, Bool, SpaceSnapshot
from tetrarium_gui.panels.parts import category_icon
from tetrarium_gui.style import Theme, category_color, cluster_ink, visible
from tetrarium_gui.words import t

COLUMNS = ("text", "category", "cluster", "confidence", "importance", "recalled", "stored")
TEXT, CATEGORY, CLUSTER, CONFIDENCE, IMPORTANCE, RECALLED, STORED = range(len(COLUMNS))
WIDTHS = {CATEGORY: 120, CLUSTER: 220, CONFIDENCE: 100, IMPORTANCE: 90, RECALLED: 80, STORED: 130}
ROW_HEIGHT = 26
ANY, LIVE, INHIBITED = range(3)
"""Standings that the filter tells apart."""

Index = QModelIndex | QPersistentModelIndex


class MemoryTable(QAbstractTableModel):
    """The snapshot in one order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.snapshot: SpaceSnapshot | None = None
        self._order = np.zeros(0, np.int64)
        self._place = np.zeros(0, np.int64)
        self._rows: dict[str, int] = {}
        self._sorted_by, self._direction = STORED, Qt.SortOrder.DescendingOrder
        self._words_wanted, self._category, self._standing = "", -1, ANY
        self._folded: tuple[str, ...] | None = None

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        self.beginResetModel()
        self.snapshot, self._folded = snapshot, None
        self._rows = {memory_id: row for row, memory_id in enumerate(snapshot.ids)}
        self._arrange()
        self.endResetModel()

    def narrow(self, words: str, category: int, standing: int) -> None:
        """Show only rows that hold these words (text, cluster), of this category (−1: any) and standing."""
        self.beginResetModel()
        self._words_wanted, self._category, self._standing = words.casefold(), category, standing
        self._arrange()
        self.endResetModel()

    def id_at(self, row: int) -> str:
        assert self.snapshot is not None
        return self.snapshot.ids[int(self._order[row])]

    def row_of(self, memory_id: str) -> int:
        row = self._rows.get(memory_id, -1)
        return int(self._place[row]) if row >= 0 else -1

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._order)

    def columnCount(self, parent: Index | None = None) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return t(f"list.{COLUMNS[section]}")
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        assert self.snapshot is not None
        row, column = int(self._order[index.row()]), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(self.snapshot, row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == CATEGORY:
            category = CATEGORIES[int(self.snapshot.category[row])]
            return category_icon(category, category_color(self.theme, category))
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._ink(self.snapshot, row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in (IMPORTANCE, RECALLED):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        before = [(index, self.id_at(index.row())) for index in self.persistentIndexList()]
        self._sorted_by, self._direction = column, order
        self._arrange()
        for index, memory_id in before:
            self.changePersistentIndex(index, self.index(self.row_of(memory_id), index.column()))
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        snapshot = self.snapshot
        if snapshot is None:
            return
        key = self._key(snapshot) if len(snapshot) else np.zeros(0)
        order = np.argsort(key, kind="stable")
        if self._direction == Qt.SortOrder.DescendingOrder:
            order = order[::-1]
        self._order = order[self._shown(snapshot)[order]]
        self._place = np.full(len(snapshot), -1, np.int64)
        self._place[self._order] = np.arange(len(self._order))

    def _shown(self, snapshot: SpaceSnapshot) -> Bool:
        """(n,) rows that pass the filter."""
        shown = np.ones(len(snapshot), np.bool_)
        if self._category >= 0:
            shown &= snapshot.category == self._category
        if self._standing != ANY:
            shown &= snapshot.inhibited == (self._standing == INHIBITED)
        if words := self._words_wanted.split():
            if self._folded is None:
                names = [cluster.name.casefold() for cluster in snapshot.clusters]
                where = snapshot.cluster.tolist()
                self._folded = tuple(
                    f"{text.casefold()} {names[at]}" for text, at in zip(snapshot.excerpts, where, strict=True)
                )
            matches = (all(word in text for word in words) for text in self._folded)
            shown &= np.fromiter(matches, np.bool_, len(snapshot))
        return shown

    def _key(self, snapshot: SpaceSnapshot) -> np.ndarray:
        """(n,) what the rows are sorted by."""
        match self._sorted_by:
            case 0:
                return np.array([text.casefold() for text in snapshot.excerpts])
            case 1:
                return np.array([c.value for c in CATEGORIES])[snapshot.category]
            case 2:
                return np.array([c.name for c in snapshot.clusters])[snapshot.cluster]
            case 3:
                return snapshot.confidence
            case 4:
                return snapshot.importance
            case 5:
                return snapshot.access_count
        return snapshot.created

    def _words(self, snapshot: SpaceSnapshot, row: int, column: int) -> str:
        if column == TEXT:
            return visible(snapshot.excerpts[row]).replace("\n", " ")
        if column == CATEGORY:
            return t(f"category.{CATEGORIES[int(snapshot.category[row])].value}")
        if column == CLUSTER:
            return visible(snapshot.clusters[int(snapshot.cluster[row])].name)
        if column == CONFIDENCE:
            return t(f"confidence.{CONFIDENCES[int(snapshot.confidence[row])].value}")
        if column == IMPORTANCE:
            return f"{snapshot.importance[row]:.2f}"
        if column == RECALLED:
            return str(int(snapshot.access_count[row]))
        return f"{datetime.fromtimestamp(float(snapshot.created[row]), UTC).astimezone():%Y-%m-%d %H:%M}"

    def _ink(self, snapshot: SpaceSnapshot, row: int, column: int) -> QBrush | None:
        if snapshot.inhibited[row] and column == TEXT:
            return QBrush(QColor(self.theme.inhibited_text))
        if column == CLUSTER:
            return QBrush(QColor(cluster_ink(self.theme, snapshot.clusters[int(snapshot.cluster[row])].hue)))
        return QBrush(QColor(self.theme.muted)) if column != TEXT else None
