"""One box: search as you type, or ask as an agent would; hits with the parts of their scores."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import Hit, RecallTrace, SearchResult
from tetrarium_gui.panels.parts import SUMMANDS, EmptyState, PlainLabel, category_icon, day, paint_score, score_words
from tetrarium_gui.style import (
    GRID,
    SIZE_SMALL,
    SIZE_TEXT,
    Theme,
    category_color,
    mono_font,
    plain_tip,
    text_font,
    visible,
    wrap,
)
from tetrarium_gui.words import t

TYPING_PAUSE = 90
"""Milliseconds without a key after which the words are searched."""
HIT_ROLE = Qt.ItemDataRole.UserRole
LEAST_FULL_SCORE = 0.5
"""Bars are drawn against the best sum of the page, but never against less than this."""

Index = QModelIndex | QPersistentModelIndex


class SearchPanel(QWidget):
    """Emits what is asked; shows what comes back."""

    search_asked = Signal(str)
    recall_asked = Signal(str)
    cleared = Signal()
    hit_selected = Signal(str)
    hit_opened = Signal(str)
    menu_asked = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QLineEdit(self)
        self.box.setClearButtonEnabled(True)
        self.box.setAccessibleName(t("search.box_name"))
        self.box.setMaxLength(4000)
        self.box.installEventFilter(self)
        self.search_mode, self.recall_mode = QPushButton(t("search.search")), QPushButton(t("search.recall"))
        self.modes = QButtonGroup(self)
        for button, tip in ((self.search_mode, t("search.search_tip")), (self.recall_mode, t("search.recall_tip"))):
            button.setCheckable(True)
            button.setToolTip(plain_tip(tip))
            self.modes.addButton(button)
        self.count = PlainLabel(size=SIZE_SMALL)
        self.hits = HitModel(self)
        self.list = QListView(self)
        self.list.setModel(self.hits)
        self.delegate = HitDelegate(theme, self.list)
        self.list.setItemDelegate(self.delegate)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setAccessibleName(t("search.hits_name"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(
            lambda at: self.menu_asked.emit(self.list.viewport().mapToGlobal(at))
        )
        self.empty = EmptyState(t("search.empty"), theme)
        self._gone, self._dropping = 0, False
        self._words: Callable[[int], str] = lambda _: ""
        """What is said of the answer on show, by how many of its hits were taken out since."""
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_PAUSE)
        self._lay_out()
        self.set_theme(theme)
        self.set_recalling(False)

        self._typing.timeout.connect(self._ask)
        self.box.textChanged.connect(self._typed)
        self.box.returnPressed.connect(self._entered)
        self.modes.buttonClicked.connect(lambda button: self.set_recalling(button is self.recall_mode))
        self.list.selectionModel().currentChanged.connect(self._moved)
        self.list.doubleClicked.connect(lambda index: self.hit_opened.emit(index.data(HIT_ROLE).id))

    def set_theme(self, theme: Theme) -> None:
        self.delegate.theme = theme
        self.empty.set_theme(theme)
        self.count.setStyleSheet(f"color: {theme.muted};")
        self.list.viewport().update()

    @property
    def recalling(self) -> bool:
        return self.recall_mode.isChecked()

    def set_recalling(self, recalling: bool) -> None:
        """Choose what Enter asks, put the cursor into the box, and ask again if there are words."""
        (self.recall_mode if recalling else self.search_mode).setChecked(True)
        self.box.setPlaceholderText(t("search.recall_hint") if recalling else t("search.search_hint"))
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()
        if self.box.text().strip():
            self._ask()

    def show_search(self, result: SearchResult) -> None:
        self._show(result.hits)
        self._words = lambda gone: t(
            "search.hits", shown=len(result.hits) - gone, total=result.total - gone, ms=result.elapsed_ms
        )
        self.count.setText(self._words(0))

    def show_recall(self, trace: RecallTrace) -> None:
        self._show(trace.blocks)
        voids = sum(len(zone.members) for zone in trace.void_zones)
        self._words = lambda gone: t(
            "search.blocks",
            shown=len(trace.blocks) - gone,
            voids=voids,
            tokens=trace.token_usage,
            budget=trace.budget,
            ms=trace.elapsed_ms,
        )
        self.count.setText(self._words(0))

    def drop(self, ids: Collection[str]) -> None:
        """Take hits out that are no memories any more; the others stay where they are, and no other one is selected."""
        here = self.list.currentIndex()
        taken_away = here.isValid() and here.data(HIT_ROLE).id in ids
        self._dropping = True
        if gone := self.hits.drop(ids):
            self._gone += gone
            self.count.setText(self._words(self._gone))
        if taken_away:
            self.list.setCurrentIndex(QModelIndex())
        self._dropping = False

    def clear(self) -> None:
        """Empty box, empty list, nothing lit."""
        self._typing.stop()
        self.box.clear()

    def step(self, by: int) -> None:
        """Next or previous hit, round the end."""
        if total := self.hits.rowCount():
            row = self.list.currentIndex().row()
            self.list.setCurrentIndex(self.hits.index((row + by) % total if row >= 0 else (0 if by > 0 else total - 1)))

    def mark(self, memory_id: str) -> None:
        """Move to the hit of a memory that was selected elsewhere, if it is one."""
        row = self.hits.row_of(memory_id)
        if row >= 0 and self.list.currentIndex().row() != row:
            self.list.setCurrentIndex(self.hits.index(row))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down in the box walk through the hits."""
        if watched is self.box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.step(1)
                return True
            if event.key() == Qt.Key.Key_Up:
                self.step(-1)
                return True
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        modes = QHBoxLayout()
        modes.setSpacing(GRID // 2)
        modes.addWidget(self.search_mode)
        modes.addWidget(self.recall_mode)
        modes.addStretch()
        self._pages = QStackedLayout()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.list)
        top = QVBoxLayout()
        top.setContentsMargins(GRID, GRID, GRID, GRID // 2)
        top.setSpacing(GRID)
        top.addWidget(self.box)
        top.addLayout(modes)
        top.addWidget(self.count)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(top)
        whole.addLayout(self._pages, 1)

    def _typed(self, text: str) -> None:
        if not text.strip():
            self._typing.stop()
            self._show(None)
            self.count.setText("")
            self.cleared.emit()
        elif not self.recalling:
            self._typing.start()

    def _entered(self) -> None:
        """Enter asks; when the answer is already there, it opens the current hit or goes to the next."""
        if self._typing.isActive() or self.recalling or not self.hits.rowCount():
            self._ask()
        elif self.list.currentIndex().isValid():
            self.hit_opened.emit(self.list.currentIndex().data(HIT_ROLE).id)
        else:
            self.step(1)

    def _ask(self) -> None:
        self._typing.stop()
        if text := self.box.text().strip():
            (self.recall_asked if self.recalling else self.search_asked).emit(text)

    def _show(self, hits: tuple[Hit, ...] | None) -> None:
        self.hits.set_hits(hits or ())
        self._gone = 0
        self.delegate.full = max([LEAST_FULL_SCORE, *(sum(getattr(h.parts, s) for s in SUMMANDS) for h in hits or ())])
        self.empty.setText(t("search.empty") if hits is None else t("search.none"))
        self._pages.setCurrentWidget(self.list if hits else self.empty)
        self.list.scrollToTop()

    def _moved(self, current: QModelIndex) -> None:
        if current.isValid() and not self._dropping:
            self.hit_selected.emit(current.data(HIT_ROLE).id)


class HitModel(QAbstractListModel):
    """The hits of one answer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: tuple[Hit, ...] = ()

    def set_hits(self, hits: tuple[Hit, ...]) -> None:
        self.beginResetModel()
        self._hits = hits
        self.endResetModel()

    def drop(self, ids: Collection[str]) -> int:
        """Take these hits out; gives how many there were."""
        rows = [row for row, hit in enumerate(self._hits) if hit.id in ids]
        for row in reversed(rows):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._hits = (*self._hits[:row], *self._hits[row + 1 :])
            self.endRemoveRows()
        return len(rows)

    def row_of(self, memory_id: str) -> int:
        return next((row for row, hit in enumerate(self._hits) if hit.id == memory_id), -1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        hit = self._hits[index.row()]
        if role == HIT_ROLE:
            return hit
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return visible(hit.content[:200])
        if role == Qt.ItemDataRole.ToolTipRole:
            return score_words(hit.parts)
        return None


class HitDelegate(QStyledItemDelegate):
    """Paints one hit: two lines of text, its category and score, the thin bars. Plain text throughout."""

    HEIGHT = 82

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.full = LEAST_FULL_SCORE

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self.HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit: Hit = index.data(HIT_ROLE)
        theme, box = self.theme, QRectF(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(box, QColor(theme.raised))
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(QRectF(box.left(), box.top(), 2, box.height()), QColor(theme.accent))
        inner = box.adjusted(1.5 * GRID, GRID, -1.25 * GRID, -GRID)

        font = text_font(SIZE_TEXT)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        y = inner.top() + metrics.ascent()
        for line in wrap(visible(hit.content[:400]), metrics, inner.width(), 2):
            painter.drawText(QPointF(inner.left(), y), line)
            y += metrics.lineSpacing()

        foot = QRectF(inner.left(), inner.top() + 2 * metrics.lineSpacing() + 3, inner.width(), 16)
        color = category_color(theme, hit.memory.category)
        category_icon(hit.memory.category, color).paint(painter, foot.adjusted(0, 1, -foot.width() + 14, -1).toRect())
        painter.setFont(text_font(SIZE_SMALL))
        painter.setPen(QColor(theme.muted))
        words = f"{t(f'category.{hit.memory.category.value}')} · {day(hit.memory.created_at)}"
        painter.drawText(foot.adjusted(19, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, words)
        painter.setFont(mono_font())
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{hit.score:.2f}")
        paint_score(
            painter, QRectF(inner.left(), foot.bottom() + 2, inner.width(), 10), hit.parts, theme, full=self.full
        )
        painter.setPen(QColor(theme.line))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.restore()
