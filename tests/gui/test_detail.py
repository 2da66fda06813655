"""Detail by distance: what is near is whole, what is far is a point, what is out of sight is not drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from waiting import settled

from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.detail import Budget, Detail, Lists, choose
from tetrarium_gui.space.hulls import LEAST_MEMBERS, Hulls, sphere
from tetrarium_gui.space.scene import CIRCUMRADIUS, Scene, scene_of
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import ColorBy, Highlight, WindowState
from tetrarium_gui.style import DARK

Picture = Callable[[QWidget], None]
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
    none = np.zeros(0, np.int32)
    listed = Lists(rows, none, none)
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


def far_away(scene: Scene) -> Camera:
    """A camera to which every cluster is a few pixels."""
    camera = looking_at(scene)
    camera.pose = replace(camera.pose, distance=camera.pose.distance * 6)
    return camera


def test_a_hull_encloses_its_cluster_and_no_more_than_it_needs() -> None:
    scene = scene_of(grown_snapshot(900, clusters=12))
    hulls, order = Hulls(), np.argsort(scene.cluster, kind="stable").astype(np.int32)
    hulls.set_scene(scene)
    wanted = np.arange(len(scene.clusters)) < 8
    assert hulls.make(wanted, order, sizes(scene))
    assert not hulls.make(wanted, order, sizes(scene)), "made once"
    assert hulls.made.tolist() == wanted.tolist()
    directions, fine, coarse = sphere()
    for at in np.flatnonzero(wanted):
        corners, members = hulls.corners[at], scene.centres[scene.cluster == at]
        reach, needed = (corners @ directions.T).max(axis=0), (members @ directions.T).max(axis=0)
        assert (reach >= needed + 0.2).all(), "every member is inside, seen from every side"
        assert (reach <= needed + 1.3).all(), "and it ends where they end"
    for faces, count in ((fine, 42), (coarse, 12)):
        assert set(np.unique(faces).tolist()) == set(range(count))
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        assert len(np.unique(edges, axis=0)) == len(edges), "closed: every edge once in each direction"
        assert len(np.unique(np.sort(edges, axis=1), axis=0)) == len(edges) // 2


def test_a_store_makes_the_hull_of_its_own_cluster_anew_and_no_other() -> None:
    before, after = (scene_of(grown_snapshot(count, clusters=12)) for count in (900, 901))
    hulls, order = Hulls(), np.argsort(before.cluster, kind="stable").astype(np.int32)
    hulls.set_scene(before)
    hulls.make(np.ones(12, np.bool_), order, sizes(before))
    kept = hulls.corners.copy()
    hulls.set_scene(after)
    touched = int(after.cluster[900])
    assert np.flatnonzero(~hulls.made).tolist() == [touched]
    others = np.arange(12) != touched
    assert np.array_equal(hulls.corners[others], kept[others])
    hulls.set_scene(scene_of(grown_snapshot(901, clusters=12, seed=8)))
    assert not hulls.made.any(), "what moved is made anew"


def test_clusters_that_are_small_on_screen_are_one_hull_each() -> None:
    scene = scene_of(grown_snapshot(900, clusters=30))
    camera, detail = far_away(scene), Detail()
    detail.set_scene(scene)
    lists = detail.lists(camera)
    assert lists is not None
    assert len(lists.hulls) == 30
    assert len(lists.whole) == len(lists.points) == 0
    assert detail.as_hulls.all()
    detail.hulls_allowed = False
    lists = detail.lists(camera)
    assert lists is not None
    assert len(lists.points) == 900, "where a hull would lie, each memory is a point"


@pytest.mark.needs_display
def test_hulls_have_the_place_and_hue_of_their_memories_and_names_tell_how_many(
    view: SpaceView, qtbot: QtBot, picture: Picture
) -> None:
    assert view.gl is not None
    assert view.scene is not None
    detail = view.gl.tetrahedra.detail
    view.camera.pose = replace(view.camera.pose, distance=view.camera.pose.distance * 5)
    detail.hulls_allowed = False
    points = frame(view)
    detail.hulls_allowed = True
    hulls = frame(view)
    assert detail.as_hulls.tolist() == (sizes(view.scene) >= LEAST_MEMBERS).tolist()
    ground = points[2, 2]
    drawn, drawn_hulls = (np.abs(image - ground).sum(axis=2) > 60 for image in (points, hulls))
    assert (drawn & drawn_hulls).sum() > 0.7 * drawn.sum()
    assert drawn_hulls.sum() < 2.5 * drawn.sum()
    both = drawn & drawn_hulls
    shares = [image[both] / np.maximum(image[both].sum(axis=1, keepdims=True), 1) for image in (points, hulls)]
    assert np.abs(shares[0] - shares[1]).mean() < 0.08
    view.state.set_highlight(Highlight("one", (view.scene.ids[0],)))
    settled(qtbot, view)
    picture(view)
    (label,) = view.overlay.labels
    assert label.text.endswith(str(view.scene.clusters[label.cluster].size))
    view.state.set_highlight(None)
    view.state.set_color_by(ColorBy.CATEGORY)
    settled(qtbot, view)
    assert not detail.as_hulls.any(), "memories of many colours are no body of one"
