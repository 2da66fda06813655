"""The form of one memory: what may be edited, and what of it a person changed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from PySide6.QtCore import QDateTime, QLocale, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDateTimeEdit,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import CATEGORIES, Memory
from tetrarium_gui.panels.parts import PlainLabel, category_icon
from tetrarium_gui.panels.writing import TextBox, button
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, category_color, mono_font
from tetrarium_gui.words import t

WRITING_PAUSE = 400
"""Milliseconds without a key after which the text is weighed."""
STEPS = 100
"""Steps of the importance slider."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person changed of one memory, as the arguments of an update; None where it stays. `revision`: what was read.

    Without a `memory_id`: what a new memory shall hold; None is left to the engine to find in the text.
    """

    memory_id: str
    revision: int
    content: str | None = None
    keywords: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    category: str | None = None
    importance: float | None = None
    pinned: bool | None = None
    expires_at: str | None = None

    def arguments(self) -> dict[str, Any]:
        """The changed fields by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)[2:]}
        return {name: value for name, value in values.items() if value is not None}


class MemoryForm(QWidget):
    """Shows a memory's fields for editing; emits what changed, or that nothing shall be."""

    saved = Signal(object)  # Edits
    left = Signal()
    weight_asked = Signal(str)
    """A text whose share of an answer is wanted; `show_weight` takes it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory: Memory | None = None  # None: a new one is written
        self._draft, self._weighed = "", False
        self.content = TextBox("form.content")
        self.content.setObjectName("field")
        self.content.setMinimumHeight(140)
        self.too_long = PlainLabel(size=SIZE_SMALL)
        self.too_long.setWordWrap(True)
        self.too_long.hide()
        self._writing = QTimer(self)
        self._writing.setSingleShot(True)
        self._writing.setInterval(WRITING_PAUSE)
        self._writing.timeout.connect(lambda: self.weight_asked.emit(self.content.toPlainText()))
        self.content.textChanged.connect(self._writing.start)
        self.keywords, self.labels = QLineEdit(), QLineEdit()
        self.category = QComboBox()
        self.importance, self.importance_words = QSlider(Qt.Orientation.Horizontal), PlainLabel(size=SIZE_SMALL)
        self.importance_words.setFont(mono_font())
        self.importance_words.setMinimumWidth(QFontMetrics(mono_font()).horizontalAdvance("auto"))
        self.importance.setRange(0, STEPS)
        self.importance.valueChanged.connect(self._weigh)
        self.pinned, self.expires = QCheckBox(t("form.pinned")), QCheckBox(t("form.expires"))
        self.expiry = QDateTimeEdit()
        self.expiry.setCalendarPopup(True)
        self.expires.toggled.connect(self.expiry.setEnabled)
        for name, field in (
            ("keywords", self.keywords),
            ("labels", self.labels),
            ("category", self.category),
            ("importance", self.importance),
            ("expiry", self.expiry),
        ):
            field.setAccessibleName(t(f"form.{name}"))
            field.setToolTip(t(f"form.{name}_tip"))
        self.save, self.leave = button("form.save", self._save, primary=True), button("form.cancel", self.left.emit)
        self.content.done.connect(self._save)
        self._lay_out()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.too_long.setStyleSheet(f"color: {theme.amber};")
        chosen, found = self.category.currentIndex(), self.category.findData("") >= 0
        self.category.clear()
        for category in CATEGORIES:
            icon = category_icon(category, category_color(theme, category))
            self.category.addItem(icon, t(f"category.{category.value}"), category.value)
        if found:
            self.category.addItem(t("form.found"), "")
        self.category.setCurrentIndex(max(0, chosen))

    def edit(self, memory: Memory, content: str | None = None) -> None:
        """Take a memory in; `content`: a text to go on with instead of the stored one."""
        self.put_off()
        self._memory = memory
        self._offer_found(False)
        self.content.write(memory.content if content is None else content)
        self.keywords.setText(", ".join(memory.keywords))
        self.labels.setText(", ".join(memory.labels))
        self.category.setCurrentIndex(CATEGORIES.index(memory.category))
        self._weigh(round(memory.importance * STEPS))
        self.importance.setValue(round(memory.importance * STEPS))
        self.pinned.setChecked(memory.pinned)
        self.expires.setChecked(memory.expires_at is not None)
        self.expiry.setEnabled(memory.expires_at is not None)
        self.expiry.setDateTime(_moment(memory))
        self.content.setFocus(Qt.FocusReason.OtherFocusReason)

    def begin(self) -> None:
        """Empty fields for a new memory, with the text that was begun before and neither stored nor given up."""
        self.put_off()
        self._memory = None
        self._offer_found(True)
        self.content.write(self._draft)
        for line in (self.keywords, self.labels):
            line.clear()
        self.importance.setValue(STEPS // 2)
        self._weighed = False
        self.importance_words.setText(t("form.auto"))
        self.expires.setChecked(False)
        self.expiry.setEnabled(False)
        self.expiry.setDateTime(_moment(None))
        self.content.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_weight(self, tokens: int, budget: int) -> None:
        """Warn of a text that no answer of the usual size can hold: an answer never cuts a memory. It may be kept."""
        number = QLocale().toString
        self.too_long.setText(t("form.too_long", tokens=number(tokens), budget=number(budget)))
        self.too_long.setVisible(tokens > budget)

    def put_off(self) -> None:
        """Keep the text of a new memory for the next `begin`: a look at another memory loses nothing."""
        if self._memory is None:
            self._draft = self.content.toPlainText()

    def forget_draft(self) -> None:
        """The new memory was stored or given up."""
        if self._memory is None:
            self.content.clear()
            self._draft = ""

    def edits(self) -> Edits:
        """What differs from the memory that was taken in. With a new text the keywords are told even if they stayed: the
        engine would find new ones, and a person expects those that he saw."""
        memory = self._memory
        content, category = self.content.toPlainText(), self.category.currentData()
        keywords, labels = _words(self.keywords.text()), _words(self.labels.text())
        weight, expiry = self.importance.value() / STEPS, self._expiry(memory)
        if memory is None:
            return Edits(
                "",
                0,
                content=content,
                keywords=keywords or None,
                labels=labels or None,
                category=category or None,
                importance=weight if self._weighed else None,
                expires_at=expiry,
            )
        return Edits(
            memory.id,
            memory.revision,
            content=content if content != memory.content else None,
            keywords=keywords if keywords != memory.keywords or content != memory.content else None,
            labels=labels if labels != memory.labels else None,
            category=category if category != memory.category.value else None,
            importance=weight if weight != round(memory.importance * STEPS) / STEPS else None,
            pinned=self.pinned.isChecked() if self.pinned.isChecked() != memory.pinned else None,
            expires_at=expiry,
        )

    def _expiry(self, memory: Memory | None) -> str | None:
        if not self.expires.isChecked():
            return "never" if memory is not None and memory.expires_at is not None else None
        wanted = self.expiry.dateTime()
        if memory is not None and memory.expires_at is not None and wanted == _moment(memory):
            return None
        return str(wanted.toUTC().toString(Qt.DateFormat.ISODate))

    def _weigh(self, value: int) -> None:
        self._weighed = True
        self.importance_words.setText(f"{value / STEPS:.2f}")

    def _offer_found(self, offered: bool) -> None:
        """A new memory may leave its kind to the engine; whether it is pinned is said of one that is there."""
        at = self.category.findData("")
        if offered and at < 0:
            self.category.addItem(t("form.found"), "")
        elif not offered and at >= 0:
            self.category.removeItem(at)
        if offered:
            self.category.setCurrentIndex(self.category.findData(""))
        self.pinned.setVisible(not offered)

    def _save(self) -> None:
        edits = self.edits()
        self.saved.emit(edits) if edits.arguments() else self.left.emit()

    def _lay_out(self) -> None:
        weight, until, foot = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        weight.addWidget(self.importance, 1)
        weight.addWidget(self.importance_words)
        until.addWidget(self.expires)
        until.addWidget(self.expiry, 1)
        form = QFormLayout()
        form.setVerticalSpacing(GRID)
        for name, field in (("keywords", self.keywords), ("labels", self.labels), ("category", self.category)):
            form.addRow(PlainLabel(t(f"form.{name}"), size=SIZE_SMALL), field)
        form.addRow(PlainLabel(t("form.importance"), size=SIZE_SMALL), weight)
        foot.addWidget(self.pinned)
        foot.addStretch()
        foot.addWidget(self.leave)
        foot.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.content, 1)
        column.addWidget(self.too_long)
        column.addLayout(form)
        column.addLayout(until)
        column.addLayout(foot)


def _words(text: str) -> tuple[str, ...]:
    """What stands between commas, Chinese ones too."""
    parts = text.replace("，", ",").replace("、", ",").split(",")
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _moment(memory: Memory | None) -> QDateTime:
    if memory is None or memory.expires_at is None:
        return QDateTime.currentDateTime().addMonths(1)
    return QDateTime.fromSecsSinceEpoch(round(memory.expires_at.timestamp()))
