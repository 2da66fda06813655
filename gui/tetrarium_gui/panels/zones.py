"""The memories of one recall in groups: kept, void zones with their theme and reason, left out by the budget."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from tetrarium.model import Candidate, Reason, RecallTrace
from tetrarium_gui.panels.parts import reason_words
from tetrarium_gui.sentences import said
from tetrarium_gui.style import Theme, mono_font, text_font, visible
from tetrarium_gui.words import t

ID_ROLE, VOID_ROLE, ZONE_ROLE = (Qt.ItemDataRole.UserRole + at for at in range(3))
COLUMNS = ("memory", "score", "tokens", "why")
WIDTHS = (440, 64, 64)
LONGEST_THEME = 60


class ZoneTree(QTreeWidget):
    """Groups and their memories; choosing a memory emits its id."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    menu_asked = Signal(QPoint)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str]) -> None:
        super().__init__()
        self.theme, self._excerpt_of = theme, excerpt_of
        self.setAccessibleName(t("voids.zones_name"))
        self.setHeaderLabels([t(f"voids.column_{name}") for name in COLUMNS])
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate(WIDTHS):
            self.header().resizeSection(column, width)
        self.currentItemChanged.connect(self._chosen)
        self.itemActivated.connect(self._opened)
        self.customContextMenuRequested.connect(lambda at: self.menu_asked.emit(self.viewport().mapToGlobal(at)))

    def current_id(self) -> str:
        """The memory that is chosen, "" when a group is or nothing."""
        item = self.currentItem()
        return str(item.data(0, ID_ROLE) or "") if item is not None else ""

    def choose_zone(self, zone: int) -> None:
        """Make the group of a zone of the trace the current one, and open it."""
        for at in range(self.topLevelItemCount()):
            item = self.topLevelItem(at)
            if item is not None and item.data(0, ZONE_ROLE) == zone:
                item.setExpanded(True)
                self.setCurrentItem(item)
                self.scrollToItem(item, QTreeWidget.ScrollHint.PositionAtTop)

    def voided(self) -> tuple[str, ...]:
        """What is off topic of what is chosen: the memory, or every member of the zone."""
        item = self.currentItem()
        return tuple(item.data(0, VOID_ROLE) or ()) if item is not None else ()

    def show_trace(self, trace: RecallTrace) -> None:
        by_id = {candidate.id: candidate for candidate in trace.candidates}
        kept_row = self.current_id() or next(iter(self.voided()), "")
        self.blockSignals(True)
        self.clear()
        kept = self._group(t("voids.kept", count=len(trace.blocks)), "", "", self.theme.accent)
        for hit in trace.blocks:
            if hit.id in by_id:
                theme = visible(", ".join(by_id[hit.id].theme))
                self._row(kept, by_id[hit.id], t("voids.let_why", theme=theme) if theme else t("voids.kept_why"))
        for number, zone in enumerate(trace.void_zones):
            words = visible(" · ".join(zone.theme))[:LONGEST_THEME]
            why = t("voids.zone_fit", profile=zone.profile, gap=zone.gap, reason=visible(said(zone.reason)))
            title = t("voids.zone", theme=words, count=len(zone.members))
            group = self._group(title, f"{zone.best_score:.2f}", why, self.theme.muted, zone.members)
            group.setData(0, ZONE_ROLE, number)
            for member in zone.members:
                if member in by_id:
                    self._row(group, by_id[member], reason_words(by_id[member].reason))
        if trace.budget_voided:
            title = t("voids.over_budget", count=len(trace.budget_voided))
            over = self._group(title, "", "", self.theme.amber)
            for memory_id in trace.budget_voided:
                if memory_id in by_id:
                    self._row(over, by_id[memory_id], t("voids.over_why", tokens=by_id[memory_id].tokens))
        kept.setExpanded(True)
        self._keep(kept_row)
        self.blockSignals(False)

    def _keep(self, memory_id: str) -> None:
        """Stay at the memory that was chosen – of a zone, at its first one – wherever it stands now."""
        for group in filter(None, map(self.topLevelItem, range(self.topLevelItemCount()))):
            for row in map(group.child, range(group.childCount())):
                if row is not None and memory_id and row.data(0, ID_ROLE) == memory_id:
                    group.setExpanded(True)
                    self.setCurrentItem(row)
                    self.scrollToItem(row, QTreeWidget.ScrollHint.PositionAtCenter)
                    return

    def _group(self, title: str, score: str, why: str, color: str, void: tuple[str, ...] = ()) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self, [title, score, "", why])
        item.setForeground(0, QBrush(QColor(color)))
        item.setForeground(3, QBrush(QColor(self.theme.muted)))
        item.setFont(0, text_font(bold=True))
        item.setFont(1, mono_font())
        item.setData(0, VOID_ROLE, void)
        return item

    def _row(self, group: QTreeWidgetItem, candidate: Candidate, why: str) -> None:
        words = visible(self._excerpt_of(candidate.id)).replace("\n", " ")
        item = QTreeWidgetItem(group, [words, f"{candidate.score:.2f}", str(candidate.tokens), why])
        item.setData(0, ID_ROLE, candidate.id)
        item.setData(0, VOID_ROLE, (candidate.id,) if candidate.reason is Reason.OFF_TOPIC else ())
        item.setForeground(3, QBrush(QColor(self.theme.muted)))
        for column in (1, 2):
            item.setFont(column, mono_font())

    def _chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and (memory_id := item.data(0, ID_ROLE)):
            self.memory_selected.emit(memory_id)

    def _opened(self, item: QTreeWidgetItem) -> None:
        if memory_id := item.data(0, ID_ROLE):
            self.memory_opened.emit(memory_id)
