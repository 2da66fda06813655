"""Non-modal notices over the space: what happened, what to do; they never take the keyboard."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.state import Notice
from tetrarium_gui.style import GRID, RADIUS, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import t

SHOWN_FOR = 8_000
"""Milliseconds for which a passing notice stays; a grave one stays until it is closed."""
CLOSE_WIDTH = 28
LONGEST = 400


class NoticeBar(QFrame):
    """One notice at a time at the top of its parent; the newest wins."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.theme, self._above = theme, parent
        self.notice: Notice | None = None
        self._message, self._advice = PlainLabel(bold=True), PlainLabel(size=SIZE_SMALL)
        for label in (self._message, self._advice):
            label.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._message)
        words.addWidget(self._advice)
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName(t("notice.close"))
        close.setAutoRaise(True)
        close.clicked.connect(self.dismiss)
        close.setFixedWidth(CLOSE_WIDTH)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        row.addLayout(words, 1)
        self.act = QPushButton()
        self.act.clicked.connect(self._acted)
        self._act: Callable[[], object] | None = None
        self.act.hide()
        row.addWidget(self.act)
        row.addWidget(close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SHOWN_FOR)
        self._timer.timeout.connect(self.dismiss)
        self.hide()

    def show_notice(self, notice: Notice, act: tuple[str, Callable[[], object]] | None = None) -> None:
        """Show a notice; `act`: the word and the deed of its button."""
        self.notice = notice
        self._act = act[1] if act is not None else None
        self.act.setText(act[0] if act is not None else "")
        self.act.setVisible(act is not None)
        theme = self.theme
        edge = theme.inhibited_text if notice.grave else theme.good if notice.done else theme.amber
        self.setStyleSheet(
            f"QFrame#notice {{ background: {self.theme.raised}; border: 1px solid {self.theme.line};"
            f" border-left: 3px solid {edge}; border-radius: {RADIUS}px; }}"
        )
        self._message.setText(_breakable(visible(notice.message)[:LONGEST]))
        self._advice.setText(_breakable(visible(notice.advice)[:LONGEST]))
        self._advice.setVisible(bool(notice.advice))
        self.arrange()
        self.show()
        self.raise_()
        self._timer.stop() if notice.grave else self._timer.start()

    def dismiss(self) -> None:
        self._timer.stop()
        self.notice, self._act = None, None
        self.hide()

    def _acted(self) -> None:
        act = self._act
        self.dismiss()
        if act is not None:
            act()

    def arrange(self) -> None:
        """Sit at the top of the parent, in its middle."""
        parent = self._above
        width = min(560, parent.width() - 4 * GRID)
        self.setFixedWidth(width)
        room = width - 3 * GRID - CLOSE_WIDTH
        if not self.act.isHidden():
            room -= self.act.sizeHint().width() + GRID
        shown = [label for label in (self._message, self._advice) if label.text()]
        for label in shown:
            label.setFixedSize(room, label.heightForWidth(room))
        self.setFixedHeight(2 * GRID + sum(label.height() for label in shown) + 2 * (len(shown) - 1))
        self.move((parent.width() - width) // 2, 5 * GRID)


def _breakable(text: str) -> str:
    """A long path may break after each of its parts."""
    return text.replace("/", "/\u200b").replace("\\", "\\\u200b")
