"""The window: the space in the middle, search at the left, the inspector at the right, the list below.

Panels tell the window what a person wants; the window changes the state or asks the bridge. Nothing here
waits for the engine.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QStatusBar, QVBoxLayout, QWidget

from tetrarium.model import Memory, RecallTrace, SearchResult, SpaceSnapshot, SpaceStats
from tetrarium_gui import style
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.commands import Commands
from tetrarium_gui.panels.inspector import InspectorPanel
from tetrarium_gui.panels.notices import NoticeBar
from tetrarium_gui.panels.palette import CommandPalette
from tetrarium_gui.panels.search import SearchPanel
from tetrarium_gui.panels.status import StatusLine
from tetrarium_gui.panels.table import TablePanel
from tetrarium_gui.panels.voids import VoidsPanel
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import (
    ColorBy,
    Notice,
    WindowState,
    highlight_of_recall,
    highlight_of_search,
)

WORDS = {
    "title": "{space} – Tetrarium",
    "search": "Search",
    "inspector": "Inspector",
    "list": "List",
    "voids": "Voids",
    "filling": "Filling the sample space: {count} memories so far …",
    "flat": "This computer offers no OpenGL 3.3; the space is drawn flat.",
    "flat_advice": "Everything else works as usual.",
}
FIRST_SIZE = (1440, 900)
LEAST_SIZE = (1024, 640)
LEFT_WIDTH, RIGHT_WIDTH, BOTTOM_HEIGHT = 320, 320, 240
LAYOUT_VERSION = 1


class MainWindow(QMainWindow):
    """One window on one space."""

    closing = Signal()

    def __init__(self, bridge: Bridge, settings: QSettings, *, opengl: bool = True) -> None:
        super().__init__()
        self.setObjectName("tetrarium")
        self.bridge, self._settings = bridge, settings
        self.state = WindowState(self)
        self._choice = str(settings.value("appearance", "system"))
        self.theme = self._chosen_theme()
        self.space = SpaceView(self.state, self.theme, opengl=opengl)
        self.search = SearchPanel(self.theme)
        self.inspector = InspectorPanel(self.theme)
        self.table = TablePanel(self.theme)
        self.voids = VoidsPanel(self.theme, self._excerpt)
        self.status = StatusLine(self.theme)
        self.commands = Commands(self, self.space)
        self._lay_out()
        self.notices = NoticeBar(self.theme, self._middle)
        self.palette_box = CommandPalette(self.commands.others("palette"), self.theme, self)
        self._connect_commands()
        self._connect_panels()
        self._connect_bridge()
        self._apply_theme()
        self._restore()

    # --- layout ---------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        self.setMinimumSize(*LEAST_SIZE)
        self.resize(*FIRST_SIZE)
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
        )
        self._middle = QWidget()
        column = QVBoxLayout(self._middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.space)
        self.setCentralWidget(self._middle)
        areas = Qt.DockWidgetArea
        self.docks = {
            name: self._dock(name, panel, area)
            for name, panel, area in (
                ("search", self.search, areas.LeftDockWidgetArea),
                ("inspector", self.inspector, areas.RightDockWidgetArea),
                ("list", self.table, areas.BottomDockWidgetArea),
                ("voids", self.voids, areas.BottomDockWidgetArea),
            )
        }
        self._arrange_docks()
        self.commands.fill(self.menuBar())
        bar = QStatusBar()
        bar.setSizeGripEnabled(False)
        bar.addWidget(self.status, 1)
        self.setStatusBar(bar)

    def _dock(self, name: str, panel: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(WORDS[name], self)
        dock.setObjectName(name)
        dock.setWidget(panel)
        self.addDockWidget(area, dock)
        return dock

    def _arrange_docks(self) -> None:
        """The layout of the first start."""
        areas = Qt.DockWidgetArea
        for name, area in (
            ("search", areas.LeftDockWidgetArea),
            ("inspector", areas.RightDockWidgetArea),
            ("list", areas.BottomDockWidgetArea),
            ("voids", areas.BottomDockWidgetArea),
        ):
            dock = self.docks[name]
            dock.setFloating(False)
            self.addDockWidget(area, dock)
            dock.show()
        self.tabifyDockWidget(self.docks["list"], self.docks["voids"])
        self.docks["list"].raise_()
        sides = [self.docks["search"], self.docks["inspector"]]
        self.resizeDocks(sides, [LEFT_WIDTH, RIGHT_WIDTH], Qt.Orientation.Horizontal)
        self.resizeDocks([self.docks["list"]], [BOTTOM_HEIGHT], Qt.Orientation.Vertical)

    def _restore(self) -> None:
        geometry, layout = self._settings.value("geometry"), self._settings.value("layout")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        if isinstance(layout, QByteArray):
            self.restoreState(layout, LAYOUT_VERSION)
        reduced = self._settings.value("reduced_motion", False, type=bool)
        self.commands["reduced_motion"].setChecked(bool(reduced))
        self.commands[f"theme_{self._choice}"].setChecked(True)

    # --- wiring ---------------------------------------------------------------------------------
    def _connect_commands(self) -> None:
        for name, act in (
            ("quit", self.close),
            ("search", lambda: self._ask_for(recalling=False)),
            ("recall", lambda: self._ask_for(recalling=True)),
            ("palette", self.palette_box.open),
            ("next_hit", lambda: self.search.step(1)),
            ("previous_hit", lambda: self.search.step(-1)),
            ("clear", self._clear),
            ("fit_all", self.space.fit_all),
            ("fit_selection", self.space.fit_selection),
            ("step_back", self.space.step_back),
            ("color_cluster", lambda: self.state.set_color_by(ColorBy.CLUSTER)),
            ("color_category", lambda: self.state.set_color_by(ColorBy.CATEGORY)),
            ("reset_layout", self._arrange_docks),
            ("theme_system", lambda: self._choose_theme("system")),
            ("theme_dark", lambda: self._choose_theme("dark")),
            ("theme_light", lambda: self._choose_theme("light")),
        ):
            self.commands[name].triggered.connect(act)
        self.commands["only_space"].toggled.connect(self._show_only_space)
        self.commands["reduced_motion"].toggled.connect(self._reduce_motion)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._apply_theme)

    def _connect_panels(self) -> None:
        self.search.search_asked.connect(self.bridge.search)
        self.search.recall_asked.connect(self.bridge.recall)
        self.search.cleared.connect(self._forget_answers)
        for selected in (self.search.hit_selected, self.table.memory_selected, self.voids.memory_selected):
            selected.connect(self.state.select)
        for opened in (
            self.search.hit_opened,
            self.table.memory_opened,
            self.voids.memory_opened,
            self.inspector.memory_asked,
        ):
            opened.connect(self.open_memory)
        self.inspector.word_chosen.connect(self._search_word)
        self.state.selection_changed.connect(self._follow_selection)
        self.space.notice.connect(lambda _: self.notices.show_notice(Notice(WORDS["flat"], WORDS["flat_advice"])))

    def _connect_bridge(self) -> None:
        self.bridge.snapshot_ready.connect(self._take_snapshot)
        self.bridge.growing.connect(self._take_growth)
        self.bridge.opened.connect(lambda: self.space.set_caption(""))
        self.bridge.stats_ready.connect(self._take_stats)
        self.bridge.searched.connect(self._take_search)
        self.bridge.recalled.connect(self._take_recall)
        self.bridge.memory_ready.connect(self._take_memory)
        self.bridge.noticed.connect(self.notices.show_notice)
        self.bridge.unavailable.connect(self._take_refusal)

    # --- what a person does ---------------------------------------------------------------------
    def open_memory(self, memory_id: str) -> None:
        """Select a memory and bring it into view."""
        self.state.select(memory_id)
        self.space.fly_to(memory_id)

    def _ask_for(self, *, recalling: bool) -> None:
        self.docks["search"].show()
        self.docks["search"].raise_()
        self.search.set_recalling(recalling)

    def _search_word(self, word: str) -> None:
        self.search.box.setText(word)
        self.search.set_recalling(False)

    def _clear(self) -> None:
        """Escape steps back: first the words and what they lit, then the selection, then the camera."""
        if self.search.box.text() or self.state.highlight is not None:
            self.search.clear()
            self._forget_answers()
        elif self.state.selected:
            self.state.select("")
        else:
            self.space.step_back()

    def _forget_answers(self) -> None:
        self.bridge.forget_questions()
        self.state.set_highlight(None)

    def _show_only_space(self, only: bool) -> None:
        for dock in self.docks.values():
            dock.setVisible(not only)
        self.menuBar().setVisible(not only)
        self.statusBar().setVisible(not only)
        if not only:
            self.docks["list"].raise_()

    def _reduce_motion(self, reduced: bool) -> None:
        self.space.reduced_motion = reduced
        self._settings.setValue("reduced_motion", reduced)

    # --- what comes back ------------------------------------------------------------------------
    def _take_snapshot(self, snapshot: SpaceSnapshot) -> None:
        self.state.set_snapshot(snapshot)
        self.table.set_snapshot(snapshot, self.state.selected)

    def _take_growth(self, snapshot: SpaceSnapshot) -> None:
        self._take_snapshot(snapshot)
        self.space.set_caption(WORDS["filling"].format(count=len(snapshot)))

    def _take_refusal(self, notice: Notice) -> None:
        """The space cannot be opened; the window stays, so that the reason can be read."""
        self.notices.show_notice(notice)
        self.space.set_unavailable()
        self.status.show_closed()

    def _take_stats(self, stats: SpaceStats) -> None:
        self.status.show_stats(stats)
        self.setWindowTitle(WORDS["title"].format(space=style.visible(stats.space)))

    def _take_search(self, result: SearchResult) -> None:
        self.search.show_search(result)
        self.state.set_highlight(highlight_of_search(result))
        self.status.show_time("search", result.elapsed_ms)

    def _take_recall(self, trace: RecallTrace) -> None:
        self.search.show_recall(trace)
        self.voids.show_trace(trace)
        self.docks["voids"].raise_()
        self.state.set_highlight(highlight_of_recall(trace))
        self.status.show_time("recall", trace.elapsed_ms)

    def _take_memory(self, memory: Memory) -> None:
        if memory.id == self.state.selected:
            clusters = self.state.snapshot.clusters if self.state.snapshot is not None else ()
            self.inspector.show_memory(memory, next((c for c in clusters if c.id == memory.cluster), None))

    def _follow_selection(self, memory_id: str) -> None:
        self.table.mark(memory_id)
        self.search.mark(memory_id)
        if memory_id:
            self.bridge.get(memory_id)
        else:
            self.inspector.clear()

    def _excerpt(self, memory_id: str) -> str:
        snapshot, scene = self.state.snapshot, self.space.scene
        row = scene.row(memory_id) if scene is not None else -1
        return snapshot.excerpts[row] if snapshot is not None and row >= 0 else memory_id

    # --- appearance -----------------------------------------------------------------------------
    def _choose_theme(self, choice: str) -> None:
        self._choice = choice
        self._settings.setValue("appearance", choice)
        self._apply_theme()

    def _chosen_theme(self) -> style.Theme:
        return {"dark": style.DARK, "light": style.LIGHT}.get(self._choice) or style.current_theme()

    def _apply_theme(self) -> None:
        self.theme = self._chosen_theme()
        QApplication.setPalette(style.palette(self.theme))
        self.setStyleSheet(style.style_sheet(self.theme))
        for part in (self.space, self.search, self.inspector, self.table, self.voids, self.status):
            part.set_theme(self.theme)
        self.palette_box.set_theme(self.theme)
        self.notices.theme = self.theme

    # --- Qt -------------------------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.notices.arrange()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.commands["only_space"].isChecked():
            self.commands["only_space"].setChecked(False)
        self._settings.setValue("geometry", self.saveGeometry())
        self._settings.setValue("layout", self.saveState(LAYOUT_VERSION))
        self.closing.emit()
        super().closeEvent(event)
