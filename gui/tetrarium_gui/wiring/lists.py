"""Several memories at once: bulk actions of the list, the trash, export – each previewed with its count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.panels.trash import Kept
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.exports import Exports
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t

SHOWN = 500
"""Memories of the trash that are listed."""
MENU = ("edit", "supersede", "inhibit", "release", "pin", "", "why_not", "fit_selection", "", "export", "trash")
"""The context menu of a memory, wherever it is shown."""


class Lists(QObject):
    """Connects the list's buttons, the trash and the context menus with the bridge."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self.exports = desk, Exports(desk)
        panels = desk.panels
        panels.list.bulk_asked.connect(self.begin)
        panels.list.chosen_changed.connect(desk.state.choose)
        desk.state.chosen_changed.connect(lambda: panels.list.show_chosen(desk.state.chosen))
        panels.trash.restore_asked.connect(self.restore)
        panels.trash.delete_asked.connect(self.delete)
        for menu_asked in (
            panels.list.menu_asked,
            panels.voids.menu_asked,
            panels.search.menu_asked,
            desk.space.menu_asked,
        ):
            menu_asked.connect(self._menu)
        desk.commands["export"].triggered.connect(lambda: self.begin("export", self._chosen()))
        desk.commands["filter"].triggered.connect(self._filter)
        self._due = WhenSeen(desk.docks["trash"], self._ask_trash)
        desk.bridge.opened.connect(self._due.ask)
        desk.bridge.changed.connect(lambda _: self._due.ask())

    def _ask_trash(self) -> None:
        self._desk.bridge.ask(
            "trash",
            lambda s: (
                s.trashed(limit=SHOWN),
                s.stats().in_trash,
                Kept(s.settings.trash_days, s.settings.expired_days),
            ),
            lambda found: self._desk.panels.trash.show_trash(*found),
        )

    def begin(self, action: str, ids: Sequence[str]) -> None:
        """Ask what an action needs, with its count; or do it, when it needs nothing."""
        count, sheet = len(ids), self._desk.panels.list.sheet
        if not count:
            self._desk.tell(t("bulk.nothing"), done=False)
        elif action == "trash":
            sheet.ask(
                t("bulk.trash_title", count=count), self._spared(ids), t("list.trash"), lambda *_: self.trash(ids)
            )
        elif action == "label":
            sheet.ask(
                t("bulk.label_title", count=count),
                t("bulk.label_hint"),
                t("list.label"),
                lambda _, line: self.label(ids, line),
                line="",
                line_hint=t("bulk.label_line"),
            )
        elif action == "inhibit":
            sheet.ask(
                t("bulk.inhibit_title", count=count),
                t("inspector.inhibit_hint"),
                t("list.inhibit"),
                lambda _, why: self.inhibit(ids, why),
                line="",
                line_hint=t("sheet.why"),
            )
        else:
            self.exports.ask_file(ids)

    # --- verbs ----------------------------------------------------------------------------------
    def trash(self, ids: Sequence[str]) -> None:
        self._desk.bridge.edit(
            lambda s: s.forget_all(ids, client=CLIENT),
            lambda done: self._desk.tell(
                t("bulk.trashed", count=done.total), t("bulk.trashed_advice"), undo=self._desk.commands["undo"].trigger
            ),
        )

    def label(self, ids: Sequence[str], line: str) -> None:
        """Add labels; those with a minus before them are taken away."""
        words = [word.strip() for word in line.replace("，", ",").split(",") if word.strip()]
        add = [word for word in words if not word.startswith("-")]
        remove = [word.lstrip("- ") for word in words if word.startswith("-")]
        self._desk.bridge.edit(
            lambda s: s.label_all(ids, add=add, remove=remove, client=CLIENT),
            lambda done: self._desk.tell(
                t("bulk.labelled", count=len(done)), undo=self._desk.commands["undo"].trigger if done else None
            ),
        )

    def inhibit(self, ids: Sequence[str], why: str) -> None:
        self._desk.bridge.edit(
            lambda s: s.inhibit_all(ids, reason=why, client=CLIENT),
            lambda done: self._desk.tell(
                t("bulk.inhibited", count=len(done)), undo=self._desk.commands["undo"].trigger if done else None
            ),
        )

    def restore(self, ids: Sequence[str]) -> None:
        self._desk.bridge.edit(
            lambda s: s.restore_all(ids, client=CLIENT),
            lambda done: self._desk.tell(t("bulk.restored", count=done.total)),
        )

    def delete(self, ids: Sequence[str]) -> None:
        """For good: asked for before, with the count."""

        def verb(s: Any) -> int:
            for memory_id in ids:
                s.forget(memory_id, permanently=True, client=CLIENT)
            return len(ids)

        def told(count: int) -> None:
            self._desk.tell(t("bulk.deleted", count=count))
            self._due.ask()

        self._desk.bridge.edit(verb, told)

    # --- inside ---------------------------------------------------------------------------------
    def _chosen(self) -> tuple[str, ...]:
        chosen = self._desk.state.chosen
        return chosen or ((self._desk.state.selected,) if self._desk.state.selected else ())

    def _spared(self, ids: Sequence[str]) -> str:
        return t("bulk.trash_hint", examples="\n".join(f"· {self._desk.state.excerpt(i)[:80]}" for i in ids[:3]))

    def _filter(self) -> None:
        self._desk.docks.show("list")
        self._desk.panels.list.filter.setFocus()

    def _menu(self, at: QPoint) -> None:
        """What can be done with the selected memory, where the pointer is."""
        if not self._desk.state.selected:
            return
        menu = QMenu(self._desk.window)
        self._desk.commands.pick(menu, MENU)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)
