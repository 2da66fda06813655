"""Earlier texts of one memory, and what changed between one and the text of today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QTextCharFormat
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from tetrarium.model import Memory, Version
from tetrarium_gui.panels.parts import PlainLabel, when
from tetrarium_gui.panels.writing import READ_AT_ONCE, TextBox, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import t

MOST_WORDS = 3_000
"""Texts with more words are compared line by line, with more lines not at all: comparing is quadratic."""
LIST_HEIGHT = 86
KEPT, TAKEN, GIVEN = 0, -1, 1


def difference(old: str, new: str) -> Iterator[tuple[int, str]]:
    """(KEPT, TAKEN or GIVEN, text) pieces that tell how `old` became `new`, word by word."""
    pieces = [re.findall(r"[^\W\u4e00-\u9fff]+|\s+|.", text, re.DOTALL) for text in (old, new)]
    if max(map(len, pieces)) > MOST_WORDS:
        pieces = [text.splitlines(keepends=True) for text in (old, new)]
    if max(map(len, pieces)) > MOST_WORDS:
        yield TAKEN, old
        yield GIVEN, new
        return
    before, after = pieces
    for op, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if op == "equal":
            yield KEPT, "".join(before[a:b])
            continue
        if b > a:
            yield TAKEN, "".join(before[a:b])
        if d > c:
            yield GIVEN, "".join(after[c:d])


class VersionsView(QWidget):
    """A list of versions, newest first; the chosen one is shown as what it changed into."""

    restore_asked = Signal(object)  # Version, to go on with its text

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._memory: Memory | None = None
        self._versions: tuple[Version, ...] = ()
        self.empty = PlainLabel(t("versions.empty"), size=SIZE_SMALL)
        self.empty.setWordWrap(True)
        self.list, self.text = QListWidget(), TextBox("versions.text_name", read_only=True)
        self.list.setAccessibleName(t("versions.list_name"))
        self.list.setFixedHeight(LIST_HEIGHT)
        self.use = button("versions.use", self._use)
        self.use.setToolTip(t("versions.use_tip"))
        foot = QHBoxLayout()
        foot.addStretch()
        foot.addWidget(self.use)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        for part in (self.empty, self.list, self.text):
            column.addWidget(part)
        column.addLayout(foot)
        column.addStretch()
        self.list.currentRowChanged.connect(self._show)

    def show_versions(self, memory: Memory, versions: tuple[Version, ...]) -> None:
        self._memory, self._versions = memory, versions
        self.list.clear()
        for version in versions:
            cause = visible(said(version.cause))
            self.list.addItem(t("versions.row", revision=version.revision, when=when(version.replaced_at), cause=cause))
        for part in (self.list, self.text, self.use):
            part.setVisible(bool(versions))
        self.empty.setVisible(not versions)
        if versions:
            self.list.setCurrentRow(0)

    def _show(self, row: int) -> None:
        """The chosen version against the one that followed it."""
        if self._memory is None or not 0 <= row < len(self._versions):
            return
        newer = self._versions[row - 1].content if row else self._memory.content
        older = self._versions[row].content
        self.text.clear()
        if max(len(older), len(newer)) > READ_AT_ONCE:
            self.text.show_text(older)
            return
        cursor = self.text.textCursor()
        for kind, piece in difference(older, newer):
            cursor.insertText(visible(piece), self._look(kind))
        self.text.moveCursor(cursor.MoveOperation.Start)

    def _look(self, kind: int) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(QColor(self.theme.text))
        if kind == TAKEN:
            look.setForeground(QColor(self.theme.inhibited_text))
            look.setFontStrikeOut(True)
        elif kind == GIVEN:
            look.setForeground(QColor(self.theme.good))
            look.setFontUnderline(True)
        return look

    def _use(self) -> None:
        if 0 <= self.list.currentRow() < len(self._versions):
            self.restore_asked.emit(self._versions[self.list.currentRow()])
