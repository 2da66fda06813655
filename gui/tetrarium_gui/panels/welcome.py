"""What an empty space offers: four ways forward, in its middle, until the first memory is there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, RADIUS, SIZE_SMALL, SIZE_TITLE, Theme
from tetrarium_gui.words import t

WIDTH = 520
WAYS = ("connect", "sample", "import", "write")


class Welcome(QFrame):
    """Sits in the middle of its parent; each way has one sentence on what it does."""

    connect_asked = Signal()
    sample_asked = Signal()
    import_asked = Signal()
    write_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self._above = parent
        title = PlainLabel(t("welcome.title"), size=SIZE_TITLE, bold=True)
        self.words = PlainLabel(t("welcome.words"))
        self.words.setWordWrap(True)
        for label in (title, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        asked = {name: getattr(self, f"{name}_asked") for name in WAYS}
        self.ways = {name: button(f"welcome.{name}", asked[name].emit, primary=name == WAYS[0]) for name in WAYS}
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(title)
        column.addWidget(self.words)
        self.sentences = []
        for name in WAYS:
            row, sentence = QHBoxLayout(), PlainLabel(t(f"welcome.{name}_tip"), size=SIZE_SMALL)
            sentence.setWordWrap(True)
            self.ways[name].setFixedWidth(170)
            row.addWidget(self.ways[name])
            row.addWidget(sentence, 1)
            column.addLayout(row)
            self.sentences.append(sentence)
        self.setFixedWidth(WIDTH)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"QFrame#welcome {{ background: {theme.surface}; border: 1px solid {theme.line}; border-radius: {RADIUS}px; }}"
        )
        for label in (self.words, *self.sentences):
            label.setStyleSheet(f"color: {theme.muted};")

    def offer(self, offered: bool) -> None:
        """Show or hide it, in the middle."""
        self.setVisible(offered)
        self.arrange()

    def arrange(self) -> None:
        self.adjustSize()
        room = self._above.rect().size() - self.size()
        self.move(max(0, room.width() // 2), max(0, room.height() // 2))
        self.raise_()
