"""One memory whole: its text, its facts, its versions and relations – and every change a person may want to make.

The panel changes nothing itself: it emits what is wanted, and shows the record that comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import qtawesome
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import Cluster, Inhibition, KnowledgeGraph, Memory, Neighbour, Standing, Version
from tetrarium_gui.panels.facts import FactsView
from tetrarium_gui.panels.fields import MemoryForm
from tetrarium_gui.panels.parts import Chips, EmptyState, PlainLabel, category_icon
from tetrarium_gui.panels.relations import RelationsView
from tetrarium_gui.panels.versions import VersionsView
from tetrarium_gui.panels.writing import Sheet, TextBox, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_HEADING, SIZE_SMALL, Theme, category_color, visible
from tetrarium_gui.words import t

ACTIONS = {
    "edit": "ph.pencil-simple",
    "supersede": "ph.arrow-bend-up-right",
    "inhibit": "ph.prohibit",
    "trash": "ph.trash",
}
TEXT_HEIGHT = 120
READ, WRITE = 0, 1


class InspectorPanel(QWidget):
    """Shows one record and asks for changes of it."""

    memory_asked = Signal(str)
    word_chosen = Signal(str)
    edit_asked = Signal(object)  # Edits
    supersede_asked = Signal(str, str, str)  # id, the new text, why
    inhibit_asked = Signal(str, str)  # id, why
    release_asked = Signal(str)
    trash_asked = Signal(str)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.memory: Memory | None = None
        self._cluster: Cluster | None = None
        self.empty = EmptyState(t("inspector.empty"), theme)
        self.icon, self.title = PlainLabel(), PlainLabel(size=SIZE_HEADING, bold=True)
        self.standing = PlainLabel(size=SIZE_SMALL)
        self.content = TextBox("inspector.content_name", read_only=True)
        self.content.setMinimumHeight(TEXT_HEIGHT)
        self.more = button("inspector.show_all", self._show_all)
        self.chips = Chips(theme)
        self.buttons = {name: self._action(name) for name in ACTIONS}
        self.sheet = Sheet(self.content)
        self.facts, self.versions = FactsView(theme), VersionsView(theme)
        self.relations, self.form = RelationsView(theme, excerpt_of), MemoryForm(theme)
        self._lay_out()
        self.chips.chosen.connect(self.word_chosen)
        self.form.saved.connect(self.edit_asked)
        self.form.left.connect(self.stop_editing)
        self.relations.memory_asked.connect(self.memory_asked)
        self.versions.restore_asked.connect(self._edit_version)

    # --- what is shown --------------------------------------------------------------------------
    def set_theme(self, theme: Theme) -> None:
        self.theme = self.chips.theme = self.facts.theme = self.versions.theme = self.relations.theme = theme
        self.empty.set_theme(theme)
        self.form.set_theme(theme)
        for name, made in self.buttons.items():
            made.setIcon(qtawesome.icon(ACTIONS[name], color=theme.text))
        if self.memory is not None:
            self.show_memory(self.memory, self._cluster)

    def show_memory(self, memory: Memory, cluster: Cluster | None) -> None:
        """Show a record. While the same memory is being edited, the form keeps what was written."""
        another = self.memory is None or memory.id != self.memory.id
        self.memory, self._cluster = memory, cluster
        if another:
            self.stop_editing()
            self.sheet.put_away()
        theme, silent = self.theme, memory.standing is not Standing.LIVE
        self.icon.setPixmap(category_icon(memory.category, category_color(theme, memory.category)).pixmap(20, 20))
        self.title.setText(t(f"category.{memory.category.value}").capitalize())
        self.standing.setText(_standing_words(memory))
        self.standing.setStyleSheet(f"color: {theme.inhibited_text if silent else theme.muted};")
        left = self.content.show_text(memory.content)
        self.more.setVisible(left > 0)
        self.more.setText(t("inspector.show_all", count=left))
        chips = [(word, "") for word in memory.keywords] + [(word, theme.accent) for word in memory.labels]
        self.chips.set_words(tuple(chips))
        self.buttons["inhibit"].setText(t("inspector.release" if silent else "inspector.inhibit"))
        self.facts.show_facts(memory, cluster)
        self._pages.setCurrentIndex(1)

    def show_details(
        self,
        versions: tuple[Version, ...],
        edges: Sequence[Inhibition],
        neighbours: Sequence[Neighbour],
        graph: KnowledgeGraph,
    ) -> None:
        """The rest about the memory on show."""
        if self.memory is not None:
            self.versions.show_versions(self.memory, versions)
            self.relations.show_relations(self.memory, edges, neighbours, graph)
            self.tabs.setTabText(1, t("inspector.tab_versions", count=len(versions)))

    def clear(self) -> None:
        self.stop_editing()
        self.sheet.put_away()
        self.memory = None
        self._pages.setCurrentIndex(0)

    # --- what is wanted -------------------------------------------------------------------------
    @property
    def is_editing(self) -> bool:
        return self._body.currentIndex() == WRITE

    def start_editing(self, content: str | None = None) -> None:
        """Open the form; `content`: a text to go on with instead of the stored one."""
        if self.memory is not None:
            self.sheet.put_away()
            self._body.setCurrentIndex(WRITE)
            self.form.edit(self.memory, content)

    def stop_editing(self) -> None:
        self._body.setCurrentIndex(READ)

    def start(self, action: str) -> None:
        """Begin one of ACTIONS on the memory on show."""
        memory = self.memory
        if memory is None:
            return
        if action == "edit":
            self.start_editing()
        elif action == "trash":
            self.trash_asked.emit(memory.id)
        elif action == "supersede":
            self._ask_supersede(memory)
        elif memory.standing is not Standing.LIVE:
            self.release_asked.emit(memory.id)
        else:
            self._ask_inhibit(memory)

    def _ask_supersede(self, memory: Memory) -> None:
        self.sheet.ask(
            t("inspector.supersede_title"),
            t("inspector.supersede_hint"),
            t("inspector.supersede"),
            lambda text, why: self.supersede_asked.emit(memory.id, text, why),
            text="",
            line="",
            line_hint=t("sheet.why"),
        )

    def _ask_inhibit(self, memory: Memory) -> None:
        self.sheet.ask(
            t("inspector.inhibit_title"),
            t("inspector.inhibit_hint"),
            t("inspector.inhibit"),
            lambda _, why: self.inhibit_asked.emit(memory.id, why),
            line="",
            line_hint=t("sheet.why"),
        )

    def _edit_version(self, version: Version) -> None:
        self.start_editing(version.content)

    def _show_all(self) -> None:
        if self.memory is not None:
            self.content.show_text(self.memory.content, whole=True)
            self.more.hide()

    # --- layout ---------------------------------------------------------------------------------
    def _action(self, name: str) -> QPushButton:
        made = button(f"inspector.{name}", lambda: self.start(name))
        made.setToolTip(t(f"command.{name}_tip"))
        return made

    def _lay_out(self) -> None:
        heading, actions = QHBoxLayout(), QHBoxLayout()
        for part in (self.icon, self.title):
            heading.addWidget(part)
        self.standing.setWordWrap(True)
        self.standing.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        heading.addWidget(self.standing, 1)
        actions.setSpacing(GRID // 2)
        for made in self.buttons.values():
            actions.addWidget(made)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(_scrolled(self.facts), t("inspector.tab_facts"))
        self.tabs.addTab(self.versions, t("inspector.tab_versions", count=0))
        self.tabs.addTab(self.relations, t("inspector.tab_relations"))
        reading = QWidget()
        column = QVBoxLayout(reading)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.content, 3)
        column.addWidget(self.more)
        column.addWidget(self.chips)
        column.addLayout(actions)
        column.addWidget(self.sheet)
        column.addWidget(self.tabs, 4)
        self._body = QStackedLayout()
        self._body.addWidget(reading)
        self._body.addWidget(self.form)
        page = QWidget()
        whole = QVBoxLayout(page)
        whole.setContentsMargins(GRID + GRID // 2, GRID, GRID + GRID // 2, GRID)
        whole.setSpacing(GRID)
        whole.addLayout(heading)
        whole.addLayout(self._body, 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)


def _standing_words(memory: Memory) -> str:
    """How a memory stands, and why where it is silent."""
    if memory.standing is Standing.QUARANTINED:
        return t("inspector.quarantined", why=visible(said(memory.quarantined)))
    if memory.standing is Standing.INHIBITED:
        return t("inspector.inhibited" if memory.superseded_by else "inspector.by_hand")
    return t("inspector.pinned" if memory.pinned else "inspector.live")


def _scrolled(inner: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    return area
