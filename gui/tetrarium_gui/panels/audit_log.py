"""Who read and wrote what: the audit, newest first, narrowed, with the proof of its chain and what is unusual on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tetrarium.model import AuditEntry, AuditFlag, AuditProof
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, client_words, lately, when
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, plain_tip, visible
from tetrarium_gui.words import catalogue, t

SPANS = {"any": 0, "hour": 1, "day": 24, "week": 168, "month": 720}
"""Choices of how far back, in hours; 0 for all of it."""
FLAGS_SHOWN = 3
"""Flags that are seen at once."""
NOT_BAD, BAD = "✓", "✕"
VERBS = tuple(sorted(name.removeprefix("verb.") for name in catalogue() if name.startswith("verb.")))


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What the log is narrowed to; "" and 0 for everything. hours: how far back; own_reads: what
    this window read, too."""

    client: str = ""
    verb: str = ""
    memory_id: str = ""
    hours: int = 0
    own_reads: bool = False


class AuditView(QWidget):
    """Emits what to look for and whether to prove; shows what comes back."""

    narrowed = Signal(object)  # AuditFilter
    proof_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._proof: AuditProof | None = None
        self.chain = PlainLabel(t("privacy.unproved"), size=SIZE_SMALL)
        self.chain.setWordWrap(True)
        self.prove = button("privacy.prove_chain", self.proof_asked.emit)
        self.prove.setToolTip(t("privacy.prove_chain_tip"))
        self.flags = RowList("privacy.flags_name", ["privacy.unusual"], (0,))
        self.client, self.verb, self.span, self.memory = QComboBox(), QComboBox(), QComboBox(), QLineEdit()
        for name in ("client", "verb", "span", "memory"):
            getattr(self, name).setAccessibleName(t(f"privacy.{name}_name"))
        self.client.addItem(t("privacy.any_client"), "")
        self.verb.addItem(t("privacy.any_verb"), "")
        for words, verb in sorted((t(f"verb.{name}"), name) for name in VERBS):
            self.verb.addItem(words, verb)
        for name, hours in SPANS.items():
            self.span.addItem(t(f"privacy.span_{name}"), hours)
        self.memory.setPlaceholderText(t("privacy.memory_hint"))
        self.memory.setClearButtonEnabled(True)
        for box in (self.client, self.verb, self.span):
            box.setMinimumContentsLength(8)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.currentIndexChanged.connect(lambda _: self._ask())
        self.memory.textChanged.connect(lambda text: self._ask() if len(text.strip()) in (0, 26) else None)
        self.memory.returnPressed.connect(self._ask)
        self.own = QCheckBox(t("privacy.own_reads"))
        self.own.setToolTip(t("privacy.own_reads_tip"))
        self.own.toggled.connect(lambda _: self._ask())
        columns = [f"privacy.{name}" for name in ("at", "who", "did", "count")]
        self.list = RowList("privacy.audit_name", columns, (56, 62, 0, 30))
        self.empty = EmptyState(t("privacy.nothing_noted"), theme)
        self._lay_out()
        self.flags.keys_changed.connect(self._look_at_flag)
        self.show_flags(())
        self.show_entries(())

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.empty.set_theme(theme)
        self.show_proof(self._proof)

    def filter(self) -> AuditFilter:
        """What the person looks for."""
        return AuditFilter(
            str(self.client.currentData() or ""),
            str(self.verb.currentData() or ""),
            self.memory.text().strip(),
            int(self.span.currentData()),
            self.own.isChecked(),
        )

    def show_entries(self, entries: Sequence[AuditEntry]) -> None:
        """The rows that pass the filter, newest first; clients that are new here become choices."""
        for client in dict.fromkeys(entry.client for entry in entries):
            if client and self.client.findData(client) < 0:
                self.client.blockSignals(True)
                self.client.addItem(visible(client_words(client))[:60], client)
                self.client.blockSignals(False)
        inks = {"refused": self.theme.amber, "delete": self.theme.inhibited_text, "inhibit": self.theme.inhibited_text}
        self.list.set_rows(
            Row(
                str(entry.seq),
                (lately(entry.at), client_words(entry.client) or t("privacy.nobody"), did(entry), str(entry.count)),
                ink=inks.get(entry.kind, ""),
                tip=t(
                    "privacy.row_tip", at=when(entry.at), seq=entry.seq, kind=t(f"did.{entry.kind}"), session=entry.session or "–",
                    verb=entry.verb, client=client_words(entry.client) or t("privacy.nobody"), did=did(entry),
                ),
            )
            for entry in entries
        )  # fmt: skip
        self.empty.setVisible(not entries)
        self.list.setVisible(bool(entries))

    def show_flags(self, flags: Sequence[AuditFlag]) -> None:
        """What is unusual; without any it takes no room."""
        self.flags.set_rows(
            Row(
                f"{at} {flag.client}",
                (t(f"privacy.flag_{flag.kind}", client=flag.client, count=flag.count),),
                ink=self.theme.amber,
                tip=t("privacy.flag_tip", when=when(flag.since)),
            )
            for at, flag in enumerate(flags)
        )
        self.flags.setVisible(bool(flags))
        row = self.flags.sizeHintForRow(0) if flags else 0
        self.flags.setFixedHeight(self.flags.header().sizeHint().height() + min(FLAGS_SHOWN, len(flags)) * row + 2)
        for flag in flags:
            if self.client.findData(flag.client) < 0:
                self.client.addItem(visible(flag.client)[:60], flag.client)

    def show_proof(self, proof: AuditProof | None) -> None:
        """The chain as it was followed: sound, or its first bad row."""
        self._proof = proof
        if proof is None:
            self.chain.setStyleSheet(f"color: {self.theme.muted};")
            return
        if proof.is_sound:
            words, ink = f"{NOT_BAD} {t('privacy.chain_sound', count=proof.rows)}", self.theme.good
        else:
            words = f"{BAD} {t('privacy.chain_bad', row=proof.first_bad, kind=t(f'privacy.bad_{proof.kind}'))}"
            ink = self.theme.inhibited_text
        self.chain.setText(words)
        self.chain.setToolTip(plain_tip(proof.anchor))
        self.chain.setStyleSheet(f"color: {ink};")

    def look_at(self, memory_id: str) -> None:
        """Narrow it to one memory."""
        self.memory.setText(memory_id)

    def _ask(self) -> None:
        self.narrowed.emit(self.filter())

    def _look_at_flag(self) -> None:
        if key := self.flags.current_key():
            self.client.setCurrentIndex(max(0, self.client.findData(key.split(" ", 1)[1])))

    def _lay_out(self) -> None:
        proof, filters = QHBoxLayout(), QGridLayout()
        proof.addWidget(self.chain, 1)
        proof.addWidget(self.prove)
        filters.setSpacing(GRID // 2)
        for at, part in enumerate((self.client, self.verb, self.span, self.memory)):
            filters.addWidget(part, at // 2, at % 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.flags)
        column.addLayout(proof)
        column.addLayout(filters)
        column.addWidget(self.own)
        column.addWidget(self.empty, 1)
        column.addWidget(self.list, 1)


def did(entry: AuditEntry) -> str:
    """What was done, in the reader's words; the name of a verb that the catalogue does not have."""
    words = t(f"verb.{entry.verb}") if f"verb.{entry.verb}" in catalogue() else entry.verb
    return t("privacy.refused", what=words) if entry.kind == "refused" else words
