"""One box: search as you type, or ask as an agent would; filters as chips, hits with the parts of their scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from tetrarium.model import Hit, RecallTrace, SearchResult
from tetrarium_gui.panels.filter_bar import FilterBar
from tetrarium_gui.panels.filters import Filter, Query, read, taken, unfinished
from tetrarium_gui.panels.hits import HIT_ROLE, LEAST_FULL_SCORE, HitDelegate, HitModel, ScoreLegend
from tetrarium_gui.panels.parts import SUMMANDS, EmptyState, PlainLabel
from tetrarium_gui.style import GRID, SIZE_SMALL, Theme, plain_tip
from tetrarium_gui.words import t

TYPING_PAUSE = 90
"""Milliseconds without a key after which the words are searched."""
STEP_WIDTH = 30
REMEMBERED = 50
"""Questions that the box brings back. They are kept in memory only: a question may say more than a person knows."""


class SearchPanel(QWidget):
    """Emits what is asked; shows what comes back."""

    search_asked = Signal(object)  # Query
    recall_asked = Signal(object)  # Query
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
        self.filters = FilterBar(self)
        self._offer = QStringListModel(self)
        self.completer = QCompleter(self._offer, self)
        self._popup = QListView(self)
        self._popup.setAccessibleName(t("search.offer_name"))
        self.completer.setPopup(self._popup)
        self.completer.setWidget(self.box)
        self.completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.search_mode, self.recall_mode = QPushButton(t("search.search")), QPushButton(t("search.recall"))
        self.modes = QButtonGroup(self)
        for button, tip in ((self.search_mode, t("search.search_tip")), (self.recall_mode, t("search.recall_tip"))):
            button.setCheckable(True)
            button.setToolTip(plain_tip(tip))
            self.modes.addButton(button)
        self.count, self.place = PlainLabel(size=SIZE_SMALL), PlainLabel(size=SIZE_SMALL)
        self.steps = {
            name: self._step_button(name, by, sign) for name, by, sign in (("previous", -1, "‹"), ("next", 1, "›"))
        }
        self.note = PlainLabel(size=SIZE_SMALL)
        for label in (self.count, self.note):
            label.setWordWrap(True)
        self.note.hide()
        self.legend = ScoreLegend(theme, self)
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
        self.loosen = QPushButton(t("search.loosen"))
        self.loosen.clicked.connect(lambda: self.filters.drop_last())
        self._gone, self._dropping, self._is_search = 0, False, False
        self._past: list[Query] = []
        self._looking_back = 0  # questions back from the newest; 0 while a new one is written
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
        self.completer.activated.connect(self._complete)
        self.filters.changed.connect(self._narrowed)
        self.modes.buttonClicked.connect(lambda button: self.set_recalling(button is self.recall_mode))
        self.list.selectionModel().currentChanged.connect(self._moved)
        self.list.doubleClicked.connect(lambda index: self.hit_opened.emit(index.data(HIT_ROLE).id))
        self._show(None)

    def set_theme(self, theme: Theme) -> None:
        self.delegate.theme = theme
        self.empty.set_theme(theme)
        self.legend.set_theme(theme)
        for label in (self.count, self.place):
            label.setStyleSheet(f"color: {theme.muted};")
        self.note.setStyleSheet(f"color: {theme.amber};")
        self.list.viewport().update()

    @property
    def recalling(self) -> bool:
        return self.recall_mode.isChecked()

    def query(self) -> Query:
        """What the box and the chips ask."""
        return Query(self.box.text().strip(), self.filters.filters)

    def set_choices(self, choices: Mapping[str, Sequence[str]]) -> None:
        """What the space has to filter by, by key."""
        self.filters.set_choices(choices)

    def set_recalling(self, recalling: bool) -> None:
        """Choose what Enter asks, put the cursor into the box, and ask again if there are words."""
        (self.recall_mode if recalling else self.search_mode).setChecked(True)
        self.box.setPlaceholderText(t("search.recall_hint") if recalling else t("search.search_hint"))
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()
        self._tell_note()
        if self.box.text().strip() or (self.filters.filters and not recalling):
            self._ask()

    def show_search(self, result: SearchResult) -> None:
        self._show(result.hits)
        self._is_search = True
        self._words = lambda gone: t(
            "search.hits", shown=len(result.hits) - gone, total=result.total - gone, ms=result.elapsed_ms
        )
        self.count.setText(self._words(0))

    @property
    def shows_search(self) -> bool:
        """Whether what is listed answers a search, not a recall."""
        return self._is_search

    def refresh_search(self, result: SearchResult) -> None:
        """The same question, answered anew: who stands at a hit, and where he has scrolled to, stays."""
        here, at = self.list.currentIndex(), self.list.verticalScrollBar().value()
        held = here.data(HIT_ROLE).id if here.isValid() else ""
        self._dropping = True
        self.show_search(result)
        self.mark(held)
        self.list.verticalScrollBar().setValue(at)
        self._dropping = False

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
        self._tell_place()

    def clear(self) -> None:
        """Empty box, no filter, empty list, nothing lit."""
        self._typing.stop()
        self._looking_back = 0
        self.filters.set_filters(())
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
        """Up and down in the box walk through the hits; up from above them brings earlier questions back. Backspace at the
        start of the box takes the last filter away."""
        if watched is self.box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self._look_back(-1) if self._looking_back else self.step(1)
                return True
            if event.key() == Qt.Key.Key_Up:
                self.step(-1) if self.list.currentIndex().isValid() else self._look_back(1)
                return True
            if event.key() == Qt.Key.Key_Backspace and not self.box.text() and self.filters.drop_last():
                return True
        return super().eventFilter(watched, event)

    # --- the person -----------------------------------------------------------------------------
    def _typed(self, text: str) -> None:
        words, filters = taken(text)
        if filters:
            self._take(words, filters)
            return
        self._suggest(text)
        if not self.query():
            self._typing.stop()
            self._show(None)
            self.count.setText("")
            self.cleared.emit()
        elif not self.recalling:
            self._typing.start()

    def _take(self, words: str, filters: tuple[Filter, ...]) -> None:
        """Typed filters leave the box and become chips."""
        self.box.blockSignals(True)
        self.box.setText(words)
        self.box.blockSignals(False)
        self._popup.hide()
        for one in filters:
            self.filters.put(one)

    def _narrowed(self) -> None:
        """Another set of chips: what is asked is asked again."""
        self._tell_note()
        if not self.query():
            self._typed("")
        elif not self.recalling or self.box.text().strip():
            self._ask()

    def _suggest(self, text: str) -> None:
        """Values for the filter that is being written, in a list under the box."""
        begun = unfinished(text)
        if begun is None or not self.box.hasFocus():
            self._popup.hide()
            return
        key, start = begun
        self._offer.setStringList(list(self.filters.values(key)))
        self.completer.setCompletionPrefix(start)
        if self.completer.completionCount():
            self.completer.complete()
        else:
            self._popup.hide()

    def _complete(self, value: str) -> None:
        if (begun := unfinished(self.box.text())) and (one := read(begun[0], value)):
            before = self.box.text()
            start = max(before.rfind(":"), before.rfind("："))
            cut = before.rfind(" ", 0, start) + 1
            self._take(before[:cut], (one,))

    def _entered(self) -> None:
        """Enter asks; when the answer is already there, it opens the current hit or goes to the next."""
        words, filters = taken(self.box.text(), ended=True)
        if filters:
            self._take(words.strip(), filters)
            return
        if self._typing.isActive() or self.recalling or not self.hits.rowCount():
            self._remember()
            self._ask()
        elif self.list.currentIndex().isValid():
            self.hit_opened.emit(self.list.currentIndex().data(HIT_ROLE).id)
        else:
            self.step(1)

    def _ask(self) -> None:
        self._typing.stop()
        query = self.query()
        if query.words or (query and not self.recalling):
            (self.recall_asked if self.recalling else self.search_asked).emit(query)

    def _remember(self) -> None:
        query = self.query()
        if query and (not self._past or self._past[-1] != query):
            self._past = [*self._past, query][-REMEMBERED:]

    def _look_back(self, by: int) -> None:
        """An earlier question, chips and all; back past the newest one the box is empty."""
        at = self._looking_back + by
        if not 0 <= at <= len(self._past):
            return
        query = self._past[-at] if at else Query("")
        self.filters.set_filters(query.filters)
        self.box.setText(query.words)
        self._looking_back = at

    def _moved(self, current: QModelIndex) -> None:
        self._tell_place()
        if current.isValid() and not self._dropping:
            self._looking_back = 0
            self._remember()
            self.hit_selected.emit(current.data(HIT_ROLE).id)

    # --- what is shown --------------------------------------------------------------------------
    def _show(self, hits: tuple[Hit, ...] | None) -> None:
        self.hits.set_hits(hits or ())
        self._gone, self._is_search = 0, False
        self.delegate.full = max([LEAST_FULL_SCORE, *(sum(getattr(h.parts, s) for s in SUMMANDS) for h in hits or ())])
        self.empty.setText(t("search.empty") if hits is None else self.filters.why_nothing(self._narrowing()))
        self.loosen.setVisible(hits is not None and not hits and bool(self._narrowing()))
        self._pages.setCurrentWidget(self.list if hits else self._blank)
        self.legend.show_parts(hits or ())
        self.list.scrollToTop()
        self._tell_place()

    def _narrowing(self) -> tuple[Filter, ...]:
        """The filters that the answer on show obeys."""
        return tuple(one for one in self.filters.filters if not self.recalling or one.key == "project")

    def _tell_place(self) -> None:
        total, row = self.hits.rowCount(), self.list.currentIndex().row()
        self.place.setText(f"{row + 1} / {total}" if row >= 0 else "")
        for made in self.steps.values():
            made.setVisible(total > 0)

    def _tell_note(self) -> None:
        """A recall is asked as an agent asks it: the other filters wait for a search."""
        idle = self.recalling and any(one.key != "project" for one in self.filters.filters)
        self.note.setText(t("search.recall_filters") if idle else "")
        self.note.setVisible(idle)

    def _step_button(self, name: str, by: int, sign: str) -> QToolButton:
        made = QToolButton()
        made.setObjectName("action")
        made.setText(sign)
        made.setFixedWidth(STEP_WIDTH)
        made.setAccessibleName(t(f"search.{name}"))
        made.setToolTip(t(f"search.{name}"))
        made.clicked.connect(lambda: self.step(by))
        return made

    def _lay_out(self) -> None:
        modes = QHBoxLayout()
        modes.setSpacing(GRID // 2)
        modes.addWidget(self.search_mode)
        modes.addWidget(self.recall_mode)
        modes.addStretch()
        modes.addWidget(self.steps["previous"])
        modes.addWidget(self.place)
        modes.addWidget(self.steps["next"])
        self._pages = QStackedLayout()
        self._blank = QWidget()
        blank = QVBoxLayout(self._blank)
        blank.addStretch()
        blank.addWidget(self.empty)
        blank.addWidget(self.loosen, 0, Qt.AlignmentFlag.AlignHCenter)
        blank.addStretch()
        self._pages.addWidget(self._blank)
        self._pages.addWidget(self.list)
        top = QVBoxLayout()
        top.setContentsMargins(GRID, GRID, GRID, GRID // 2)
        top.setSpacing(GRID)
        top.addWidget(self.box)
        top.addWidget(self.filters)
        top.addLayout(modes)
        for part in (self.note, self.count, self.legend):
            top.addWidget(part)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(top)
        whole.addLayout(self._pages, 1)
