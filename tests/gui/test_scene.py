"""The pure part of the space: arrays, camera, picking, colours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from grown import grown_snapshot

from tetrarium_gui import style
from tetrarium_gui.space.camera import Camera, Pose, blend
from tetrarium_gui.space.picking import pick
from tetrarium_gui.space.scene import (
    FACES,
    FLAG_LIT,
    FLAG_SELECTED,
    GEOMETRY,
    LOOK_BYTES,
    STATE_INHIBITED,
    STATE_VOID,
    WORLD,
    births,
    changed_range,
    corners,
    geometry,
    looks,
    scene_of,
)
from tetrarium_gui.state import Highlight


def looks_of(scene, highlight=None, selected=""):
    return looks(scene, colors=scene.cluster_palette, highlight=highlight, selected=selected, hovered="")


def test_every_tetrahedron_is_regular_with_edge_one() -> None:
    points = corners(scene_of(grown_snapshot(200)).voxels) * np.float64(WORLD)
    for one in range(4):
        for other in range(one):
            assert np.allclose(np.linalg.norm(points[:, one] - points[:, other], axis=1), 1.0)


def test_corners_have_an_even_coordinate_sum_in_both_orientations() -> None:
    scene = scene_of(grown_snapshot(200))
    assert {int(v.sum()) & 1 for v in scene.voxels} == {0, 1}
    assert not (corners(scene.voxels).sum(axis=2) & 1).any()


def test_faces_wind_outward() -> None:
    (points,) = corners(np.zeros((1, 3), np.int32)).astype(float)
    for face in FACES:
        a, b, c = points[face]
        assert np.cross(b - a, c - a) @ ((a + b + c) / 3 - 0.5) > 0


def test_a_memory_costs_twenty_bytes_on_the_card() -> None:
    assert GEOMETRY.itemsize + LOOK_BYTES == 20


def test_a_new_memory_changes_one_row_only() -> None:
    before, after = (scene_of(grown_snapshot(n)) for n in (200, 201))
    old = births(before, None, 1.0, np.zeros(0, np.float32))
    new = births(after, before, 2.0, old)
    assert new[-1] == 2.0
    assert np.array_equal(new[:-1], old)
    assert changed_range(geometry(after, new), geometry(before, old)) == (200, 201)
    assert changed_range(looks_of(after), looks_of(before)) == (200, 201)


def test_a_removed_memory_uploads_no_more_than_what_moved() -> None:
    now, before = np.arange(5)[[0, 1, 3, 4]], np.arange(5)
    assert changed_range(now, before) == (2, 4)
    assert changed_range(before[:4], before) == (0, 0)


def test_shared_vertices_are_those_of_two_memories_or_more() -> None:
    scene = scene_of(grown_snapshot(60, clusters=6))
    points, counts = np.unique(corners(scene.voxels).reshape(-1, 3), axis=0, return_counts=True)
    assert len(scene.shared) == int((counts > 1).sum()) > 0
    assert len(points) > 60


def test_a_new_memory_grows_from_a_vertex_it_shares() -> None:
    scene = scene_of(grown_snapshot(120, clusters=6))
    points = corners(scene.voxels)
    for row in range(6, 120):
        earlier = {tuple(p) for p in points[:row].reshape(-1, 3).tolist()}
        touching = [at for at in range(4) if tuple(points[row, at].tolist()) in earlier]
        assert scene.anchors[row] in touching or not touching


def test_states_and_flags_reach_the_card() -> None:
    snapshot = grown_snapshot(50)
    scene = scene_of(replace(snapshot, inhibited=np.arange(50) == 7))
    highlight = Highlight("x", lit=(scene.ids[3], scene.ids[4]), void=frozenset({scene.ids[5], scene.ids[7]}))
    look = looks_of(scene, highlight, selected=scene.ids[9])
    assert look[3, 2] & FLAG_LIT
    assert look[4, 2] & FLAG_LIT
    assert look[3, 3] < look[4, 3], "lights in the order of score"
    assert look[5, 1] == STATE_VOID
    assert look[7, 1] == STATE_INHIBITED, "inhibition outlives any recall"
    assert np.flatnonzero(look[:, 2] & FLAG_SELECTED).tolist() == [9]


def test_every_memory_is_picked_where_nothing_hides_it() -> None:
    scene, camera = scene_of(grown_snapshot(300)), Camera()
    camera.set_scene(scene.centre, scene.radius)
    camera.pose = camera.fit(scene.centres, 0.6)
    pixels = camera.project(scene.centres)
    picked = [pick(scene, *camera.ray(x, y)) for x, y, _ in pixels]
    for row, hit in enumerate(picked):
        assert hit >= 0
        assert hit == row or pixels[hit, 2] < pixels[row, 2] + 1.3, "only a nearer one hides it"
    assert np.mean([hit == row for row, hit in enumerate(picked)]) > 0.4
    assert pick(scene, *camera.ray(1, 1)) == -1


@pytest.mark.parametrize("size", [(800, 600), (400, 900), (1600, 500)])
def test_fit_shows_everything_and_wastes_little(size: tuple[int, int]) -> None:
    scene, camera = scene_of(grown_snapshot(300)), Camera()
    camera.set_viewport(*size)
    camera.set_scene(scene.centre, scene.radius)
    camera.pose = camera.fit(scene.centres, 0.6)
    pixels = camera.project(scene.centres)
    assert (pixels[:, 0] > 0).all()
    assert (pixels[:, 0] < size[0]).all()
    assert (pixels[:, 1] > 0).all()
    assert (pixels[:, 1] < size[1]).all()
    assert max(np.ptp(pixels[:, 0]) / size[0], np.ptp(pixels[:, 1]) / size[1]) > 0.6


def test_zoom_keeps_what_is_under_the_cursor() -> None:
    camera = Camera()
    camera.set_scene(np.zeros(3, np.float32), 30.0)
    origin, direction = camera.ray(620, 130)
    back = camera.axes()[2]
    under = origin + direction * (-(origin - np.asarray(camera.pose.centre)) @ back / (direction @ back))
    camera.zoom(0.6, 620, 130)
    x, y, _ = camera.project(under[None].astype(np.float32))[0]
    assert (x, y) == pytest.approx((620, 130), abs=0.1)


def test_no_move_can_lose_the_scene_or_turn_it_upside_down() -> None:
    camera = Camera()
    camera.set_scene(np.zeros(3, np.float32), 10.0)
    for _ in range(200):
        camera.pan(400, 300)
        camera.zoom(1.5, 0, 0)
        camera.orbit(50, 90)
    assert np.linalg.norm(camera.pose.centre) <= 15.01
    assert camera.pose.distance <= 5 * 10.0 + 2.3
    assert camera.axes()[1][2] > 0, "up stays up"
    near, far = camera.clip_planes()
    assert 0 < near < far < 1e4


def test_a_flight_starts_and_ends_where_it_should_and_turns_the_short_way() -> None:
    start, end = Pose(azimuth=3.0), Pose(centre=(1.0, 2.0, 3.0), distance=5.0, azimuth=-3.0)
    assert blend(start, end, 0.0) == start
    assert blend(start, end, 1.0).centre == pytest.approx(end.centre)
    assert np.cos(blend(start, end, 1.0).azimuth) == pytest.approx(np.cos(end.azimuth))
    assert abs(blend(start, end, 0.5).azimuth - start.azimuth) < 0.3


@pytest.mark.parametrize("theme", [style.DARK, style.LIGHT], ids=lambda t: t.name)
def test_text_stands_out_from_every_surface(theme: style.Theme) -> None:
    for surface in (theme.surface, theme.raised, theme.canvas_top, theme.canvas_bottom):
        for ink in (theme.text, theme.muted):
            assert style.contrast(ink, surface) >= style.LEAST_CONTRAST
    assert style.contrast(theme.on_accent, theme.accent) >= style.LEAST_CONTRAST
    assert style.contrast(theme.inhibited_text, theme.surface) >= style.LEAST_CONTRAST
    for hue in range(24):
        assert style.contrast(style.cluster_ink(theme, hue), theme.surface) >= style.LEAST_CONTRAST


def test_clusters_with_neighbouring_numbers_differ() -> None:
    colors = [style.cluster_color(style.DARK, hue) for hue in range(24)]
    assert len(set(colors)) == 24
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors[:12]])
    assert np.linalg.norm(np.diff(rgb, axis=0), axis=1).min() > 60


def test_direction_marks_and_control_characters_are_made_visible() -> None:
    assert style.visible("a\u202eb\u200bc\x07\n中文") == "a▯b▯c▯\n中文"


def test_a_scene_that_grew_is_the_scene_made_anew() -> None:
    for before, after in ((1, 2), (200, 201), (200, 400), (300, 300)):
        earlier = scene_of(grown_snapshot(before, clusters=4))
        grown = scene_of(grown_snapshot(after, clusters=4), earlier)
        anew = scene_of(grown_snapshot(after, clusters=4))
        for name in ("voxels", "centres", "cluster", "anchors", "shared", "vertices", "users", "cluster_palette"):
            assert np.array_equal(getattr(grown, name), getattr(anew, name)), name
        assert grown.rows == anew.rows
    moved = grown_snapshot(200, clusters=4, seed=9)
    assert np.array_equal(scene_of(moved, earlier).vertices, scene_of(moved).vertices)
