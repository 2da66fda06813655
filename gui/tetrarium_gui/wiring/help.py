"""The Help menu: every shortcut, how voids work, and what program this is."""

from __future__ import annotations

from PySide6.QtCore import QObject

from tetrarium import __version__
from tetrarium.model import SpaceStats
from tetrarium_gui.panels.help import HelpPage
from tetrarium_gui.panels.palette import CommandPalette
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

LICENCE = "Apache-2.0"


class Help(QObject):
    """Connects the commands of the Help menu with the palette and the page."""

    def __init__(self, desk: Desk, palette: CommandPalette, page: HelpPage) -> None:
        super().__init__(desk.window)
        self.page, self._model = page, ""
        desk.commands["shortcuts"].triggered.connect(lambda: palette.open(for_keys=True))
        desk.commands["how_voids"].triggered.connect(
            lambda: page.show_page(t("help.voids_title"), t("help.voids_words"))
        )
        desk.commands["about"].triggered.connect(self._about)
        desk.bridge.stats_ready.connect(self._take_stats)

    def _take_stats(self, stats: SpaceStats) -> None:
        self._model = stats.model

    def _about(self) -> None:
        model = visible(self._model) or t("help.no_model")
        words = t("help.about_words", version=__version__, licence=LICENCE, model=model)
        self.page.show_page(t("help.about_title"), words)
