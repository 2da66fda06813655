"""Every change of one memory: edited, superseded, inhibited, released, put into the trash – and taken back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QObject

from tetrarium.errors import StaleEdit
from tetrarium.model import Memory, Outcome, Standing, StoreResult
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.panels.conflict import ConflictView
from tetrarium_gui.panels.fields import Edits
from tetrarium_gui.panels.parts import day
from tetrarium_gui.panels.trash import Kept, last_day
from tetrarium_gui.sentences import said
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.words import t

BULK = ("trash", "inhibit")
"""What the menu does with all marked memories, where several are."""
NAMED = 60
"""Characters of a memory that a notice repeats."""


class Corrections(QObject):
    """Connects the inspector's wishes and the menu's verbs with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._bridge = desk, desk.bridge
        self.conflict: ConflictView | None = None
        inspector, commands = desk.panels.inspector, desk.commands
        inspector.edit_asked.connect(self.save)
        inspector.form.weight_asked.connect(self._weigh)
        inspector.supersede_asked.connect(self.supersede)
        inspector.inhibit_asked.connect(self.inhibit)
        inspector.release_asked.connect(self.release)
        for panel in (inspector, desk.panels.list):
            panel.trash_asked.connect(self.trash)
        for name in ("edit", "supersede", "inhibit", "trash"):
            commands[name].triggered.connect(lambda _=False, name=name: self._start(name))
        commands["new_memory"].triggered.connect(self._write)
        commands["release"].triggered.connect(lambda: self._start("release"))
        commands["pin"].triggered.connect(self._pin)
        desk.state.selection_changed.connect(self._allow)
        desk.state.chosen_changed.connect(self._allow)
        desk.bridge.memory_ready.connect(self._allow)
        self._allow()

    # --- verbs ----------------------------------------------------------------------------------
    def save(self, edits: Edits) -> None:
        """Write what was edited, unless somebody changed the memory since it was read; or store what is new."""
        if not edits.memory_id:
            self._bridge.edit(lambda s: s.store(**edits.arguments(), client=CLIENT), self._stored)
            return
        self._bridge.edit(
            lambda s: s.update(edits.memory_id, **edits.arguments(), expected_revision=edits.revision, client=CLIENT),
            lambda memory: self._saved(memory, edits),
            otherwise=lambda error: self._stale(error, edits),
        )

    def supersede(self, memory_id: str, text: str, why: str) -> None:
        """Store what is true now; the old memory becomes an inhibited node with an edge to it."""

        def verb(s: Any) -> Any:
            old: Memory = s.get(memory_id)
            source = old.source
            return s.store(
                text, labels=old.labels, category=old.category.value, project=source.project, file=source.file,
                supersedes=[old.id], reason=why, client=CLIENT,
            )  # fmt: skip

        self._bridge.edit(verb, lambda result: self._superseded(result, memory_id, text))

    def inhibit(self, memory_id: str, why: str) -> None:
        self._bridge.edit(
            lambda s: s.inhibit(memory_id, reason=why, client=CLIENT),
            lambda m: self._desk.tell(t("done.inhibited", what=_named(m)), undo=self._undo),
        )

    def release(self, memory_id: str) -> None:
        """Let a memory be answered again, whatever silenced it: a correction, or the quarantine."""

        def verb(s: Any) -> Any:
            waits = s.get(memory_id).standing is Standing.QUARANTINED
            return (s.release_from_quarantine if waits else s.release)(memory_id, client=CLIENT)

        self._bridge.edit(verb, lambda m: self._desk.tell(t("done.released", what=_named(m)), undo=self._undo))

    def trash(self, memory_id: str) -> None:
        def verb(s: Any) -> tuple[Memory, datetime | None]:
            memory: Memory = s.get(memory_id)
            s.forget(memory_id, client=CLIENT)
            kept = Kept(s.settings.trash_days, s.settings.expired_days)
            return memory, last_day(memory, datetime.now(UTC), kept)

        def told(done: tuple[Memory, datetime | None]) -> None:
            memory, gone = done
            advice = t("done.trashed_advice") if gone is None else t("done.trashed_until", day=day(gone))
            self._desk.tell(t("done.trashed", what=_named(memory)), advice, undo=self._undo)

        self._bridge.edit(verb, told)

    def _weigh(self, text: str) -> None:
        form = self._desk.panels.inspector.form
        self._bridge.ask(
            "weight", lambda s: s.weigh(text), lambda told: form.show_weight(*told), otherwise=lambda _: True
        )

    def _undo(self) -> None:
        self._desk.commands["undo"].trigger()

    # --- what came of it ------------------------------------------------------------------------
    def _saved(self, memory: Memory, edits: Edits) -> None:
        if self._desk.state.selected == memory.id:
            self._desk.panels.inspector.stop_editing()
        rewritten = set(edits.arguments()) - {"pinned", "expires_at"}
        self._desk.tell(t("done.saved"), t("done.saved_advice") if rewritten else "", undo=self._undo)

    def _stored(self, result: StoreResult) -> None:
        """Show the new memory; what was not stored stays in the form."""
        if result.id is None or result.outcome not in (Outcome.STORED, Outcome.MERGED):
            self._desk.tell(t("done.not_stored"), said(result.reason), done=False)
            return
        self._desk.panels.inspector.give_up()
        words = "done.merged" if result.outcome is Outcome.MERGED else "done.stored"
        self._desk.tell(t(words), said(result.reason) if result.masked else "", undo=self._undo)
        self._desk.state.select(result.id)

    def _superseded(self, result: StoreResult, memory_id: str, text: str) -> None:
        """Say what became of the new text; what was not stored goes back into the sheet."""
        if result.id is not None and result.outcome in (Outcome.STORED, Outcome.MERGED):
            self._desk.tell(t("done.superseded"), t("done.superseded_advice"), undo=self._undo)
            self._desk.state.select(result.id)
            return
        self._desk.tell(t("done.not_stored"), said(result.reason), done=False)
        inspector = self._desk.panels.inspector
        if inspector.memory is not None and inspector.memory.id == memory_id:
            inspector.start("supersede")
            inspector.sheet.text.write(text)

    def _stale(self, error: Exception, edits: Edits) -> bool:
        """Somebody was faster: read what is there now, and show both texts."""
        if not isinstance(error, StaleEdit):
            return False
        self._bridge.edit(lambda s: s.get(edits.memory_id), lambda memory: self._show_conflict(memory, edits))
        return True

    def _show_conflict(self, memory: Memory, edits: Edits) -> None:
        offered = memory.content if edits.content is None else edits.content
        self.conflict = ConflictView(edits, memory.content, offered, self._desk.window)
        self.conflict.merge_chosen.connect(lambda edits, text: self.save(_on_top(edits, memory, text)))
        self.conflict.destroyed.connect(self._end_conflict)
        self.conflict.keep.clicked.connect(self._desk.panels.inspector.stop_editing)
        self.conflict.show()

    def _end_conflict(self) -> None:
        self.conflict = None

    # --- commands -------------------------------------------------------------------------------
    def _start(self, action: str) -> None:
        """One memory is changed in the inspector; several that are marked are shown with their number first."""
        chosen = self._desk.state.chosen
        if action in BULK and len(chosen) > 1:
            self._desk.docks.show("list")
            self._desk.panels.list.bulk_asked.emit(action, chosen)
            return
        self._desk.docks.show("inspector")
        self._desk.panels.inspector.start(action)

    def _write(self) -> None:
        self._desk.docks.show("inspector")
        self._desk.panels.inspector.start_new()

    def _pin(self) -> None:
        memory = self._desk.panels.inspector.memory
        if memory is None:
            return
        memory_id, pinned = memory.id, not memory.pinned
        self._bridge.edit(
            lambda s: s.update(memory_id, pinned=pinned, client=CLIENT),
            lambda _: self._desk.tell(t("done.pinned" if pinned else "done.unpinned")),
        )

    def _allow(self, _: object = None) -> None:
        """Only what can be done now can be chosen."""
        memory = self._desk.panels.inspector.memory if self._desk.state.selected else None
        several = len(self._desk.state.chosen) > 1
        silent = memory is not None and memory.standing is not Standing.LIVE
        for name in ("edit", "supersede", "trash", "pin", "why_not"):
            self._desk.commands[name].setEnabled(memory is not None)
        self._desk.commands["trash"].setEnabled(several or memory is not None)
        self._desk.commands["inhibit"].setEnabled(several or (memory is not None and not silent))
        self._desk.commands["release"].setEnabled(silent)


def _named(memory: Memory) -> str:
    first = visible(" ".join(memory.content[: 4 * NAMED].split()))
    return first if len(first) <= NAMED else first[: NAMED - 1] + "…"


def _on_top(edits: Edits, memory: Memory, text: str) -> Edits:
    """The same edits, meant for the memory as it stands now."""
    kept = {name: value for name, value in edits.arguments().items() if name != "content"}
    return Edits(memory.id, memory.revision, content=text if text != memory.content else None, **kept)
