"""What an encrypted space asks for before it opens: its passphrase, unseen, and kept by nobody."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, RADIUS, SIZE_SMALL, SIZE_TITLE, Theme
from tetrarium_gui.words import t

WIDTH = 440


class Locked(QFrame):
    """Sits in the middle of its parent until the space is open; Enter tries what was typed."""

    tried = Signal(str)  # the passphrase
    elsewhere_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("locked")
        self._above = parent
        title = PlainLabel(t("locked.title"), size=SIZE_TITLE, bold=True)
        self.words, self.told = PlainLabel(t("locked.words")), PlainLabel(size=SIZE_SMALL)
        for label in (self.words, self.told):
            label.setWordWrap(True)
        self.box = QLineEdit()
        self.box.setEchoMode(QLineEdit.EchoMode.Password)
        self.box.setAccessibleName(t("locked.passphrase"))
        self.box.setPlaceholderText(t("locked.passphrase"))
        self.elsewhere = button("locked.elsewhere", self.elsewhere_asked.emit)
        self.open = button("locked.open", self._try, primary=True)
        foot = QHBoxLayout()
        foot.addWidget(self.elsewhere)
        foot.addStretch()
        foot.addWidget(self.open)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        column.setSpacing(GRID + GRID // 2)
        for part in (title, self.words, self.box, self.told):
            column.addWidget(part)
        column.addLayout(foot)
        self.box.returnPressed.connect(self._try)
        self.setFixedWidth(WIDTH)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QFrame#locked {{ background: {theme.surface}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; }}"
        )
        self.words.setStyleSheet(f"color: {theme.muted};")
        self.told.setStyleSheet(f"color: {theme.inhibited_text};")

    def ask(self, *, wrong: bool) -> None:
        """Show it, with the keyboard in the box. wrong: the last one did not open the space."""
        self._say(t("locked.wrong") if wrong else "")
        self.show()
        self.arrange()
        self.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def put_away(self) -> None:
        self.box.clear()
        self.hide()

    def arrange(self) -> None:
        self.adjustSize()
        room = self._above.rect().size() - self.size()
        self.move(max(0, room.width() // 2), max(0, room.height() // 2))
        self.raise_()

    def _try(self) -> None:
        if passphrase := self.box.text():
            self.box.clear()
            self._say("")
            self.open.setEnabled(False)
            self.tried.emit(passphrase)

    def _say(self, words: str) -> None:
        self.told.setText(words)
        self.told.setVisible(bool(words))
        self.open.setEnabled(True)
