"""The bar on top: the menus, which space this is, the way to any command, who is connected, and whether all is well.

One row, so that the space keeps the height. Everything in it is a button with a name, reached by Tab and by a command.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QMenu,
    QMenuBar,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from tetrarium.model import CheckState
from tetrarium_gui.style import GRID, RADIUS, SIZE_TEXT, Theme, plain_tip, text_font, visible
from tetrarium_gui.words import t

LONGEST_NAME = 28
"""Characters of a space's name that the bar shows."""
FIELD_WIDTH = 260
SIGNS = {CheckState.OK: "✓", CheckState.WARN: "!", CheckState.BAD: "✕"}


class TopBar(QWidget):
    """Shows what it is told; a click emits what is wanted."""

    search_asked = Signal()
    palette_asked = Signal()
    agents_asked = Signal()
    health_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("top")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.menus = QMenuBar()
        self.menus.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        self.spaces = QMenu(self)
        self.space = QPushButton()
        self.space.setObjectName("space_menu")
        self.space.setFont(text_font(SIZE_TEXT, bold=True))
        self.space.clicked.connect(lambda _=False: self.open_spaces())
        self.field = QPushButton(t("top.find"))
        self.field.setObjectName("find")
        self.field.setFixedWidth(FIELD_WIDTH)
        self.field.setToolTip(t("command.search_tip"))
        self.keys = QPushButton(t("top.keys"))
        self.keys.setObjectName("keys")
        self.keys.setToolTip(t("command.palette_tip"))
        self.keys.setAccessibleName(t("command.palette_tip"))
        self.agents, self.health = Lamp(theme), Lamp(theme)
        self.field.clicked.connect(lambda _=False: self.search_asked.emit())
        self.keys.clicked.connect(lambda _=False: self.palette_asked.emit())
        self.agents.clicked.connect(lambda _=False: self.agents_asked.emit())
        self.health.clicked.connect(lambda _=False: self.health_asked.emit())
        self._lay_out()
        self.show_space("", "")
        self.show_clients(())
        self.show_health(None, "")

    def set_theme(self, theme: Theme) -> None:
        for lamp in (self.agents, self.health):
            lamp.theme = theme
            lamp.update()

    def open_spaces(self) -> None:
        """Open the menu of spaces under its button; returns at once, unlike a button that has a menu."""
        self.spaces.popup(self.space.mapToGlobal(self.space.rect().bottomLeft()))

    def show_space(self, name: str, folder: str) -> None:
        """Which space is open; "" for none yet."""
        short = visible(name)[:LONGEST_NAME]
        self.space.setText(f"{short.replace('&', '&&') or t('top.no_space')} ▾")
        self.space.setToolTip(plain_tip(folder))
        self.space.setAccessibleName(t("top.space_name", name=short))

    def show_clients(self, names: Sequence[str] | None) -> None:
        """Who is connected; None where that cannot be known."""
        if names is None:
            self.agents.show_words(t("top.agents"), "●", "?", "muted")
            self.agents.setToolTip(t("activity.unwatched"))
        else:
            self.agents.show_words(t("top.agents"), "●", str(len(names)), "good" if names else "muted")
            self.agents.setToolTip(plain_tip(", ".join(names) or t("activity.nobody")))
        self.agents.setAccessibleName(t("top.agents_name", count=len(names or ())))

    def show_health(self, state: CheckState | None, why: str) -> None:
        """How the space is; None while that is not known."""
        ink = {CheckState.OK: "good", CheckState.WARN: "amber", CheckState.BAD: "inhibited_text"}
        sign = SIGNS[state] if state is not None else "…"
        self.health.show_words(t("top.health"), sign, "", ink[state] if state is not None else "muted")
        words = why or t(f"top.health_{state.value}" if state is not None else "top.health_unknown")
        self.health.setToolTip(plain_tip(words))
        self.health.setAccessibleName(t("top.health_name", words=visible(words)[:200]))

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, GRID // 4, GRID, GRID // 4)
        row.setSpacing(GRID // 2)
        row.addWidget(self.menus)
        row.addSpacing(GRID)
        row.addWidget(self.space)
        row.addStretch(1)
        row.addWidget(self.field)
        row.addWidget(self.keys)
        row.addStretch(2)
        row.addWidget(self.agents)
        row.addWidget(self.health)


class Lamp(QAbstractButton):
    """A word, a sign in a colour that means something, and a figure: "agents ● 2"."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._parts, self._ink = ("", "", ""), "muted"
        self.setFont(text_font(SIZE_TEXT))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_words(self, word: str, sign: str, figure: str, ink: str) -> None:
        """ink: the name of the sign's colour in the theme."""
        self._parts, self._ink = (word, sign, figure), ink
        self.setText(" ".join(part for part in self._parts if part))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self.text()) + 3 * GRID, metrics.height() + 10)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, metrics = QPainter(self), self.theme, QFontMetrics(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent if self.hasFocus() else theme.line), 1))
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), RADIUS, RADIUS)
        painter.setFont(self.font())
        left = 3 * GRID // 2
        for part, color in zip(self._parts, (theme.muted, getattr(theme, self._ink), theme.text), strict=True):
            if part:
                painter.setPen(QColor(color))
                box = QRect(left, 0, self.width() - left, self.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, part)
                left += metrics.horizontalAdvance(f"{part} ")
        painter.end()
