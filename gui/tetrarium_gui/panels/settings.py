"""Dials of recall: how much is carved away, what weighs how much, how many tokens; each shows its effect at once.

The effect is a rehearsal of the last recall: it changes nothing. "Keep" makes the dials hold for this space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QScrollArea, QSlider, QSpinBox, QVBoxLayout, QWidget

from tetrarium.model import RecallTrace
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, mono_font
from tetrarium_gui.words import t

STEPS = 100
"""Slider steps for 1.0."""
PAUSE = 120
"""Milliseconds after the last move of a dial before its effect is asked for."""
SHARES: dict[str, float] = {
    "void_target": 0.6,
    "vector_weight": 1.0,
    "keyword_weight": 1.0,
    "label_weight": 0.5,
    "entity_weight": 0.5,
}
"""Dials by the names of `Settings`, with their greatest value."""
BUDGET = "default_budget"


@dataclass(frozen=True, slots=True)
class Dials:
    """The values of all dials, by the names of `Settings`."""

    values: Mapping[str, float | int]


class SettingsPanel(QWidget):
    """Emits the dials as they are moved, and when they are to be kept."""

    tried = Signal(object)  # Dials
    kept = Signal(object)  # Dials
    defaults_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dials: dict[str, QSlider] = {}
        self.budget = QSpinBox()
        self.budget.setRange(100, 200_000)
        self.budget.setSingleStep(500)
        self.budget.setGroupSeparatorShown(True)
        self.budget.setMaximumWidth(140)
        self.budget.setAccessibleName(t(f"settings.{BUDGET}"))
        self.effect = PlainLabel(t("settings.no_recall"), size=SIZE_SMALL)
        self.effect.setWordWrap(True)
        self.keep, self.reset = (
            button("settings.keep", lambda: self.kept.emit(self.values()), primary=True),
            button("settings.defaults", self.defaults_asked.emit),
        )
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(lambda: self.tried.emit(self.values()))
        self.budget.valueChanged.connect(lambda _: self._pause.start())
        self._lay_out()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.effect.setStyleSheet(f"color: {theme.muted};")

    def set_values(self, values: Mapping[str, float | int | str]) -> None:
        """Show settings as they are in force, without trying them."""
        for name, slider in self.dials.items():
            slider.blockSignals(True)
            slider.setValue(round(float(values[name]) * STEPS))
            slider.blockSignals(False)
            self._say(name, slider.value())
        self.budget.blockSignals(True)
        self.budget.setValue(int(values[BUDGET]))
        self.budget.blockSignals(False)

    def values(self) -> Dials:
        shares = {name: slider.value() / STEPS for name, slider in self.dials.items()}
        return Dials({**shares, BUDGET: self.budget.value()})

    def invite(self) -> None:
        """There is a recall now that the dials can be tried on."""
        self.effect.setText(t("settings.turn"))

    def show_effect(self, before: RecallTrace, after: RecallTrace) -> None:
        """The last recall as it was, and as it would be."""
        had, has = {h.id for h in before.blocks}, {h.id for h in after.blocks}
        self.effect.setText(
            t(
                "settings.effect",
                kept=len(has),
                came=len(has - had),
                went=len(had - has),
                void=after.void_fraction,
                tokens=after.token_usage,
            )
        )

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setVerticalSpacing(GRID)
        self._values: dict[str, PlainLabel] = {}
        for name, most in SHARES.items():
            slider, value, row = QSlider(Qt.Orientation.Horizontal), PlainLabel(size=SIZE_SMALL), QHBoxLayout()
            slider.setRange(0, round(most * STEPS))
            slider.setPageStep(5)
            slider.setAccessibleName(t(f"settings.{name}"))
            slider.setToolTip(t(f"settings.{name}_tip"))
            value.setFont(mono_font())
            row.addWidget(slider, 1)
            row.addWidget(value)
            slider.valueChanged.connect(lambda at, name=name: self._turned(name, at))
            self.dials[name], self._values[name] = slider, value
            form.addRow(PlainLabel(t(f"settings.{name}"), size=SIZE_SMALL), row)
        form.addRow(PlainLabel(t(f"settings.{BUDGET}"), size=SIZE_SMALL), self.budget)
        foot = QHBoxLayout()
        foot.addWidget(self.reset)
        foot.addStretch()
        foot.addWidget(self.keep)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(GRID)
        column.addWidget(PlainLabel(t("settings.heading"), bold=True))
        column.addLayout(form)
        column.addWidget(self.effect)
        column.addLayout(foot)
        column.addStretch()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _turned(self, name: str, at: int) -> None:
        self._say(name, at)
        self._pause.start()

    def _say(self, name: str, at: int) -> None:
        self._values[name].setText(f"{at / STEPS:.2f}")
