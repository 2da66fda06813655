"""Every memory as a row: sorted, narrowed, several at once, linked with the space both ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import CATEGORIES, SpaceSnapshot
from tetrarium_gui.panels.memory_table import ANY, INHIBITED, LIVE, ROW_HEIGHT, STORED, TEXT, WIDTHS, MemoryTable
from tetrarium_gui.panels.parts import EmptyState, PlainLabel
from tetrarium_gui.panels.writing import Sheet, button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme
from tetrarium_gui.words import t

BULK = ("trash", "label", "inhibit", "export")
"""What can be done with several memories at once."""
TYPING_PAUSE = 120
"""Milliseconds without a key after which the list is narrowed."""

MIRRORED = 2_000
"""Marks made in the space that the list follows; more rows take longer to mark than a person waits."""


class TablePanel(QWidget):
    """The list; a current row emits its id, a double-click asks to go there, buttons act on all that are selected."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    trash_asked = Signal(str)
    chosen_changed = Signal(object)  # ids of all selected rows
    bulk_asked = Signal(str, object)  # one of BULK, ids
    menu_asked = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = MemoryTable(theme, self)
        self.empty = EmptyState(t("list.empty"), theme)
        self.filter, self.category, self.standing = QLineEdit(), QComboBox(), QComboBox()
        self.count = PlainLabel(size=SIZE_SMALL)
        self.bulk = {name: button(f"list.{name}", partial(self._ask_bulk, name)) for name in BULK}
        self.table = QTableView(self)
        self.sheet = Sheet(self.table)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_PAUSE)
        self._following = self._leading = False
        self._set_up_filters()
        self._set_up_table()
        self._lay_out()
        self._count()

    def set_theme(self, theme: Theme) -> None:
        self.rows.theme = theme
        self.empty.set_theme(theme)
        self.count.setStyleSheet(f"color: {theme.muted};")
        self.table.viewport().update()

    def set_snapshot(self, snapshot: SpaceSnapshot, selected: str) -> None:
        """Show a new snapshot; the scroll position and what is selected stay."""
        chosen = self.chosen()
        bar = self.table.verticalScrollBar()
        at = bar.value()
        self._following = True
        self.rows.set_snapshot(snapshot)
        self._pages.setCurrentWidget(self.table if len(snapshot) else self.empty)
        self._select([selected] if len(chosen) < 2 else chosen)
        bar.setValue(at)
        self._following = False
        self._count()

    def chosen(self) -> tuple[str, ...]:
        """The ids of the selected rows, as they stand in the list."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return tuple(self.rows.id_at(row) for row in rows if row < self.rows.rowCount())

    def mark(self, memory_id: str) -> None:
        """Follow a selection that was made elsewhere; of several selected rows it is one, they stay.

        What a click in the list itself selects, the list marks: here nothing moves under the pointer.
        """
        if self._leading:
            return
        row = self.rows.row_of(memory_id)
        if row >= 0 and self.table.selectionModel().isRowSelected(row, QModelIndex()):
            return
        self._following = True
        if row < 0:
            self.table.clearSelection()
        else:
            self._select([memory_id])
            self._bring_into_view(self.rows.index(row, TEXT))
        self._following = False
        self._count()

    def show_chosen(self, ids: tuple[str, ...]) -> None:
        """Follow marks that were made elsewhere, of up to MIRRORED memories."""
        if len(ids) > MIRRORED or ids == self.chosen():
            return
        self._following = True
        self._select(ids)
        self._following = False
        self._count()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete, that the table leaves alone: into the trash with one, and with several after a look at how many."""
        if event.matches(QKeySequence.StandardKey.Delete) and self.table.hasFocus() and (chosen := self.chosen()):
            self.trash_asked.emit(chosen[0]) if len(chosen) == 1 else self.bulk_asked.emit("trash", chosen)
            return
        super().keyPressEvent(event)

    # --- the person -----------------------------------------------------------------------------
    def _ask_bulk(self, name: str) -> None:
        if chosen := self.chosen():
            self.bulk_asked.emit(name, chosen)

    def _moved(self, current: QModelIndex) -> None:
        if current.isValid() and not self._following:
            self._leading = True  # told while the button is still down, before Qt has marked the row
            self.memory_selected.emit(self.rows.id_at(current.row()))
            self._leading = False

    def _changed(self) -> None:
        self._count()
        if not self._following:
            self.chosen_changed.emit(self.chosen())

    def _narrow(self) -> None:
        chosen = self.chosen()
        self._following = True
        self.rows.narrow(self.filter.text(), self.category.currentData(), self.standing.currentData())
        self._select(chosen)
        self._following = False
        self._count()

    def _bring_into_view(self, index: QModelIndex) -> None:
        """Scroll to a row that cannot be seen whole; leave the list where it is otherwise."""
        row, seen = self.table.visualRect(index), self.table.viewport().rect()
        if row.top() < seen.top() or row.bottom() > seen.bottom():
            self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _select(self, ids: Sequence[str]) -> None:
        """Select the rows of these memories that are shown; the first becomes the current one."""
        selection, last = QItemSelection(), self.rows.columnCount() - 1
        rows = [row for row in map(self.rows.row_of, ids) if row >= 0]
        for row in rows:
            selection.select(self.rows.index(row, TEXT), self.rows.index(row, last))
        flags = QItemSelectionModel.SelectionFlag
        if rows and self.table.currentIndex().row() not in rows:
            self.table.selectionModel().setCurrentIndex(self.rows.index(rows[0], TEXT), flags.NoUpdate)
        self.table.selectionModel().select(selection, flags.ClearAndSelect)

    def _count(self) -> None:
        shown, chosen = self.rows.rowCount(), len(self.table.selectionModel().selectedRows())
        words = t("list.shown", count=shown)
        self.count.setText(f"{words} · {t('list.chosen', count=chosen)}" if chosen > 1 else words)
        for made in self.bulk.values():
            made.setVisible(chosen > 1)

    # --- layout ---------------------------------------------------------------------------------
    def _set_up_filters(self) -> None:
        self.filter.setPlaceholderText(t("list.filter_hint"))
        self.filter.setAccessibleName(t("list.filter_name"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(280)
        self.category.setAccessibleName(t("list.category"))
        self.category.addItem(t("list.any_category"), -1)
        for code, category in enumerate(CATEGORIES):
            self.category.addItem(t(f"category.{category.value}"), code)
        self.standing.setAccessibleName(t("list.standing"))
        for name, code in (("any", ANY), ("live", LIVE), ("inhibited", INHIBITED)):
            self.standing.addItem(t(f"list.{name}"), code)
        self.filter.textChanged.connect(lambda _: self._typing.start())
        self._typing.timeout.connect(self._narrow)
        self.category.currentIndexChanged.connect(lambda _: self._narrow())
        self.standing.currentIndexChanged.connect(lambda _: self._narrow())

    def _set_up_table(self) -> None:
        table, header = self.table, self.table.horizontalHeader()
        table.setModel(self.rows)
        table.setAccessibleName(t("list.name"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            table.setColumnWidth(column, width)
        header.setSortIndicator(STORED, Qt.SortOrder.DescendingOrder)
        table.setSortingEnabled(True)
        table.selectionModel().currentRowChanged.connect(self._moved)
        table.selectionModel().selectionChanged.connect(lambda *_: self._changed())
        table.doubleClicked.connect(lambda index: self.memory_opened.emit(self.rows.id_at(index.row())))
        table.customContextMenuRequested.connect(lambda at: self.menu_asked.emit(table.viewport().mapToGlobal(at)))

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        top.setSpacing(GRID)
        for part in (self.filter, self.category, self.standing, self.count):
            top.addWidget(part)
        top.addStretch()
        for made in self.bulk.values():
            top.addWidget(made)
        self._pages = QStackedLayout()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.table)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(top)
        whole.addWidget(self.sheet)
        whole.addLayout(self._pages, 1)
