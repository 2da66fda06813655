"""The icon in the system's tray, where there is one: how many agents are connected, the way back to the window, the way out.

Nothing depends on it. Closing the window ends the program, unless the person chose to keep it in the tray; then it goes on
following agents out of sight, and a click brings it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from tetrarium.paths import resources
from tetrarium_gui.style import Theme, plain_tip
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.following import Following
from tetrarium_gui.words import t

SIZES = (16, 22, 32, 64, 128)
"""Pixels that trays and title bars ask for."""
DOT = 0.22
"""Radius of the dot that says that agents are connected, as a share of the icon."""


class Tray(QObject):
    """The icon and its menu; without a tray it keeps nothing and shows nothing."""

    def __init__(self, desk: Desk, following: Following) -> None:
        super().__init__(desk.window)
        self._desk = desk
        self._keep = desk.commands["keep_in_tray"]
        self._names: Sequence[str] = ()
        self.icon: QSystemTrayIcon | None = None
        desk.window.setWindowIcon(icon_of(None))
        self._keep.setVisible(QSystemTrayIcon.isSystemTrayAvailable())
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        self._keep.setChecked(bool(desk.settings.value("keep_in_tray", False, type=bool)))
        self._keep.toggled.connect(lambda keep: desk.settings.setValue("keep_in_tray", keep))
        self.menu = QMenu(desk.window)
        self.agents = self.menu.addAction("")
        self.agents.triggered.connect(self._show_agents)
        self.menu.addAction(t("tray.open")).triggered.connect(self.bring_back)
        self.menu.addAction(self._keep)
        self.menu.addSeparator()
        self.menu.addAction(desk.commands["quit"])
        self.icon = QSystemTrayIcon(icon_of(None), desk.window)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._clicked)
        following.clients_changed.connect(self._show_clients)
        following.introduce()
        self.icon.show()

    @property
    def keeps(self) -> bool:
        """Whether a window that is closed stays, out of sight."""
        return self.icon is not None and self._keep.isChecked()

    def take_in(self) -> None:
        """Hide the window. The first time it is said where it is."""
        QGuiApplication.setQuitOnLastWindowClosed(False)
        self._desk.window.hide()
        if self.icon is not None and not self._desk.settings.value("tray_told", False, type=bool):
            self._desk.settings.setValue("tray_told", True)
            self.icon.showMessage(t("tray.kept"), t("tray.kept_hint"), icon_of(None))

    def bring_back(self) -> None:
        """Show the window again, in front."""
        QGuiApplication.setQuitOnLastWindowClosed(True)
        window = self._desk.window
        window.showNormal() if window.isMinimized() else window.show()
        window.raise_()
        window.activateWindow()

    def leave(self) -> None:
        """The window goes for good, and the icon with it."""
        if self.icon is not None:
            self.icon.hide()

    def set_theme(self, theme: Theme) -> None:
        self._draw(theme)

    def _show_agents(self) -> None:
        self.bring_back()
        self._desk.docks.enter("activity")

    def _clicked(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self.bring_back()

    def _show_clients(self, names: Sequence[str] | None) -> None:
        self._names = names or ()
        words = t("tray.agents", count=len(self._names))
        self.agents.setText(words)
        if self.icon is not None:
            self.icon.setToolTip(plain_tip("\n".join((t("tray.tip", words=words), *self._names[:10]))))
        self._draw(self._desk.panels.activity.theme)

    def _draw(self, theme: Theme) -> None:
        if self.icon is not None:
            self.icon.setIcon(icon_of(theme.good if self._names else None))


def icon_of(dot: str | None) -> QIcon:
    """The program's icon; dot: colour of a dot in its corner."""
    picture, icon = QSvgRenderer(str(resources() / "icons" / "tetrarium.svg")), QIcon()
    for size in SIZES:
        pixmap = QPixmap(QSize(size, size))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        picture.render(painter)
        if dot is not None:
            radius = DOT * size
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(dot))
            painter.drawEllipse(QPointF(size - radius, size - radius), radius, radius)
        painter.end()
        icon.addPixmap(pixmap)
    return icon
