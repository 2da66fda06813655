"""The window: the space in the middle, panels round it. It makes the parts, gives them their appearance, and closes.

What the parts do together stands in `wiring`. Nothing here waits for the engine.
"""

from __future__ import annotations

from PySide6.QtCore import QSettings, QSize, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QStatusBar, QVBoxLayout, QWidget

from tetrarium.model import SpaceSnapshot, SpaceStats
from tetrarium_gui import style
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.commands import Commands
from tetrarium_gui.docks import Docks
from tetrarium_gui.panels.help import HelpPage
from tetrarium_gui.panels.locked import Locked
from tetrarium_gui.panels.notices import NoticeBar
from tetrarium_gui.panels.palette import CommandPalette
from tetrarium_gui.panels.status import StatusLine
from tetrarium_gui.panels.top_bar import TopBar
from tetrarium_gui.panels.welcome import Welcome
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import ColorBy, Notice, WindowState
from tetrarium_gui.wiring.answers import Answers
from tetrarium_gui.wiring.beginnings import Beginnings
from tetrarium_gui.wiring.corrections import Corrections
from tetrarium_gui.wiring.desk import Desk, make_panels
from tetrarium_gui.wiring.following import Following
from tetrarium_gui.wiring.growth import Growth
from tetrarium_gui.wiring.help import Help
from tetrarium_gui.wiring.history import History
from tetrarium_gui.wiring.inhibitions import Inhibitions
from tetrarium_gui.wiring.lists import Lists
from tetrarium_gui.wiring.live import Live
from tetrarium_gui.wiring.places import Places
from tetrarium_gui.wiring.privacy import Privacy
from tetrarium_gui.wiring.recalls import Recalls
from tetrarium_gui.wiring.slowness import Slowness
from tetrarium_gui.wiring.successions import Successions
from tetrarium_gui.wiring.top import Top
from tetrarium_gui.wiring.topics import Topics
from tetrarium_gui.wiring.tray import Tray
from tetrarium_gui.wiring.views import Views
from tetrarium_gui.words import set_language, t

FIRST_SIZE = (1440, 900)
FRAME = (16, 48)
"""Pixels that the frame of a window takes at most, which is not known before it is shown."""
LEAST_SIZE = (1024, 640)


def first_size(room: QSize) -> QSize:
    """The size of the first window: the wanted one, with its frame within what the screen has free."""
    return QSize(*FIRST_SIZE).boundedTo(room - QSize(*FRAME)).expandedTo(QSize(*LEAST_SIZE))


