"""A plain list of rows with columns, as several panels need it: keyboard, several selected, a context menu."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from tetrarium_gui.style import plain_tip, visible
from tetrarium_gui.words import t

KEY_ROLE = Qt.ItemDataRole.UserRole
LONGEST_CELL = 300
"""Characters of a cell; the tooltip has more."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. key: what its actions are about; memory_id: what it selects, ""; ink: colour of its first cell."""

    key: str
    cells: tuple[str, ...]
    memory_id: str = ""
    ink: str = ""
    tip: str = ""
    swatch: str = ""


class RowList(QTreeWidget):
    """Rows in columns. Choosing one emits its memory, Enter or a double-click opens it."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    keys_changed = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, name: str, columns: Sequence[str], widths: Sequence[int], *, several: bool = False) -> None:
        """name: of the list; columns: names of the headings in the catalogue; widths: pixels, 0 takes the rest."""
        super().__init__()
        self.setAccessibleName(t(name))
        self.setHeaderLabels([t(column) for column in columns])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)  # by rows, the last one stays cut
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if several else modes.SingleSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.header().setStretchLastSection(False)
        for column, width in enumerate(widths):
            stretch = QHeaderView.ResizeMode.Stretch if width == 0 else QHeaderView.ResizeMode.Interactive
            self.header().setSectionResizeMode(column, stretch)
            if width:
                self.header().resizeSection(column, width)
        self._filling = False
        self.currentItemChanged.connect(self._moved)
        self.itemSelectionChanged.connect(self.keys_changed)
        self.itemActivated.connect(self._opened)
        self.customContextMenuRequested.connect(lambda at: self.menu_asked.emit(self.viewport().mapToGlobal(at)))

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show these rows; what was selected stays selected, and where one looked stays in view."""
        chosen, bar = set(self.keys()), self.verticalScrollBar()
        current, at = self.current_key(), bar.value()
        self._filling = True
        self.clear()
        self.addTopLevelItems([self._item(row) for row in rows])
        for item in self._items():
            key = item.data(0, KEY_ROLE).key
            if key == current:
                self.setCurrentItem(item)
            item.setSelected(key in chosen)
        bar.setValue(at)
        self._filling = False
        self.keys_changed.emit()

    def keys(self) -> tuple[str, ...]:
        """The keys of the selected rows."""
        return tuple(item.data(0, KEY_ROLE).key for item in self.selectedItems())

    def current_key(self) -> str:
        item = self.currentItem()
        return item.data(0, KEY_ROLE).key if item is not None else ""

    def choose(self, key: str) -> bool:
        """Make the row of a key the current one; False when there is none."""
        for item in self._items():
            if item.data(0, KEY_ROLE).key == key:
                self.setCurrentItem(item)
                return True
        return False

    def _items(self) -> Iterator[QTreeWidgetItem]:
        for index in range(self.topLevelItemCount()):
            item = self.topLevelItem(index)
            assert item is not None
            yield item

    def _item(self, row: Row) -> QTreeWidgetItem:
        cells = [visible(cell[:LONGEST_CELL]).replace("\n", " ") for cell in row.cells]
        item = QTreeWidgetItem(cells)
        item.setData(0, KEY_ROLE, row)
        if row.ink:
            item.setForeground(0, QBrush(QColor(row.ink)))
        if row.swatch:
            item.setData(0, Qt.ItemDataRole.DecorationRole, QColor(row.swatch))
        for column in range(len(cells)):
            item.setToolTip(column, plain_tip(row.tip or row.cells[0]))
        return item

    def _moved(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and not self._filling and (memory_id := item.data(0, KEY_ROLE).memory_id):
            self.memory_selected.emit(memory_id)

    def _opened(self, item: QTreeWidgetItem) -> None:
        if memory_id := item.data(0, KEY_ROLE).memory_id:
            self.memory_opened.emit(memory_id)
