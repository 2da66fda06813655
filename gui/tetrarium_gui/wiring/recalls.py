"""What a recall did and what it would do: replay, why not, let through, dials, with and without a correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject

from tetrarium.model import LetThrough, Reason, RecallTrace, SpaceStats, Standing
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.panels.settings import BUDGET, Dials
from tetrarium_gui.state import Highlight, highlight_of_recall
from tetrarium_gui.style import visible
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t


class Recalls(QObject):
    """Connects Voids, Settings and the preview of Inhibition with the engine's rehearsals."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        panels = desk.panels
        panels.voids.pass_shown.connect(self._show_pass)
        panels.voids.why_asked.connect(self.explain)
        panels.voids.once_asked.connect(self.let_through_once)
        panels.voids.always_asked.connect(self.let_through_always)
        panels.inhibition.preview_asked.connect(self.compare)
        panels.activity.recall_opened.connect(self.open)
        panels.settings.tried.connect(self.try_dials)
        panels.settings.kept.connect(self.keep_dials)
        panels.settings.defaults_asked.connect(lambda: self.keep_dials(Dials({})))
        desk.commands["why_not"].triggered.connect(lambda: self.explain(desk.state.selected))
        desk.bridge.stats_ready.connect(self._show_dials)
        desk.bridge.recalled.connect(lambda _: panels.settings.invite())
        self._dials_shown = False
        panels.settings.void_again_asked.connect(self.void_again)
        desk.state.selection_changed.connect(panels.voids.set_selected)
        desk.state.selection_changed.connect(panels.inhibition.set_selected)
        self._themes = WhenSeen(desk.docks["settings"], self._ask_themes)
        desk.bridge.opened.connect(self._themes.ask)
        desk.bridge.changed.connect(lambda _: self._themes.ask())

    def open(self, trace: RecallTrace) -> None:
        """Show any recall, of whoever asked, in Voids and in the space; whatever is asked about it comes after it is known
        to the engine here, which may not have answered it."""
        self._desk.bridge.ask("adopt", lambda s: s.adopt(trace), lambda _: None)
        self._desk.docks.show("voids")
        self._desk.panels.voids.show_trace(trace)
        self._desk.state.set_highlight(highlight_of_recall(trace))

    def explain(self, memory_id: str) -> None:
        """Why the recall on show did or did not answer a memory."""
        trace = self._desk.panels.voids.trace
        if trace is None:
            self._desk.tell(t("recalls.none"), t("recalls.none_advice"), done=False)
            return
        self._desk.docks.show("voids")
        self._desk.bridge.ask(
            "explain", lambda s: s.explain(memory_id, trace.id), self._desk.panels.voids.show_explanation
        )

    def let_through_once(self, ids: Sequence[str]) -> None:
        """The recall on show once more, in which these may not be void."""
        if (trace := self._desk.panels.voids.trace) is not None:
            words = t("recalls.once", count=len(ids))
            self._rehearse(trace, lambda new: self._show_rehearsal(new, words), through=tuple(ids))

    def let_through_always(self, ids: Sequence[str]) -> None:
        """No recall voids the theme of these any more; the one on show is asked again."""
        trace = self._desk.panels.voids.trace

        def told(theme: LetThrough) -> None:
            words = t("recalls.always", theme=visible(" · ".join(theme.words)))
            self._desk.tell(words, t("recalls.always_advice"), undo=lambda: self.void_again(theme.id))
            self._ask_themes()
            if trace is not None:
                self._rehearse(trace, lambda new: self._show_rehearsal(new, words))

        self._desk.bridge.edit(lambda s: s.let_through(ids, client=CLIENT), told)

    def void_again(self, theme_id: str) -> None:
        """A theme that was always let through may be void again."""
        trace = self._desk.panels.voids.trace

        def told(_: object) -> None:
            self._desk.tell(t("recalls.void_again"))
            self._ask_themes()
            if trace is not None:
                self._rehearse(trace, lambda new: self._show_rehearsal(new, t("recalls.void_again")))

        self._desk.bridge.edit(lambda s: s.void_again(theme_id, client=CLIENT), told)

    def compare(self, memory_id: str) -> None:
        """The last recall with the inhibition of a memory, and without, whether it is in force or only thought of."""
        trace = self._desk.panels.voids.trace
        if trace is None:
            self._desk.tell(t("recalls.none"), t("recalls.none_advice"), done=False)
            return

        def verb(s: Any) -> tuple[RecallTrace, RecallTrace, bool]:
            silent = s.get(memory_id).standing is Standing.INHIBITED
            change = {"lifted": [memory_id]} if silent else {"inhibited": [memory_id]}
            return s.rehearse(trace.id), s.rehearse(trace.id, **change), not silent

        def show(found: tuple[RecallTrace, RecallTrace, bool]) -> None:
            now, then, inhibiting = found
            self._desk.panels.inhibition.show_preview(now, then, inhibiting=inhibiting)

        self._desk.bridge.ask("compare", verb, show)

    def try_dials(self, dials: Dials) -> None:
        """The effect of the dials on the last recall; nothing is kept."""
        trace = self._desk.panels.voids.trace
        if trace is None:
            return
        values = dict(dials.values)
        target, budget = values.pop("void_target"), int(values.pop(BUDGET))

        def show(new: RecallTrace) -> None:
            self._desk.panels.settings.show_effect(trace, new)
            self._desk.state.set_highlight(highlight_of_recall(new))

        self._rehearse(trace, show, void_target=target, budget=budget, settings=values)

    def keep_dials(self, dials: Dials) -> None:
        """Make the dials hold for this space; empty ones are the defaults."""

        def told(_: Any) -> None:
            self._dials_shown = False
            self._desk.tell(t("recalls.kept" if dials.values else "recalls.defaults"))
            self._desk.bridge.refresh()

        self._desk.bridge.edit(lambda s: s.tune(dials.values), told)

    # --- inside ---------------------------------------------------------------------------------
    def _rehearse(self, trace: RecallTrace, show: Any, **premises: Any) -> None:
        self._desk.bridge.ask("rehearse", lambda s: s.rehearse(trace.id, **premises), show)

    def _show_rehearsal(self, trace: RecallTrace, words: str) -> None:
        self._desk.panels.voids.show_trace(trace, words)
        self._desk.state.set_highlight(highlight_of_recall(trace))

    def _ask_themes(self) -> None:
        self._desk.bridge.ask("themes", lambda s: s.let_through_always(), self._desk.panels.settings.show_themes)

    def _show_pass(self, at: int) -> None:
        """The space shows what is known after the pass: candidates lit, then zones dark, then the answer."""
        trace = self._desk.panels.voids.trace
        if trace is None:
            return
        if at == 2:
            self._desk.state.set_highlight(highlight_of_recall(trace))
            return
        off_topic = {
            c.id for c in trace.candidates if c.reason is not Reason.KEPT and c.reason is not Reason.OVER_BUDGET
        }
        void = frozenset(off_topic if at else ())
        lit = tuple(c.id for c in trace.candidates if c.id not in void)
        self._desk.state.set_highlight(Highlight(trace.query, lit, void))

    def _show_dials(self, stats: SpaceStats) -> None:
        """Once, and again when they were kept: not while a person turns them."""
        if not self._dials_shown:
            self._dials_shown = True
            self._desk.panels.settings.set_values(stats.settings)
