"""One window at a time on one space at a time. Another space, or another language, is another window in the same place.

No widget has to forget a space or translate itself: the old window keeps its layout in the settings and is gone, its
engine ends beside it (programs may share a space), and the new one starts as the program does. Nobody waits for it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer
from PySide6.QtGui import QGuiApplication

from tetrarium.paths import default_data_dir
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.main_window import MainWindow


class Shell(QObject):
    """Holds the open window and its engine.

    path: folder of the space, None for the default one; opengl: False draws flat.
    """

    def __init__(self, path: Path | None, settings: QSettings, *, sample: bool = False, opengl: bool = True) -> None:
        super().__init__()
        self._settings, self._opengl = settings, opengl
        self.path = path
        self._left: list[Bridge] = []
        self._make(sample=sample)

    def show(self) -> None:
        """Show the window, then start its engine."""
        self.window.show()
        self.bridge.start()

    def close(self) -> bool:
        """Join the engines, those of spaces that were left too; False when one did not end in time."""
        ended = [bridge.close() for bridge in (*self._left, self.bridge)]  # each, also after one that did not
        return all(ended)

    def reopen(self, path: Path | None) -> None:
        """Close the window and its space, and open another one; None: the same space again."""
        before = QGuiApplication.quitOnLastWindowClosed()
        QGuiApplication.setQuitOnLastWindowClosed(False)
        self.window.make_room()
        self.window.deleteLater()
        self.bridge.leave()
        self._left.append(self.bridge)
        self.path = path or self.path
        self._make(sample=False)
        self.show()
        QGuiApplication.setQuitOnLastWindowClosed(before)

    def open_sample(self, path: Path) -> None:
        """Open the sample space in this place, and fill it; the window tells the way back to the space of before."""
        own = self.path or default_data_dir()
        self.reopen(path)
        self.window.beginnings.fill_once_open(None if own.resolve() == path.resolve() else own)

    def _make(self, *, sample: bool) -> None:
        self.bridge = Bridge(self.path, sample=sample)
        self.window = MainWindow(self.bridge, self._settings, opengl=self._opengl)
        # Not from within the menu that asked for it: that menu belongs to the window that goes.
        self.window.reopen_asked.connect(lambda path: QTimer.singleShot(0, self, lambda: self.reopen(path)))
        self.window.sample_asked.connect(lambda path: QTimer.singleShot(0, self, lambda: self.open_sample(path)))
