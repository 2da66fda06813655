"""Everything that stands on one window, for those who connect it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMainWindow

from tetrarium_gui.bridge import Bridge
from tetrarium_gui.commands import Commands
from tetrarium_gui.docks import Docks
from tetrarium_gui.panels.activity import ActivityPanel
from tetrarium_gui.panels.clusters import ClustersPanel
from tetrarium_gui.panels.health import HealthPanel
from tetrarium_gui.panels.inhibition import InhibitionPanel
from tetrarium_gui.panels.inspector import InspectorPanel
from tetrarium_gui.panels.notices import NoticeBar
from tetrarium_gui.panels.privacy import PrivacyPanel
from tetrarium_gui.panels.search import SearchPanel
from tetrarium_gui.panels.settings import SettingsPanel
from tetrarium_gui.panels.status import StatusLine
from tetrarium_gui.panels.table import TablePanel
from tetrarium_gui.panels.timeline import TimelinePanel
from tetrarium_gui.panels.trash import TrashPanel
from tetrarium_gui.panels.voids import VoidsPanel
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Notice, WindowState
from tetrarium_gui.style import Theme
from tetrarium_gui.words import t

Panel = (
    SearchPanel
    | InspectorPanel
    | TablePanel
    | VoidsPanel
    | ClustersPanel
    | InhibitionPanel
    | ActivityPanel
    | TimelinePanel
    | TrashPanel
    | HealthPanel
    | PrivacyPanel
    | SettingsPanel
)


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels by name; the names are those of `docks.PLACES`."""

    search: SearchPanel
    inspector: InspectorPanel
    list: TablePanel
    voids: VoidsPanel
    clusters: ClustersPanel
    inhibition: InhibitionPanel
    activity: ActivityPanel
    timeline: TimelinePanel
    trash: TrashPanel
    health: HealthPanel
    privacy: PrivacyPanel
    settings: SettingsPanel

    def by_name(self) -> dict[str, Panel]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def make_panels(theme: Theme, excerpt_of: Callable[[str], str]) -> Panels:
    """Every panel, empty. excerpt_of: gives the first words of a memory by its id."""
    return Panels(
        search=SearchPanel(theme),
        inspector=InspectorPanel(theme, excerpt_of),
        list=TablePanel(theme),
        voids=VoidsPanel(theme, excerpt_of),
        clusters=ClustersPanel(theme),
        inhibition=InhibitionPanel(theme, excerpt_of),
        activity=ActivityPanel(theme),
        timeline=TimelinePanel(theme),
        trash=TrashPanel(theme),
        health=HealthPanel(theme),
        privacy=PrivacyPanel(theme, excerpt_of),
        settings=SettingsPanel(theme, excerpt_of),
    )


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Desk:
    """One window's parts."""

    window: QMainWindow
    bridge: Bridge
    state: WindowState
    settings: QSettings
    space: SpaceView
    commands: Commands
    docks: Docks
    panels: Panels
    status: StatusLine
    notices: NoticeBar

    def open_memory(self, memory_id: str) -> None:
        """Select a memory and bring it into view."""
        self.state.select(memory_id)
        self.space.fly_to(memory_id)

    def read(self, memory_id: str) -> None:
        """A person chose a memory: select it, with the Inspector in front. Lists that only follow a selection change nothing."""
        if memory_id != self.state.selected:
            self.state.select(memory_id)
            self.docks.uncover("inspector")

    def tell(
        self, message: str, advice: str = "", *, done: bool = True, undo: Callable[[], object] | None = None
    ) -> None:
        """A passing notice. done: False when what was asked did not happen; undo: takes back what did, by a button."""
        act = None if undo is None else (t("notice.undo"), undo)
        self.notices.show_notice(Notice(message, advice, done=done), act)
