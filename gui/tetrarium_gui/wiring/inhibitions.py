"""The Inhibition panel: edges and proposals in, decisions out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from tetrarium.model import Contradiction, Inhibition, Memory
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.state import Highlight
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t
from tetrarium_gui.worker import Verb

Found = tuple[tuple[Inhibition, ...], tuple[Contradiction, ...], tuple[Memory, ...]]


class Inhibitions(QObject):
    """Connects the panel with the bridge; every decision can be undone."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        panel = desk.panels.inhibition
        panel.memory_selected.connect(desk.state.select)
        panel.memory_opened.connect(desk.open_memory)
        panel.lift_asked.connect(self.lift)
        panel.amend_asked.connect(self.amend)
        panel.both_true_asked.connect(self.both_true)
        panel.supersede_asked.connect(self.supersede)
        panel.add_asked.connect(lambda: desk.commands["inhibit"].trigger())
        panel.free_asked.connect(self.free)
        panel.trash_asked.connect(self.trash)
        panel.chain_shown.connect(self._light)
        self._due = WhenSeen(desk.docks["inhibition"], self._ask)
        desk.bridge.opened.connect(self._due.ask)
        desk.bridge.changed.connect(lambda _: self._due.ask())
        desk.state.snapshot_changed.connect(self._due.ask)  # it has the first words of the memories

    def _ask(self) -> None:
        self._desk.bridge.ask(
            "inhibitions", lambda s: (s.corrections(), s.contradictions(), s.quarantined(client=CLIENT)), self._take
        )

    def lift(self, memory_id: str) -> None:
        self._do(lambda s: s.release(memory_id, client=CLIENT), "done.lifted")

    def amend(self, memory_id: str, why: str) -> None:
        self._do(lambda s: s.amend_inhibition(memory_id, why, client=CLIENT), "done.amended")

    def both_true(self, newer: str, older: str) -> None:
        self._do(lambda s: s.dismiss_contradiction(newer, older, client=CLIENT), "done.both_true")

    def supersede(self, newer: str, older: str) -> None:
        """The newer memory takes the place of the older one."""
        reason = t("inhibition.reason")
        self._do(lambda s: s.inhibit(older, successor=newer, reason=reason, client=CLIENT), "done.superseded")

    def free(self, memory_id: str) -> None:
        """Out of quarantine: a person has read it and finds it harmless."""
        self._do(lambda s: s.release_from_quarantine(memory_id, client=CLIENT), "done.freed")

    def trash(self, memory_id: str) -> None:
        self._do(lambda s: s.forget(memory_id, client=CLIENT), "done.waiting_trashed")

    def _light(self, ids: Sequence[str]) -> None:
        """The corrections that hang together stay lit; their lines are drawn from the one that is selected."""
        if len(ids) > 1:
            self._desk.state.set_highlight(Highlight(t("inhibition.corrections"), tuple(ids)))

    def _do(self, verb: Verb, words: str) -> None:
        def told(_: object) -> None:
            self._desk.tell(t(words), undo=self._desk.commands["undo"].trigger)
            self._due.ask()

        self._desk.bridge.edit(verb, told)

    def _take(self, found: Found) -> None:
        edges, pairs, waiting = found
        self._desk.panels.inhibition.show_edges(edges)
        self._desk.panels.inhibition.show_pairs(pairs)
        self._desk.panels.inhibition.show_waiting(waiting)
