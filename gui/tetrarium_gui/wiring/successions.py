"""Who took whose place, while it happens: the space draws a line from what was superseded to its successor."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from tetrarium.model import Changes, Inhibition
from tetrarium_gui.wiring.desk import Desk

MOST = 8
"""Corrections of one burst that are drawn."""


class Successions(QObject):
    """Connects corrections, by whomever, with the space."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        desk.bridge.changed.connect(self._take_changes)

    def _take_changes(self, changes: Changes) -> None:
        ids = changes.inhibited[:MOST]
        if ids and not self._desk.space.reduced_motion:
            self._desk.bridge.ask(
                "successions",
                lambda s: [edge for i in ids for edge in s.inhibitions(i)],
                self._show,
                otherwise=lambda _: True,  # gone again meanwhile: there is nothing to draw
            )

    def _show(self, edges: Sequence[Inhibition]) -> None:
        pairs = [(edge.target, edge.successor) for edge in edges if edge.successor and edge.lifted_at is None]
        self._desk.space.show_successions(tuple(pairs))
