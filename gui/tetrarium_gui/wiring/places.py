"""Where the window is: which space it shows, the recent ones, its language, and pictures of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFileDialog, QMenu

from tetrarium.model import SpaceStats
from tetrarium_gui.state import Notice
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import LANGUAGES, t

RECENT = 8
"""Spaces that are remembered."""
SCALES = (1, 2, 3, 4)
"""Sizes of a picture, times the window's own."""


class Places(QObject):
    """Connects spaces, language and pictures. Another space or language is another window: the program makes it."""

    reopen_asked = Signal(object)  # the folder of another space, or None: this one again

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        commands = desk.commands
        commands["new_space"].triggered.connect(lambda: self._choose_folder("places.new"))
        commands["open_space"].triggered.connect(lambda: self._choose_folder("places.open"))
        commands["screenshot"].triggered.connect(self._choose_picture)
        for code in ("system", *LANGUAGES):
            commands[f"language_{code}"].triggered.connect(partial(self.choose_language, code))
        self.recent_menu = QMenu(t("menu.recent"), desk.window)
        commands.menus["file"].insertMenu(commands["screenshot"], self.recent_menu)
        desk.bridge.stats_ready.connect(self._remember)
        self._fill_recent()

    def recent(self) -> tuple[str, ...]:
        """Folders of the spaces that were open before, the last first."""
        kept = self._desk.settings.value("recent", [])
        return tuple(str(folder) for folder in kept) if isinstance(kept, list) else ()

    def open_folder(self, folder: Path) -> None:
        self.reopen_asked.emit(folder)

    def choose_language(self, code: str) -> None:
        """Use a language from now on: the window is made anew, on the same space."""
        if code != self._desk.settings.value("language", "system"):
            self._desk.settings.setValue("language", code)
            self.reopen_asked.emit(None)

    def save_picture(self, path: Path, scale: int) -> None:
        """The window as PNG, `scale` times its size: what is drawn as vectors stays sharp."""
        window = self._desk.window
        picture = QPixmap(window.size() * scale)
        picture.setDevicePixelRatio(scale)
        picture.fill(Qt.GlobalColor.transparent)
        window.render(picture)
        if picture.save(str(path), "PNG"):
            self._desk.tell(t("places.saved"), str(path))
        else:
            self._desk.notices.show_notice(Notice(t("places.not_saved", path=path), t("places.not_saved_advice")))

    # --- inside ---------------------------------------------------------------------------------
    def _remember(self, stats: SpaceStats) -> None:
        folders = [stats.space, *(folder for folder in self.recent() if folder != stats.space)][:RECENT]
        if tuple(folders) != self.recent():
            self._desk.settings.setValue("recent", folders)
            self._fill_recent()

    def _fill_recent(self) -> None:
        self.recent_menu.clear()
        for folder in self.recent():
            action = self.recent_menu.addAction(visible(folder)[-80:].replace("&", "&&"))
            action.triggered.connect(partial(self.open_folder, Path(folder)))
        self.recent_menu.setEnabled(bool(self.recent()))

    def _choose_folder(self, title: str) -> None:
        dialog = QFileDialog(self._desk.window, t(title))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda name: self.open_folder(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _choose_picture(self) -> None:
        dialog = QFileDialog(self._desk.window, t("places.picture"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([t("places.picture_filter", scale=scale) for scale in SCALES])
        dialog.setDefaultSuffix("png")

        def save(name: str) -> None:
            filters = dialog.nameFilters()
            self.save_picture(Path(name), SCALES[max(0, filters.index(dialog.selectedNameFilter()))])

        dialog.fileSelected.connect(save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
