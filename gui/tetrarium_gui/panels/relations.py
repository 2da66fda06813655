"""What one memory hangs together with: its chain of corrections, and the memories whose tetrahedra touch its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from tetrarium.model import GraphEdge, Inhibition, KnowledgeGraph, Memory, Neighbour, Origin
from tetrarium_gui.panels.parts import when
from tetrarium_gui.style import GRID, Theme, mono_font, plain_tip, text_font, visible
from tetrarium_gui.words import t

ID_ROLE = Qt.ItemDataRole.UserRole
MOST_NEIGHBOURS = 12


class RelationsView(QWidget):
    """A tree of groups; Enter or a double-click on a memory asks to go there."""

    memory_asked = Signal(str)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self._excerpt_of = theme, excerpt_of
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(t("relations.name"))
        self.tree.setColumnCount(2)
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(12)
        self.tree.setRootIsDecorated(False)
        self.tree.setUniformRowHeights(True)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.addWidget(self.tree)
        self.tree.itemActivated.connect(self._open)

    def show_relations(
        self, memory: Memory, edges: Sequence[Inhibition], neighbours: Sequence[Neighbour], graph: KnowledgeGraph
    ) -> None:
        self.tree.clear()
        by = [edge for edge in edges if edge.target == memory.id]
        over = [edge for edge in edges if edge.successor == memory.id]
        rest = [edge for edge in edges if edge not in by and edge not in over]
        for name, group in (("relations.inhibited_by", by), ("relations.supersedes", over), ("relations.chain", rest)):
            if group:
                self._edges(t(name), group, memory)
        self._stated([edge for edge in graph.edges if edge.origin is Origin.STATED], memory)
        near = self._group(t("relations.neighbours")) if neighbours else None
        for neighbour in neighbours[:MOST_NEIGHBOURS]:
            other = neighbour.memory
            words = t("relations.shared", count=neighbour.shared)
            self._row(near, other.id, visible(other.content[:160]), words, t("relations.alike", z=neighbour.similarity))
        if not self.tree.topLevelItemCount():
            self._group(t("relations.empty"))
        self.tree.expandAll()

    def _stated(self, edges: Sequence[GraphEdge], memory: Memory) -> None:
        group = self._group(t("relations.stated")) if edges else None
        for edge in edges:
            outward = edge.source == memory.id
            other = edge.target if outward else edge.source
            kind = visible(edge.kind).replace("_", " ")
            words = t("relations.to" if outward else "relations.from", kind=kind)
            self._row(group, other, visible(self._excerpt_of(other)), words, visible(edge.note) or words)

    def _edges(self, title: str, edges: Sequence[Inhibition], memory: Memory) -> None:
        group = self._group(title)
        for edge in edges:
            other = edge.successor if edge.target == memory.id else edge.target
            state = t("relations.lifted", when=when(edge.lifted_at)) if edge.lifted_at else t("relations.in_force")
            why = visible(edge.reason) or t("relations.no_reason")
            tip = t("relations.edge", why=why, who=visible(edge.author) or "–", when=when(edge.created_at))
            words = visible(self._excerpt_of(other)) if other else t("relations.by_hand", why=why)
            self._row(group, other or "", words, state, tip)

    def _group(self, title: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self.tree, [title])
        item.setForeground(0, QBrush(QColor(self.theme.muted)))
        item.setFont(0, text_font(bold=True))
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        return item

    def _row(self, group: QTreeWidgetItem | None, memory_id: str, words: str, note: str, tip: str) -> None:
        assert group is not None
        item = QTreeWidgetItem(group, [words.replace("\n", " "), note])
        item.setData(0, ID_ROLE, memory_id)
        item.setForeground(1, QBrush(QColor(self.theme.muted)))
        item.setFont(1, mono_font())
        item.setToolTip(0, plain_tip(tip))

    def _open(self, item: QTreeWidgetItem) -> None:
        if memory_id := item.data(0, ID_ROLE):
            self.memory_asked.emit(memory_id)
