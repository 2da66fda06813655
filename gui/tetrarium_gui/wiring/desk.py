"""Everything that stands on one window, for those who connect it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMainWindow

from tetrarium_gui.bridge import Bridge
from tetrarium_gui.commands import Commands
from tetrarium_gui.docks import Docks
from tetrarium_gui.panels.inspector import InspectorPanel
from tetrarium_gui.panels.notices import NoticeBar
from tetrarium_gui.panels.search import SearchPanel
from tetrarium_gui.panels.status import StatusLine
from tetrarium_gui.panels.table import TablePanel
from tetrarium_gui.panels.voids import VoidsPanel
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Notice, WindowState
from tetrarium_gui.words import t


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels by name; the names are those of `docks.PLACES`."""

    search: SearchPanel
    inspector: InspectorPanel
    list: TablePanel
    voids: VoidsPanel


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

    def tell(self, message: str, advice: str = "", *, undo: Callable[[], object] | None = None) -> None:
        """A passing notice; `undo` gives it a button that takes back what was done."""
        act = None if undo is None else (t("notice.undo"), undo)
        self.notices.show_notice(Notice(message, advice), act)
