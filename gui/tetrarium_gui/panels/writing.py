"""Where text of memories is read and written: plain text only, and never slower than a blink.

A line without blanks is laid out again for every word break that Qt tries: one word of a million letters took 152 s in
a wrapping text box (measured), 0.3 s when it may break anywhere. So long text is shown by its beginning, and text with
long words breaks anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor, QTextOption
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.style import GRID, SIZE_SMALL, text_font, visible
from tetrarium_gui.words import t

READ_AT_ONCE = 20_000
"""Characters that are shown before a person asks for the rest."""
LONGEST_WORD = 400
"""A text with a longer word may break anywhere."""
SHEET_LINES = 90
"""Height of a sheet's text box, pixels."""


def button(name: str, act: Callable[[], object] | None = None, *, primary: bool = False) -> QPushButton:
    """A button with the catalogue's word for what it does."""
    made = QPushButton(t(name))
    made.setAutoDefault(True)
    if primary:
        made.setObjectName("primary")
    if act is not None:
        made.clicked.connect(lambda _=False: act())
    return made


class TextBox(QPlainTextEdit):
    """A plain-text box; Tab leaves it, Ctrl+Enter tells that the person is done."""

    done = Signal()

    def __init__(self, name: str, *, read_only: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(t(name))
        self.setReadOnly(read_only)
        self.setTabChangesFocus(True)
        self.setFont(text_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        if read_only:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )

    def show_text(self, text: str, *, whole: bool = False) -> int:
        """Show a memory's text, its beginning when it is long and not `whole`; gives the characters left out."""
        shown = text if whole else text[:READ_AT_ONCE]
        self._break_where_needed(shown)
        self.setPlainText(visible(shown))
        return len(text) - len(shown)

    def write(self, text: str) -> None:
        """Put a text in for editing, every character as it is; one goes on writing at its end."""
        self._break_where_needed(text)
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (
            event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.done.emit()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Ctrl+Z with nothing to take back in the text means the last deed of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys, document = QKeySequence.StandardKey, self.document()
            idle = (event.matches(keys.Undo) and not document.isUndoAvailable()) or (
                event.matches(keys.Redo) and not document.isRedoAvailable()
            )
            if idle:
                event.ignore()
                return True
        return super().event(event)

    def _break_where_needed(self, text: str) -> None:
        long_word = len(text) > LONGEST_WORD and max(map(len, text.split()), default=0) > LONGEST_WORD
        anywhere = QTextOption.WrapMode.WrapAnywhere
        self.setWordWrapMode(anywhere if long_word else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)


class Sheet(QFrame):
    """A small form inside a panel that asks for what an action needs; it never blocks, and Escape puts it away.

    `then` gets the text and the line; an empty text that is asked for keeps the sheet open. home: gets the keyboard
    back, so that Ctrl+Z then means the deed and not a text box.
    """

    def __init__(self, home: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._home = home
        self.setObjectName("sheet")
        self.title, self.hint = PlainLabel(bold=True), PlainLabel(size=SIZE_SMALL)
        for label in (self.title, self.hint):
            label.setWordWrap(True)
        self.text, self.line = TextBox("sheet.text_name"), QLineEdit()
        self.text.setObjectName("field")
        self.text.setFixedHeight(SHEET_LINES)
        self.line.setAccessibleName(t("sheet.line_name"))
        self.confirm, self.cancel = (
            button("sheet.confirm", self._confirm, primary=True),
            button("sheet.cancel", self.put_away),
        )
        foot = QHBoxLayout()
        foot.addStretch()
        foot.addWidget(self.cancel)
        foot.addWidget(self.confirm)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        for part in (self.title, self.hint, self.text, self.line):
            column.addWidget(part)
        column.addLayout(foot)
        self._then: Callable[[str, str], object] | None = None
        self.text.done.connect(self._confirm)
        self.line.returnPressed.connect(self._confirm)
        self.hide()

    def ask(
        self,
        title: str,
        hint: str,
        confirm: str,
        then: Callable[[str, str], object],
        *,
        text: str | None = None,
        line: str | None = None,
        line_hint: str = "",
    ) -> None:
        """Open for one question. text, line: what the box and the line hold at first; None leaves them out."""
        self._then = then
        self.title.setText(title)
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        self.text.setVisible(text is not None)
        self.line.setVisible(line is not None)
        self.text.write(text or "")
        self.line.setText(line or "")
        self.line.setPlaceholderText(line_hint)
        self.confirm.setText(confirm)
        self.show()
        target = self.text if text is not None else self.line if line is not None else self.confirm
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def put_away(self) -> None:
        self._then = None
        if (held := QApplication.focusWidget()) is not None and self.isAncestorOf(held):
            self._home.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.put_away()
            return
        super().keyPressEvent(event)

    def _confirm(self) -> None:
        text, line = self.text.toPlainText().strip(), self.line.text().strip()
        then = self._then
        if then is None or (not self.text.isHidden() and not text):
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.put_away()
        then(text, line)
