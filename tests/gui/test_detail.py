"""Detail by distance: what is near is whole, what is far is a point, what is out of sight is not drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from grown import grown_snapshot
from pytestqt.qtbot import QtBot
from waiting import settled

from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.detail import Budget, Detail, Lists, choose
from tetrarium_gui.space.scene import CIRCUMRADIUS, Scene, scene_of
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Highlight, WindowState
from tetrarium_gui.style import DARK

ALL = Budget(tetrahedra=1 << 30, least_edge=0.0)
POINTS = Budget(tetrahedra=0, least_edge=0.0)


def looking_at(scene: Scene) -> Camera:
    camera = Camera()
    camera.set_viewport(800, 600)
    camera.set_scene(scene.centre, scene.radius)
    camera.pose = camera.fit(scene.centres, CIRCUMRADIUS)
    return camera


def sizes(scene: Scene) -> np.ndarray:
    return np.bincount(scene.cluster, minlength=len(scene.clusters)).astype(np.int32)


def test_the_nearest_clusters_are_whole_until_the_budget_is_used_up_and_the_others_points() -> None:
    scene = scene_of(grown_snapshot(900, clusters=30))
    camera = looking_at(scene)
    whole, points = choose(scene, sizes(scene), camera, Budget(tetrahedra=300, least_edge=0.0))
    assert 0 < sizes(scene)[whole].sum() <= 300
    assert (whole ^ points).all(), "a fitted view has every cluster in sight, drawn one way"
    depth = camera.project(scene.cluster_centres)[:, 2]
    assert depth[whole].max() < np.median(depth[points])


def test_what_is_too_small_for_faces_is_a_point_and_what_is_behind_the_eye_is_nothing() -> None:
    scene = scene_of(grown_snapshot(900, clusters=30))
    camera = looking_at(scene)
    assert not choose(scene, sizes(scene), camera, Budget(1 << 30, least_edge=1e6))[0].any()
    camera.pose = camera.fit(scene.centres[:1], CIRCUMRADIUS)
    whole, points = choose(scene, sizes(scene), camera, Budget(tetrahedra=800, least_edge=0.0))
    seen = camera.project(scene.cluster_centres)
    gone = ~(whole | points)
    assert gone.any()
    assert whole[scene.cluster[0]]
    inside = (seen[:, 2] > scene.cluster_radii) & (np.abs(seen[:, :2] - [400, 300]) < [400, 300]).all(axis=1)
    assert not (gone & inside).any()


def test_lists_name_every_row_once_and_stay_the_same_object_while_the_choice_does() -> None:
    scene = scene_of(grown_snapshot(900, clusters=30))
    camera, detail = looking_at(scene), Detail()
    detail.set_scene(scene)
    assert detail.lists(camera) is None, "all of it fits"
    detail.budget = Budget(tetrahedra=300, least_edge=0.0)
    lists = detail.lists(camera)
    assert lists is not None
    assert sorted([*lists.whole.tolist(), *lists.points.tolist()]) == list(range(900))
    camera.orbit(0.01, 0)
    assert detail.lists(camera) is lists


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), DARK)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(400))
    settled(qtbot, space)
    yield space
    space.close()
    space.deleteLater()


def frame(view: SpaceView) -> np.ndarray:
    """(height, width, 3) of the OpenGL frame."""
    assert view.gl is not None
    image = view.gl.grabFramebuffer().convertToFormat(view.gl.grabFramebuffer().Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).astype(int)


@pytest.mark.needs_display
def test_a_list_of_whole_tetrahedra_draws_what_drawing_all_draws(
    view: SpaceView, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert view.gl is not None
    direct = frame(view)
    rows = np.arange(400, dtype=np.int32)[::-1].copy()
    listed = Lists(rows, np.zeros(0, np.int32))
    monkeypatch.setattr(view.gl.tetrahedra.detail, "lists", lambda camera: listed)
    assert np.abs(frame(view) - direct).max() <= 1


@pytest.mark.needs_display
def test_far_memories_keep_their_place_and_hue_and_what_is_lit_stands_out(view: SpaceView, qtbot: QtBot) -> None:
    assert view.gl is not None
    detail = view.gl.tetrahedra.detail
    detail.budget = ALL
    whole = frame(view)
    detail.budget = POINTS
    far = frame(view)
    ground = whole[2, 2]
    drawn, drawn_far = (np.abs(image - ground).sum(axis=2) > 60 for image in (whole, far))
    both = drawn & drawn_far
    assert both.sum() > 0.5 * drawn.sum()
    hues = [image[both] / np.maximum(image[both].sum(axis=1, keepdims=True), 1) for image in (whole, far)]
    assert np.abs(hues[0] - hues[1]).mean() < 0.06
    assert view.scene is not None
    lit = view.scene.ids[7]
    view.state.set_highlight(Highlight("one", (lit,)))
    settled(qtbot, view)
    detail.budget = POINTS
    at = view.pixel_of(lit)
    x, y = round(at.x()), round(at.y())
    dimmed = frame(view)
    assert dimmed[y - 1 : y + 2, x - 1 : x + 2].sum() > 2 * dimmed[drawn_far].sum() / drawn_far.sum() * 9 / 3


@pytest.mark.needs_display
def test_software_rendering_draws_less_while_the_camera_moves_and_all_of_it_at_rest(
    view: SpaceView, qtbot: QtBot
) -> None:
    assert view.gl is not None
    if not view.gl.renders_in_software:
        pytest.skip("this display draws in hardware")
    detail = view.gl.tetrahedra.detail
    at_rest = detail.budget
    view.reduced_motion = False
    view.fly_to(view.state.snapshot.ids[0])  # type: ignore[union-attr]  # the fixture set one
    qtbot.waitUntil(lambda: detail.budget.tetrahedra < at_rest.tetrahedra)
    settled(qtbot, view)
    assert detail.budget == at_rest
