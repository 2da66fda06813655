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

from tetrarium.model import AuditEntry, Cluster, Inhibition, KnowledgeGraph, Memory, Neighbour, Standing, Version
from tetrarium_gui.panels.audit_log import did
from tetrarium_gui.panels.facts import FactsView
from tetrarium_gui.panels.fields import MemoryForm
from tetrarium_gui.panels.flow import FlowLayout
from tetrarium_gui.panels.parts import Chips, EmptyState, PlainLabel, category_icon, lately, when
from tetrarium_gui.panels.relations import RelationsView
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.versions import VersionsView
from tetrarium_gui.panels.writing import Sheet, TextBox, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_HEADING, SIZE_SMALL, Theme, category_color, visible
from tetrarium_gui.words import t
from tetrarium_gui.worker import WINDOW

ACTIONS = {
    "edit": "ph.pencil-simple",
    "supersede": "ph.arrow-bend-up-right",
    "inhibit": "ph.prohibit",
    "trash": "ph.trash",
}
TEXT_HEIGHT = 56
READ, WRITE = 0, 1
TABS_HEIGHT = 64
"""What stands in the tabs scrolls: a low window keeps the tabs of its docks."""
ACCESS = 3
"""The tab that tells who read and wrote the memory."""


class InspectorPanel(QWidget):
    """Shows one record and asks for changes of it."""

    memory_asked = Signal(str)
    word_chosen = Signal(str)
    edit_asked = Signal(object)  # Edits
    supersede_asked = Signal(str, str, str)  # id, the new text, why
    inhibit_asked = Signal(str, str)  # id, why
    release_asked = Signal(str)
    trash_asked = Signal(str)
    access_asked = Signal()

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.memory: Memory | None = None
        self._cluster: Cluster | None = None
        self.is_new = False
        """Whether a new memory is being written."""
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
        columns = [f"privacy.{name}" for name in ("at", "who", "did")]
        self.access = RowList("inspector.access_name", columns, (64, 92, 0))
        self._lay_out()
        self.chips.chosen.connect(self.word_chosen)
        self.form.saved.connect(self.edit_asked)
        self.form.left.connect(self.give_up)
        self.relations.memory_asked.connect(self.memory_asked)
        self.tabs.currentChanged.connect(lambda at: self.access_asked.emit() if at == ACCESS else None)
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
        elif self.is_new:
            return
        theme, silent = self.theme, memory.standing is not Standing.LIVE
        self.icon.setPixmap(category_icon(memory.category, category_color(theme, memory.category)).pixmap(20, 20))
        self.icon.show()
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
            words = t("inspector.tab_versions", count=len(versions)) if versions else t("inspector.tab_no_versions")
            self.tabs.setTabText(1, words)

    def show_access(self, entries: Sequence[AuditEntry]) -> None:
        """Who read and wrote the memory on show, newest first; looks of this window at whole screens aside."""
        told = [entry for entry in entries if not (entry.client == WINDOW and entry.kind == "read")]
        self.access.set_rows(
            Row(
                str(entry.seq),
                (lately(entry.at), entry.client or t("privacy.nobody"), did(entry)),
                tip=f"{when(entry.at)} · {entry.client} · {did(entry)}",
            )
            for entry in told
        )

    def clear(self) -> None:
        self.stop_editing()
        self.sheet.put_away()
        self.memory = None
        self._pages.setCurrentIndex(0)

    # --- what is wanted -------------------------------------------------------------------------
    @property
    def shows_access(self) -> bool:
        """Whether somebody looks at who read it."""
        return self.tabs.currentIndex() == ACCESS

    @property
    def is_editing(self) -> bool:
        return self._body.currentIndex() == WRITE

    def start_editing(self, content: str | None = None) -> None:
        """Open the form; `content`: a text to go on with instead of the stored one."""
        if self.memory is not None:
            self.stop_editing()
            self.sheet.put_away()
            self._body.setCurrentIndex(WRITE)
            self.form.edit(self.memory, content)

    def start_new(self) -> None:
        """Open the form for a memory that is not there yet."""
        self.sheet.put_away()
        self.is_new = True
        self.icon.hide()
        self.title.setText(t("inspector.new"))
        self.standing.setText("")
        self._body.setCurrentIndex(WRITE)
        self._pages.setCurrentIndex(1)
        self.form.begin()

    def stop_editing(self) -> None:
        """Back to the memory on show, if there is one; the text of a new one waits for the next `start_new`."""
        self._body.setCurrentIndex(READ)
        if self.is_new:
            self.form.put_off()
            self.is_new = False
            if self.memory is None:
                self._pages.setCurrentIndex(0)
            else:
                self.show_memory(self.memory, self._cluster)

    def give_up(self) -> None:
        """Leave the form, and what was written in it."""
        if self.is_new:
            self.form.forget_draft()
        self.stop_editing()

    def start(self, action: str) -> None:
        """Begin one of ACTIONS on the memory on show."""
        memory = self.memory
        if memory is None:
            return
        if self.is_new:
            self.stop_editing()
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
        heading, actions = QHBoxLayout(), FlowLayout(spacing=GRID // 2)
        for part in (self.icon, self.title):
            heading.addWidget(part)
        self.standing.setWordWrap(True)
        self.standing.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        heading.addWidget(self.standing, 1)
        for made in self.buttons.values():
            actions.addWidget(made)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(_scrolled(self.facts, "inspector.tab_facts"), t("inspector.tab_facts"))
        self.tabs.addTab(self.versions, t("inspector.tab_no_versions"))
        self.tabs.addTab(self.relations, t("inspector.tab_relations"))
        self.tabs.addTab(self.access, t("inspector.tab_access"))
        self.tabs.setMinimumHeight(TABS_HEIGHT)
        self.tabs.tabBar().setUsesScrollButtons(True)
        self.tabs.setUsesScrollButtons(True)
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
        self._body.addWidget(_scrolled(self.form, "inspector.edit"))
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


def _scrolled(inner: QWidget, name: str) -> QScrollArea:
    area = QScrollArea()
    area.setAccessibleName(t(name))
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    return area