class MainWindow(QMainWindow):
    """One window on one space."""

    closing = Signal()
    reopen_asked = Signal(object)  # the folder of another space, or None: this one again, in another language
    sample_asked = Signal(object)  # the folder of the sample space

    def __init__(self, bridge: Bridge, settings: QSettings, *, opengl: bool = True) -> None:
        super().__init__()
        self.setObjectName("tetrarium")
        self.bridge, self._settings, self._leaving = bridge, settings, False
        set_language(str(settings.value("language", "system")))
        self.state = WindowState(self)
        self._choice = str(settings.value("appearance", "system"))
        self.theme = self._chosen_theme()
        self.space = SpaceView(self.state, self.theme, opengl=opengl)
        self.panels = make_panels(self.theme, self.state.excerpt)
        self.search, self.inspector = self.panels.search, self.panels.inspector
        self.table, self.voids = self.panels.list, self.panels.voids
        self.status, self.top_bar = StatusLine(self.theme), TopBar(self.theme)
        self.commands = Commands(self, self.space)
        self._lay_out()
        self.notices = NoticeBar(self.theme, self._middle)
        self.desk = Desk(
            self, bridge, self.state, settings, self.space, self.commands, self.docks,
            self.panels, self.status, self.notices,
        )  # fmt: skip
        self.answers, self.corrections, self.history = Answers(self.desk), Corrections(self.desk), History(self.desk)
        self.lists, self.recalls, self.inhibitions = Lists(self.desk), Recalls(self.desk), Inhibitions(self.desk)
        self.topics, self.live, self.places = Topics(self.desk), Live(self.desk), Places(self.desk)
        self.following, self.privacy, self.slowness = Following(self.desk), Privacy(self.desk), Slowness(self.desk)
        self.growth, self.views, self.successions = Growth(self.desk), Views(self.desk), Successions(self.desk)
        self.welcome = Welcome(self.theme, self._middle)
        self.beginnings = Beginnings(self.desk, self.welcome)
        self.locked = Locked(self.theme, self._middle)
        self.places.reopen_asked.connect(self.reopen_asked)
        self.beginnings.sample_asked.connect(self.sample_asked)
        self.palette_box = CommandPalette(
            [action for action in self.commands.all() if action.objectName() != "palette"], self.theme, self
        )
        self.help = Help(self.desk, self.palette_box, HelpPage(self.theme, self))
        self._connect_commands()
        self._connect_bridge()
        self._apply_theme()
        self._restore()

    # --- layout ---------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        self.setMinimumSize(*LEAST_SIZE)
        self.resize(first_size(self.screen().availableSize()))
        options = QMainWindow.DockOption
        self.setDockOptions(options.AnimatedDocks | options.AllowTabbedDocks | options.AllowNestedDocks)
        self._middle = QWidget()
        column = QVBoxLayout(self._middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.space)
        self.setCentralWidget(self._middle)
        self.docks = Docks(self, self.panels.by_name())
        self.setMenuWidget(self.top_bar)
        self.commands.fill(self.top_bar.menus)
        shown = QMenu(t("menu.panels"), self.top_bar.menus)
        self.top_bar.menus.insertMenu(self.commands.menus["help"].menuAction(), shown)  # help stands last
        for action in self.docks.actions():
            shown.addAction(action)
            self.commands.add(action)
        bar = QStatusBar()
        bar.setSizeGripEnabled(False)
        bar.addWidget(self.status, 1)
        self.setStatusBar(bar)

    def _restore(self) -> None:
        self.docks.restore(self._settings)
        reduced = self._settings.value("reduced_motion", False, type=bool)
        self.commands["reduced_motion"].setChecked(bool(reduced))
        self.commands[f"theme_{self._choice}"].setChecked(True)
        self.commands[f"language_{self._settings.value('language', 'system')}"].setChecked(True)

    # --- wiring ---------------------------------------------------------------------------------
    def _connect_commands(self) -> None:
        for name, act in (
            ("quit", self.leave),
            ("palette", lambda: self.palette_box.open()),
            ("fit_all", self.space.fit_all),
            ("fit_selection", self.space.fit_selection),
            ("step_back", self.space.step_back),
            ("look_front", lambda: self.space.look_from("front")),
            ("look_right", lambda: self.space.look_from("right")),
            ("look_top", lambda: self.space.look_from("top")),
            ("isolate", self.space.isolate),
            ("hide", self.space.hide_chosen),
            ("show_everything", self.space.show_everything),
            ("mark_cluster", self.space.mark_cluster),
            ("mark_touching", self.space.mark_touching),
            ("mark_rest", self.space.mark_rest),
            *((f"color_{by}", lambda _=False, by=by: self.state.set_color_by(by)) for by in ColorBy),
            ("reset_layout", self.docks.arrange),
            ("theme_system", lambda: self._choose_theme("system")),
            ("theme_dark", lambda: self._choose_theme("dark")),
            ("theme_light", lambda: self._choose_theme("light")),
        ):
            self.commands[name].triggered.connect(act)
        self.commands["level"].toggled.connect(self.space.set_level)
        self.commands["only_space"].toggled.connect(self._show_only_space)
        self.commands["reduced_motion"].toggled.connect(self._reduce_motion)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._apply_theme)
        self.space.notice.connect(lambda _: self.desk.tell(t("window.flat"), t("window.flat_advice"), done=False))

    def _connect_bridge(self) -> None:
        self.following.clients_changed.connect(self.panels.activity.show_clients)
        self.top = Top(self.desk, self.top_bar, self.places, self.following, self.live)
        self.tray = Tray(self.desk, self.following)
        self.bridge.snapshot_ready.connect(self._take_snapshot)
        self.bridge.growing.connect(self._take_growth)
        self.bridge.opened.connect(lambda: self.space.set_caption(""))
        self.bridge.stats_ready.connect(self._take_stats)
        self.bridge.noticed.connect(self.notices.show_notice)
        self.bridge.unavailable.connect(self._take_refusal)
        self.bridge.locked.connect(self._take_lock)
        self.bridge.opened.connect(self.locked.put_away)
        self.locked.tried.connect(self.bridge.unlock)
        self.locked.elsewhere_asked.connect(self.commands["open_space"].trigger)

    def make_room(self) -> None:
        """Close for good, with nothing left in the tray: another window follows."""
        self._leaving = True
        self.close()

    def leave(self) -> None:
        """Close for good, and end the program."""
        was_hidden = self.isHidden()
        self.make_room()
        if was_hidden:
            QGuiApplication.quit()  # Qt ends with the last window that is seen, and this one was not

    def open_memory(self, memory_id: str) -> None:
        """Select a memory and bring it into view."""
        self.desk.open_memory(memory_id)

    # --- what comes back ------------------------------------------------------------------------
    def _take_snapshot(self, snapshot: SpaceSnapshot) -> None:
        self.state.set_snapshot(snapshot)
        self.table.set_snapshot(snapshot, self.state.selected)

    def _take_growth(self, snapshot: SpaceSnapshot) -> None:
        self._take_snapshot(snapshot)
        self.space.set_caption(t("window.filling", count=len(snapshot)))

    def _take_refusal(self, notice: Notice) -> None:
        """The space cannot be opened; the window stays, so that the reason can be read."""
        self.notices.show_notice(notice)
        self.space.set_unavailable()
        self.status.show_closed()

    def _take_lock(self, wrong: bool) -> None:
        """The space is encrypted: ask for its passphrase, as often as it takes."""
        self.space.set_caption(t("locked.title"))
        self.status.show_closed()
        self.locked.ask(wrong=wrong)

    def _take_stats(self, stats: SpaceStats) -> None:
        self.status.show_stats(stats)
        self.setWindowTitle(t("window.title", space=style.visible(stats.space)))

    # --- appearance -----------------------------------------------------------------------------
    def _show_only_space(self, only: bool) -> None:
        self.docks.hide_all(only)
        self.top_bar.setVisible(not only)
        self.statusBar().setVisible(not only)

    def _reduce_motion(self, reduced: bool) -> None:
        self.space.reduced_motion = reduced
        self._settings.setValue("reduced_motion", reduced)

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
        for part in (self.space, self.status, self.top_bar, *self.panels.by_name().values()):
            part.set_theme(self.theme)
        self.tray.set_theme(self.theme)
        self.palette_box.set_theme(self.theme)
        self.help.page.set_theme(self.theme)
        self.notices.theme = self.theme
        self.welcome.set_theme(self.theme)
        self.locked.set_theme(self.theme)

    # --- Qt -------------------------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.notices.arrange()
        self.welcome.arrange()
        self.locked.arrange()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.tray.keeps and not self._leaving:
            event.ignore()
            self.tray.take_in()
            return
        if self.commands["only_space"].isChecked():
            self.commands["only_space"].setChecked(False)
        self.docks.keep(self._settings)
        self.tray.leave()
        self.closing.emit()
        super().closeEvent(event)
