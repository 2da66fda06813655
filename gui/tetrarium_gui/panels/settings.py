"""Dials of recall: how much is carved away, what weighs how much, how many tokens; each shows its effect at once.

The effect is a rehearsal of the last recall: it changes nothing. "Keep" makes the dials hold for this space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QScrollArea, QSlider, QSpinBox, QVBoxLayout, QWidget

from tetrarium.model import LetThrough, RecallTrace
from tetrarium_gui.panels.parts import PlainLabel, lately
from tetrarium_gui.panels.rows import Row, RowList
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
THEMES_HEIGHT = 110
OLDEST = "oldest"
"""Key of the theme that an earlier version kept as ids alone; it has no id of its own."""


@dataclass(frozen=True, slots=True)
class Dials:
    """The values of all dials, by the names of `Settings`."""

    values: Mapping[str, float | int]


class SettingsPanel(QWidget):
    """Emits the dials as they are moved, and when they are to be kept."""

    tried = Signal(object)  # Dials
    kept = Signal(object)  # Dials
    defaults_asked = Signal()
    void_again_asked = Signal(str)  # id of a theme

    def __init__(self, theme: Theme, excerpt_of: Callable[[str], str] = str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._excerpt_of = excerpt_of
        self.themes = RowList("settings.themes_name", ["settings.themes", "settings.since"], (0, 70))
        self.themes.setFixedHeight(THEMES_HEIGHT)
        self.no_themes = PlainLabel(t("settings.no_themes"), size=SIZE_SMALL)
        self.no_themes.setWordWrap(True)
        self.void_again = button("settings.void_again", self._void_again)
        self.themes.keys_changed.connect(self._allow)
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
        self.show_themes(())

    def set_theme(self, theme: Theme) -> None:
        for label in (self.effect, self.no_themes):
            label.setStyleSheet(f"color: {theme.muted};")

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

    def show_themes(self, themes: Sequence[LetThrough]) -> None:
        """What no recall voids, newest first."""
        self.themes.set_rows(
            Row(
                theme.id or OLDEST,
                (" · ".join(theme.words) or self._excerpt_of(theme.members[0]), lately(theme.since)),
                tip=t("settings.theme_tip", count=len(theme.members)),
            )
            for theme in themes
        )
        self.themes.setVisible(bool(themes))
        self.void_again.setVisible(bool(themes))
        self.no_themes.setVisible(not themes)
        self._allow()

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
        column.addSpacing(2 * GRID)
        column.addWidget(PlainLabel(t("settings.themes_heading"), bold=True))
        column.addWidget(self.no_themes)
        column.addWidget(self.themes)
        column.addWidget(self.void_again, 0, Qt.AlignmentFlag.AlignRight)
        column.addStretch()
        area = QScrollArea()
        area.setAccessibleName(t("window.settings"))
        area.setWidgetResizable(True)
        area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def _void_again(self) -> None:
        if key := self.themes.current_key():
            self.void_again_asked.emit("" if key == OLDEST else key)

    def _allow(self) -> None:
        self.void_again.setEnabled(bool(self.themes.current_key()))

    def _turned(self, name: str, at: int) -> None:
        self._say(name, at)
        self._pause.start()

    def _say(self, name: str, at: int) -> None:
        self._values[name].setText(f"{at / STEPS:.2f}")
