"""The ways into a space: the sample, an import, an IDE that is connected. What takes long tells so and can be stopped."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from tetrarium import connect
from tetrarium.errors import UserError
from tetrarium.model import ImportReport, SpaceStats
from tetrarium.paths import sample_dir
from tetrarium_gui.bridge import CLIENT, notice_of
from tetrarium_gui.panels.connections import ConnectionsView
from tetrarium_gui.panels.welcome import Welcome
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t
from tetrarium_gui.worker import filling


class Beginnings(QObject):
    """Connects the welcome of an empty space, the import and the connections with the bridge."""

    sample_asked = Signal(object)  # the folder of the sample space, which the program opens in this window's place

    def __init__(self, desk: Desk, welcome: Welcome, places: connect.Places | None = None) -> None:
        super().__init__(desk.window)
        self._desk, self.welcome = desk, welcome
        self._places = places or connect.Places.here()
        self._stop = Event()
        self._folder: Path | None = None
        self.connections: ConnectionsView | None = None
        welcome.sample_asked.connect(lambda: self.sample_asked.emit(sample_dir()))
        welcome.import_asked.connect(self._choose_file)
        welcome.connect_asked.connect(self.open_connections)
        welcome.write_asked.connect(desk.commands["new_memory"].trigger)
        desk.commands["import"].triggered.connect(self._choose_file)
        desk.commands["connect"].triggered.connect(self.open_connections)
        desk.bridge.stats_ready.connect(self._take_stats)
        desk.window.destroyed.connect(self._stop.set)

    # --- sample and import ------------------------------------------------------------------------
    def fill_once_open(self, own: Path | None) -> None:
        """This window is on the sample space: fill it as soon as it is open. own: the space that was open before."""
        self._desk.bridge.opened.connect(lambda: self._fill(own), Qt.ConnectionType.SingleShotConnection)

    def _fill(self, own: Path | None) -> None:
        """Store the sample memories; the space is seen growing, and Cancel keeps what is there by then."""
        self.welcome.offer(False)
        self._stop.clear()
        self._desk.status.show_work(t("beginnings.filling"), self._stop.set)

        def told(_: int) -> None:
            self._end_filling()
            way_back = "" if own is None else t("beginnings.filled_back", space=visible(str(own)))
            self._desk.tell(t("beginnings.filled"), f"{t('beginnings.filled_advice')} {way_back}".rstrip())
            self._desk.bridge.refresh()

        def failed(_: Exception) -> bool:
            self._end_filling()
            return False  # told as a notice

        self._desk.bridge.edit(filling(self._stop.is_set, self._desk.bridge.tell_growth), told, otherwise=failed)

    def _end_filling(self) -> None:
        self._desk.status.end_work()
        self._desk.space.set_caption("")

    def preview_import(self, path: Path) -> None:
        """What a file would bring, before anything is taken in."""
        self._desk.status.show_work(t("beginnings.reading"))

        def show(report: ImportReport) -> None:
            self._desk.status.end_work()
            self._desk.docks.show("list")
            self._desk.panels.list.sheet.ask(
                t("beginnings.would_import", count=report.new),
                t("beginnings.import_hint", same=report.same, conflicting=report.conflicting_count, refused=report.refused_count),
                t("beginnings.import"),
                lambda *_: self.take_in(path),
            )  # fmt: skip

        self._desk.bridge.ask("import", lambda s: s.preview_import(path), show, otherwise=self._failed)

    def take_in(self, path: Path) -> None:
        """Import a file, all of it or nothing; it can be undone."""
        self._desk.status.show_work(t("beginnings.importing"))

        def told(report: ImportReport) -> None:
            self._desk.status.end_work()
            self._desk.tell(t("beginnings.imported", count=report.new), undo=self._desk.commands["undo"].trigger)
            self._desk.bridge.refresh()

        self._desk.bridge.edit(
            lambda s: s.import_file(path, skip_refused=True, client=CLIENT), told, otherwise=self._failed
        )

    # --- connections ------------------------------------------------------------------------------
    def open_connections(self) -> None:
        """Show which IDEs are here, and how they stand to this space."""
        if self.connections is None:
            view = ConnectionsView(self._theme(), self._desk.window)
            view.plan_asked.connect(self._plan)
            view.apply_asked.connect(self._apply)
            view.undo_asked.connect(self._undo)
            view.try_asked.connect(self._try)
            self.connections = view
        self.connections.show()
        self.connections.raise_()
        self._look()

    def _look(self) -> None:
        endpoint = self._endpoint()
        self._work("found", lambda: connect.detect(self._places, endpoint), self._view().show_found)

    def _plan(self, ide: str) -> None:
        wish = connect.Wish(endpoint=self._endpoint())
        self._work("connection plan", lambda: connect.plan(ide, self._places, wish), self._view().show_plan)

    def _apply(self, plan: connect.Plan) -> None:
        def told(_: object) -> None:
            self._view().tell(t("beginnings.connected", ide=plan.title))
            self._look()

        self._work("connect", lambda: connect.apply(plan, self._places), told)

    def _undo(self, ide: str) -> None:
        def told(_: object) -> None:
            self._view().tell(t("beginnings.disconnected"))
            self._look()

        self._work("disconnect", lambda: connect.undo(ide, self._places), told)

    def _try(self) -> None:
        """Start the endpoint as an IDE would, and see it answer."""
        endpoint = self._endpoint()
        self._view().tell(t("beginnings.trying"))
        self._work(
            "trial",
            lambda: connect.try_out(endpoint),
            lambda seen: self._view().tell(t("beginnings.answers", count=len(seen.tools), seconds=seen.seconds)),
        )

    def _work(self, slot: str, work: Any, then: Any) -> None:
        """Beside the window, on the engine's thread: files and child processes take their time."""
        self._desk.bridge.ask(slot, lambda _: work(), then, otherwise=self._refused)

    def _refused(self, error: Exception) -> bool:
        if not isinstance(error, UserError):
            return False
        notice = notice_of(error)
        self._view().tell(visible(f"{notice.message} {notice.advice}".rstrip()))
        return True

    # --- inside -----------------------------------------------------------------------------------
    def _view(self) -> ConnectionsView:
        assert self.connections is not None
        return self.connections

    def _endpoint(self) -> connect.Command:
        return connect.endpoint(self._folder)

    def _theme(self) -> Any:
        return self._desk.space.theme

    def _failed(self, _: Exception) -> bool:
        """What failed is told as a notice; only the sign of work goes."""
        self._desk.status.end_work()
        return False

    def _choose_file(self) -> None:
        dialog = QFileDialog(self._desk.window, t("beginnings.file"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.preview_import(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take_stats(self, stats: SpaceStats) -> None:
        self._folder = Path(stats.space)
        self.welcome.offer(not stats.memories and not stats.in_trash and stats.writable)
