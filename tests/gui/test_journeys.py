"""What people come for, start to end, with the mouse and the keys they use, and seen on the pixels of the space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, pressed, settled, until

from tetrarium.model import Reason, Standing
from tetrarium.service import open_space
from tetrarium_gui.main_window import MainWindow

pytestmark = pytest.mark.needs_display
OpenWindow = Callable[[Path], MainWindow]
Picture = Callable[[QWidget], None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
WRONG = "The ferry kiosk restarts its card reader every night at three."
RIGHT = "The ferry kiosk restarts its card reader every night at four."


@pytest.fixture
def space(tmp_path: Path) -> tuple[Path, str]:
    """A space with a wrong memory among others, and the wrong one's id."""
    folder = tmp_path / "space"
    with open_space(folder) as agent:
        wrong = agent.store(WRONG, keywords=["kiosk", "reader"], client="claude-code").id
        agent.store("Seat maps are drawn on a canvas with hit areas of 24 pixels.", keywords=["seat", "canvas"])
        agent.store("Refunds are booked by hand on the first Monday of each month.", keywords=["refund"])
    assert wrong is not None
    return folder, wrong


def clicked(qtbot: QtBot, view: QAbstractItemView, row: int, *, modifier: Qt.KeyboardModifier | None = None) -> None:
    """Click a row of a list."""
    index = view.model().index(row, 0)
    view.scrollTo(index)
    at = view.visualRect(index).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifier or Qt.KeyboardModifier.NoModifier, at)


def color_of(window: MainWindow, memory_id: str) -> np.ndarray:
    """Mean colour of the pixels round the centre of a memory, 0 … 255."""
    view = window.space
    image, ratio = view.gl.grabFramebuffer(), view.devicePixelRatioF()
    point = view.pixel_of(memory_id)
    x, y = round(point.x() * ratio), round(point.y() * ratio)
    near = [image.pixelColor(x + dx, y + dy) for dx in range(-6, 7, 3) for dy in range(-6, 7, 3)]
    return np.mean([[c.red(), c.green(), c.blue()] for c in near], axis=0)


def hatched(window: MainWindow) -> int:
    """Pixels of the space in the red of what is inhibited, which no cluster has; every second of each direction."""
    image = window.space.gl.grabFramebuffer()
    colors = (image.pixelColor(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2))
    return sum(color.red() > 110 and color.green() < 70 and color.blue() < 70 for color in colors)


def faced(window: MainWindow, qtbot: QtBot, memory_id: str) -> None:
    """Bring a memory into view and let everything come to rest, so that its pixels can be read."""
    window.desk.open_memory(memory_id)
    window.state.select("")
    settled(qtbot, window.space)


