"""Search, recall and selection: what is asked, what comes back, and who follows it."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from tetrarium.model import (
    AuditEntry,
    Changes,
    Inhibition,
    KnowledgeGraph,
    Memory,
    Neighbour,
    Origin,
    RecallTrace,
    SearchResult,
    Version,
)
from tetrarium_gui.panels.filters import Filter
from tetrarium_gui.state import Highlight, Link, highlight_of_recall, highlight_of_search
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.worker import EVERYWHERE

CHOICES_PAUSE = 5_000
"""Milliseconds between two looks at what there is to filter by: it counts every label."""
ACCESSES = 200
"""Reads and writes of one memory that are listed."""
DRAWN = 60
"""Nodes of the graph around the selected memory that are asked for."""


class Answers(QObject):
    """Connects the search panel, the voids, the list, the space and the inspector with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        panels, bridge, commands = desk.panels, desk.bridge, desk.commands
        panels.search.search_asked.connect(lambda query: bridge.search(query.words, **query.arguments()))
        panels.search.recall_asked.connect(lambda query: bridge.recall(query.words, query.project()))
        panels.search.cleared.connect(self._forget)
        for selected in (panels.search.hit_selected, panels.list.memory_selected, panels.voids.memory_selected):
            selected.connect(desk.read)
        desk.space.memory_clicked.connect(lambda _: desk.docks.uncover("inspector"))
        for opened in (
            panels.search.hit_opened,
            panels.list.memory_opened,
            panels.voids.memory_opened,
            panels.inspector.memory_asked,
        ):
            opened.connect(self._open)
        panels.inspector.word_chosen.connect(self._search_word)
        panels.inspector.access_asked.connect(self._ask_access)
        desk.state.selection_changed.connect(self._follow)
        self._choices = WhenSeen(desk.docks["search"], self._ask_choices, CHOICES_PAUSE)
        bridge.opened.connect(self._choices.ask)
        bridge.changed.connect(lambda _: self._choices.ask())
        bridge.searched.connect(self._take_search)
        bridge.recalled.connect(self._take_recall)
        bridge.memory_ready.connect(self._take_memory)
        bridge.changed.connect(self._take_changes)
        for name, act in (
            ("search", lambda: self._ask_for(recalling=False)),
            ("recall", lambda: self._ask_for(recalling=True)),
            ("next_hit", lambda: panels.search.step(1)),
            ("previous_hit", lambda: panels.search.step(-1)),
            ("clear", self._clear),
        ):
            commands[name].triggered.connect(act)

    def _open(self, memory_id: str) -> None:
        self._desk.open_memory(memory_id)
        self._desk.docks.uncover("inspector")

    def _ask_for(self, *, recalling: bool) -> None:
        self._desk.docks.show("search")
        self._desk.panels.search.set_recalling(recalling)

    def _search_word(self, word: str) -> None:
        """A label narrows, and so does a keyword: exactly the memories that have it are meant."""
        search, memory = self._desk.panels.search, self._desk.panels.inspector.memory
        self._desk.docks.show("search")
        is_label = memory is not None and word in memory.labels
        search.filters.put(Filter("label" if is_label else "keyword", word))
        search.set_recalling(False)

    def _ask_choices(self) -> None:
        """What the space has to filter by."""
        self._desk.bridge.ask(
            "choices",
            lambda s: {
                "label": s.names("labels", project=EVERYWHERE),
                "keyword": s.names("keywords", project=EVERYWHERE),
                "project": s.names("projects"),
                "client": s.names("clients"),
            },
            self._desk.panels.search.set_choices,
        )

    def _clear(self) -> None:
        """Escape steps back: first a replay, then the words and what they lit, then marks, then the selection, then the
        camera."""
        state, search = self._desk.state, self._desk.panels.search
        if self._desk.space.replay.is_on:
            self._desk.space.replay.stop()
        elif search.query() or state.highlight is not None:
            search.clear()
            self._forget()
        elif len(state.chosen) > 1:
            state.choose(())
        elif state.selected:
            state.select("")
        else:
            self._desk.space.step_back()

    def _forget(self) -> None:
        self._desk.bridge.forget_questions()
        self._desk.state.set_highlight(None)

    def _take_search(self, result: SearchResult) -> None:
        self._desk.panels.search.show_search(result)
        self._desk.state.set_highlight(self._highlight(result))
        self._desk.space.show_hits()
        self._desk.status.show_time("search", result.elapsed_ms)

    def _highlight(self, result: SearchResult) -> Highlight:
        filters = self._desk.panels.search.filters.filters
        return replace(highlight_of_search(result), title=result.query or " · ".join(one.words() for one in filters))

    def _search_again(self) -> None:
        """A hit changed: ask the same once more. The camera stays, and so does what else was lit meanwhile."""
        query = self._desk.panels.search.query()

        def show(result: SearchResult) -> None:
            search, lit = self._desk.panels.search, self._desk.state.highlight
            if search.shows_search and search.query() == query:
                search.refresh_search(result)
                if lit is not None and lit.title == self._highlight(result).title:
                    self._desk.state.set_highlight(self._highlight(result))

        self._desk.bridge.search_again(query.words, show, **query.arguments())

    def _take_recall(self, trace: RecallTrace) -> None:
        self._desk.panels.search.show_recall(trace)
        self._desk.panels.voids.show_trace(trace)
        self._desk.docks["voids"].raise_()
        self._desk.state.set_highlight(highlight_of_recall(trace))
        self._desk.space.show_hits()
        self._desk.status.show_time("recall", trace.elapsed_ms)

    def _follow(self, memory_id: str) -> None:
        self._desk.panels.list.mark(memory_id)
        self._desk.panels.search.mark(memory_id)
        if memory_id:
            self._read(memory_id)
        else:
            self._desk.panels.inspector.clear()
            self._desk.state.set_links(())

    def _read(self, memory_id: str) -> None:
        """The memory first, since it is waited for; what hangs together with it follows."""
        self._desk.bridge.get(memory_id)
        self._desk.bridge.ask(
            "details",
            lambda s: (
                s.versions(memory_id),
                s.inhibitions(memory_id),
                s.neighbours(memory_id),
                s.relations(memory_id, limit=DRAWN),
            ),
            lambda found: self._take_details(memory_id, *found),
            otherwise=lambda _: True,  # the memory itself was asked for just before: it tells what is wrong
        )

    def _ask_access(self) -> None:
        """Who read and wrote the memory on show; asked for when somebody looks at it."""
        if memory_id := self._desk.state.selected:
            self._desk.bridge.ask(
                "access",
                lambda s: s.audit(memory_id=memory_id, limit=ACCESSES),
                lambda found: self._take_access(memory_id, found),
            )

    def _take_access(self, memory_id: str, found: tuple[AuditEntry, ...]) -> None:
        if self._desk.state.selected == memory_id:
            self._desk.panels.inspector.show_access(found)

    def _take_details(
        self,
        memory_id: str,
        versions: tuple[Version, ...],
        edges: tuple[Inhibition, ...],
        neighbours: tuple[Neighbour, ...],
        graph: KnowledgeGraph,
    ) -> None:
        state = self._desk.state
        if state.selected == memory_id:
            self._desk.panels.inspector.show_details(versions, edges, neighbours, graph)
            if self._desk.panels.inspector.shows_access:
                self._ask_access()
            drawn = [edge for edge in graph.edges if edge.origin in (Origin.STATED, Origin.CORRECTION)]
            state.set_links(tuple(Link(edge.source, edge.target, edge.kind) for edge in drawn))

    def _take_memory(self, memory: Memory) -> None:
        state = self._desk.state
        if memory.id == state.selected:
            clusters = state.snapshot.clusters if state.snapshot is not None else ()
            cluster = next((c for c in clusters if c.id == memory.cluster), None)
            self._desk.panels.inspector.show_memory(memory, cluster)

    def _take_changes(self, changes: Changes) -> None:
        """The memory on show is read again when it changed, and left when it is gone; so is a hit of a search."""
        selected = self._desk.state.selected
        self._desk.panels.search.drop(frozenset(changes.removed))
        search, changed = self._desk.panels.search, (*changes.edited, *changes.inhibited, *changes.released)
        if search.shows_search and any(search.hits.row_of(one) >= 0 for one in changed):
            self._search_again()
        self._desk.state.choose(tuple(one for one in self._desk.state.chosen if one not in changes.removed))
        if selected in changes.removed:
            self._desk.state.select("")
        elif selected in (*changes.edited, *changes.inhibited, *changes.released, *changes.moved):
            self._read(selected)
