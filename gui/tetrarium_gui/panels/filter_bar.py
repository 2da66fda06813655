"""Filters as chips: added by a menu or by what is typed, taken away by a click or a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from tetrarium.model import CATEGORIES
from tetrarium_gui.panels.filters import KEYS, OFFERED_SPANS, STATES, Filter, added, shown_value
from tetrarium_gui.panels.flow import FlowLayout
from tetrarium_gui.style import CHIP_GRID, SIZE_SMALL, plain_tip, text_font, visible
from tetrarium_gui.words import t
from tetrarium_gui.worker import EVERYWHERE

LONGEST = 40
"""Characters of a menu's entry."""
WIDEST = 210
"""Pixels of a chip's words."""
OFFERED = 24
"""Values of a key that the menu offers."""
_TAKING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class FilterBar(QWidget):
    """The chips of one search, behind a button that adds one."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filters: tuple[Filter, ...] = ()
        self.chips: list[QPushButton] = []
        self.choices: dict[str, Sequence[str]] = {}
        self.add = QPushButton(t("filter.add"))
        self.add.setObjectName("chip")
        self.add.setToolTip(t("filter.add_tip"))
        self.menu = QMenu(self.add)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.add.setMenu(self.menu)
        self._flow = FlowLayout(self, spacing=CHIP_GRID)
        self._flow.addWidget(self.add)

    def set_choices(self, choices: Mapping[str, Sequence[str]]) -> None:
        """What the space has to filter by: its labels, projects and clients, most used first."""
        self.choices = dict(choices)

    def values(self, key: str) -> tuple[str, ...]:
        """What may stand behind a key, as it is written."""
        if key == "category":
            return tuple(category.value for category in CATEGORIES)
        if key == "state":
            return STATES
        if key in ("since", "until"):
            return OFFERED_SPANS
        return (*((EVERYWHERE,) if key == "project" else ()), *self.choices.get(key, ()))

    def why_nothing(self, narrowing: Sequence[Filter]) -> str:
        """Why there is no hit, and what to do; narrowing: the filters that the answer obeys."""
        if not narrowing:
            return t("search.none")
        names = visible(" · ".join(f"{t(f'filter.{one.key}')}:{shown_value(one.key, one.value)}" for one in narrowing))
        told = "search.narrowed" if len(narrowing) == 1 else "search.narrowed_together"
        known = self.choices.get("keyword", ())
        meant = [one.value for one in narrowing if one.key == "label" and one.value in known]
        lines = [t("search.label_is_keyword", word=visible(word)) for word in meant]
        return "\n".join([t(told, filters=names), t("search.narrowed_advice"), *lines])

    def put(self, one: Filter) -> None:
        """Add a filter."""
        self.set_filters(added(self.filters, one))

    def set_filters(self, filters: tuple[Filter, ...]) -> None:
        if filters != self.filters:
            self.filters = filters
            self._draw()
            self.changed.emit()

    def drop_last(self) -> bool:
        """Take the last one away; False when there is none."""
        had = bool(self.filters)
        self.set_filters(self.filters[:-1])
        return had

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A chip goes by any key that takes something away or confirms."""
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _TAKING
        if is_key and isinstance(watched, QPushButton) and watched in self.chips:
            self._drop(self.chips.index(watched))
            return True
        return super().eventFilter(watched, event)

    def _drop(self, at: int) -> None:
        self.set_filters(self.filters[:at] + self.filters[at + 1 :])
        (self.chips[min(at, len(self.chips) - 1)] if self.chips else self.add).setFocus(Qt.FocusReason.OtherFocusReason)

    def _draw(self) -> None:
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        for at, one in enumerate(self.filters):
            words = visible(one.words())
            metrics = QFontMetrics(text_font(SIZE_SMALL))
            short = metrics.elidedText(words, Qt.TextElideMode.ElideRight, WIDEST)
            chip = QPushButton(f"{short.replace('&', '&&')}  ✕")
            chip.setObjectName("chip")
            chip.setAccessibleName(t("filter.take_away", what=words[:200]))
            chip.setToolTip(plain_tip(t("filter.take_away", what=words)))
            chip.clicked.connect(lambda _=False, at=at: self._drop(at))
            chip.installEventFilter(self)
            self._flow.addWidget(chip)
            self.chips.append(chip)
        self.updateGeometry()

    def _fill_menu(self) -> None:
        self.menu.clear()
        for key in KEYS:
            values = self.values(key)[:OFFERED]
            if values:
                inner = self.menu.addMenu(t(f"filter.{key}"))
                for value in values:
                    action = inner.addAction(visible(shown_value(key, value))[:LONGEST].replace("&", "&&"))
                    action.triggered.connect(partial(self._chosen, Filter(key, value)))

    def _chosen(self, one: Filter, _: bool = False) -> None:
        self.put(one)
