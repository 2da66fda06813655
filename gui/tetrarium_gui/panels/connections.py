"""Connecting an IDE: which are here, what would change in their configuration, and a try-out. Nothing changes unseen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from tetrarium.connect import Found, Plan, Standing, as_diff
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import TextBox, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, mono_font
from tetrarium_gui.words import t

SIZE = (720, 520)


class ConnectionsView(QDialog):
    """Not modal. Choosing an IDE asks for its plan; "Connect" does what the plan shows."""

    plan_asked = Signal(str)
    apply_asked = Signal(object)  # Plan
    undo_asked = Signal(str)
    try_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setWindowTitle(t("connections.title"))
        self.setModal(False)
        self.resize(*SIZE)
        self._plan: Plan | None = None
        self.words = PlainLabel(t("connections.words"), size=SIZE_SMALL)
        self.words.setWordWrap(True)
        columns = ["connections.ide", "connections.state"]
        self.list = RowList("connections.name", columns, (0, 200))
        self.diff = TextBox("connections.diff", read_only=True)
        self.diff.setObjectName("field")
        self.diff.setFont(mono_font())
        self.told = PlainLabel(size=SIZE_SMALL)
        self.told.setWordWrap(True)
        self.apply = button("connections.apply", self._apply, primary=True)
        self.undo = button("connections.undo", lambda: self.undo_asked.emit(self.list.current_key()))
        self.trial = button("connections.try", self.try_asked.emit)
        foot = QHBoxLayout()
        foot.addWidget(self.trial)
        foot.addStretch()
        foot.addWidget(self.undo)
        foot.addWidget(self.apply)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.words)
        column.addWidget(self.list, 2)
        column.addWidget(self.diff, 3)
        column.addWidget(self.told)
        column.addLayout(foot)
        self.list.keys_changed.connect(self._chosen)
        self._allow()

    def show_found(self, found: Sequence[Found]) -> None:
        """The IDEs; those that are here first."""
        ordered = sorted(found, key=lambda one: one.standing is Standing.ABSENT)
        muted = self.theme.muted
        self.list.set_rows(
            Row(
                one.name,
                (one.title, t(f"connections.{one.standing.name.lower()}")),
                ink=muted if one.standing is Standing.ABSENT else "",
                tip=one.problem or ", ".join(map(str, one.files)),
            )
            for one in ordered
        )

    def show_plan(self, plan: Plan) -> None:
        """What connecting would change, line by line."""
        self._plan = plan
        self.diff.show_text(as_diff(plan) or t("connections.same"))
        self.told.setText("\n".join(map(said, plan.notes)))
        self._allow()

    def tell(self, words: str) -> None:
        self.told.setText(words)

    def _chosen(self) -> None:
        self._plan = None
        self._allow()
        if key := self.list.current_key():
            self.plan_asked.emit(key)

    def _apply(self) -> None:
        if self._plan is not None:
            self.apply_asked.emit(self._plan)

    def _allow(self) -> None:
        self.apply.setEnabled(self._plan is not None and bool(self._plan.changes))
        self.undo.setEnabled(bool(self.list.current_key()))
