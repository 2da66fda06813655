"""Corrections that a person makes in the window, with real clicks and keys, on a real space."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar, QWidget
from pytestqt.qtbot import QtBot
from waiting import pressed, selected, until

from tetrarium.model import Hit, Standing
from tetrarium.service import open_space
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.hits import HIT_ROLE
from tetrarium_gui.panels.parts import day
from tetrarium_gui.panels.search import SearchPanel

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]

WRONG = "The ferry kiosk restarts its card reader every night at three."
RIGHT = "The ferry kiosk restarts its card reader every night at four, after the last boat."


@pytest.fixture
def space(tmp_path: Path) -> tuple[Path, str]:
    """A space with a wrong memory among others, and the wrong one's id."""
    folder = tmp_path / "space"
    with open_space(folder) as agent:
        wrong = agent.store(WRONG, keywords=["kiosk", "reader"], labels=["hardware"], client="claude-code").id
        agent.store("The kiosk prints a paper ticket when the network is down.", keywords=["kiosk", "ticket"])
        agent.store("Seat maps are drawn on a canvas with hit areas of 24 pixels.", keywords=["seat", "canvas"])
    assert wrong is not None
    return folder, wrong


def written(qtbot: QtBot, box: QWidget, text: str) -> None:
    """Replace what a box holds, as a person does."""
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(box, text)


def test_a_wrong_memory_is_found_edited_and_its_earlier_text_kept(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["edit"])
    assert inspector.is_editing
    written(qtbot, inspector.form.content, RIGHT)
    written(qtbot, inspector.form.labels, "hardware, night")
    inspector.form.category.setCurrentIndex(inspector.form.category.findData("bug"))
    inspector.form.importance.setValue(80)
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: not inspector.is_editing and inspector.content.toPlainText() == RIGHT)
    until(qtbot, lambda: inspector.versions.list.count() == 1)
    inspector.tabs.setCurrentIndex(1)
    assert "three" in inspector.versions.text.toPlainText()
    assert "four" in inspector.versions.text.toPlainText()
    picture(window)
    with open_space(folder) as service:
        memory = service.get(wrong)
    assert (memory.content, memory.labels, memory.category.value, memory.importance) == (
        RIGHT, ("hardware", "night"), "bug", 0.8
    )  # fmt: skip


def test_pin_expiry_and_nothing_make_no_version(space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    window.commands["edit"].trigger()
    pressed(qtbot, inspector.form.save)
    assert not inspector.is_editing, "nothing was changed, nothing is asked of the engine"
    window.commands["edit"].trigger()
    inspector.form.pinned.setChecked(True)
    inspector.form.expires.setChecked(True)
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: inspector.memory.pinned and not inspector.is_editing)
    assert inspector.memory.expires_at is not None
    assert inspector.memory.revision == 1


def test_a_store_by_an_agent_meanwhile_shows_both_texts_and_the_person_chooses(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["edit"])
    written(qtbot, inspector.form.content, RIGHT)
    with open_space(folder) as agent:
        theirs = agent.update(wrong, content="The ferry kiosk restarts its reader at two at night.").content
        until(qtbot, lambda: inspector.memory.revision == 2)
        assert inspector.form.content.toPlainText() == RIGHT, "what was being written stays"
        pressed(qtbot, inspector.form.save)
        until(qtbot, lambda: window.corrections.conflict is not None)
        conflict = window.corrections.conflict
        assert conflict.stored.toPlainText() == theirs == agent.get(wrong).content
        assert conflict.offered.toPlainText() == RIGHT
        picture(conflict)
        pressed(qtbot, conflict.mine)
        until(qtbot, lambda: inspector.memory.content == RIGHT and not inspector.is_editing)
        assert [version.content for version in agent.versions(wrong)] == [theirs, WRONG]


def test_a_new_statement_supersedes_the_old_one_and_can_be_taken_back(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["supersede"])
    pressed(qtbot, inspector.sheet.confirm)
    assert inspector.sheet.isVisible(), "an empty statement supersedes nothing"
    qtbot.keyClicks(inspector.sheet.text, RIGHT)
    qtbot.keyClicks(inspector.sheet.line, "the timetable changed")
    picture(window)
    pressed(qtbot, inspector.sheet.confirm)
    until(qtbot, lambda: inspector.memory.content == RIGHT)
    assert inspector.memory.supersedes == (wrong,)
    assert inspector.memory.labels == ("hardware",)
    until(qtbot, lambda: inspector.relations.tree.topLevelItemCount() > 0)
    selected(qtbot, window, wrong)
    assert inspector.memory.standing is Standing.INHIBITED
    pressed(qtbot, inspector.buttons["inhibit"])
    until(qtbot, lambda: inspector.memory.standing is Standing.LIVE)


