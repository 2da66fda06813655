"""One memory whole, to read: text, words, dates, source, corrections, place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import Cluster, Memory, Standing
from tetrarium_gui.panels.parts import Chips, EmptyState, PlainLabel, category_icon, when
from tetrarium_gui.state import place_words
from tetrarium_gui.style import (
    GRID,
    SIZE_HEADING,
    SIZE_SMALL,
    Theme,
    category_color,
    cluster_ink,
    mono_font,
    text_font,
    visible,
)

WORDS = {
    "empty": "Click a tetrahedron, a hit or a row to read the memory here.",
    "live": "live",
    "inhibited": "inhibited: superseded, never recalled",
    "superseded_by": "Superseded by",
    "supersedes": "Supersedes",
    "cluster": "Cluster",
    "confidence": "Confidence",
    "importance": "Importance",
    "created": "Stored",
    "updated": "Changed",
    "accessed": "Last recalled",
    "count": "Recalled",
    "expires": "Expires",
    "author": "Author",
    "client": "Client",
    "session": "Session",
    "project": "Project",
    "file": "File",
    "entities": "Entities",
    "place": "Place",
    "id": "Id",
    "times": "{count} times",
}


class InspectorPanel(QWidget):
    """Shows one record; links to superseded memories emit `memory_asked`."""

    memory_asked = Signal(str)
    word_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.memory: Memory | None = None
        self._cluster: Cluster | None = None
        self.empty = EmptyState(WORDS["empty"], theme)
        self.icon, self.title = PlainLabel(), PlainLabel(size=SIZE_HEADING, bold=True)
        self.standing = PlainLabel(size=SIZE_SMALL)
        self.content = QPlainTextEdit()
        self.content.setReadOnly(True)
        self.content.setAccessibleName("Text of the memory")
        self.content.setFont(text_font())
        self.content.setFrameShape(QFrame.Shape.NoFrame)
        self.content.setMinimumHeight(120)
        self.chips = Chips(theme)
        self.links = QVBoxLayout()
        self.facts = QFormLayout()
        self._lay_out()
        self.chips.chosen.connect(self.word_chosen)

    def set_theme(self, theme: Theme) -> None:
        self.theme = self.chips.theme = theme
        self.empty.set_theme(theme)
        if self.memory is not None:
            self.show_memory(self.memory, self._cluster)

    def show_memory(self, memory: Memory, cluster: Cluster | None) -> None:
        self.memory, self._cluster = memory, cluster
        theme = self.theme
        color = category_color(theme, memory.category)
        self.icon.setPixmap(category_icon(memory.category, color).pixmap(20, 20))
        self.title.setText(memory.category.value.capitalize())
        inhibited = memory.standing is Standing.INHIBITED
        self.standing.setText(WORDS["inhibited"] if inhibited else WORDS["live"])
        self.standing.setStyleSheet(f"color: {theme.inhibited_text if inhibited else theme.muted};")
        self.content.setPlainText(visible(memory.content))
        hue = cluster_ink(theme, cluster.hue) if cluster is not None else ""
        chips = [(word, "") for word in memory.keywords]
        chips += [(word, theme.accent) for word in memory.labels]
        self.chips.set_words(tuple(chips))
        self._show_links(memory)
        self._show_facts(memory, cluster, hue)
        self._pages.setCurrentIndex(1)

    def clear(self) -> None:
        self.memory = None
        self._pages.setCurrentIndex(0)

    def _lay_out(self) -> None:
        heading = QHBoxLayout()
        heading.addWidget(self.icon)
        heading.addWidget(self.title)
        heading.addStretch()
        heading.addWidget(self.standing)
        self.facts.setHorizontalSpacing(2 * GRID)
        self.facts.setVerticalSpacing(GRID // 2)
        self.facts.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(GRID + GRID // 2, GRID, GRID + GRID // 2, GRID)
        column.setSpacing(GRID)
        column.addLayout(heading)
        column.addWidget(self.content, 1)
        column.addWidget(self.chips)
        column.addLayout(self.links)
        column.addLayout(self.facts)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(scroll)

    def _show_links(self, memory: Memory) -> None:
        while (item := self.links.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        links = [(WORDS["superseded_by"], memory.superseded_by)] if memory.superseded_by else []
        links += [(WORDS["supersedes"], earlier) for earlier in memory.supersedes]
        for word, other in links:
            button = QPushButton(f"{word}  …{other[-6:]}")
            button.setToolTip(other)
            button.clicked.connect(lambda _=False, other=other: self.memory_asked.emit(other))
            self.links.addWidget(button)

    def _show_facts(self, memory: Memory, cluster: Cluster | None, hue: str) -> None:
        while self.facts.rowCount():
            self.facts.removeRow(0)
        source = memory.source
        rows = (
            ("cluster", cluster.name if cluster is not None else ""),
            ("confidence", memory.confidence.value),
            ("importance", f"{memory.importance:.2f}"),
            ("created", when(memory.created_at)),
            ("updated", when(memory.updated_at) if memory.revision > 1 else ""),
            ("accessed", when(memory.last_accessed_at)),
            ("count", WORDS["times"].format(count=memory.access_count) if memory.access_count else ""),
            ("expires", when(memory.expires_at) if memory.expires_at else ""),
            ("author", source.author),
            ("client", source.client),
            ("session", source.session),
            ("project", source.project),
            ("file", source.file),
            ("entities", ", ".join(memory.entities)),
            ("place", place_words(memory)),
            ("id", memory.id),
        )
        for key, value in rows:
            if not value:
                continue
            name, fact = PlainLabel(WORDS[key], size=SIZE_SMALL), PlainLabel(visible(value)[:300], size=SIZE_SMALL)
            name.setStyleSheet(f"color: {self.theme.muted};")
            fact.setWordWrap(True)
            fact.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if key == "cluster" and hue:
                fact.setStyleSheet(f"color: {hue}; font-weight: 600;")
            if key in ("id", "place"):
                fact.setFont(mono_font())
            self.facts.addRow(name, fact)
