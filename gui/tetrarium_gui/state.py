"""What the window knows between events: the last snapshot, the selection, what is lit.

One object holds it and says when it changed; panels and space read it and never tell each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from tetrarium.model import Memory, RecallState, RecallTrace, SearchResult, SpaceSnapshot
from tetrarium_gui.words import t


class ColorBy(StrEnum):
    """What a tetrahedron's colour means."""

    CLUSTER = "cluster"
    CATEGORY = "category"
    TYPE = "type"
    CONFIDENCE = "confidence"
    IMPORTANCE = "importance"
    AGE = "age"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to draw as a line. kind: `supersedes`, or the word of a stated relation."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Highlight:
    """Memories that stand out while the rest dims.

    lit: ids in order of score; void: ids that a recall carved away (shown desaturated, not dimmed).
    """

    title: str
    lit: tuple[str, ...]
    void: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Notice:
    """A non-modal message; `advice` says what to do, `grave` that it stays until dismissed, `done` that all went well."""

    message: str
    advice: str = ""
    grave: bool = False
    done: bool = False


def highlight_of_search(result: SearchResult) -> Highlight:
    return Highlight(title=result.query, lit=tuple(hit.id for hit in result.hits))


def highlight_of_recall(trace: RecallTrace) -> Highlight:
    """Lit: the answer in its order; void: every candidate that the recall left out."""
    lit = tuple(hit.id for hit in trace.blocks)
    void = frozenset(c.id for c in trace.candidates if c.state is RecallState.VOID)
    return Highlight(title=trace.query, lit=lit, void=void)


class WindowState(QObject):
    """Holds the records that several views show; every setter signals only when something changed."""

    snapshot_changed = Signal()
    selection_changed = Signal(str)
    chosen_changed = Signal()
    highlight_changed = Signal()
    color_by_changed = Signal()
    links_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.snapshot: SpaceSnapshot | None = None
        self._rows: dict[str, int] | None = None
        self.selected = ""
        self.chosen: tuple[str, ...] = ()
        self.links: tuple[Link, ...] = ()
        self.highlight: Highlight | None = None
        self.color_by = ColorBy.CLUSTER

    def set_snapshot(self, snapshot: SpaceSnapshot) -> None:
        self.snapshot, self._rows = snapshot, None
        self.snapshot_changed.emit()

    def row(self, memory_id: str) -> int:
        """The row of a memory in the last snapshot, −1 when it is not there."""
        if self._rows is None:
            ids = self.snapshot.ids if self.snapshot is not None else ()
            self._rows = {known: row for row, known in enumerate(ids)}
        return self._rows.get(memory_id, -1)

    def excerpt(self, memory_id: str) -> str:
        """The first words of a memory; its id when the last snapshot does not have it."""
        row = self.row(memory_id)
        return self.snapshot.excerpts[row] if self.snapshot is not None and row >= 0 else memory_id

    def select(self, memory_id: str) -> None:
        """Select one memory; "" selects nothing."""
        if memory_id != self.selected:
            self.selected = memory_id
            self.selection_changed.emit(memory_id)

    def choose(self, ids: tuple[str, ...]) -> None:
        """Take several memories for what is done next; the selected one is the first among them."""
        if ids != self.chosen:
            self.chosen = ids
            self.chosen_changed.emit()

    def set_links(self, links: tuple[Link, ...]) -> None:
        """The relations of the selected memory, as lines."""
        if links != self.links:
            self.links = links
            self.links_changed.emit()

    def set_highlight(self, highlight: Highlight | None) -> None:
        if highlight != self.highlight:
            self.highlight = highlight
            self.highlight_changed.emit()

    def set_color_by(self, color_by: ColorBy) -> None:
        if color_by is not self.color_by:
            self.color_by = color_by
            self.color_by_changed.emit()


def place_words(memory: Memory) -> str:
    """Where a memory stands, for people: its voxel on the lattice."""
    i, j, k = memory.place
    return t("inspector.voxel", i=i, j=j, k=k)