def test_an_undone_correction_is_told_in_words_and_never_by_numbers_or_ids(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    right = f"{RIGHT} {'It has been so since the first summer of the line. ' * 4}"
    with open_space(folder) as service:
        new = service.store(right, supersedes=wrong, client="window").id
    window = open_window(folder)
    window.commands["undo"].trigger()
    until(qtbot, window.notices.isVisible)
    told = window.notices.notice.message
    assert told.startswith("Taken back: ")
    assert "undo of" not in told
    assert "…" in told
    edges = window.panels.inhibition.edges
    window.docks.show("inhibition")
    until(qtbot, lambda: edges.topLevelItemCount() == 1 and edges.topLevelItem(0).text(1).startswith("a correction"))
    assert new not in [edges.topLevelItem(0).text(column) for column in range(6)]


def test_a_statement_that_is_refused_goes_back_to_the_person(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["supersede"])
    qtbot.keyClicks(inspector.sheet.text, "ok")
    pressed(qtbot, inspector.sheet.confirm)
    until(qtbot, lambda: window.notices.notice is not None)
    assert window.notices.notice.advice
    assert inspector.sheet.isVisible()
    assert inspector.sheet.text.toPlainText() == "ok"
    assert inspector.memory.standing is Standing.LIVE


def test_inhibited_with_a_reason_and_released_by_the_keyboard_alone(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    until(qtbot, window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(inspector.sheet.line, "read from an old manual")
    qtbot.keyClick(inspector.sheet.line, Qt.Key.Key_Return)
    until(qtbot, lambda: inspector.memory.standing is Standing.INHIBITED)
    until(qtbot, lambda: window.state.snapshot.inhibited.sum() == 1)
    with open_space(folder) as agent:
        assert [edge.reason for edge in agent.inhibitions(wrong)] == ["read from an old manual"]
        assert [edge.author for edge in agent.inhibitions(wrong)] == ["window"]
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_I, keys)
    until(qtbot, lambda: inspector.memory.standing is Standing.LIVE)


def test_an_error_in_the_middle_of_an_edit_keeps_what_was_written(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    window.commands["edit"].trigger()
    written(qtbot, inspector.form.content, "   ")
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: window.notices.notice is not None)
    assert window.notices.notice.advice
    assert inspector.is_editing
    assert inspector.form.content.toPlainText() == "   "
    assert inspector.memory.content == WRONG


def test_what_goes_to_the_trash_leaves_every_view_and_comes_back(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["trash"])
    until(qtbot, lambda: len(window.state.snapshot) == 2)
    assert inspector.memory is None
    assert window.state.selected == ""
    pressed(qtbot, window.notices.act)
    until(qtbot, lambda: len(window.state.snapshot) == 3 and inspector.memory is not None)
    assert inspector.memory.content == WRONG


def test_a_hit_that_goes_to_the_trash_leaves_the_answer_and_no_other_one_is_taken(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    search = window.search
    qtbot.keyClicks(search.box, "kiosk")
    until(qtbot, lambda: search.hits.rowCount() > 1)
    before, row = search.hits.rowCount(), search.hits.row_of(wrong)
    at = search.list.visualRect(search.hits.index(row)).center()
    qtbot.mouseClick(search.list.viewport(), Qt.MouseButton.LeftButton, pos=at)
    until(qtbot, lambda: window.inspector.memory is not None and window.inspector.memory.id == wrong)
    pressed(qtbot, window.inspector.buttons["trash"])
    until(qtbot, lambda: search.hits.row_of(wrong) < 0)
    assert search.hits.rowCount() == before - 1
    assert str(before - 1) in search.count.text()
    assert window.state.selected == ""


def test_delete_in_the_list_trashes_and_ctrl_e_goes_on_at_the_end_of_the_text(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)
    inspector = selected(qtbot, window, wrong)
    qtbot.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(inspector.form.content, " Always.")
    assert inspector.form.content.toPlainText() == f"{WRONG} Always."
    pressed(qtbot, inspector.form.leave)
    table = window.table.table
    at = table.visualRect(window.table.rows.index(window.table.rows.row_of(wrong), 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    until(qtbot, lambda: window.table.rows.rowCount() == 2)
    assert window.notices.notice.done
    qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert "2" in window.table.sheet.title.text(), "several are shown with their number first"
    assert window.table.rows.rowCount() == 2


def test_several_marked_memories_go_to_the_trash_together_after_a_look_at_how_many_and_one_undo_brings_them_back(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, _ = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)
    table = window.table.table
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(window.state.chosen) == 3
    qtbot.keyClick(table, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    sheet = window.table.sheet
    assert sheet.isVisible()
    assert "3 memories" in sheet.title.text()
    assert len(window.state.snapshot) == 3, "nothing before it is confirmed"
    qtbot.keyClick(sheet.confirm, Qt.Key.Key_Return)
    until(qtbot, lambda: len(window.state.snapshot) == 0)
    qtbot.keyClick(window.search.box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: len(window.state.snapshot) == 3)


def test_control_z_takes_back_what_was_typed_first_and_then_the_last_deed(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)
    selected(qtbot, window, wrong)
    pressed(qtbot, window.inspector.buttons["trash"])
    until(qtbot, lambda: len(window.state.snapshot) == 2)
    box = window.search.box
    box.setFocus()
    qtbot.keyClicks(box, "kiosk")
    qtbot.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert box.text() == ""
    assert len(window.state.snapshot) == 2, "what was typed went back, no deed"
    qtbot.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    until(qtbot, lambda: len(window.state.snapshot) == 3)


def test_who_read_and_wrote_a_memory_is_told_in_the_inspector(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    with open_space(folder) as agent:
        agent.recall("when does the kiosk restart its reader?", client="codex")
    window = open_window(folder)
    inspector = selected(qtbot, window, wrong)
    inspector.tabs.setCurrentIndex(3)
    access = inspector.access
    until(qtbot, lambda: access.topLevelItemCount() == 2)
    told = [(access.topLevelItem(at).text(1), access.topLevelItem(at).text(2)) for at in range(2)]
    assert told == [("codex", "recalled"), ("claude-code", "stored")]
    picture(window)
    pressed(qtbot, inspector.buttons["edit"])
    inspector.form.pinned.setChecked(True)
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: access.topLevelItemCount() == 3)
    assert access.topLevelItem(0).text(1) == "window"


def test_nothing_is_cut_off_in_a_narrow_and_low_window(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    window.resize(1024, 640)
    inspector = selected(qtbot, window, wrong)
    window.resizeDocks([window.docks["inspector"]], [230], Qt.Orientation.Horizontal)
    until(qtbot, lambda: window.docks["inspector"].width() <= 300)
    for name, made in inspector.buttons.items():
        right = made.mapTo(inspector, made.rect().bottomRight())
        assert inspector.rect().contains(right), name
        assert made.width() >= made.minimumSizeHint().width(), name
    assert len(window.docks.tab_bars()) == 3
    bars = [bar for bar in window.findChildren(QTabBar) if bar.parentWidget() is window and bar.isVisible()]
    for bar in bars:
        over = [dock for dock in window.docks.values() if not dock.visibleRegion().isEmpty()]
        assert not any(dock.geometry().intersects(bar.geometry()) for dock in over), "no panel lies over a tab bar"
    picture(window)


ODD = {
    "a word of a megabyte": "x" * 1_000_000,
    "emoji": "\N{GRINNING FACE}" * 10_000 + " and twenty letters more",
    "right to left": "abc \u202eright to left\u202c and \u200bzero\u200d width, مرحبا بالعالم",
    "nested tags": "<b>" * 20_000 + "nested twenty thousand times" + "</b>" * 20_000,
    "markup": '<img src="file:///etc/hostname"> <a href="javascript:alert(1)">stays what it is</a>',
}


def test_any_text_is_shown_at_once_and_edited_without_loss(
    tmp_path: Path, open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder = tmp_path / "space"
    with open_space(folder) as agent:
        ids = {name: agent.store(text, keywords=[name], force=True).id for name, text in ODD.items()}
        kept = {memory.id: memory.content for memory in agent.page()}
    window = open_window(folder)
    inspector = window.inspector
    for name, memory_id in ids.items():
        selected(qtbot, window, memory_id)
        assert len(inspector.content.toPlainText()) <= 20_000, name
        window.commands["edit"].trigger()
        assert inspector.form.edits().arguments() == {}, f"{name}: opening the form changes no character"
        inspector.form.pinned.setChecked(True)
        pressed(qtbot, inspector.form.save)
        until(qtbot, lambda: inspector.memory.pinned)
        assert inspector.memory.content == kept[memory_id], name


def test_a_person_writes_a_new_memory_and_takes_it_back(
    tmp_path: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(tmp_path / "empty")
    until(qtbot, window.welcome.isVisible)
    picture(window.welcome)
    pressed(qtbot, window.welcome.ways["write"])
    inspector = window.inspector
    assert inspector.is_editing
    qtbot.keyClicks(inspector.form.content, RIGHT)
    qtbot.keyClicks(inspector.form.labels, "hardware")
    picture(window)
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: inspector.memory is not None and inspector.memory.content == RIGHT)
    assert not inspector.is_editing
    stored = inspector.memory
    assert (stored.source.client, stored.labels) == ("window", ("hardware",))
    assert stored.keywords, "what the person leaves empty is found in the text"
    until(qtbot, window.welcome.isHidden)
    window.commands["new_memory"].trigger()
    qtbot.keyClicks(inspector.form.content, "Begun and not")
    window.state.select("")
    window.state.select(stored.id)
    until(qtbot, lambda: inspector.memory is not None and not inspector.is_editing)
    window.commands["new_memory"].trigger()
    assert inspector.form.content.toPlainText() == "Begun and not", "a look at another memory loses nothing"
    pressed(qtbot, inspector.form.leave)
    assert not inspector.is_editing
    window.commands["undo"].trigger()
    until(qtbot, lambda: len(window.state.snapshot) == 0)
    with open_space(tmp_path / "empty") as service:
        assert service.stats().in_trash == 1


def test_a_new_memory_that_is_refused_stays_in_the_form(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(space[0])
    window.commands["new_memory"].trigger()
    qtbot.keyClicks(window.inspector.form.content, "ok")
    pressed(qtbot, window.inspector.form.save)
    until(qtbot, lambda: window.notices.notice is not None)
    assert window.notices.notice.advice
    assert window.inspector.is_editing
    assert window.inspector.form.content.toPlainText() == "ok"


def test_hits_follow_an_edit_and_a_correction_of_theirs(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    search = window.search
    qtbot.keyClicks(search.box, "kiosk reader")
    until(qtbot, lambda: search.hits.row_of(wrong) >= 0)
    inspector = selected(qtbot, window, wrong)
    with open_space(folder) as agent:
        agent.update(wrong, content=RIGHT)
        until(qtbot, lambda: RIGHT in [hit.content for hit in shown(search)])
        here = search.list.currentIndex()
        assert here.isValid(), "one stands where one stood"
        assert here.data(HIT_ROLE).id == wrong == window.state.selected
        new = agent.store("The kiosk reader is never restarted any more.", supersedes=[wrong]).id
        until(qtbot, lambda: search.hits.row_of(new) >= 0)
    assert search.hits.row_of(wrong) < 0
    assert new in window.state.highlight.lit
    assert inspector.memory.id == wrong == window.state.selected, "nobody is sent elsewhere"


def test_the_trash_says_until_when_a_memory_can_be_restored(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    with open_space(folder) as service:
        pinned = service.store("The spare reader hangs behind the ticket counter.").id
        service.update(pinned, pinned=True)
    window = open_window(folder)
    gone = day(datetime.now(UTC) + timedelta(days=30))
    inspector = selected(qtbot, window, wrong)
    pressed(qtbot, inspector.buttons["trash"])
    until(qtbot, lambda: window.notices.notice is not None)
    assert gone in window.notices.notice.advice
    selected(qtbot, window, pinned)
    pressed(qtbot, inspector.buttons["trash"])
    window.docks.show("trash")
    listed = window.panels.trash.list
    until(qtbot, lambda: listed.topLevelItemCount() == 2)
    picture(window)
    dates = {listed.topLevelItem(row).text(0): listed.topLevelItem(row).text(4) for row in range(2)}
    assert dates == {WRONG: gone, "The spare reader hangs behind the ticket counter.": "never"}


def test_a_text_that_no_answer_can_hold_is_warned_of_and_may_be_kept(
    tmp_path: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(tmp_path / "space")
    form = window.inspector.form
    window.commands["new_memory"].trigger()
    long = " ".join(f"Step {n}: the kiosk checks the ticket, then the seat." for n in range(1_000))
    form.content.setPlainText(long)
    until(qtbot, form.too_long.isVisible)
    assert "of 4,000 tokens" in form.too_long.text()
    picture(window)
    form.content.setPlainText(RIGHT)
    until(qtbot, form.too_long.isHidden)
    form.content.setPlainText(long)
    pressed(qtbot, form.save)
    until(qtbot, lambda: window.inspector.memory is not None)
    with open_space(tmp_path / "space") as agent:
        (memory,) = agent.page()
        assert memory.content == long
        assert agent.recall("kiosk checks ticket").blocks == (), "what the warning says is so"


def shown(search: SearchPanel) -> list[Hit]:
    """The hits that are listed."""
    return [search.hits.data(search.hits.index(row), HIT_ROLE) for row in range(search.hits.rowCount())]
