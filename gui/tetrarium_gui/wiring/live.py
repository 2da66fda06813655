"""What goes on in the space: stores and recalls of every client as they happen, health, and the life of the space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from tetrarium.events import Recalled
from tetrarium.model import Changes, Health, HistoryEntry, Memory, SpaceStats
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.panels.activity import Happening
from tetrarium_gui.state import Highlight
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t

MOST = 30
"""Memories of one burst that the feed names; the rest is told as a number."""


LOOKED_BACK = 100
"""Entries of history in which the feed looks for who did something."""


class Live(QObject):
    """Connects Activity, Timeline and Health with the bridge."""

    examined = Signal(object)  # Health

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        panels = desk.panels
        panels.activity.memory_selected.connect(desk.state.select)
        panels.activity.memory_opened.connect(desk.open_memory)
        panels.timeline.range_chosen.connect(self._light)
        panels.health.examine_asked.connect(self.examine)
        panels.health.repair_asked.connect(self.repair)
        panels.health.backup_asked.connect(self.back_up)
        self.examined.connect(panels.health.show_health)
        desk.bridge.changed.connect(self._take_changes)
        desk.bridge.happened.connect(self._take_event)
        self._stats: SpaceStats | None = None
        self._figures = WhenSeen(desk.docks["health"], self._show_stats)
        self._timeline = WhenSeen(desk.docks["timeline"], self._show_timeline)
        self._feed = WhenSeen(desk.docks["activity"], panels.activity.show_feed)
        desk.bridge.stats_ready.connect(self._take_stats)
        desk.state.snapshot_changed.connect(self._timeline.ask)

    def examine(self) -> None:
        self._desk.bridge.ask("examine", lambda s: s.health(), self.examined.emit)

    def repair(self) -> None:
        """Put right what can be put right, after a copy of what is there."""

        def told(health: Health) -> None:
            self._desk.tell(t("live.repaired"), t("live.kept_as", name=health.kept) if health.kept else "")
            self.examined.emit(health)
            self._desk.bridge.refresh()

        self._desk.bridge.edit(lambda s: s.heal(), told)

    def back_up(self) -> None:
        self._desk.bridge.edit(lambda s: s.backup(), lambda copy: self._desk.tell(t("live.copied"), copy.name))

    def _take_stats(self, stats: SpaceStats) -> None:
        self._stats = stats
        self._figures.ask()

    def _show_stats(self) -> None:
        if self._stats is not None:
            self._desk.panels.health.show_stats(self._stats)

    def _add(self, happenings: Sequence[Happening]) -> None:
        self._desk.panels.activity.add(happenings)
        self._feed.ask()

    def _show_timeline(self) -> None:
        if (snapshot := self._desk.state.snapshot) is not None:
            self._desk.panels.timeline.set_snapshot(snapshot)

    def _take_changes(self, changes: Changes) -> None:
        """Tell stores with who stored them, and corrections; the memories themselves are read for it."""
        for kind in ("stored", "edited", "inhibited", "released"):
            if ids := getattr(changes, kind):
                self._name(kind, ids)
        if changes.removed:
            self._add([Happening("removed", "", t("live.many", count=len(changes.removed)))])

    def _name(self, kind: str, ids: Sequence[str]) -> None:
        named = tuple(ids[:MOST])

        def tell(found: tuple[Sequence[Memory], Sequence[HistoryEntry]]) -> None:
            memories, history = found
            done = [_done(kind, memory, history) for memory in memories]
            if len(ids) > len(named):
                done.append(Happening(kind, "", t("live.more", count=len(ids) - len(named))))
            self._add(done)

        def read(service: Any) -> tuple[Sequence[Memory], Sequence[HistoryEntry]]:
            history = service.history(limit=LOOKED_BACK) if kind != "stored" else ()
            return [service.get(i) for i in named], history

        # A slot of its own: a burst must not take the place of the one before it.
        self._desk.bridge.edit(read, tell, otherwise=lambda _: True)

    def _take_event(self, event: object) -> None:
        """What the person asked here; what agents ask, the host tells (`following`)."""
        if isinstance(event, Recalled) and event.client == CLIENT:
            trace = event.trace
            words = t("live.recalled", query=trace.query[:160], kept=len(trace.blocks), void=trace.void_fraction)
            self._add([Happening("recalled", "", words, trace=trace)])

    def _light(self, ids: Sequence[str] | None) -> None:
        """What was stored in the chosen range stays lit."""
        self._desk.state.set_highlight(None if ids is None else Highlight(t("live.range"), tuple(ids)))


def _done(kind: str, memory: Memory, history: Sequence[HistoryEntry]) -> Happening:
    """Who stored it, the memory tells; who edited or corrected it, the last entry of history that names it."""
    client = memory.source.client
    if kind != "stored":
        client = next((entry.client for entry in history if memory.id in entry.ids), "")
    elif memory.quarantined:
        kind = "quarantined"
    return Happening(kind, "" if client == CLIENT else client, memory.content[:200], memory.id)
