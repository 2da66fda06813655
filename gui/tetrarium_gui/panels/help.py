"""A page to read over the window: how voids work, and what program this is. Plain text; Escape or a button closes it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, RADIUS, SIZE_TITLE, Theme

WIDTH = 520


class HelpPage(QFrame):
    """Sits in the middle of its parent while it is read."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("help")
        self._above = parent
        self.title, self.words = PlainLabel(size=SIZE_TITLE, bold=True), PlainLabel()
        self.words.setWordWrap(True)
        self.close_button = button("help.close", self.hide, primary=True)
        foot = QHBoxLayout()
        foot.addStretch()
        foot.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(self.title)
        column.addWidget(self.words)
        column.addLayout(foot)
        self.setFixedWidth(WIDTH)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QFrame#help {{ background: {theme.surface}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; }}"
        )

    def show_page(self, title: str, words: str) -> None:
        """Show a text, with the keyboard on the button that closes it."""
        self.title.setText(title)
        self.words.setText(words)
        self.words.setFixedHeight(self.words.heightForWidth(WIDTH - 6 * GRID))
        self.ensurePolished()
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        layout.activate()
        self.resize(WIDTH, layout.totalSizeHint().height())
        room = self._above.rect().size() - self.size()
        self.move(max(0, room.width() // 2), max(0, room.height() // 2))
        self.show()
        self.raise_()
        self.close_button.setFocus(Qt.FocusReason.PopupFocusReason)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:  # closes this page and nothing else
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.hide()
                return True
        return super().event(event)
