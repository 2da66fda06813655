"""The growth of the space, replayed: the timeline's button and cursor, the command, and the space that shows it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from tetrarium_gui.panels.parts import day_of
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t


class Growth(QObject):
    """Connects the timeline with the replay in the space."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._replay = desk, desk.space.replay
        timeline = desk.panels.timeline
        timeline.play_asked.connect(self.toggle)
        timeline.seek_asked.connect(self._replay.seek)
        desk.commands["replay"].triggered.connect(self.toggle)
        self._replay.moved.connect(self._show)
        self._replay.ended.connect(self._end)

    def toggle(self) -> None:
        """Play from the start, pause, or play on."""
        if self._replay.is_playing:
            self._replay.pause()
        elif (snapshot := self._desk.state.snapshot) is not None:
            self._desk.state.set_highlight(None)
            self._replay.play(snapshot)

    def _show(self) -> None:
        moment = self._replay.moment
        self._desk.panels.timeline.show_replay(moment, playing=self._replay.is_playing)
        self._desk.space.set_caption(t("timeline.replaying", day=day_of(moment), count=self._replay.count))

    def _end(self) -> None:
        self._desk.panels.timeline.show_replay(None, playing=False)
        self._desk.space.set_caption("")
