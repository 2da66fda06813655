"""What inhibits what, why, by whom and since when; what may contradict; what a recall would answer without it; and what
waits in quarantine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from tetrarium.model import Contradiction, Inhibition, Memory, RecallTrace
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, when
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import Sheet, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import t

PAGES = ("edges", "pairs", "waiting")
CHAIN_WORDS = 80
"""Characters of each memory of a chain that are told."""
MOST_DIFFERENCES = 12
"""Memories that the preview names on each side."""


class InhibitionPanel(QWidget):
    """Lists edges and proposals; emits what a person decides about them."""

    memory_selected = Signal(str)
    memory_opened = Signal(str)
    lift_asked = Signal(str)  # the inhibited memory
    amend_asked = Signal(str, str)  # the inhibited memory, the new reason
    add_asked = Signal()  # inhibit what is selected
    preview_asked = Signal(str)  # the inhibited memory
    both_true_asked = Signal(str, str)
    supersede_asked = Signal(str, str)  # newer, older
    free_asked = Signal(str)  # a memory in quarantine that is harmless
    trash_asked = Signal(str)  # and one that is not
    chain_shown = Signal(object)  # ids of the corrections that hang together, the oldest first

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self._excerpt_of = theme, excerpt_of
        self._edges: dict[str, Inhibition] = {}
        self._pairs: dict[str, Contradiction] = {}
        columns = [f"inhibition.{name}" for name in ("target", "successor", "why", "who", "since", "state")]
        self.edges = RowList("inhibition.name", columns, (0, 260, 170, 100, 140, 130))
        columns = [f"inhibition.{name}" for name in ("newer", "older", "conflict")]
        self.pairs = RowList("inhibition.pairs_name", columns, (0, 360, 260))
        columns = [f"inhibition.{name}" for name in ("waiting", "suspicion", "client", "since")]
        self.waiting = RowList("inhibition.waiting_name", columns, (0, 320, 140, 150))
        self.empty, self.no_pairs = EmptyState(t("inhibition.empty"), theme), EmptyState(t("inhibition.none"), theme)
        self.none_waits = EmptyState(t("inhibition.none_waits"), theme)
        self.sheet, self.preview = Sheet(self.edges), PlainLabel(size=SIZE_SMALL)
        self.preview.setWordWrap(True)
        self.preview.setMargin(GRID)
        self.preview.hide()
        self.chain = PlainLabel(size=SIZE_SMALL)
        self.chain.setWordWrap(True)
        self.chain.setMargin(GRID)
        self.chain.hide()
        self.add = button("inhibition.add", self.add_asked.emit)
        self.lift = button("inhibition.lift", lambda: self._with_edge(self.lift_asked.emit), primary=True)
        self.amend = button("inhibition.amend", self._ask_reason)
        self.compare = button("inhibition.compare", self._compare)
        self._selected = ""
        self.both = button("inhibition.both_true", lambda: self._with_pair(self.both_true_asked.emit))
        self.supersede = button(
            "inhibition.supersede", lambda: self._with_pair(self.supersede_asked.emit), primary=True
        )
        self.trash = button("inhibition.trash", lambda: self._with_waiting(self.trash_asked.emit))
        self.free = button("inhibition.free", lambda: self._with_waiting(self.free_asked.emit), primary=True)
        self._lay_out()
        for rows in (self.edges, self.pairs, self.waiting):
            rows.memory_selected.connect(self.memory_selected)
            rows.memory_opened.connect(self.memory_opened)
            rows.keys_changed.connect(self._allow)
        self.show_edges(())
        self.show_pairs(())
        self.show_waiting(())

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        for empty in (self.empty, self.no_pairs, self.none_waits):
            empty.set_theme(theme)
        self.preview.setStyleSheet(f"color: {theme.text};")
        self.chain.setStyleSheet(f"color: {theme.muted};")

    def show_edges(self, edges: Sequence[Inhibition]) -> None:
        self._edges = {f"{at}": edge for at, edge in enumerate(reversed(edges))}
        self.edges.set_rows(self._row(key, edge) for key, edge in reversed(self._edges.items()))
        self.empty.setVisible(not edges)
        self.edges.setVisible(bool(edges))
        in_force = sum(edge.lifted_at is None for edge in edges)
        self.tabs.setTabText(0, t("inhibition.tab_edges", count=in_force))

    def show_pairs(self, pairs: Sequence[Contradiction]) -> None:
        self._pairs = {f"{pair.newer} {pair.older}": pair for pair in pairs}
        self.pairs.set_rows(
            Row(key, (self._excerpt_of(pair.newer), pair.excerpt, said(pair.why)), pair.newer)
            for key, pair in self._pairs.items()
        )
        self.no_pairs.setVisible(not pairs)
        self.pairs.setVisible(bool(pairs))
        self.tabs.setTabText(1, t("inhibition.tab_pairs", count=len(pairs)))

    def show_waiting(self, memories: Sequence[Memory]) -> None:
        """What waits in quarantine, newest first."""
        self.waiting.set_rows(
            Row(m.id, (m.content[:300], said(m.quarantined), m.source.client, when(m.created_at)), m.id, tip=m.content)
            for m in memories
        )
        self.none_waits.setVisible(not memories)
        self.waiting.setVisible(bool(memories))
        self.tabs.setTabText(2, t("inhibition.tab_waiting", count=len(memories)))

    def show_page(self, name: str) -> None:
        """Bring one of PAGES to the front."""
        self.tabs.setCurrentIndex(PAGES.index(name))

    def set_selected(self, memory_id: str) -> None:
        """A memory that was selected anywhere in the window: what would be without it can be looked at first."""
        self._selected = memory_id
        self._allow_comparing()

    def show_preview(self, with_it: RecallTrace, without: RecallTrace, *, inhibiting: bool = False) -> None:
        """The last recall as it is, and as it would be if the chosen memory were released, or were inhibited."""
        now, then = {h.id for h in with_it.blocks}, {h.id for h in without.blocks}
        came = [h.id for h in without.blocks if h.id not in now]
        went = [h.id for h in with_it.blocks if h.id not in then]
        words = "inhibition.preview_inhibiting" if inhibiting else "inhibition.preview"
        lines = [t(words, query=visible(with_it.query)[:120])]
        for name, ids in (("inhibition.would_come", came), ("inhibition.would_go", went)):
            lines += [f"{t(name)} {visible(self._excerpt_of(i))[:110]}" for i in ids[:MOST_DIFFERENCES]]
        if len(lines) == 1:
            lines.append(t("inhibition.no_difference"))
        self.preview.setText("\n".join(lines))
        self.preview.show()

    def _row(self, key: str, edge: Inhibition) -> Row:
        by = self._excerpt_of(edge.successor) if edge.successor else t("inhibition.by_hand")
        if edge.successor and by == edge.successor:  # in the trash, or deleted: no words of it are here
            by = t("inhibition.by_gone")
        state = t("inhibition.lifted", when=when(edge.lifted_at)) if edge.lifted_at else t("inhibition.in_force")
        cells = (self._excerpt_of(edge.target), by, edge.reason, edge.author, when(edge.created_at), state)
        ink = self.theme.muted if edge.lifted_at else self.theme.inhibited_text
        return Row(key, cells, edge.target, ink)

    def _edge(self) -> Inhibition | None:
        edge = self._edges.get(self.edges.current_key())
        return edge if edge is not None and edge.lifted_at is None else None

    def _with_edge(self, act: Callable[[str], object]) -> None:
        if (edge := self._edge()) is not None:
            act(edge.target)

    def _with_pair(self, act: Callable[[str, str], object]) -> None:
        if (pair := self._pairs.get(self.pairs.current_key())) is not None:
            act(pair.newer, pair.older)

    def _with_waiting(self, act: Callable[[str], object]) -> None:
        if memory_id := self.waiting.current_key():
            act(memory_id)

    def _show_chain(self) -> None:
        """What was corrected by what and that again, for the edge that is chosen; one edge alone says it in its row."""
        edge = self._edges.get(self.edges.current_key())
        ids = self._chain_of(edge) if edge is not None else ()
        self.chain.setVisible(len(ids) > 2)
        if len(ids) > 2:
            words = [visible(self._excerpt_of(one))[:CHAIN_WORDS] for one in ids]
            self.chain.setText(t("inhibition.chain", words=" → ".join(f"“{one}…”" for one in words)))
        if edge is not None:
            self.chain_shown.emit(ids)

    def _chain_of(self, edge: Inhibition) -> tuple[str, ...]:
        """From the oldest memory that was corrected to the one that holds now, over the edges in force."""
        after = {e.target: e.successor for e in self._edges.values() if e.lifted_at is None and e.successor}
        before = {successor: target for target, successor in after.items()}
        first, seen = edge.target, {edge.target}
        while (earlier := before.get(first)) is not None and earlier not in seen:
            seen.add(earlier)
            first = earlier
        chain, here = [first], first
        while (later := after.get(here)) is not None and later not in chain:
            chain.append(later)
            here = later
        return tuple(chain)

    def _compare(self) -> None:
        """With the edge that is chosen lifted; with none chosen, with the selected memory inhibited."""
        edge = self._edge()
        if memory_id := edge.target if edge is not None else self._selected:
            self.preview_asked.emit(memory_id)

    def _allow_comparing(self) -> None:
        lifting = self._edge() is not None
        self.compare.setText(t("inhibition.compare" if lifting else "inhibition.compare_inhibited"))
        self.compare.setEnabled(lifting or bool(self._selected))

    def _ask_reason(self) -> None:
        if (edge := self._edge()) is not None:
            self.sheet.ask(
                t("inhibition.amend_title"),
                "",
                t("inhibition.amend"),
                lambda _, why: self.amend_asked.emit(edge.target, why),
                line=edge.reason,
                line_hint=t("sheet.why"),
            )

    def _allow(self) -> None:
        for made in (self.lift, self.amend):
            made.setEnabled(self._edge() is not None)
        self._allow_comparing()
        for made in (self.both, self.supersede):
            made.setEnabled(bool(self.pairs.current_key()))
        for made in (self.free, self.trash):
            made.setEnabled(bool(self.waiting.current_key()))
        self.preview.hide()
        self._show_chain()

    def _lay_out(self) -> None:
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        edge_buttons, pair_buttons = (self.add, self.compare, self.amend, self.lift), (self.both, self.supersede)
        for name, parts, buttons in (
            ("inhibition.tab_edges", (self.sheet, self.preview, self.chain, self.empty, self.edges), edge_buttons),
            ("inhibition.tab_pairs", (self.no_pairs, self.pairs), pair_buttons),
            ("inhibition.tab_waiting", (self.none_waits, self.waiting), (self.trash, self.free)),
        ):
            page, row = QWidget(), QHBoxLayout()
            column = QVBoxLayout(page)
            column.setContentsMargins(0, 0, 0, 0)
            row.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
            row.addStretch()
            for made in buttons:
                row.addWidget(made)
            column.addLayout(row)
            for part in parts:
                column.addWidget(part, 0 if part in (self.sheet, self.preview, self.chain) else 1)
            self.tabs.addTab(page, t(name, count=0))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.tabs)
