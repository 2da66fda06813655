"""How the space is: its size, the figures of its geometry, confidence, and how each part of it stands."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from tetrarium.model import CONFIDENCES, CheckState, Health, SpaceStats
from tetrarium_gui.panels.charts import Chart
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.rows import Row, RowList
from tetrarium_gui.panels.writing import button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, mono_font, plain_tip, visible
from tetrarium_gui.words import t

CHART_HEIGHT = 96
CHECKS_HEIGHT = 190
SIGNS = {CheckState.OK: "✓", CheckState.WARN: "!", CheckState.BAD: "✕"}


class HealthPanel(QWidget):
    """Figures with one sentence each as tooltip; buttons to examine, to copy and, where something is found, to repair."""

    examine_asked = Signal()
    repair_asked = Signal()
    backup_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._stats: SpaceStats | None = None
        self.report = PlainLabel(t("health.unexamined"), size=SIZE_SMALL)
        self.report.setWordWrap(True)
        self.checks = RowList("health.checks", ("health.part", "health.found"), (96, 0))
        self.checks.setFixedHeight(CHECKS_HEIGHT)
        self.checks.hide()
        self.examine = button("health.examine", self.examine_asked.emit)
        self.backup = button("health.backup", self.backup_asked.emit)
        self.repair = button("health.repair", self.repair_asked.emit, primary=True)
        self.repair.hide()
        self.rows = QFormLayout()
        self.rows.setVerticalSpacing(GRID // 2)
        self.rows.setHorizontalSpacing(2 * GRID)
        self.confidence = Chart("health.confidence", theme)
        self.confidence.setFixedHeight(CHART_HEIGHT)
        self._lay_out()

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.confidence.set_theme(theme)
        if self._stats is not None:
            self.show_stats(self._stats)

    def show_stats(self, stats: SpaceStats) -> None:
        self._stats = stats
        while self.rows.rowCount():
            self.rows.removeRow(0)
        for key, value in _figures(stats):
            self._add(key, value)
        counts = [stats.by_confidence.get(confidence.value, 0) for confidence in CONFIDENCES]
        self.confidence.bars(range(len(counts)), counts, [self.theme.muted, self.theme.accent, self.theme.good])
        names = [t(f"confidence.{confidence.value}") for confidence in CONFIDENCES]
        self.confidence.getAxis("bottom").setTicks([list(enumerate(names))])

    def show_health(self, health: Health) -> None:
        """How each part of the space stands, the worst first."""
        order = list(SIGNS)
        found = sorted(health.checks, key=lambda check: -order.index(check.state))
        inks = {
            CheckState.OK: self.theme.good,
            CheckState.WARN: self.theme.amber,
            CheckState.BAD: self.theme.inhibited_text,
        }
        self.checks.set_rows(
            Row(
                check.name,
                (f"{SIGNS[check.state]} {said(check.name)}", said(check.words)),
                ink=inks[check.state],
                tip=f"{said(check.words)} {said(check.remedy)}".strip(),
            )
            for check in found
        )
        self.checks.show()
        self.repair.setVisible(any(check.repairable for check in health.checks))
        self.report.setText(t(f"health.{health.state.value}", count=len(found)))

    def _add(self, key: str, value: str) -> None:
        name, fact = PlainLabel(t(f"health.{key}"), size=SIZE_SMALL), PlainLabel(visible(value)[:160], size=SIZE_SMALL)
        name.setStyleSheet(f"color: {self.theme.muted};")
        name.setToolTip(t(f"health.{key}_tip"))
        fact.setToolTip(plain_tip(value))
        fact.setFont(mono_font())
        fact.setWordWrap(True)
        self.rows.addRow(name, fact)

    def _lay_out(self) -> None:
        page, foot = QWidget(), QHBoxLayout()
        column = QVBoxLayout(page)
        column.setSpacing(GRID)
        for made in (self.examine, self.backup, self.repair):
            foot.addWidget(made)
        foot.addStretch()
        column.addWidget(self.report)
        column.addWidget(self.checks)
        column.addLayout(foot)
        column.addLayout(self.rows)
        column.addWidget(PlainLabel(t("health.confidence"), size=SIZE_SMALL))
        column.addWidget(self.confidence)
        column.addStretch()
        area = QScrollArea()
        area.setAccessibleName(t("window.health"))
        area.setWidgetResizable(True)
        area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)


def _figures(stats: SpaceStats) -> tuple[tuple[str, str], ...]:
    number, figures = QLocale(), stats.figures
    return (
        ("memories", number.toString(stats.memories)),
        ("inhibited", number.toString(stats.inhibited)),
        ("in_trash", number.toString(stats.in_trash)),
        ("pinned", number.toString(stats.pinned)),
        ("contradictions", number.toString(stats.contradictions)),
        ("clusters", number.toString(stats.clusters)),
        ("clustered", f"{stats.clustered_share:.0%}"),
        ("purity", f"{figures.purity:.3f}"),
        ("orphan_rate", f"{figures.orphan_rate:.1%}"),
        ("association_density", f"{figures.association_density:.3f}"),
        ("shared_vertices", f"{figures.shared_vertices:.2f}"),
        ("mean_size", f"{figures.mean_size:.1f}"),
        ("recalls", number.toString(stats.recalls)),
        ("void_mean", f"{stats.void_fraction_mean:.0%}"),
        ("index", f"{stats.index} · {said(stats.index_note)}".rstrip(" ·")),
        ("model", f"{stats.model} · {said(stats.model_note)}".rstrip(" ·")),
        ("store", number.formattedDataSize(stats.store_bytes)),
    )
