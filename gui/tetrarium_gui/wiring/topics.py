"""Clusters: listed from the snapshot, measured, named, rearranged by plans that are shown before they are done."""

from __future__ import annotations

from PySide6.QtCore import QObject

from tetrarium.model import ClusterDetail, ClusterPlan, PlanRecord
from tetrarium_gui.bridge import CLIENT
from tetrarium_gui.state import Highlight
from tetrarium_gui.wiring.desk import Desk
from tetrarium_gui.wiring.seen import WhenSeen
from tetrarium_gui.words import t


class Topics(QObject):
    """Connects the Clusters panel with the bridge and the space."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._panel = desk, desk.panels.clusters
        self._panel.cluster_selected.connect(self._read)
        self._panel.cluster_opened.connect(self._fly)
        self._panel.rename_asked.connect(self.rename)
        self._panel.plan_asked.connect(self.plan)
        self._panel.apply_asked.connect(self.apply)
        self._panel.undo_asked.connect(self.undo)
        self._due = WhenSeen(desk.docks["clusters"], self._show)
        desk.state.snapshot_changed.connect(self._due.ask)

    def _ask_plans(self) -> None:
        self._desk.bridge.ask(
            "plans", lambda s: s.plans(limit=1), lambda found: self._panel.show_last_plan(found[0] if found else None)
        )

    def rename(self, cluster: int, name: str) -> None:
        def told(detail: ClusterDetail) -> None:
            self._desk.tell(t("topics.renamed"), undo=self._desk.commands["undo"].trigger)
            self._panel.show_detail(detail)
            self._desk.bridge.refresh()

        self._desk.bridge.edit(lambda s: s.name_cluster(cluster, name, client=CLIENT), told)

    def plan(self, cause: str) -> None:
        """Ask what a rearrangement would do; it is done only when the person says so."""
        self._desk.bridge.ask("plan", lambda s: s.plan_clusters(cause), self._panel.show_plan)

    def apply(self, plan: ClusterPlan) -> None:
        def told(record: PlanRecord) -> None:
            self._desk.tell(t("topics.moved", count=record.moves), undo=lambda: self.undo(record.id))
            self._due.ask()

        self._desk.bridge.edit(lambda s: s.apply_plan(plan, client=CLIENT), told)

    def undo(self, plan_id: str) -> None:
        def told(record: PlanRecord) -> None:
            self._desk.tell(t("topics.moved_back", count=record.moves))
            self._due.ask()

        self._desk.bridge.edit(lambda s: s.undo_plan(plan_id, client=CLIENT), told)

    def _show(self) -> None:
        snapshot = self._desk.state.snapshot
        self._panel.show_clusters(snapshot.clusters if snapshot is not None else ())
        self._ask_plans()

    def _read(self, cluster: int) -> None:
        self._desk.bridge.ask(
            "cluster",
            lambda s: s.cluster(cluster),
            self._take,
            otherwise=lambda _: True,  # it may have merged meanwhile; the next snapshot tells
        )

    def _take(self, detail: ClusterDetail) -> None:
        self._panel.show_detail(detail)
        self._desk.state.set_highlight(Highlight(detail.name, detail.members))

    def _fly(self, cluster: int) -> None:
        """To the member that is most like all others; F then shows the whole cluster."""

        def go(detail: ClusterDetail) -> None:
            self._desk.state.select(detail.medoid)
            self._desk.space.fit_selection()

        self._desk.bridge.ask("fly", lambda s: s.cluster(cluster), go)
