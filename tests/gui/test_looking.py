"""Looking about: axes in the corner, the mouse of other programs, views that are kept, the way between two memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import settled, until

from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.space import gizmo
from tetrarium_gui.space.camera import SIDES, Camera, Pose
from tetrarium_gui.space.hands import HABITS, Drag
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import WindowState
from tetrarium_gui.style import DARK

OpenWindow = Callable[..., MainWindow]
Picture = Callable[[QWidget], None]
LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
NONE, SHIFT, CONTROL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), DARK)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(300))
    settled(qtbot, space)
    yield space
    space.close()
    space.deleteLater()


def drag(view: SpaceView, button: Qt.MouseButton, held: Qt.KeyboardModifier) -> None:
    """Over the middle of the picture, as a hand does."""
    start = QPointF(220, 160)
    steps = [(QEvent.Type.MouseButtonPress, start, button, button)]
    steps += [
        (QEvent.Type.MouseMove, start + QPointF(at, at * 0.75), Qt.MouseButton.NoButton, button) for at in (20, 360)
    ]
    steps += [(QEvent.Type.MouseButtonRelease, start + QPointF(360, 270), button, Qt.MouseButton.NoButton)]
    for kind, at, which, buttons in steps:
        QApplication.sendEvent(view, QMouseEvent(kind, at, view.mapToGlobal(at), which, buttons, held))


def done(before: Pose, after: Pose, marked: bool) -> Drag | None:
    if marked:
        return Drag.BOX
    if after.azimuth != before.azimuth:
        return Drag.ORBIT
    if after.distance != before.distance:
        return Drag.ZOOM
    return Drag.PAN if after.centre != before.centre else None


@pytest.mark.needs_display
@pytest.mark.parametrize("habit", HABITS)
def test_drags_mean_what_they_mean_in_the_program_that_a_person_comes_from(habit: str, view: SpaceView) -> None:
    view.hands.habit = habit
    for (button, held), expected in HABITS[habit].items():
        if expected is Drag.LASSO:
            continue  # a straight line encloses nothing
        view.state.choose(())
        before = view.camera.pose
        drag(view, button, held)
        assert done(before, view.camera.pose, bool(view.state.chosen)) is expected, (habit, button, held)
        view.camera.pose = before


@pytest.mark.needs_display
def test_a_drag_that_a_habit_does_not_know_does_nothing(view: SpaceView) -> None:
    view.hands.habit = "blender"
    before = view.camera.pose
    drag(view, RIGHT, NONE)
    assert view.camera.pose == before


@pytest.mark.needs_display
def test_a_click_on_an_end_of_the_axes_looks_from_there(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    for _, side, direction in gizmo.AXES:
        view.camera.pose = Pose(view.camera.pose.centre, view.camera.pose.distance, 0.6, 0.4)
        end = next(end for end in gizmo.ends(view.camera) if end.side == side)
        qtbot.mouseClick(view, LEFT, pos=QPointF(end.x, end.y).toPoint())
        settled(qtbot, view)
        assert view.camera.axes()[2] @ np.array(direction) > 0.99, side
        assert view.state.selected == ""
    picture(view)


def test_the_axes_turn_with_the_camera_and_stay_in_their_corner() -> None:
    camera = Camera()
    camera.set_viewport(800, 600)
    assert {side for _, side, _ in gizmo.AXES} == set(SIDES)
    left, top, width, height = gizmo.box(camera)
    for turn in np.linspace(0, 6, 13):
        camera.pose = Pose(azimuth=float(turn), elevation=float(np.sin(turn)))
        shown = gizmo.ends(camera)
        for end in shown:
            assert left <= end.x - gizmo.END
            assert end.x + gizmo.END <= left + width <= 800
            assert top <= end.y - gizmo.END
            assert end.y + gizmo.END <= top + height <= 600
        assert gizmo.side_at(camera, QPointF(shown[-1].x, shown[-1].y)) == shown[-1].side, "the nearest end is on top"
    assert gizmo.side_at(camera, QPointF(10, 10)) == ""


def test_views_are_kept_for_each_space_and_a_path_is_drawn_between_two_memories(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    views, space = window.views, window.space
    space.reduced_motion = True
    until(qtbot, lambda: bool(views._key))
    space.look_from("top")
    kept = space.camera.pose
    window.commands["keep_view"].trigger()
    space.look_from("front")
    window.commands["keep_view"].trigger()
    assert len(views.kept()) == 2
    action = next(action for action in views.menu.actions() if action.text().startswith("1 · "))
    action.trigger()
    assert space.camera.pose.elevation == pytest.approx(kept.elevation, abs=1e-4)
    space.step_back()
    for _ in range(12):
        views.keep()
    assert len(views.kept()) == 9
    window.desk.settings.setValue(views._key, ["nonsense", "x\t1\t2", "y\t0\t0\t0\tnan\t0\t0"])
    assert views.kept() == [], "what is damaged is left out"
    views.forget()
    habit = window.commands["habit_cad"]
    habit.trigger()
    assert space.hands.habit == "cad"
    assert window.desk.settings.value("habit") == "cad"

    scene = space.scene
    largest = int(np.bincount(scene.cluster).argmax())
    members = [scene.ids[row] for row in np.flatnonzero(scene.cluster == largest)]
    far = max(
        members[1:], key=lambda i: np.linalg.norm(scene.centres[scene.row(i)] - scene.centres[scene.row(members[0])])
    )
    window.state.choose((members[0], far))
    window.commands["path"].trigger()
    until(qtbot, lambda: len(space.overlay.path) > 1)
    assert {space.overlay.path[0], space.overlay.path[-1]} == {members[0], far}
    space.fit_selection()
    picture(window)
    window.state.choose(())
    assert space.overlay.path == (), "it goes with the marks"
    other = next(i for i in scene.ids if scene.cluster[scene.row(i)] != largest)
    window.state.choose((members[0], other))
    window.commands["path"].trigger()
    until(qtbot, lambda: window.notices.isVisible())
    assert space.overlay.path == ()
