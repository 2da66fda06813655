"""How the space is: its size, the figures of its geometry, confidence, and what an examination finds."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from tetrarium.model import CONFIDENCES, HealthReport, SpaceStats
from tetrarium_gui.panels.charts import Chart
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, mono_font, plain_tip, visible
from tetrarium_gui.words import t

CHART_HEIGHT = 96


class HealthPanel(QWidget):
    """Figures with one sentence each as tooltip; buttons to examine and, where something is found, to repair."""

    examine_asked = Signal()
    repair_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._stats: SpaceStats | None = None
        self.report = PlainLabel(t("health.unexamined"), size=SIZE_SMALL)
        self.report.setWordWrap(True)
        self.examine = button("health.examine", self.examine_asked.emit)
        self.repair = button("health.repair", self.repair_asked.emit, primary=True)
        self.repair.hide()
        self.rows = QFormLayout()
        self.rows.setVerticalSpacing(GRID // 2)
        self.rows.setHorizontalSpacing(2 * GRID)
        self.confidence = Chart("health.confidence", theme)
        self.confidence.setFixedHeight(CHART_HEIGHT)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(GRID)
        foot = QHBoxLayout()
        foot.addWidget(self.examine)
        foot.addWidget(self.repair)
        foot.addStretch()
        column.addLayout(self.rows)
        column.addWidget(PlainLabel(t("health.confidence"), size=SIZE_SMALL))
        column.addWidget(self.confidence)
        column.addWidget(self.report)
        column.addLayout(foot)
        column.addStretch()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.confidence.set_theme(theme)
        if self._stats is not None:
            self.show_stats(self._stats)

    def show_stats(self, stats: SpaceStats) -> None:
        self._stats = stats
        while self.rows.rowCount():
            self.rows.removeRow(0)
        number, figures = QLocale(), stats.figures
        for key, value in (
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
            ("index", f"{stats.index} · {stats.index_note}".rstrip(" ·")),
            ("model", f"{stats.model} · {stats.model_note}".rstrip(" ·")),
            ("store", number.formattedDataSize(stats.store_bytes)),
        ):
            self._add(key, value)
        counts = [stats.by_confidence.get(confidence.value, 0) for confidence in CONFIDENCES]
        self.confidence.bars(range(len(counts)), counts, [self.theme.muted, self.theme.accent, self.theme.good])
        names = [t(f"confidence.{confidence.value}") for confidence in CONFIDENCES]
        self.confidence.getAxis("bottom").setTicks([list(enumerate(names))])

    def show_report(self, report: HealthReport) -> None:
        """What an examination found."""
        self.repair.setVisible(not report.is_healthy)
        if report.is_healthy:
            self.report.setText(t("health.healthy", count=report.memories))
            return
        lines = [t("health.finding", about=visible(f.about)[:200], count=f.count) for f in report.findings]
        self.report.setText("\n".join(lines))

    def _add(self, key: str, value: str) -> None:
        name, fact = PlainLabel(t(f"health.{key}"), size=SIZE_SMALL), PlainLabel(visible(value)[:160], size=SIZE_SMALL)
        name.setStyleSheet(f"color: {self.theme.muted};")
        name.setToolTip(t(f"health.{key}_tip"))
        fact.setToolTip(plain_tip(value))
        fact.setFont(mono_font())
        fact.setWordWrap(True)
        self.rows.addRow(name, fact)
