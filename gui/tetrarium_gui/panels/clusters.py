"""The topics of the space: named, measured, flown to, and rearranged by plans that are looked at before they are done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from tetrarium.model import Cluster, ClusterDetail, ClusterPlan, PlanRecord
from tetrarium_gui.panels.parts import EmptyState, PlainLabel
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import Sheet, button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, cluster_color, visible
from tetrarium_gui.words import t

PLANS = ("fission", "merge", "attach", "settle")
"""Rearrangements of the whole space that a person may ask for."""
WHYS = 4
"""Sentences of a plan that are shown."""


class ClustersPanel(QWidget):
    """Lists clusters, biggest first; emits names, flights and plans that are wanted."""

    cluster_selected = Signal(int)
    cluster_opened = Signal(int)
    rename_asked = Signal(int, str)
    plan_asked = Signal(str)
    apply_asked = Signal(object)  # ClusterPlan
    undo_asked = Signal(str)  # id of a plan

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._clusters: dict[str, Cluster] = {}
        self._last: PlanRecord | None = None
        self._drawn: Theme | None = None
        columns = [f"clusters.{name}" for name in ("cluster", "size")]
        self.list = RowList("clusters.name", columns, (0, 64))
        self.empty, self.detail = EmptyState(t("clusters.empty"), theme), PlainLabel(size=SIZE_SMALL)
        self.detail.setWordWrap(True)
        self.detail.hide()
        self.sheet = Sheet(self.list)
        self.rename = button("clusters.rename", self._ask_name)
        self.undo = button("clusters.undo_plan", self._undo)
        self.plans = {name: button(f"clusters.{name}", partial(self.plan_asked.emit, name)) for name in PLANS}
        for name, made in self.plans.items():
            made.setToolTip(t(f"clusters.{name}_tip"))
        self._lay_out()
        self.list.keys_changed.connect(self._moved)
        self.list.itemActivated.connect(lambda _: self._tell(self.cluster_opened.emit))
        self.show_clusters(())
        self.show_last_plan(None)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.empty.set_theme(theme)
        self.detail.setStyleSheet(f"color: {theme.muted};")
        self.list.setStyleSheet(f"QTreeView {{ border-bottom: 1px solid {theme.line}; }}")
        self.show_clusters(tuple(self._clusters.values()))

    def show_clusters(self, clusters: Sequence[Cluster]) -> None:
        ordered = sorted(clusters, key=lambda cluster: (-cluster.size, cluster.id))
        if ordered and ordered == list(self._clusters.values()) and self._drawn is self.theme:
            return
        self._drawn = self.theme
        self._clusters = {str(cluster.id): cluster for cluster in ordered}
        self.list.set_rows(
            Row(key, (c.name, str(c.size)), swatch=cluster_color(self.theme, c.hue))
            for key, c in self._clusters.items()
        )
        for made in self.plans.values():
            made.setEnabled(bool(ordered))
        self.empty.setVisible(not ordered)
        self.list.setVisible(bool(ordered))

    def show_detail(self, detail: ClusterDetail) -> None:
        """The figures of the chosen cluster."""
        words = visible(" · ".join(detail.words[:6]))
        figures = t(
            "clusters.figures", purity=detail.purity, entropy=detail.entropy, radius=detail.radius, count=detail.size
        )
        self._say(f"{figures}\n{words}")

    def show_plan(self, plan: ClusterPlan) -> None:
        """What a rearrangement would do, with a button to do it."""
        if not len(plan):
            self.sheet.put_away()
            self._say(t("clusters.nothing", plan=t(f"clusters.{plan.cause.value}")))
            return
        why = [visible(said(sentence))[:160] for sentence in plan.why[:WHYS]]
        if len(plan.why) > WHYS:
            why.append(t("clusters.more", count=len(plan.why) - WHYS))
        self.sheet.ask(
            t("clusters.would_move", count=len(plan)),
            "\n".join(why),
            t("clusters.apply"),
            lambda *_: self.apply_asked.emit(plan),
        )

    def show_last_plan(self, record: PlanRecord | None) -> None:
        """The plan that can be taken back."""
        self._last = record if record is not None and not record.undone_by and not record.undoes else None
        self.undo.setVisible(self._last is not None)
        if self._last is not None:
            self.undo.setText(t("clusters.undo_last", plan=t(f"clusters.{self._last.cause.value}")))

    def _say(self, words: str) -> None:
        """Words under the list; without any they take no room."""
        self.detail.setText(words)
        self.detail.setVisible(bool(words))

    def _moved(self) -> None:
        self.rename.setEnabled(bool(self.list.current_key()))
        self._tell(self.cluster_selected.emit)

    def _tell(self, act: Callable[[int], object]) -> None:
        if key := self.list.current_key():
            act(int(key))

    def _ask_name(self) -> None:
        cluster = self._clusters.get(self.list.current_key())
        if cluster is not None:
            self.sheet.ask(
                t("clusters.rename_title"),
                t("clusters.rename_hint"),
                t("clusters.rename"),
                lambda _, name: self.rename_asked.emit(cluster.id, name),
                line=cluster.name,
            )

    def _undo(self) -> None:
        if self._last is not None:
            self.undo_asked.emit(self._last.id)

    def _lay_out(self) -> None:
        plans = QGridLayout()
        plans.setSpacing(GRID // 2)
        for at, made in enumerate(self.plans.values()):
            plans.addWidget(made, at // 2, at % 2)
        foot = QHBoxLayout()
        foot.addWidget(self.rename)
        foot.addStretch()
        foot.addWidget(self.undo)
        below = QVBoxLayout()
        below.setContentsMargins(GRID, GRID, GRID, GRID)
        below.setSpacing(GRID)
        for part in (self.detail, self.sheet):
            below.addWidget(part)
        below.addLayout(foot)
        below.addLayout(plans)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.empty, 1)
        column.addWidget(self.list, 1)
        column.addLayout(below)
