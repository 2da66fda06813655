"""The timeline: charts that filter each other, and the growth of the space, replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from waiting import pressed, settled, until

from tetrarium.model import CATEGORIES, SpaceSnapshot
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.crossfilter import DAY, MOST_BARS, Filter, bars_of, confidences, fifths, importances
from tetrarium_gui.panels.timeline import TimelinePanel
from tetrarium_gui.space.replay import LONGEST, Replay, shares_of
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import WindowState
from tetrarium_gui.style import DARK

Picture = Callable[[QWidget], None]
OpenWindow = Callable[..., MainWindow]
SNAPSHOT = grown_snapshot(300)


def over(days: float) -> SpaceSnapshot:
    """The snapshot, stored within so many days."""
    shares = (SNAPSHOT.created - SNAPSHOT.created.min()) / np.ptp(SNAPSHOT.created)
    return replace(SNAPSHOT, created=1.77e9 + shares * days * DAY)


@pytest.mark.parametrize(
    ("days", "step"),
    [(0.0, "hour"), (2.0, "hour"), (60.0, "day"), (300.0, "week"), (1_500.0, "month"), (9e4, "quarter")],
)
def test_bars_hold_every_memory_once_by_the_finest_step_that_is_readable(days: float, step: str) -> None:
    snapshot = over(days)
    bars = bars_of(snapshot, np.ones(300, np.bool_))
    assert bars.step == step
    assert len(bars.all) <= MOST_BARS
    assert bars.all.sum() == bars.counts.sum() == 300
    assert bars.counts.sum(axis=1).tolist() == np.bincount(snapshot.category, minlength=9).tolist()
    assert bars.edges[0] <= snapshot.created.min()
    assert bars.edges[-1] >= snapshot.created.max()


def test_every_chart_counts_what_the_others_leave() -> None:
    low, high = np.quantile(SNAPSHOT.created, [0.2, 0.7]).tolist()
    chosen = Filter(span=(low, high), kinds={1, 4}, confidence={2}, importance={0, 3})
    inside = (SNAPSHOT.created >= low) & (SNAPSHOT.created <= high)
    kinds, sure = np.isin(SNAPSHOT.category, [1, 4]), SNAPSHOT.confidence == 2
    weight = np.isin((SNAPSHOT.importance * 5).astype(int), [0, 3])
    assert np.array_equal(chosen.mask(SNAPSHOT), inside & kinds & sure & weight)
    assert np.array_equal(chosen.mask(SNAPSHOT, without="confidence"), inside & kinds & weight)
    assert confidences(SNAPSHOT, inside & kinds & weight).sum() == int((inside & kinds & weight).sum())
    assert importances(SNAPSHOT, sure).tolist() == np.bincount(fifths(SNAPSHOT)[sure], minlength=5).tolist()
    assert Filter().is_open
    assert not chosen.is_open


@pytest.fixture
def panel(qtbot: QtBot) -> TimelinePanel:
    made = TimelinePanel(DARK)
    qtbot.addWidget(made)
    made.resize(1200, 240)
    made.show()
    made.set_snapshot(SNAPSHOT)
    return made


def test_a_click_on_a_bar_leaves_its_memories_and_another_one_brings_all_back(
    panel: TimelinePanel, qtbot: QtBot
) -> None:
    chart = panel.confidence
    qtbot.waitUntil(lambda: chart.getPlotItem().vb.sceneBoundingRect().width() > 20)
    view = chart.getPlotItem().vb
    bar = chart.mapFromScene(view.mapViewToScene(QPointF(1, 2)))
    with qtbot.waitSignal(panel.range_chosen) as told:
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    expected = [SNAPSHOT.ids[row] for row in np.flatnonzero(SNAPSHOT.confidence == 1)]
    assert list(told.args[0]) == expected
    with qtbot.waitSignal(panel.range_chosen) as told:
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    assert told.args == [None]


def test_kinds_are_chosen_by_their_signs_and_everything_takes_it_back(panel: TimelinePanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.range_chosen) as told:
        pressed(qtbot, panel.kinds[2])
    assert set(told.args[0]) == {SNAPSHOT.ids[row] for row in np.flatnonzero(SNAPSHOT.category == 2)}
    with qtbot.waitSignal(panel.range_chosen) as told:
        pressed(qtbot, panel.kinds[5])
    assert len(told.args[0]) == int(np.isin(SNAPSHOT.category, [2, 5]).sum())
    with qtbot.waitSignal(panel.range_chosen) as told:
        pressed(qtbot, panel.all)
    assert told.args == [None]
    assert not any(chip.isChecked() for chip in panel.kinds)
    assert panel.kinds[0].accessibleName() == CATEGORIES[0].value


def test_a_replay_shows_memories_in_the_order_in_which_they_were_stored() -> None:
    created = SNAPSHOT.created[np.random.default_rng(4).permutation(300)]
    shares = shares_of(created)
    order = np.argsort(created)
    assert all(one <= other for one, other in pairwise(shares[order].tolist()))
    assert shares.max() == 1.0
    assert shares.min() > 0.0
    assert len(np.unique(shares_of(np.full(50, 1e9)))) == 50, "an import in one moment still appears one by one"


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[SpaceView]:
    space = SpaceView(WindowState(), DARK)
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(SNAPSHOT)
    settled(qtbot, space)
    yield space
    space.replay.stop()
    space.close()
    space.deleteLater()


@pytest.mark.needs_display
def test_a_replay_grows_the_space_and_its_end_shows_all(view: SpaceView, qtbot: QtBot) -> None:
    pose, replay = view.camera.pose, view.replay
    counts: list[int] = []
    replay.moved.connect(lambda: counts.append(int((~view._away).sum())))
    replay.play(SNAPSHOT)
    replay._duration = 0.5
    with qtbot.waitSignal(replay.ended, timeout=15_000):
        pass
    assert len(counts) > 2
    assert counts == sorted(counts)
    assert counts[0] < 30
    settled(qtbot, view)
    assert not view._away.any()
    assert not replay.is_playing
    assert view.camera.pose == pose, "the camera stays"


@pytest.mark.needs_display
def test_a_paused_replay_stands_still_can_be_moved_and_takes_in_what_is_stored_meanwhile(
    view: SpaceView, qtbot: QtBot
) -> None:
    replay = view.replay
    replay.play(SNAPSHOT)
    replay.pause()
    replay.seek(float(np.median(SNAPSHOT.created)))
    settled(qtbot, view)
    shown = ~view._away
    assert shown.sum() == replay.count == (SNAPSHOT.created <= np.median(SNAPSHOT.created)).sum()
    hidden = SNAPSHOT.ids[-1]
    assert view.memory_at(view.pixel_of(hidden)) != hidden
    assert {label.cluster for label in view.overlay.labels} <= set(SNAPSHOT.cluster[shown].tolist())
    view.state.set_snapshot(grown_snapshot(301, version=2))
    assert replay.is_on
    assert len(view._away) == 301
    replay.stop()
    assert not view._away.any()


def test_a_replay_takes_twelve_seconds_at_most(qtbot: QtBot) -> None:
    replay = Replay()
    replay.play(grown_snapshot(2_000))
    assert replay._duration == LONGEST
    replay.stop()
    replay.play(replace(SNAPSHOT, ids=(), created=np.zeros(0)))
    assert not replay.is_on, "nothing to replay"


def test_escape_ends_a_replay_before_it_clears_anything_else(
    sample_folder: Path, open_window: OpenWindow, qtbot: QtBot, picture: Picture
) -> None:
    window = open_window(sample_folder)
    window.docks.show("timeline")
    window.state.select(window.state.snapshot.ids[3])
    pressed(qtbot, window.panels.timeline.play)
    window.space.replay._duration = 120.0  # whatever this machine is busy with, it is not over before it is paused
    until(qtbot, lambda: window.space.replay.count > 3)
    pressed(qtbot, window.panels.timeline.play)
    assert not window.space.replay.is_playing
    assert window.panels.timeline.marker.isVisible()
    assert str(window.space.replay.count) in window.space.overlay.caption
    picture(window)
    window.commands["clear"].trigger()
    assert not window.space.replay.is_on
    assert not window.space._away.any()
    assert window.state.selected
    assert not window.panels.timeline.marker.isVisible()
