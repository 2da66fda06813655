"""Choosing many memories in the space: marks, box, lasso, neighbours; showing some of them; what a colour means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from waiting import settled

from tetrarium_gui.space import choosing, legend
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.coloring import INHIBITED, QUARANTINED, Visibility, legend_rows, palette_indices
from tetrarium_gui.space.picking import pick
from tetrarium_gui.space.scene import CIRCUMRADIUS, scene_of
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import ColorBy, Link, WindowState
from tetrarium_gui.style import DARK, LIGHT, PALETTE_SIZE, SOURCE_PALETTE, contrast, scene_palette
from tetrarium_gui.words import t

NOW = 1.77e9 + 100 * 60_000.0
SNAPSHOT = grown_snapshot(300)
SCENE = scene_of(SNAPSHOT)


def camera() -> Camera:
    seen = Camera()
    seen.set_viewport(800, 600)
    seen.set_scene(SCENE.centre, SCENE.radius)
    seen.pose = seen.fit(SCENE.centres, CIRCUMRADIUS)
    return seen


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), DARK)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(SNAPSHOT)
    settled(qtbot, space)
    yield space
    space.close()
    space.deleteLater()


def drag(view: SpaceView, path: list[QPointF], held: Qt.KeyboardModifier) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    steps = [(QEvent.Type.MouseButtonPress, path[0], left, left)]
    steps += [(QEvent.Type.MouseMove, point, none, left) for point in path[1:]]
    steps += [(QEvent.Type.MouseButtonRelease, path[-1], left, none)]
    for kind, at, which, buttons in steps:
        QApplication.sendEvent(view, QMouseEvent(kind, at, view.mapToGlobal(at), which, buttons, held))


def test_every_colouring_has_a_legend_whose_rows_are_the_colours_that_are_drawn() -> None:
    for by in ColorBy:
        indices = palette_indices(SNAPSHOT, SCENE, by, NOW)
        assert len(indices) == len(SNAPSHOT)
        assert indices.max() < PALETTE_SIZE
        if by is not ColorBy.CLUSTER:
            assert set(indices.tolist()) <= {row.index for row in legend_rows(by, SNAPSHOT.clients)}
    newest, oldest = int(SNAPSHOT.created.argmax()), int(SNAPSHOT.created.argmin())
    ages = palette_indices(SNAPSHOT, SCENE, ColorBy.AGE, float(SNAPSHOT.created.max()))
    assert ages[newest] > ages[oldest], "the newest is the brightest"


def test_a_ramp_goes_one_way_so_that_it_can_be_read_without_hues() -> None:
    for theme in (DARK, LIGHT):
        ramp = scene_palette(theme)[-16:]
        against = [contrast(color, theme.canvas_bottom) for color in ramp]
        assert against == sorted(against)
        assert against[-1] > 2 * against[0]


def test_a_box_and_a_lasso_hold_the_memories_whose_centres_they_hold() -> None:
    seen, nothing = camera(), np.zeros(300, np.bool_)
    pixels = seen.project(SCENE.centres)[:, :2]
    expected = {
        SCENE.ids[row] for row in range(300) if (pixels[row] > [200, 150]).all() and (pixels[row] < [600, 450]).all()
    }
    assert 10 < len(expected) < 290
    assert set(choosing.in_box(SCENE, seen, (600, 150), (200, 450), nothing)) == expected
    outline = [(200.0, 150.0), (600.0, 150.0), (600.0, 450.0), (200.0, 450.0)]
    assert set(choosing.in_lasso(SCENE, seen, outline, nothing)) == expected
    dent = [*outline[:3], (400.0, 300.0), outline[3]]
    assert set(choosing.in_lasso(SCENE, seen, dent, nothing)) < expected
    assert choosing.in_lasso(SCENE, seen, outline[:2], nothing) == []


def test_marks_grow_over_shared_vertices_and_never_into_another_cluster() -> None:
    start = SCENE.ids[0]
    grown = set(choosing.touching(SCENE, [start]))
    assert grown
    assert start not in grown
    own = {SCENE.ids[row] for row in np.flatnonzero(SCENE.cluster == SCENE.cluster[0])}
    assert grown < own
    everything = {start}
    for _ in range(60):
        everything |= set(choosing.touching(SCENE, everything))
    assert everything == own


def test_without_perspective_what_is_projected_is_what_is_picked() -> None:
    seen = camera()
    seen.level = True
    found = 0
    for row in range(0, 300, 7):
        x, y, depth = seen.project(SCENE.centres[row : row + 1])[0]
        assert depth > 0
        hit = pick(SCENE, *seen.ray(x, y))
        assert hit >= 0
        found += hit == row
    assert found > 5
    a, b = seen.project(np.array([[0, 0, 0], [1, 0, 0]], np.float32))[:, :2]
    far = seen.project(np.array([[0, 9, 0], [1, 9, 0]], np.float32))[:, :2]
    assert np.allclose(b - a, far[1] - far[0])


def test_what_is_shown_follows_hiding_isolation_and_the_legend() -> None:
    shown, indices = Visibility(), palette_indices(SNAPSHOT, SCENE, ColorBy.CATEGORY, NOW)
    assert not shown.mask(SCENE, indices).any()
    shown.toggle(int(indices[0]))
    assert shown.mask(SCENE, indices)[indices == indices[0]].all()
    shown.toggle(int(indices[0]))
    shown.isolated = frozenset(SCENE.ids[:5])
    shown.hidden = frozenset(SCENE.ids[:1])
    assert np.flatnonzero(~shown.mask(SCENE, indices)).tolist() == [1, 2, 3, 4]
    shown.show_all()
    assert shown.is_whole


@pytest.mark.needs_display
def test_shift_and_a_drag_mark_a_box_and_what_is_hidden_is_neither_drawn_nor_picked(
    view: SpaceView, qtbot: QtBot
) -> None:
    drag(view, [QPointF(100, 80), QPointF(300, 200), QPointF(700, 520)], Qt.KeyboardModifier.ShiftModifier)
    marked = view.state.chosen
    assert 20 < len(marked) <= 300
    azimuth = view.camera.pose.azimuth
    target = next(i for i in marked if view.memory_at(view.pixel_of(i)) == i)
    point = view.pixel_of(target)
    before = view.grab().toImage().pixelColor(point.toPoint())
    view.hide_chosen()
    settled(qtbot, view)
    assert view.camera.pose.azimuth == azimuth, "a box does not turn the space"
    assert view.memory_at(point) not in marked
    assert view.grab().toImage().pixelColor(point.toPoint()) != before
    assert view.overlay.away == len(marked)
    view.show_everything()
    settled(qtbot, view)
    assert view.memory_at(point) == target
    assert view.grab().toImage().pixelColor(point.toPoint()) == view.grab().toImage().pixelColor(point.toPoint())


@pytest.mark.needs_display
def test_control_and_a_drag_draw_a_lasso_and_shift_and_a_click_changes_one_mark(view: SpaceView, qtbot: QtBot) -> None:
    path = [QPointF(150, 100), QPointF(650, 100), QPointF(650, 500), QPointF(150, 500), QPointF(150, 110)]
    drag(view, path, Qt.KeyboardModifier.ControlModifier)
    marked = view.state.chosen
    assert len(marked) > 20
    one = next(i for i in marked if view.memory_at(view.pixel_of(i)) == i)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, view.pixel_of(one).toPoint())
    assert set(view.state.chosen) == set(marked) - {one}
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPointF(3, 3).toPoint())
    assert view.state.chosen == ()


@pytest.mark.needs_display
def test_a_click_on_the_legend_filters_its_class_and_another_one_brings_it_back(view: SpaceView, qtbot: QtBot) -> None:
    view.state.set_color_by(ColorBy.CATEGORY)
    settled(qtbot, view)
    rows = view.overlay.legend_lines()
    line = QPointF(40, view.height() - 16 - 18 * len(rows) + 9)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=line.toPoint())
    category = int(SNAPSHOT.category[view._away.argmax()])
    assert view._away.sum() == (SNAPSHOT.category == category).sum() > 0
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=line.toPoint())
    assert not view._away.any()


def test_the_legend_counts_and_what_waits_in_quarantine_is_not_counted_as_inhibited() -> None:
    quarantined = np.zeros(300, np.bool_)
    quarantined[[3, 9]] = True
    snapshot = replace(SNAPSHOT, inhibited=SNAPSHOT.inhibited | quarantined, quarantined=quarantined)
    scene = scene_of(snapshot)
    counts = np.bincount(palette_indices(snapshot, scene, ColorBy.SOURCE, NOW), minlength=PALETTE_SIZE).tolist()
    lines = legend.lines_of(scene, DARK, ColorBy.SOURCE, counts, recalling=7, away=0)
    by_text = {line.text: line.count for line in lines}
    assert [by_text[name] for name in SNAPSHOT.clients] == np.bincount(SNAPSHOT.client).tolist()
    assert by_text[t("space.inhibited")] == int((snapshot.inhibited & ~quarantined).sum())
    assert by_text[t("space.quarantined")] == 2
    assert by_text[t("space.void")] == 7
    shown, indices = Visibility(), palette_indices(snapshot, scene, ColorBy.SOURCE, NOW)
    shown.toggle(QUARANTINED)
    assert np.flatnonzero(shown.mask(scene, indices)).tolist() == [3, 9]
    shown.toggle(INHIBITED)
    assert np.array_equal(shown.mask(scene, indices), snapshot.inhibited)


def test_many_programs_share_a_colour_after_the_first_and_their_names_are_shown_as_they_are() -> None:
    clients = tuple(f"program {at}\u202e" for at in range(9))
    snapshot = replace(SNAPSHOT, clients=clients, client=(np.arange(300) % 9).astype(np.int32))
    indices = palette_indices(snapshot, scene_of(snapshot), ColorBy.SOURCE, NOW)
    assert len(np.unique(indices)) == len(SOURCE_PALETTE) + 1
    rows = legend_rows(ColorBy.SOURCE, clients)
    assert {row.index for row in rows} == set(indices.tolist())
    counts = np.bincount(indices, minlength=PALETTE_SIZE).tolist()
    lines = legend.lines_of(scene_of(snapshot), DARK, ColorBy.SOURCE, counts, recalling=0, away=0)
    assert not any("\u202e" in line.text for line in lines)


@pytest.mark.needs_display
def test_relations_of_the_selected_memory_are_drawn_as_lines(view: SpaceView, qtbot: QtBot) -> None:
    one, other = SCENE.ids[0], SCENE.ids[-1]
    before = view.grab().toImage()
    view.state.set_links((Link(one, other, "caused_by"),))
    settled(qtbot, view)
    middle = (view.pixel_of(one) + view.pixel_of(other)) / 2
    after = view.grab().toImage()
    x, y = round(middle.x()), round(middle.y())
    changed = [
        after.pixelColor(x + d, y + e) != before.pixelColor(x + d, y + e) for d in (-2, 0, 2) for e in (-2, 0, 2)
    ]
    assert any(changed)
