"""The bar on top: which spaces there are, who is connected, whether all is well, and where a click leads."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from tetrarium.model import CheckState, Health, SpaceStats
from tetrarium_gui.panels.top_bar import TopBar
from tetrarium_gui.sentences import said
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.following import Following
from tetrarium_gui.wiring.live import Live
from tetrarium_gui.wiring.places import Places
from tetrarium_gui.words import t


class Top(QObject):
    """Connects the bar with the commands, the places, the bridge and those who follow agents."""

    def __init__(self, desk: Desk, bar: TopBar, places: Places, following: Following, live: Live) -> None:
        super().__init__(desk.window)
        self._desk, self._bar, self._places = desk, bar, places
        self._stats: SpaceStats | None = None
        self._found: Health | None = None
        bar.spaces.aboutToShow.connect(self._offer_spaces)
        bar.search_asked.connect(desk.commands["search"].trigger)
        bar.palette_asked.connect(desk.commands["palette"].trigger)
        bar.agents_asked.connect(lambda: desk.docks.enter("activity"))
        bar.health_asked.connect(lambda: desk.docks.enter("health"))
        desk.commands["spaces"].triggered.connect(self._open_spaces)
        following.clients_changed.connect(bar.show_clients)
        following.introduce()
        desk.bridge.stats_ready.connect(self._take_stats)
        live.examined.connect(self._take_health)

    def _open_spaces(self) -> None:
        self._bar.space.setFocus()
        self._bar.open_spaces()

    def _offer_spaces(self) -> None:
        menu, here = self._bar.spaces, self._stats.space if self._stats is not None else ""
        menu.clear()
        for folder in self._places.recent():
            action = menu.addAction(visible(folder)[-80:].replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(folder == here)
            action.setEnabled(folder != here)
            action.triggered.connect(partial(self._places.open_folder, Path(folder)))
        menu.addSeparator()
        menu.addAction(self._desk.commands["new_space"])
        menu.addAction(self._desk.commands["open_space"])

    def _take_stats(self, stats: SpaceStats) -> None:
        self._stats = stats
        self._bar.show_space(Path(stats.space).name, stats.space)
        self._show_health()

    def _take_health(self, health: Health) -> None:
        self._found = health
        self._show_health()

    def _show_health(self) -> None:
        """The worst of what the last examination found and what is known all the time."""
        stats, found = self._stats, self._found
        if stats is None:
            return
        if stats.trouble:
            self._bar.show_health(CheckState.BAD, said(stats.trouble))
        elif found is not None and found.state is not CheckState.OK:
            worst = next(check for check in found.checks if check.state is found.state)
            self._bar.show_health(found.state, f"{worst.name}: {said(worst.words)}")
        elif not stats.writable:
            self._bar.show_health(CheckState.WARN, t("top.read_only"))
        elif stats.model_note:
            self._bar.show_health(CheckState.WARN, said(stats.model_note))
        elif stats.audit_flags:
            flag = stats.audit_flags[0]
            self._bar.show_health(CheckState.WARN, t("top.unusual", client=visible(flag.client)[:60]))
        else:
            self._bar.show_health(CheckState.OK, "")
