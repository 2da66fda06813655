"""The key of a space, and the proof that something is gone: what is asked for, never what is kept.

A passphrase is handed on and stays in its box until the key is changed, so that a refusal costs nobody the typing of a
long one; then it is taken out, and nothing here remembers it.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tetrarium.model import DeletionProof
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import TextBox, button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import t

BOXES = ("old", "new", "again")
NAMED = 4
"""Places with a rest that the proof names."""
TEXT_HEIGHT = 64


class KeysView(QWidget):
    """Emits another key that is wanted, and a text that should be gone."""

    recode_asked = Signal(str, object, object)  # way, passphrase of now, passphrase from then on; None: the keychain
    proof_asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.lock = ""
        self.state, self.told = PlainLabel(bold=True), PlainLabel(size=SIZE_SMALL)
        self.hint = PlainLabel(size=SIZE_SMALL)
        for label in (self.state, self.told, self.hint):
            label.setWordWrap(True)
        self.boxes = {name: QLineEdit() for name in BOXES}
        self.names = {name: PlainLabel(t(f"keys.{name}"), size=SIZE_SMALL) for name in BOXES}
        for name, box in self.boxes.items():
            box.setEchoMode(QLineEdit.EchoMode.Password)
            box.setAccessibleName(t(f"keys.{name}"))
            box.returnPressed.connect(self._recode)
        self.passphrase = button("keys.encrypt", self._recode, primary=True)
        self.keychain = button("keys.keychain", self._to_keychain)
        self.keychain.setToolTip(t("keys.keychain_tip"))
        self.plain = button("keys.decrypt", self._decrypt)
        self.text = TextBox("keys.text")
        self.text.setObjectName("field")
        self.text.setPlaceholderText(t("keys.text_hint"))
        self.text.setFixedHeight(TEXT_HEIGHT)
        self.prove = button("keys.prove", self._prove)
        self.proof = PlainLabel(size=SIZE_SMALL)
        self.proof.setWordWrap(True)
        self.text.done.connect(self._prove)
        self._lay_out()
        self.set_theme(theme)
        self.show_lock("")

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.hint.setStyleSheet(f"color: {theme.muted};")
        self.told.setStyleSheet(f"color: {theme.inhibited_text};")

    def show_lock(self, lock: str) -> None:
        """lock: what opens the space; "" where it lies open, else passphrase or keychain."""
        self.lock = lock
        self.state.setText(t(f"keys.is_{lock or 'open'}"))
        self.hint.setText(t("keys.locked_hint" if lock else "keys.open_hint"))
        self.passphrase.setText(t("keys.change" if lock else "keys.encrypt"))
        self.plain.setVisible(bool(lock))
        for part in (self.boxes["old"], self.names["old"]):
            part.setVisible(lock == "passphrase")
        self.tell("")

    def tell(self, words: str) -> None:
        """Why it was not done; "" takes the words away."""
        self.told.setText(words)
        self.told.setVisible(bool(words))
        self.setEnabled(True)

    def forget(self) -> None:
        """The key is changed: the passphrases are taken out of their boxes."""
        for box in self.boxes.values():
            box.clear()

    def show_proof(self, proof: DeletionProof) -> None:
        """Whether a text is gone from every file, and where it is not."""
        places = "\n".join(f"· {visible(r.file)} · {r.form} · {r.offset:,}" for r in proof.residues[:NAMED])
        if proof.is_gone:
            words, ink = (
                t("keys.gone", files=proof.files, forms=proof.forms, megabytes=proof.bytes / 1e6),
                self.theme.good,
            )
        elif proof.still_stored:
            words, ink = t("keys.stored", count=len(proof.still_stored)), self.theme.amber
        else:
            words, ink = t("keys.rest", count=len(proof.residues)), self.theme.inhibited_text
        skipped = ", ".join(visible(word)[:40] for word in proof.skipped[:6])
        lines = [words, places, t("keys.skipped", words=skipped) if skipped else ""]
        self.proof.setText("\n".join(filter(None, lines)))
        self.proof.setStyleSheet(f"color: {ink};")

    def _recode(self) -> None:
        new, again = self.boxes["new"].text(), self.boxes["again"].text()
        if not new:
            self.boxes["new"].setFocus()
        elif new != again:
            self.tell(t("keys.differ"))
        else:
            self._ask("rekey" if self.lock else "encrypt", new)

    def _to_keychain(self) -> None:
        self._ask("rekey" if self.lock else "encrypt", None)

    def _decrypt(self) -> None:
        self._ask("decrypt", None)

    def _ask(self, way: str, new: str | None) -> None:
        old = self.boxes["old"].text() or None
        self.tell("")
        self.setEnabled(False)  # one change of key at a time; `tell` ends it
        self.recode_asked.emit(way, old, new)

    def _prove(self) -> None:
        if text := self.text.toPlainText().strip():
            self.proof.setText("")
            self.proof_asked.emit(text)

    def _lay_out(self) -> None:
        form, deeds, foot = QFormLayout(), QHBoxLayout(), QHBoxLayout()
        form.setVerticalSpacing(GRID)
        for name, box in self.boxes.items():
            form.addRow(self.names[name], box)
        deeds.addWidget(self.plain)
        deeds.addStretch()
        deeds.addWidget(self.keychain)
        deeds.addWidget(self.passphrase)
        foot.addStretch()
        foot.addWidget(self.prove)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        for part in (self.state, self.hint):
            column.addWidget(part)
        column.addLayout(form)
        column.addWidget(self.told)
        column.addLayout(deeds)
        column.addSpacing(2 * GRID)
        column.addWidget(PlainLabel(t("keys.proof"), bold=True))
        column.addWidget(self.text)
        column.addLayout(foot)
        column.addWidget(self.proof)
        column.addStretch()