def test_a_wrong_memory_is_found_by_the_mouse_and_put_right(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    search, inspector = window.search, window.inspector
    qtbot.mouseClick(search.box, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(search.box, "card reader restart")
    until(qtbot, lambda: search.hits.row_of(wrong) == 0)
    dimmed = next(i for i in window.state.snapshot.ids if i not in window.state.highlight.lit[:1])
    clicked(qtbot, search.list, 0)
    until(qtbot, lambda: inspector.memory is not None and inspector.memory.id == wrong)
    settled(qtbot, window.space)
    assert color_of(window, wrong).sum() > color_of(window, dimmed).sum(), "what was found is brighter than the rest"
    pressed(qtbot, inspector.buttons["edit"])
    qtbot.keyClick(inspector.form.content, Qt.Key.Key_A, CONTROL)
    qtbot.keyClicks(inspector.form.content, RIGHT)
    pressed(qtbot, inspector.form.save)
    until(qtbot, lambda: inspector.content.toPlainText() == RIGHT)
    until(qtbot, lambda: window.state.excerpt(wrong) == RIGHT)
    picture(window)
    with open_space(folder) as agent:
        assert agent.recall("when does the kiosk restart its card reader?").blocks[0].content == RIGHT
        assert [version.content for version in agent.versions(wrong)] == [WRONG]


def test_an_answer_is_explained_and_a_void_let_through_by_the_mouse(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    search, voids = window.search, window.voids
    pressed(qtbot, search.recall_mode)
    qtbot.keyClicks(search.box, "what happens when the payment provider does not answer?")
    with qtbot.waitSignal(window.bridge.recalled, timeout=PATIENCE):
        qtbot.keyClick(search.box, Qt.Key.Key_Return)
    until(qtbot, lambda: not voids.visibleRegion().isEmpty())
    zones: QTreeWidget = voids.zones
    zones.collapseAll()
    clicked(qtbot, zones, 1)
    qtbot.keyClick(zones, Qt.Key.Key_Right)
    qtbot.keyClick(zones, Qt.Key.Key_Down)
    memory = zones.current_id()
    assert memory in voids.trace.void_zones[0].members
    window.state.select("")
    window.desk.space.fly_to(memory)
    settled(qtbot, window.space)
    pale = color_of(window, memory)
    pressed(qtbot, voids.why)
    until(qtbot, voids.explanation.isVisible)
    assert "Void, rank" in voids.explanation.text()
    assert "a void target of at most" in voids.explanation.text()
    pressed(qtbot, voids.once)
    until(qtbot, lambda: reason_of(window, memory) is not Reason.OFF_TOPIC)
    assert "A rehearsal" in voids.summary.text()
    settled(qtbot, window.space)
    if reason_of(window, memory) is Reason.KEPT:
        lit = color_of(window, memory)
        assert np.ptp(lit) > np.ptp(pale), "what is answered has its colour again"
    picture(window)


def reason_of(window: MainWindow, memory: str) -> Reason:
    return next(c.reason for c in window.voids.trace.candidates if c.id == memory)


def test_superseded_undone_started_again_and_undone_again_with_the_keys_and_on_the_pixels(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)
    faced(window, qtbot, wrong)
    assert not hatched(window)
    window.state.select(wrong)
    until(qtbot, lambda: window.inspector.memory is not None)
    pressed(qtbot, window.inspector.buttons["supersede"])
    qtbot.keyClicks(window.inspector.sheet.text, RIGHT)
    pressed(qtbot, window.inspector.sheet.confirm)
    until(qtbot, lambda: len(window.state.snapshot) == 4 and bool(window.state.snapshot.inhibited.any()))
    faced(window, qtbot, wrong)
    picture(window)
    assert hatched(window) > 20, "what is superseded is drawn as inhibited"
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    until(qtbot, lambda: len(window.state.snapshot) == 3 and not window.state.snapshot.inhibited.any())
    faced(window, qtbot, wrong)
    assert not hatched(window)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL | SHIFT)
    until(qtbot, lambda: len(window.state.snapshot) == 4)
    window.close()
    assert window.bridge.close()
    again = open_window(folder)
    until(qtbot, again.isActiveWindow)
    assert again.state.snapshot.inhibited.any()
    qtbot.keyClick(again, Qt.Key.Key_Z, CONTROL)
    until(qtbot, lambda: len(again.state.snapshot) == 3 and not again.state.snapshot.inhibited.any())
    faced(again, qtbot, wrong)
    assert not hatched(again)
    with open_space(folder) as agent:
        assert agent.get(wrong).standing is Standing.LIVE


def test_many_are_deleted_with_the_keys_and_restored_with_the_mouse(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)
    table, trash = window.table.table, window.panels.trash
    faced(window, qtbot, wrong)
    point, drawn = window.space.pixel_of(wrong), color_of(window, wrong)
    place = window.state.snapshot.places[window.state.row(wrong)].tolist()
    clicked(qtbot, table, 0)
    qtbot.keyClick(table, Qt.Key.Key_Down, SHIFT)
    qtbot.keyClick(table, Qt.Key.Key_Down, SHIFT)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert "3 memories" in window.table.sheet.title.text()
    qtbot.keyClick(window.table.sheet.confirm, Qt.Key.Key_Return)
    until(qtbot, lambda: len(window.state.snapshot) == 0)
    settled(qtbot, window.space)
    image = window.space.gl.grabFramebuffer()
    bare = image.pixelColor(point.toPoint())
    assert abs(bare.red() - drawn[0]) + abs(bare.green() - drawn[1]) + abs(bare.blue() - drawn[2]) > 40, "it is gone"
    window.docks.show("trash")
    until(qtbot, lambda: trash.list.topLevelItemCount() == 3)
    clicked(qtbot, trash.list, 0)
    clicked(qtbot, trash.list, 2, modifier=SHIFT)
    pressed(qtbot, trash.restore)
    until(qtbot, lambda: len(window.state.snapshot) == 3 and trash.list.topLevelItemCount() == 0)
    assert window.state.chosen == (), "what was marked before it went is not marked any more"
    assert window.state.snapshot.places[window.state.row(wrong)].tolist() == place, "it stands where it stood"
    picture(window)


def test_a_chain_of_corrections_is_told_and_lit(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    folder, wrong = space
    with open_space(folder) as agent:
        second = agent.store(RIGHT, supersedes=[wrong], force=True).id
        third = agent.store("The ferry kiosk restarts its card reader never any more.", supersedes=[second]).id
    window = open_window(folder)
    window.docks.show("inhibition")
    panel = window.panels.inhibition
    until(qtbot, lambda: panel.edges.topLevelItemCount() == 2)
    clicked(qtbot, panel.edges, 1)
    until(qtbot, panel.chain.isVisible)
    words = panel.chain.text()
    assert words.index("at three") < words.index("at four") < words.index("never any more")
    until(qtbot, lambda: window.state.highlight is not None and window.state.highlight.lit == (wrong, second, third))
    until(qtbot, lambda: len(window.state.links) >= 1)
    settled(qtbot, window.space)
    picture(window)


def test_all_of_a_correction_goes_by_the_keyboard_alone_from_the_question_to_the_undo(
    space: tuple[Path, str], open_window: OpenWindow, qtbot: QtBot
) -> None:
    folder, wrong = space
    window = open_window(folder)
    until(qtbot, window.isActiveWindow)

    def key(code: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        qtbot.keyClick(QApplication.focusWidget() or window, code, modifiers)

    def write(words: str) -> None:
        qtbot.keyClicks(QApplication.focusWidget(), words)

    key(Qt.Key.Key_R, CONTROL)
    write("when does the kiosk restart its reader?")
    key(Qt.Key.Key_Return)
    until(qtbot, lambda: window.voids.trace is not None and window.search.hits.rowCount() > 0)
    key(Qt.Key.Key_Down)
    until(qtbot, lambda: window.inspector.memory is not None and window.inspector.memory.id == wrong)
    key(Qt.Key.Key_Y, CONTROL)
    until(qtbot, window.voids.explanation.isVisible)
    assert window.voids.explanation.text().splitlines()[1].startswith("Answered")
    key(Qt.Key.Key_I, CONTROL)
    write("read from an old manual")
    key(Qt.Key.Key_Return)
    until(qtbot, lambda: bool(window.state.snapshot.inhibited.any()))
    key(Qt.Key.Key_Z, CONTROL)
    until(qtbot, lambda: not window.state.snapshot.inhibited.any())
