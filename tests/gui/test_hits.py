"""What was found can be seen: lit at any distance, framed, named, pointed at – and never against the hand of a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from test_space_pixels import drag
from waiting import settled

from tetrarium_gui.space import beacons, framing
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.labels import place_labels
from tetrarium_gui.space.scene import CIRCUMRADIUS, scene_of
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Highlight, WindowState
from tetrarium_gui.style import DARK, LIGHT, text_font

Picture = Callable[[QWidget], None]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(params=[DARK, LIGHT], ids=lambda theme: theme.name)
def view(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), request.param)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(2_000, clusters=40))
    settled(qtbot, space)
    yield space
    space.close()
    space.deleteLater()


def around(view: SpaceView, point: QPointF, half: int) -> np.ndarray:
    """(2·half + 1, 2·half + 1, 3) colours of the OpenGL frame round a point."""
    assert view.gl is not None
    image = view.gl.grabFramebuffer()
    x, y = round(point.x()), round(point.y())
    steps = range(-half, half + 1)
    colors = [[image.pixelColor(x + dx, y + dy) for dx in steps] for dy in steps]
    return np.array([[(c.red(), c.green(), c.blue()) for c in row] for row in colors], int)


def far_hit(view: SpaceView) -> str:
    """A memory that is a speck now."""
    scene = view.scene
    assert scene is not None
    view.camera.pose = replace(view.camera.pose, distance=view.camera.pose.distance * 3)
    edges = view.camera.pixels_a_unit(view.camera.project(scene.centres)[:, 2])
    row = next(row for row in range(len(scene)) if edges[row] < 3 and not scene.inhibited[row])
    return scene.ids[row]


@pytest.mark.needs_display
def test_a_hit_is_never_smaller_than_nine_pixels_and_has_a_light_round_it(
    view: SpaceView, qtbot: QtBot, picture: Picture
) -> None:
    hit = far_hit(view)
    ground = np.array(QColor(view.theme.canvas_top).getRgb()[:3])
    view.state.set_highlight(Highlight("one", (hit,)))
    settled(qtbot, view)
    found = around(view, view.pixel_of(hit), 14)
    differs = np.abs(found - ground).sum(axis=2)
    body = differs[10:19, 10:19]
    assert (body > 150).sum() >= 30, "a triangle nine pixels wide"
    ring = differs[[14, 14, 4, 24], [4, 24, 14, 14]]
    assert (ring > 12).all(), "its light reaches ten pixels out on every side"
    picture(view)
    assert view.scene is not None
    view.state.set_highlight(Highlight("another", (view.scene.ids[-1],)))
    settled(qtbot, view)
    after = np.abs(around(view, view.pixel_of(hit), 14) - ground).sum(axis=2)
    assert (after[10:19, 10:19] > 150).sum() < 5, "and none when it is no hit"


@pytest.mark.needs_display
def test_a_hit_inside_a_cluster_shines_through_what_stands_before_it(view: SpaceView, qtbot: QtBot) -> None:
    scene = view.scene
    assert scene is not None
    row = next(
        row for row in range(len(scene)) if view.memory_at(view.pixel_of(scene.ids[row])) not in ("", scene.ids[row])
    )
    other = next(i for i in scene.ids if scene.cluster[scene.row(i)] != scene.cluster[row])
    view.state.set_highlight(Highlight("another", (other,)))
    settled(qtbot, view)
    point = view.pixel_of(scene.ids[row])
    dark = around(view, point, 2)
    view.state.set_highlight(Highlight("hidden", (scene.ids[row],)))
    settled(qtbot, view)
    assert np.abs(around(view, point, 2) - dark).sum(axis=2).mean() > 25


@pytest.mark.needs_display
def test_the_camera_frames_an_answer_and_comes_back_when_it_is_cleared(view: SpaceView, qtbot: QtBot) -> None:
    scene = view.scene
    assert scene is not None
    before = view.camera.pose
    hits = tuple(scene.ids[row] for row in np.flatnonzero(scene.cluster == 3)[:12])
    view.state.set_highlight(Highlight("words", hits))
    view.show_hits()
    settled(qtbot, view)
    assert view.camera.pose.distance < 0.7 * before.distance
    seen = view.camera.project(scene.centres[[scene.row(i) for i in hits]])[:, :2]
    inside = ((seen > 0) & (seen < (800, 600))).all(axis=1)
    assert inside.mean() >= framing.ANSWER
    view.resize(600, 700)
    seen = view.camera.project(scene.centres[[scene.row(i) for i in hits]])[:, :2]
    assert ((seen > 0) & (seen < (600, 700))).all(axis=1).mean() >= framing.ANSWER, "another size, framed anew"
    view.state.set_highlight(None)
    settled(qtbot, view)
    assert view.camera.pose == before


@pytest.mark.needs_display
def test_an_answer_never_takes_the_camera_from_a_hand_that_moved_it(view: SpaceView, qtbot: QtBot) -> None:
    scene = view.scene
    assert scene is not None
    view.state.set_highlight(Highlight("one", scene.ids[:5]))
    view.show_hits()
    drag(view, QPointF(300, 300), QPointF(380, 320), LEFT)
    chosen = view.camera.pose
    view.state.set_highlight(Highlight("one two", scene.ids[50:55]))
    view.show_hits()
    settled(qtbot, view)
    assert view.camera.pose == chosen
    view.state.set_highlight(None)
    settled(qtbot, view)
    assert view.camera.pose == chosen, "nor does it take the way back"
    view.state.set_highlight(Highlight("the next question", scene.ids[:5]))
    view.show_hits()
    assert view.camera.pose != chosen


@pytest.mark.needs_display
def test_with_motion_the_camera_eases_and_hits_light_in_their_order(view: SpaceView, qtbot: QtBot) -> None:
    scene = view.scene
    assert scene is not None
    view.reduced_motion = False
    before = view.camera.pose
    view.state.set_highlight(Highlight("words", scene.ids[:5]))
    view.show_hits()
    assert view.camera.pose == before, "it starts from where it was"
    assert not view.is_still
    poses: list[float] = []
    view.motion.flown.connect(lambda: poses.append(view.camera.pose.distance))
    settled(qtbot, view)
    assert poses[-1] == view.motion.goal.distance != before.distance
    assert view._air.reveal == 1.0


def test_a_stray_does_not_shrink_the_space_and_the_same_command_once_more_shows_it() -> None:
    snapshot = grown_snapshot(300)
    places = snapshot.places.copy()
    places[7] = (900, 40, -30)
    scene, camera = scene_of(replace(snapshot, places=places)), Camera()
    camera.set_scene(scene.centre, scene.radius)
    most = framing.most(camera, scene.centres, framing.HOME)
    assert 294 <= len(most) < 300
    assert camera.fit(most, CIRCUMRADIUS).distance < 0.5 * camera.fit(scene.centres, CIRCUMRADIUS).distance
    assert len(framing.most(camera, scene.centres[:4], 0.5)) == 4, "a few are framed to the last one"


@pytest.mark.needs_display
def test_home_once_shows_most_and_twice_shows_all(qtbot: QtBot) -> None:
    space = SpaceView(WindowState(), DARK)
    qtbot.addWidget(space)
    space.reduced_motion = True
    space.resize(800, 600)
    snapshot = grown_snapshot(300)
    places = snapshot.places.copy()
    places[7] = (900, 40, -30)
    space.state.set_snapshot(replace(snapshot, places=places))
    space.fit_all()
    near = space.camera.pose.distance
    space.fit_all()
    assert space.camera.pose.distance > 2 * near
    space.fit_all()
    assert space.camera.pose.distance == pytest.approx(near)


def test_hits_outside_the_picture_are_pointed_at_from_its_edge() -> None:
    scene, camera = scene_of(grown_snapshot(300)), Camera()
    camera.set_viewport(800, 600)
    camera.set_scene(scene.centre, scene.radius)
    camera.pose = camera.fit(scene.centres, CIRCUMRADIUS)
    rows = list(range(40))
    assert beacons.outside(camera, scene, rows, 12.0) == [], "all of them are in the picture"
    camera.pose = camera.fit(scene.centres[:1], 2.0)
    marks = beacons.outside(camera, scene, rows, 12.0)
    seen = camera.project(scene.centres[rows])
    inside = ((seen[:, :2] >= 0) & (seen[:, :2] <= (800, 600))).all(axis=1) & (seen[:, 2] > 0)
    assert sum(mark.count for mark in marks) == int((~inside).sum()) > 0
    for mark in marks:
        assert 11 <= mark.x <= 789
        assert 11 <= mark.y <= 589
        on_edge = min(mark.x - 12, 788 - mark.x, mark.y - 12, 588 - mark.y)
        assert abs(on_edge) < 0.01
        toward = np.arctan2(mark.y - 300, mark.x - 400)
        assert np.cos(toward - mark.direction) > 0.99
    assert beacons.outside(camera, scene, list(range(300)) * 2, 12.0) == [], "so many are no answer"


def test_names_of_clusters_that_hold_hits_come_first_and_at_any_size(qapp: object) -> None:
    scene, camera = scene_of(grown_snapshot(2_000, clusters=40)), Camera()
    camera.set_viewport(800, 600)
    camera.set_scene(scene.centre, scene.radius)
    camera.pose = replace(camera.fit(scene.centres, CIRCUMRADIUS), distance=camera.fit(scene.centres, 1.0).distance * 4)
    metrics = QFontMetricsF(text_font(bold=True))
    assert place_labels(scene, camera, metrics) == [], "too far for names"
    hits = scene.centres[[0, 1, 2]]
    lit = frozenset(scene.cluster[:3].tolist())
    labels = place_labels(scene, camera, metrics, lit_clusters=lit, hits=hits)
    assert {label.cluster for label in labels} == lit
    assert all(label.opacity == 1.0 for label in labels)
    seen = camera.project(hits)[:, :2]
    for left, top, width, height in (label.box for label in labels):
        over = (seen >= (left, top)).all(axis=1) & (seen <= (left + width, top + height)).all(axis=1)
        assert not over.any(), "no name covers a hit while there is room"


@pytest.mark.needs_display
def test_an_answer_lights_up_without_opengl_too(qtbot: QtBot, picture: Picture) -> None:
    space = SpaceView(WindowState(), DARK, opengl=False)
    qtbot.addWidget(space)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(2_000, clusters=40))
    hit = far_hit(space)
    space.state.set_highlight(Highlight("one", (hit,)))
    settled(qtbot, space)
    picture(space)
    point = space.pixel_of(hit).toPoint()
    shown = space.grab().toImage()
    assert shown.pixelColor(point).lightness() > 120
    ground = QColor(DARK.canvas_bottom).lightness()
    assert shown.pixelColor(point.x() + 9, point.y() + 2).lightness() > ground + 4
