"""The search box on a real space: filters as chips by keys and clicks, hits walked through, questions brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import pressed, selected, until

from tetrarium.service import MemoryService, open_space
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.filters import Filter, Query, moment, read, taken, unfinished
from tetrarium_gui.panels.search import SearchPanel

OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_filters_are_read_from_what_is_typed_in_either_language_and_what_is_none_stays_a_word() -> None:
    assert taken('label:"night shift" since:7d kiosk ') == (
        "kiosk ",
        (Filter("label", "night shift"), Filter("since", "7d")),
    )
    assert taken("label:ops") == ("label:ops", ()), "a filter is finished by the blank behind it"
    assert taken("label:ops", ended=True) == ("", (Filter("label", "ops"),))
    assert taken("类别:决定 离线同步 ") == ("离线同步 ", (Filter("category", "decision"),))
    assert taken("see https://example.org since:tuesday category:nothing ")[1] == ()
    assert read("state", "已抑制") == Filter("state", "inhibited")
    assert unfinished("kiosk label:op") == ("label", "op")
    assert unfinished("kiosk op") is None


def test_a_time_is_a_span_back_from_now_or_a_date() -> None:
    assert moment("7d", NOW) == NOW - timedelta(days=7)
    assert moment("24h", NOW) == moment("1天", NOW) == NOW - timedelta(days=1)
    assert moment("2026-05", NOW) == datetime(2026, 5, 1).astimezone(UTC)
    assert moment("tuesday", NOW) is None
    given = Query("x", (Filter("label", "a"), Filter("label", "b"), Filter("client", "cursor"))).arguments(NOW)
    assert given == {"project": "*", "labels": ("a", "b"), "stored_by": "cursor"}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[MemoryService]:
    """Another program on a space with labels, kinds, projects and clients."""
    with open_space(tmp_path / "space") as service:
        for text, labels, category, project, client in (
            ("The kiosk prints a paper ticket when the network is down.", ["ops"], "fact", "harbour", "claude-code"),
            ("We go with two kiosks a quay because one breaks often.", ["ops"], "decision", "harbour", "cursor"),
            ("Seat maps are drawn on a canvas with hit areas of 24 pixels.", ["web"], "fact", "tickets", "cursor"),
            ("Kiosk readers are cleaned with isopropanol every Monday.", ["hardware"], "skill", "", "cursor"),
        ):
            service.store(text, labels=labels, category=category, project=project, client=client)
        yield service


def answered(qtbot: QtBot, search: SearchPanel, count: int) -> None:
    until(qtbot, lambda: search.hits.rowCount() == count)


@pytest.mark.needs_display
def test_filters_are_typed_completed_clicked_and_taken_away_by_keys(
    agent: MemoryService, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(agent.path)
    until(qtbot, window.isActiveWindow)
    search, box = window.search, window.search.box
    until(qtbot, lambda: "ops" in search.filters.choices.get("label", ()))
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(box, "kiosk")
    answered(qtbot, search, 4)
    qtbot.keyClicks(box, " label:ops ")
    answered(qtbot, search, 2)
    assert box.text().strip() == "kiosk", "what became a chip leaves the box"
    assert [chip.text().strip(" ✕") for chip in search.filters.chips] == ["label: ops"]
    qtbot.keyClicks(box, "category:dec")
    until(qtbot, lambda: search.completer.popup().isVisible())
    qtbot.keyClick(search.completer.popup(), Qt.Key.Key_Down)
    qtbot.keyClick(search.completer.popup(), Qt.Key.Key_Return)
    answered(qtbot, search, 1)
    assert window.state.highlight.lit == (search.hits.data(search.hits.index(0), Qt.ItemDataRole.UserRole).id,)
    picture(window)
    search.filters.chips[0].setFocus()
    qtbot.keyClick(search.filters.chips[0], Qt.Key.Key_Delete)
    until(qtbot, lambda: [one.key for one in search.filters.filters] == ["category"])
    pressed(qtbot, search.filters.chips[0])
    answered(qtbot, search, 4)
    box.setFocus()
    box.clear()
    qtbot.keyClicks(box, "client:cursor project:harbour ")
    answered(qtbot, search, 2)
    assert not search.legend.isVisible(), "what filters alone found has no score"
    qtbot.keyClick(box, Qt.Key.Key_Backspace)
    answered(qtbot, search, 3)
    assert [one.key for one in search.filters.filters] == ["client"]
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not search.query()
    assert search.hits.rowCount() == 0


@pytest.mark.needs_display
def test_hits_are_counted_and_walked_through_and_earlier_questions_come_back(
    agent: MemoryService, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(agent.path)
    until(qtbot, window.isActiveWindow)
    search, box = window.search, window.search.box
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(box, "kiosk")
    answered(qtbot, search, 4)
    assert len(search.legend.keys) == 9
    assert all(key.toolTip() and key.text() for key in search.legend.keys.values())
    qtbot.keyClick(box, Qt.Key.Key_F3)
    assert search.place.text() == "1 / 4"
    qtbot.keyClick(box, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert search.place.text() == "4 / 4"
    pressed(qtbot, search.steps["next"])
    assert search.place.text() == "1 / 4"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.keyClicks(box, "seat label:web ")
    answered(qtbot, search, 1)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert search.query() == Query("seat", (Filter("label", "web"),))
    answered(qtbot, search, 1)
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert search.query() == Query("kiosk")
    qtbot.keyClick(box, Qt.Key.Key_Down)
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert not search.query()


@pytest.mark.needs_display
def test_a_click_on_a_label_narrows_and_a_recall_says_that_it_knows_the_project_only(
    agent: MemoryService, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(agent.path)
    search = window.search
    memory = agent.page()[0]
    inspector = selected(qtbot, window, memory.id)
    inspector.chips.chosen.emit("hardware")
    answered(qtbot, search, 1)
    assert search.filters.filters == (Filter("label", "hardware"),)
    pressed(qtbot, search.recall_mode)
    assert search.note.isVisible()
    search.filters.set_filters((Filter("project", "tickets"),))
    assert not search.note.isVisible()
    qtbot.keyClicks(search.box, "how are kiosk readers cleaned, and seat maps drawn?")
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    until(qtbot, lambda: window.voids.trace is not None)
    assert window.voids.trace.project == "tickets"


@pytest.mark.needs_display
def test_a_keyword_of_the_inspector_narrows_and_filters_that_leave_nothing_say_so(
    agent: MemoryService, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    agent.store("The payment provider answers refunds within two working days.", keywords=["payment", "refund"])
    agent.store("Refunds over 500 need a second signature.", keywords=["signature", "refund"])
    window = open_window(agent.path)
    search, box = window.search, window.search.box
    memory = next(m for m in agent.page() if "payment" in m.keywords)
    inspector = selected(qtbot, window, memory.id)
    inspector.chips.chosen.emit("payment")
    answered(qtbot, search, 1)
    assert search.filters.filters == (Filter("keyword", "payment"),)
    search.filters.set_filters(())
    until(qtbot, lambda: "payment" in search.filters.choices.get("keyword", ()))
    box.setFocus()
    qtbot.keyClicks(box, "refund label:payment ")
    until(qtbot, search.loosen.isVisible)
    assert "label:payment leaves nothing" in search.empty.text()
    assert "keyword:payment" in search.empty.text()
    picture(window)
    pressed(qtbot, search.loosen)
    until(qtbot, lambda: search.hits.rowCount() > 1)
    assert search.query() == Query("refund")
    assert not search.loosen.isVisible()
    box.setFocus()
    qtbot.keyClicks(box, " until:2001-01-01 ")
    until(qtbot, search.loosen.isVisible)
    assert "until:2001-01-01 leaves nothing" in search.empty.text()
