"""The whole window on a real space, with the real engine behind it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QPoint, QSettings, QSize, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, Sample, settled

from tetrarium import __version__
from tetrarium.service import open_space
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.commands import COMMANDS
from tetrarium_gui.main_window import MainWindow, first_size
from tetrarium_gui.panels.hits import HIT_ROLE

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]


def asked(qtbot: QtBot, window: MainWindow, words: str, *, recalling: bool = False) -> None:
    """Type words as a person does, and wait for the answer."""
    window.commands["recall" if recalling else "search"].trigger()
    signal = window.bridge.recalled if recalling else window.bridge.searched
    with qtbot.waitSignal(signal, timeout=PATIENCE, check_params_cb=lambda answer: answer.query == words):
        window.search.box.clear()
        if words.isascii():
            qtbot.keyClicks(window.search.box, words)
        else:  # Qt's test keyboard has no Chinese; an input method inserts
            window.search.box.insert(words)
        if recalling:
            qtbot.keyClick(window.search.box, Qt.Key.Key_Return)
    settled(qtbot, window.space)


def in_front(window: MainWindow) -> str:
    space = window.space
    return next(i for i in space.scene.ids if space.memory_at(space.pixel_of(i)) == i)


def test_the_window_shows_every_memory_of_the_sample(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    settled(qtbot, window.space)
    count = len(window.state.snapshot)
    assert count > 200
    assert len(window.space.gl.tetrahedra) == window.table.rows.rowCount() == count
    for words in (f"{count} memories", "clusters", "inhibited", "indexed ✓", "e5-small"):
        assert words in window.status.text()
    assert len({window.space.gl.grabFramebuffer().pixelColor(x, 300).name() for x in range(0, 700, 2)}) > 5
    picture(window)


def test_a_sample_space_is_seen_growing_while_it_is_filled(sample: Sample) -> None:
    assert len(sample.growth) > 5
    assert list(sample.growth) == sorted(set(sample.growth))


def test_a_click_in_the_space_shows_the_memory_in_inspector_and_list(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    settled(qtbot, window.space)
    memory_id = in_front(window)
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE) as told:
        qtbot.mouseClick(window.space, Qt.MouseButton.LeftButton, pos=window.space.pixel_of(memory_id).toPoint())
    assert told.args[0].id == memory_id
    assert window.inspector.content.toPlainText() == told.args[0].content
    assert window.table.rows.id_at(window.table.table.currentIndex().row()) == memory_id
    window.commands["fit_selection"].trigger()
    settled(qtbot, window.space)
    picture(window)


def test_a_row_of_the_list_selects_in_the_space(sample_folder: Path, open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(sample_folder)
    window.table.table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE):
        window.table.table.selectRow(3)
    assert window.state.selected == window.table.rows.id_at(3)
    importances = [
        window.state.snapshot.importance[window.space.scene.row(window.table.rows.id_at(r))] for r in range(50)
    ]
    assert importances == sorted(importances, reverse=True)


def test_a_click_in_the_list_marks_that_row_and_moves_nothing(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(sample_folder)
    window.resizeDocks([window.docks["list"]], [400], Qt.Orientation.Vertical)
    settled(qtbot, window.space)
    table, rows = window.table.table, window.table.rows
    bar = table.verticalScrollBar()
    bar.setValue(100 * table.rowHeight(0))
    at, places = bar.value(), [QPoint(60, round(table.rowHeight(0) * (k + 0.5))) for k in range(7)]
    assert places[-1].y() < table.viewport().height()
    for place in (places[i] for i in (3, 0, 6, 2, 5, 1, 3, 4)):
        clicked = rows.id_at(table.indexAt(place).row())
        qtbot.mousePress(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseRelease(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.waitUntil(lambda one=clicked: _shown_everywhere(window, one), timeout=PATIENCE)
        assert bar.value() == at
    ctrl = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, ctrl, places[1])
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, ctrl, places[6])
    wanted = {rows.id_at(table.indexAt(places[i]).row()) for i in (1, 4, 6)}
    assert set(window.table.chosen()) == set(window.state.chosen) == wanted
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, places[2])
    assert len(window.table.chosen()) > 1
    assert bar.value() == at


def _shown_everywhere(window: MainWindow, memory_id: str) -> bool:
    """One memory is the row that is marked, the selected one, and what the inspector shows."""
    shown = window.inspector.memory
    assert window.table.chosen() == (memory_id,)
    return window.state.selected == memory_id and shown is not None and shown.id == memory_id


def test_choosing_a_memory_uncovers_the_inspector_and_following_one_does_not(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(sample_folder)
    settled(qtbot, window.space)
    inspector, privacy = window.docks["inspector"], window.docks["privacy"]

    def covered() -> bool:
        return inspector.visibleRegion().isEmpty()

    def cover() -> None:
        privacy.raise_()
        qtbot.waitUntil(covered)

    memory_id = in_front(window)
    cover()
    qtbot.mouseClick(window.space, Qt.MouseButton.LeftButton, pos=window.space.pixel_of(memory_id).toPoint())
    qtbot.waitUntil(lambda: not covered())
    cover()
    qtbot.mouseClick(window.space, Qt.MouseButton.LeftButton, pos=window.space.pixel_of(memory_id).toPoint())
    qtbot.waitUntil(lambda: not covered())
    cover()
    window.table.table.selectRow(3)
    qtbot.waitUntil(lambda: not covered())
    asked(qtbot, window, "payment provider")
    cover()
    window.commands["next_hit"].trigger()
    qtbot.waitUntil(lambda: not covered())
    other = window.search.hits.index(3).data(HIT_ROLE).id
    cover()
    window.open_memory(other)  # as an agent's deed in Activity does; the hits follow
    settled(qtbot, window.space)
    assert window.state.selected == other
    assert covered()
    inspector.hide()
    window.table.table.selectRow(5)
    assert window.state.selected == window.table.rows.id_at(5)
    assert inspector.isHidden()


def test_searching_as_you_type_lights_the_hits_and_ends_with_the_last_words(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    asked(qtbot, window, "payment webhook retry")
    hits = [window.search.hits.data(window.search.hits.index(r), Qt.ItemDataRole.UserRole) for r in range(3)]
    assert window.state.highlight.lit[0] == hits[0].id
    assert "payment" in " ".join(h.content.lower() + " ".join(h.memory.keywords) for h in hits)
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE):
        qtbot.keyClick(window.search.box, Qt.Key.Key_Down)
    assert window.state.selected == hits[0].id
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE):
        window.commands["next_hit"].trigger()
    assert window.state.selected == hits[1].id
    picture(window)
    window.commands["clear"].trigger()
    assert window.state.highlight is None
    assert window.search.hits.rowCount() == 0


def test_an_answer_that_a_newer_question_has_overtaken_is_dropped(sample_folder: Path, qtbot: QtBot) -> None:
    bridge, answers = Bridge(sample_folder), []
    with qtbot.waitSignal(bridge.stats_ready, timeout=PATIENCE):
        bridge.start()
    bridge.searched.connect(lambda result: answers.append(result.query))
    for words in ("pay", "payment", "payment web", "payment webhook"):
        bridge.search(words)
    qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE)
    with qtbot.waitSignal(bridge.stats_ready, timeout=PATIENCE):
        bridge.refresh()
    assert answers == ["payment webhook"]
    assert bridge.close()


def test_a_recall_shows_its_zones_its_budget_and_its_reasons(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    asked(qtbot, window, "what happens when the payment provider does not answer?", recalling=True)
    trace = window.voids.trace
    assert window.state.highlight.lit == tuple(hit.id for hit in trace.blocks)
    assert window.voids.zones.topLevelItemCount() >= 1 + len(trace.void_zones)
    assert "kept" in window.voids.summary.text()
    assert "last recall" in window.status.text()
    kept = window.voids.zones.topLevelItem(0)
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE):
        window.voids.zones.setCurrentItem(kept.child(0))
    assert window.state.selected == trace.blocks[0].id
    picture(window)


def test_what_another_process_stores_appears_by_itself(open_window: OpenWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    with open_space(folder) as agent:
        agent.store("The ferry kiosk restarts its card reader every night at three.", keywords=["kiosk", "reader"])
        window = open_window(folder)
        assert len(window.state.snapshot) == 1
        uploads = window.space.gl.tetrahedra.uploads
        settled(qtbot, window.space)
        before = uploads.geometry
        stored = agent.store("The kiosk prints a paper ticket when the network is down.", keywords=["kiosk", "ticket"])
        qtbot.waitUntil(lambda: len(window.state.snapshot) == 2, timeout=PATIENCE)
        assert stored.id in window.state.snapshot.ids
        settled(qtbot, window.space)
        assert uploads.geometry - before == 16
        qtbot.waitUntil(lambda: "2 memories" in window.status.text(), timeout=PATIENCE)


def test_an_empty_space_says_what_will_appear(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path, picture: Picture
) -> None:
    window = open_window(tmp_path / "empty")
    settled(qtbot, window.space)
    for panel in (window.search, window.inspector, window.table, window.voids):
        shown = [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel) and label.text()]
        assert any("appear" in text or "read" in text or "listed" in text for text in shown)
    picture(window)


def test_text_of_a_memory_is_never_read_as_markup(open_window: OpenWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "space"
    text = '<b>bold</b> <img src="file:///etc/hostname"> <a href="http://192.0.2.1/">link</a> stays what it is'
    with open_space(folder) as agent:
        memory_id = agent.store(text, keywords=["<i>markup</i>"], author="<u>me</u>", session="<s>1</s>").id
    window = open_window(folder)
    with qtbot.waitSignal(window.bridge.memory_ready, timeout=PATIENCE):
        window.state.select(memory_id)
    assert isinstance(window.inspector.content, QPlainTextEdit)
    assert window.inspector.content.toPlainText() == text
    for label in window.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText or "<" not in label.text()


def test_a_space_that_cannot_be_opened_is_told_without_blocking(qtbot: QtBot, tmp_path: Path, picture: Picture) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "space.tetrarium").write_bytes(b"this is not a store" * 500)
    bridge = Bridge(folder)
    window = MainWindow(bridge, QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(window)
    window.show()
    with qtbot.waitSignal(bridge.unavailable, timeout=PATIENCE):
        bridge.start()
    assert window.notices.isVisible()
    assert window.notices.notice.grave
    assert window.notices.notice.advice
    picture(window)
    assert bridge.close()


def test_both_appearances_can_be_chosen_and_stay(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    window.commands["theme_light"].trigger()
    asked(qtbot, window, "离线同步冲突怎么处理")
    assert window.theme.name == "light"
    assert window.space.gl.grabFramebuffer().pixelColor(5, 300).lightness() > 200
    picture(window)
    assert window._settings.value("appearance") == "light"
    window.commands["theme_dark"].trigger()
    assert window.theme.name == "dark"


def test_every_command_is_found_by_its_words(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    window.commands["palette"].trigger()
    assert len(window.palette_box.shown()) == len(window.commands.all()) - 1 >= len(COMMANDS)
    picture(window)
    qtbot.keyClicks(window.palette_box.box, "chin")
    assert "中文" in window.palette_box.shown()[0]
    window.palette_box.box.clear()
    qtbot.keyClicks(window.palette_box.box, "category")
    assert [words.split("  ")[0] for words in window.palette_box.shown()] == ["Colour by category"]
    qtbot.keyClick(window.palette_box.box, Qt.Key.Key_Return)
    assert window.state.color_by == "category"
    assert window.palette_box.isHidden()


def test_help_lists_every_shortcut_explains_voids_and_tells_what_program_this_is(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    settled(qtbot, window.space)
    assert window.top_bar.menus.actions()[-1].text() == "&Help"
    window.table.table.setFocus()
    qtbot.keyClick(window.table.table, Qt.Key.Key_F1)
    box = window.palette_box
    qtbot.waitUntil(box.isVisible)
    assert any("Ctrl+F" in words and "/" in words for words in box.shown())
    keyed = [bool(action.shortcuts()) for action in window.commands.all() if action.objectName() != "palette"]
    assert all("    " in words for words in box.shown()[: sum(keyed)])
    picture(window)
    qtbot.keyClicks(box.box, "ctrl+shift+z")
    assert [words.split("  ")[0] for words in box.shown()] == ["Redo"]
    qtbot.keyClicks(box.box, "zebra")
    assert box.shown() == ()
    assert box.list.item(0).text() == "Nothing found"
    qtbot.keyClick(box.box, Qt.Key.Key_Return)
    assert box.isVisible()
    window.commands["how_voids"].trigger()
    page = window.help.page
    assert page.isVisible()
    assert "candidates" in page.words.text()
    picture(page)
    qtbot.keyClick(page.close_button, Qt.Key.Key_Escape)
    assert page.isHidden()
    window.commands["about"].trigger()
    for words in (__version__, "Apache-2.0", "e5-small"):
        assert words in page.words.text()
    picture(window)
    qtbot.mouseClick(page.close_button, Qt.MouseButton.LeftButton)
    assert page.isHidden()


def test_the_first_window_fits_the_screen_and_the_view_menu_is_short(open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(tmp_path / "space")
    room = window.screen().availableSize()
    assert window.width() < room.width()
    assert window.height() < room.height()
    assert first_size(QSize(2560, 1440)) == QSize(1440, 900)
    assert first_size(QSize(1366, 728)) == QSize(1350, 680)
    assert first_size(QSize(800, 600)) == QSize(1024, 640)
    shown = [action for action in window.commands.menus["view"].actions() if not action.isSeparator()]
    assert len(shown) <= 22
    assert sum(action.menu() is not None for action in shown) == 6
    assert len(window.commands.menus["colors"].actions()) == 7


def test_only_the_space_and_back(sample_folder: Path, open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(sample_folder)
    before = window.space.width()
    window.commands["only_space"].setChecked(True)
    qtbot.waitUntil(lambda: window.space.width() > before)
    window.commands["only_space"].setChecked(False)
    qtbot.waitUntil(lambda: window.space.width() <= before)
    assert all(not dock.isHidden() for dock in window.docks.values())


def test_every_panel_has_one_tab_and_no_tab_bar_is_left_behind(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window(tmp_path / "space")

    def one_each() -> bool:
        tabs = [tab for bar in window.docks.tab_bars() for tab in bar]
        return len(tabs) == len(set(tabs)) == len(window.docks.values())

    qtbot.waitUntil(one_each)
    window.commands["reset_layout"].trigger()
    qtbot.waitUntil(one_each)
    window.commands["only_space"].setChecked(True)
    qtbot.waitUntil(lambda: not window.docks.tab_bars())
    window.commands["only_space"].setChecked(False)
    qtbot.waitUntil(one_each)


def test_closing_remembers_the_layout_and_ends_the_engine(sample_folder: Path, open_window: OpenWindow) -> None:
    window = open_window(sample_folder)
    window.close()
    assert isinstance(window._settings.value("layout"), QByteArray)
    assert window.bridge.close()
    assert window.bridge._engine.isFinished()


def test_no_two_commands_share_a_shortcut() -> None:
    shortcuts = [keys for command in COMMANDS for keys in command.shortcuts]
    assert len(shortcuts) == len(set(shortcuts))
