"""What never enters a space: secrets, with what was masked of them, and what a person excludes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from tetrarium.model import Exclusion, ExclusionTrial, MaskedSecret, SecretPolicy, SecretScan
from tetrarium_gui.panels.parts import EmptyState, PlainLabel, lately, when
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import Sheet, button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, visible
from tetrarium_gui.words import catalogue, t

ACTIONS = ("mask", "refuse", "allow")
KINDS = ("pattern", "topic", "folder", "client")


class SecretsView(QWidget):
    """What the space does with secrets, what was masked – never what it was – and a look for what is stored already."""

    policy_chosen = Signal(str, bool)  # action, whether e-mail addresses count
    scan_asked = Signal()
    mask_asked = Signal()
    memory_selected = Signal(str)
    memory_opened = Signal(str)

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._excerpt_of = excerpt_of
        self.action, self.mail = QComboBox(), QCheckBox(t("privacy.mail"))
        self.action.setAccessibleName(t("privacy.action_name"))
        for name in ACTIONS:
            self.action.addItem(t(f"privacy.{name}"), name)
        self.hint, self.found = PlainLabel(size=SIZE_SMALL), PlainLabel(size=SIZE_SMALL)
        for label in (self.hint, self.found):
            label.setWordWrap(True)
        self.found.hide()
        self.scan = button("privacy.scan", self.scan_asked.emit)
        self.scan.setToolTip(t("privacy.scan_tip"))
        columns = [f"privacy.{name}" for name in ("secret", "field", "at")]
        self.list = RowList("privacy.masked_name", columns, (0, 84, 70))
        self.sheet = Sheet(self.list)
        self.empty = EmptyState(t("privacy.nothing_masked"), theme)
        self._lay_out()
        self.action.currentIndexChanged.connect(lambda _: self._choose())
        self.mail.toggled.connect(lambda _: self._choose())
        self.list.memory_selected.connect(self.memory_selected)
        self.list.memory_opened.connect(self.memory_opened)
        self.set_theme(theme)
        self.show_policy(SecretPolicy())
        self.show_masked(())

    def set_theme(self, theme: Theme) -> None:
        self.empty.set_theme(theme)
        self.hint.setStyleSheet(f"color: {theme.muted};")
        self.found.setStyleSheet(f"color: {theme.amber};")

    def show_policy(self, policy: SecretPolicy) -> None:
        """The policy in force, without choosing it again."""
        for part in (self.action, self.mail):
            part.blockSignals(True)
        self.action.setCurrentIndex(max(0, self.action.findData(policy.action)))
        self.mail.setChecked(policy.mail)
        for part in (self.action, self.mail):
            part.blockSignals(False)
        self.hint.setText(t(f"privacy.{policy.action}_hint"))

    def show_masked(self, secrets: Sequence[MaskedSecret]) -> None:
        """What was masked, newest first."""
        self.list.set_rows(
            Row(
                str(at),
                (secret_words(secret.kind), t(f"privacy.in_{_place(secret.field)}"), lately(secret.at)),
                secret.memory,
                tip=self._tip(secret),
            )
            for at, secret in enumerate(secrets)
        )
        self.empty.setVisible(not secrets)
        self.list.setVisible(bool(secrets))

    def show_scan(self, scan: SecretScan) -> None:
        """What is stored already; where there is any, a person may have it masked."""
        count = len(scan.memories)
        self.found.setText(t("privacy.scanned" if count else "privacy.scanned_clean", count=count or scan.looked_at))
        self.found.show()
        if count:
            kinds = ", ".join(f"{secret_words(kind)} × {finds}" for kind, finds in scan.by_kind.items())
            self.sheet.ask(
                t("privacy.mask_title", count=count),
                t("privacy.mask_stored_hint", kinds=kinds),
                t("privacy.mask_stored"),
                lambda *_: self.mask_asked.emit(),
            )

    def _tip(self, secret: MaskedSecret) -> str:
        what = visible(self._excerpt_of(secret.memory))[:120] if secret.memory else t("privacy.not_stored")
        return t("privacy.masked_tip", what=what, at=when(secret.at), client=secret.client or t("privacy.nobody"))

    def _choose(self) -> None:
        self.policy_chosen.emit(str(self.action.currentData()), self.mail.isChecked())

    def _lay_out(self) -> None:
        policy = QHBoxLayout()
        policy.addWidget(self.action, 1)
        policy.addWidget(self.scan)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addLayout(policy)
        for part in (self.mail, self.hint, self.found, self.sheet):
            column.addWidget(part)
        column.addWidget(self.empty, 1)
        column.addWidget(self.list, 1)


class ExclusionsView(QWidget):
    """What is never stored: listed, tried on what is there, added and taken back; and what waits in quarantine."""

    trial_asked = Signal(str, str)  # kind, pattern
    add_asked = Signal(str, str)
    remove_asked = Signal(int)
    waiting_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.pattern = QComboBox(), QLineEdit()
        self.kind.setAccessibleName(t("privacy.kind_name"))
        for name in KINDS:
            self.kind.addItem(t(f"privacy.by_{name}"), name)
        self.pattern.setAccessibleName(t("privacy.pattern_name"))
        self.trial = PlainLabel(size=SIZE_SMALL)
        self.trial.setWordWrap(True)
        self.trial.hide()
        self.try_out = button("privacy.try", lambda: self._with_pattern(self.trial_asked.emit))
        self.add = button("privacy.add", lambda: self._with_pattern(self.add_asked.emit), primary=True)
        self.remove = button("privacy.remove", self._remove)
        columns = [f"privacy.{name}" for name in ("excluded", "by")]
        self.list = RowList("privacy.exclusions_name", columns, (0, 90))
        self.empty = EmptyState(t("privacy.nothing_excluded"), theme)
        self.waiting = button("privacy.waiting", self.waiting_asked.emit)
        self._lay_out()
        self.kind.currentIndexChanged.connect(lambda _: self._hint())
        self.pattern.returnPressed.connect(lambda: self._with_pattern(self.trial_asked.emit))
        self.pattern.textChanged.connect(lambda _: self._allow())
        self.list.keys_changed.connect(self._allow)
        self._hint()
        self.show_exclusions(())
        self.show_waiting(0)

    def set_theme(self, theme: Theme) -> None:
        self.empty.set_theme(theme)
        self.trial.setStyleSheet(f"color: {theme.text};")

    def show_exclusions(self, exclusions: Sequence[Exclusion]) -> None:
        self.list.set_rows(
            Row(str(e.id), (e.pattern, t(f"privacy.by_{e.kind}")), tip=f"{e.pattern} · {when(e.added_at)}")
            for e in exclusions
        )
        self.empty.setVisible(not exclusions)
        self.list.setVisible(bool(exclusions))
        self._allow()

    def show_trial(self, trial: ExclusionTrial) -> None:
        """What the words in the box would have kept out of what is stored now."""
        lines = [t("privacy.would_exclude", count=trial.total, of=trial.of)]
        lines += [f"· {visible(words)[:90]}" for _, words in trial.examples[:3]]
        self.trial.setText("\n".join(lines))
        self.trial.show()

    def show_waiting(self, count: int) -> None:
        """How much waits in quarantine."""
        self.waiting.setText(t("privacy.waiting", count=count))
        self.waiting.setEnabled(count > 0)

    def clear_pattern(self) -> None:
        self.pattern.clear()
        self.trial.hide()

    def _hint(self) -> None:
        self.pattern.setPlaceholderText(t(f"privacy.{self.kind.currentData()}_hint"))

    def _with_pattern(self, act: Callable[[str, str], object]) -> None:
        if pattern := self.pattern.text().strip():
            act(str(self.kind.currentData()), pattern)

    def _remove(self) -> None:
        if key := self.list.current_key():
            self.remove_asked.emit(int(key))

    def _allow(self) -> None:
        for made in (self.try_out, self.add):
            made.setEnabled(bool(self.pattern.text().strip()))
        self.remove.setEnabled(bool(self.list.current_key()))

    def _lay_out(self) -> None:
        deeds, foot = QHBoxLayout(), QHBoxLayout()
        deeds.addWidget(self.try_out)
        deeds.addStretch()
        deeds.addWidget(self.add)
        foot.addWidget(self.waiting)
        foot.addStretch()
        foot.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.kind)
        column.addWidget(self.pattern)
        column.addLayout(deeds)
        column.addWidget(self.trial)
        column.addWidget(self.empty, 1)
        column.addWidget(self.list, 1)
        column.addLayout(foot)


def secret_words(kind: str) -> str:
    """A kind of secret in the reader's language; as the engine calls it where the catalogue has no word."""
    name = f"secret.{kind.lower().replace(' ', '_').replace('-', '_')}"
    return t(name) if name in catalogue() else kind


def _place(field: str) -> str:
    return field if f"privacy.in_{field}" in catalogue() else "other"
