"""Motion that explains: growth, moves of a plan, succession – short, once, and none of it where motion is reduced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from waiting import settled, until

from tetrarium.model import SpaceSnapshot
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.space.scene import FLAG_HIDDEN, STATE_FADING, STATE_INHIBITED, scene_of
from tetrarium_gui.space.travel import MOST, RECORD, SPREAD, flights, moved_rows
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import WindowState
from tetrarium_gui.style import DARK, SUCCESSION_TIME, TRAVEL_TIME

OpenWindow = Callable[..., MainWindow]
Picture = Callable[[QWidget], None]
SNAPSHOT = grown_snapshot(300)


def moved(rows: list[int], by: tuple[int, int, int] = (9, 3, 0)) -> SpaceSnapshot:
    """The snapshot after a plan that moved some memories."""
    places = SNAPSHOT.places.copy()
    places[rows] += np.array(by, np.int32)
    return replace(SNAPSHOT, places=places, version=2)


def superseded(rows: list[int]) -> SpaceSnapshot:
    inhibited = SNAPSHOT.inhibited.copy()
    inhibited[rows] = True
    return replace(SNAPSHOT, inhibited=inhibited, version=2)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), DARK)
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(SNAPSHOT)
    settled(qtbot, space)
    yield space
    space.close()
    space.deleteLater()


def test_what_moved_starts_where_it_stood_and_clusters_begin_one_after_the_other() -> None:
    earlier, scene = scene_of(SNAPSHOT), scene_of(moved([3, 40, 41]))
    rows, before = moved_rows(earlier, scene)
    assert rows.tolist() == before.tolist() == [3, 40, 41]
    records = flights(earlier, scene, rows, before, np.zeros((300, 4), np.uint8))
    assert RECORD.itemsize == 32
    assert np.allclose(scene.centres[rows] + records["start"], earlier.centres[rows], atol=1e-4)
    assert records["delay"].min() == 0.0
    assert records["delay"].max() <= SPREAD + 1e-6
    fewer = replace(moved([3, 40, 41]))
    keep = np.arange(300) != 10
    fewer = replace(
        fewer,
        ids=tuple(i for i, kept in zip(fewer.ids, keep, strict=True) if kept),
        **{
            name: getattr(fewer, name)[keep]
            for name in ("places", "cluster", "category", "inhibited", "quarantined", "created", "client")
        },
    )
    rows, before = moved_rows(earlier, scene_of(fewer))
    assert [earlier.ids[row] for row in before] == [SNAPSHOT.ids[at] for at in (3, 40, 41)], "found by id, not by row"
    assert not len(moved_rows(earlier, earlier)[0])
    assert not len(moved_rows(None, scene)[0])


def test_a_rearrangement_of_everything_is_simply_there() -> None:
    many = grown_snapshot(MOST + 100)
    places = many.places + np.array([5, 1, 0], np.int32)
    assert not len(moved_rows(scene_of(many), scene_of(replace(many, places=places)))[0])


@pytest.mark.needs_display
def test_a_plans_moves_play_once_within_six_tenths_of_a_second(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    assert view.gl is not None
    assert TRAVEL_TIME <= 0.6
    tetrahedra = view.gl.tetrahedra
    view.state.set_snapshot(moved([3, 40, 41]))
    assert len(tetrahedra.travellers) == 3
    assert np.flatnonzero(tetrahedra.looks[:, 2] & FLAG_HIDDEN).tolist() == [3, 40, 41], "not drawn twice"
    picture(view)
    uploads = tetrahedra.uploads
    qtbot.waitUntil(lambda: view._air.travel > 0.0)
    during = uploads.geometry + uploads.looks
    with qtbot.waitSignal(view.motion.arrived, timeout=5_000):
        pass
    assert uploads.geometry + uploads.looks == during, "a flight uploads nothing"
    settled(qtbot, view)
    assert not len(tetrahedra.travellers)
    assert not (tetrahedra.looks[:, 2] & FLAG_HIDDEN).any()
    assert view.is_still, "no clock runs on"


@pytest.mark.needs_display
def test_a_memory_in_flight_is_drawn_between_its_two_places(view: SpaceView, qtbot: QtBot) -> None:
    assert view.gl is not None
    assert view.scene is not None
    row = int(np.argmin(view.camera.project(view.scene.centres)[:, 2]))
    view.state.set_snapshot(moved([row], by=(12, 0, 0)))
    view.motion._clock.stop()
    view._air.travel = 0.3  # half of its own way
    scene = view.scene
    middle = scene.centres[row] - np.array([6, 0, 0], np.float32) / np.sqrt(2)
    x, y, _ = view.camera.project(middle[None].astype(np.float32))[0]
    image = view.gl.grabFramebuffer()
    shown = image.pixelColor(round(x), round(y)).lightness()
    assert shown > 60
    view._end_flight()
    image = view.gl.grabFramebuffer()
    assert image.pixelColor(round(x), round(y)).lightness() != shown


@pytest.mark.needs_display
def test_what_is_superseded_turns_while_a_line_runs_to_its_successor(
    view: SpaceView, qtbot: QtBot, picture: Picture
) -> None:
    assert view.gl is not None
    assert view.scene is not None
    tetrahedra = view.gl.tetrahedra
    row = int(np.flatnonzero(~SNAPSHOT.inhibited)[5])
    old, new = SNAPSHOT.ids[row], SNAPSHOT.ids[-1]
    view.show_successions(((old, "not stored yet"),))
    assert view.happenings.successions == (), "waits for its successor"
    view.state.set_snapshot(superseded([row]))
    assert tetrahedra.looks[row, 1] == STATE_FADING
    view.show_successions(((old, new),))
    assert view.happenings.successions == ((old, new),)
    view.motion._clock.stop()
    view._air.fade = 0.5
    view.refresh()
    view.repaint()
    middle = (view.pixel_of(old) + view.pixel_of(new)) / 2
    shown = view.grab().toImage()
    near = [shown.pixelColor(round(middle.x()) + d, round(middle.y()) + e) for d in (-1, 0, 1) for e in (-1, 0, 1)]
    assert max(color.red() - color.blue() for color in near) > 60, "the line is there"
    picture(view)
    view.motion.turn()
    with qtbot.waitSignal(view.motion.turned, timeout=1_000 * round(SUCCESSION_TIME) + 5_000):
        pass
    settled(qtbot, view)
    assert tetrahedra.looks[row, 1] == STATE_INHIBITED
    assert view.happenings.successions == ()
    assert view.is_still


@pytest.mark.needs_display
def test_with_reduced_motion_the_new_picture_is_simply_there(view: SpaceView, qtbot: QtBot) -> None:
    assert view.gl is not None
    view.reduced_motion = True
    view.state.set_snapshot(moved([3, 40, 41]))
    assert not len(view.gl.tetrahedra.travellers)
    view.state.set_snapshot(superseded([int(np.flatnonzero(~SNAPSHOT.inhibited)[5])]))
    assert not (view.gl.tetrahedra.looks[:, 1] == STATE_FADING).any()
    view.show_successions(((SNAPSHOT.ids[0], SNAPSHOT.ids[1]),))
    assert view.happenings.successions == ()


@pytest.mark.needs_display
def test_a_scene_that_shrinks_in_the_middle_of_a_flight_is_drawn_whole(view: SpaceView, qtbot: QtBot) -> None:
    view.state.set_snapshot(moved([299]))
    assert len(view.gl.tetrahedra.travellers) == 1
    view.state.set_snapshot(grown_snapshot(200, version=3))
    settled(qtbot, view)
    assert not len(view.gl.tetrahedra.travellers)
    assert not (view.gl.tetrahedra.looks[:, 2] & FLAG_HIDDEN).any()


def test_a_correction_in_the_window_is_seen_as_a_line(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window(sample_folder)
    window.space.reduced_motion = False
    old = next(
        i for i, silent in zip(window.state.snapshot.ids, window.state.snapshot.inhibited, strict=True) if not silent
    )
    drawn: list[tuple[tuple[str, str], ...]] = []
    told: list[str] = []
    show = window.space.show_successions
    window.space.show_successions = lambda pairs: (drawn.append(pairs), show(pairs))
    window.bridge.edit(
        lambda s: s.store("The pier opens at seven now, also in winter.", supersedes=old, client="window", force=True),
        lambda stored: told.append(str(stored.id)),
    )
    until(qtbot, lambda: bool(told) and bool(drawn))
    assert drawn[-1] == ((old, told[0]),)
