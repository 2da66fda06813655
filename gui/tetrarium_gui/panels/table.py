"""Every memory as a row, sorted by any column, linked with the space both ways.

The rows are the snapshot's arrays: the model holds one order (an array of row numbers) and makes no object
a memory, so 100,000 rows sort in a few milliseconds and nothing has to be fetched while scrolling.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStackedLayout, QTableView, QWidget

from tetrarium.model import CATEGORIES, CONFIDENCES, SpaceSnapshot
from tetrarium_gui.panels.parts import EmptyState, category_icon
from tetrarium_gui.style import Theme, category_color, cluster_ink, visible
from tetrarium_gui.words import t

COLUMNS = ("text", "category", "cluster", "confidence", "importance", "recalled", "stored")
TEXT, CATEGORY, CLUSTER, CONFIDENCE, IMPORTANCE, RECALLED, STORED = range(len(COLUMNS))
WIDTHS = {CATEGORY: 120, CLUSTER: 220, CONFIDENCE: 100, IMPORTANCE: 90, RECALLED: 80, STORED: 130}
ROW_HEIGHT = 26

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

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        self.beginResetModel()
        self.snapshot = snapshot
        self._rows = {memory_id: row for row, memory_id in enumerate(snapshot.ids)}
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
        self._order = np.argsort(key, kind="stable")
        if self._direction == Qt.SortOrder.DescendingOrder:
            self._order = self._order[::-1]
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(len(self._order))

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


class TablePanel(QWidget):
    """The list; a current row emits its id, a double-click asks to go there."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = MemoryTable(theme, self)
        self.empty = EmptyState(t("list.empty"), theme)
        self.table = QTableView(self)
        self.table.setModel(self.rows)
        self.table.setAccessibleName(t("list.name"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            self.table.setColumnWidth(column, width)
        header.setSortIndicator(STORED, Qt.SortOrder.DescendingOrder)
        self.table.setSortingEnabled(True)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.table)
        self._following = False
        self.table.selectionModel().currentRowChanged.connect(self._moved)
        self.table.doubleClicked.connect(lambda index: self.memory_opened.emit(self.rows.id_at(index.row())))

    def set_theme(self, theme: Theme) -> None:
        self.rows.theme = theme
        self.empty.set_theme(theme)
        self.table.viewport().update()

    def set_snapshot(self, snapshot: SpaceSnapshot, selected: str) -> None:
        """Show a new snapshot; the scroll position and the selection stay."""
        bar = self.table.verticalScrollBar()
        at = bar.value()
        self._following = True
        self.rows.set_snapshot(snapshot)
        self._pages.setCurrentWidget(self.table if len(snapshot) else self.empty)
        row = self.rows.row_of(selected)
        if row >= 0:
            self.table.setCurrentIndex(self.rows.index(row, TEXT))
        bar.setValue(at)
        self._following = False

    def mark(self, memory_id: str) -> None:
        """Follow a selection that was made elsewhere."""
        row = self.rows.row_of(memory_id)
        self._following = True
        if row < 0:
            self.table.clearSelection()
        elif self.table.currentIndex().row() != row or not self.table.selectionModel().hasSelection():
            self.table.setCurrentIndex(self.rows.index(row, TEXT))
            self.table.scrollTo(self.rows.index(row, TEXT), QAbstractItemView.ScrollHint.PositionAtCenter)
        self._following = False

    def _moved(self, current: QModelIndex) -> None:
        if current.isValid() and not self._following:
            self.memory_selected.emit(self.rows.id_at(current.row()))
