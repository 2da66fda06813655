"""Two people, or a person and an agent, changed the same memory: both texts side by side, and the person chooses."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from tetrarium_gui.panels.fields import Edits
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import TextBox, button
from tetrarium_gui.style import GRID, SIZE_SMALL
from tetrarium_gui.words import t

SIZE = (760, 380)


class ConflictView(QDialog):
    """Not modal: the window stays usable while a person makes up his mind. Closing it keeps the stored text."""

    merge_chosen = Signal(object, str)  # Edits, the text as it stands in the right box

    def __init__(self, edits: Edits, stored: str, offered: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(t("conflict.title"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*SIZE)
        self.edits = edits
        self.stored, self.offered = TextBox("conflict.stored", read_only=True), TextBox("conflict.offered")
        self.stored.show_text(stored, whole=True)
        self.offered.write(offered)
        words = PlainLabel(t("conflict.words"))
        words.setWordWrap(True)
        self.keep = button("conflict.keep_stored", self.close, primary=True)
        self.mine = button("conflict.keep_offered", self._choose)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(words)
        sides = QHBoxLayout()
        for name, box in (("conflict.stored", self.stored), ("conflict.offered", self.offered)):
            side = QVBoxLayout()
            side.addWidget(PlainLabel(t(name), size=SIZE_SMALL, bold=True))
            box.setObjectName("field")
            side.addWidget(box)
            sides.addLayout(side)
        column.addLayout(sides, 1)
        foot = QHBoxLayout()
        foot.addStretch()
        foot.addWidget(self.mine)
        foot.addWidget(self.keep)
        column.addLayout(foot)

    def _choose(self) -> None:
        self.merge_chosen.emit(self.edits, self.offered.toPlainText())
        self.close()
