"""The line at the foot: size and health of the space, the model, the last recall."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QWidget

from tetrarium.model import SpaceStats
from tetrarium_gui.panels.parts import PlainLabel
from tetrarium_gui.panels.writing import button
from tetrarium_gui.sentences import said
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, plain_tip, visible
from tetrarium_gui.words import t


class StatusLine(QWidget):
    """Plain words, separated by dots; tooltips carry the notes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID, 2, GRID, 2)
        row.setSpacing(GRID)
        self._labels: dict[str, PlainLabel] = {}
        self._dots: list[PlainLabel] = []
        for name in ("memories", "clusters", "inhibited", "index", "model", "last"):
            if self._labels:
                self._dots.append(PlainLabel("·", size=SIZE_SMALL))
                row.addWidget(self._dots[-1])
            self._labels[name] = PlainLabel(size=SIZE_SMALL)
            row.addWidget(self._labels[name])
        row.addStretch()
        self.work, self.cancel = PlainLabel(size=SIZE_SMALL), button("status.cancel", self._stop_work)
        self._stop: Callable[[], object] | None = None
        self.filled = False  # the space is open, and its figures are here
        for part in (self.work, self.cancel):
            part.hide()
            row.addWidget(part)
        self._labels["memories"].setText(t("status.opening"))
        for dot in self._dots:
            dot.hide()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        for label in (*self._labels.values(), *self._dots):
            label.setStyleSheet(f"color: {theme.muted};")

    def show_stats(self, stats: SpaceStats) -> None:
        self.filled = True
        for name, count in (("memories", stats.memories), ("clusters", stats.clusters), ("inhibited", stats.inhibited)):
            self._labels[name].setText(t(f"status.{name}", count=count))
        index = t("status.index", name=t(f"status.index_{stats.index}"))
        self._labels["index"].setText(t("status.keywords_only" if stats.model_note else "status.indexed"))
        self._labels["model"].setText(visible(_short(stats.model)))
        for name, tip in (
            ("index", f"{index} · {said(stats.index_note)}".rstrip(" ·")),
            ("model", f"{t('status.model', name=stats.model)} · {said(stats.model_note)}".rstrip(" ·")),
            ("memories", stats.space),
        ):
            self._labels[name].setToolTip(plain_tip(tip))
        for dot in self._dots[:-1]:
            dot.show()

    def show_closed(self) -> None:
        self._labels["memories"].setText(t("status.closed"))

    def show_time(self, kind: str, milliseconds: float) -> None:
        """`kind`: recall or search."""
        self._labels["last"].setText(t(f"status.{kind}", ms=milliseconds))
        self._dots[-1].show()

    def show_work(self, words: str, stop: Callable[[], object] | None = None) -> None:
        """Say what takes long; `stop` ends it, where it can be ended."""
        self.work.setText(words)
        self._stop = stop
        self.work.show()
        self.cancel.setVisible(stop is not None)

    @property
    def is_working(self) -> bool:
        return not self.work.isHidden()

    def end_work(self) -> None:
        self._stop = None
        self.work.hide()
        self.cancel.hide()

    def _stop_work(self) -> None:
        stop = self._stop
        self.cancel.hide()
        if stop is not None:
            stop()

    def text(self) -> str:
        return " · ".join(label.text() for label in self._labels.values() if label.text())


def _short(model: str) -> str:
    """The name of a model as people say it: without the make of its numbers and its revision."""
    return re.sub(r"(-multilingual)?(-(q|fp|int)\d+)?(@.*)?$", "", model)
