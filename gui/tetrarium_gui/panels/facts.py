"""What is known about a memory beside its text: who stored it, when, how often it was recalled, where it stands."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from tetrarium.model import Cluster, Memory
from tetrarium_gui.panels.parts import PlainLabel, when
from tetrarium_gui.state import place_words
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, cluster_ink, mono_font, visible
from tetrarium_gui.words import t

LONGEST = 300
"""Characters of one fact."""


class FactsView(QWidget):
    """Name and value in rows; what is not known has no row."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.rows = QFormLayout(self)
        self.rows.setContentsMargins(0, GRID, 0, 0)
        self.rows.setHorizontalSpacing(2 * GRID)
        self.rows.setVerticalSpacing(GRID // 2)
        self.rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def show_facts(self, memory: Memory, cluster: Cluster | None) -> None:
        while self.rows.rowCount():
            self.rows.removeRow(0)
        for key, value in _facts(memory, cluster):
            if value:
                self._add(key, value, cluster)

    def _add(self, key: str, value: str, cluster: Cluster | None) -> None:
        name = PlainLabel(t(f"inspector.{key}"), size=SIZE_SMALL)
        fact = PlainLabel(visible(value)[:LONGEST], size=SIZE_SMALL)
        name.setStyleSheet(f"color: {self.theme.muted};")
        fact.setWordWrap(True)
        fact.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if key == "cluster" and cluster is not None:
            fact.setStyleSheet(f"color: {cluster_ink(self.theme, cluster.hue)}; font-weight: 600;")
        if key in ("id", "place"):
            fact.setFont(mono_font())
        self.rows.addRow(name, fact)


def _facts(memory: Memory, cluster: Cluster | None) -> tuple[tuple[str, str], ...]:
    source = memory.source
    return (
        ("cluster", cluster.name if cluster is not None else ""),
        ("confidence", t(f"confidence.{memory.confidence.value}")),
        ("importance", f"{memory.importance:.2f}"),
        ("created", when(memory.created_at)),
        ("updated", when(memory.updated_at) if memory.revision > 1 else ""),
        ("accessed", when(memory.last_accessed_at)),
        ("count", t("inspector.times", count=memory.access_count) if memory.access_count else ""),
        ("questions", t("inspector.different", count=memory.distinct_queries) if memory.distinct_queries else ""),
        ("feedback", _feedback(memory)),
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


def _feedback(memory: Memory) -> str:
    if not (memory.helped or memory.misled):
        return ""
    return t("inspector.judged", helped=memory.helped, misled=memory.misled)
