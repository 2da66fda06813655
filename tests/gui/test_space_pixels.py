"""The space on real pixels: what is clicked, hovered, lit, dimmed, uploaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from grown import grown_snapshot
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, settled

from tetrarium_gui.space import choosing
from tetrarium_gui.space.offscreen import OffscreenCanvas
from tetrarium_gui.space.scene import FLAG_LIT, WORLD, corners
from tetrarium_gui.space.tetrahedra import GLCanvas
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Highlight, WindowState
from tetrarium_gui.style import DARK

pytestmark = pytest.mark.needs_display
Picture = Callable[[QWidget], None]


@pytest.fixture(params=[True, False], ids=["off the screen", "on the screen"])
def view(request: pytest.FixtureRequest, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpaceView]:
    """The space on each of the two canvases, whatever this machine would take."""
    monkeypatch.setattr(SpaceView, "OFF_SCREEN", request.param)
    space = SpaceView(WindowState(), DARK)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(200))
    settled(qtbot, space)
    assert space.gl is not None
    assert space.gl.isValid(), "no OpenGL context on this display"
    assert isinstance(space.gl, OffscreenCanvas) == (request.param and space.gl.renders_in_software)
    yield space
    space.close()
    space.deleteLater()


def color_at(view: SpaceView, point: QPointF) -> np.ndarray:
    """Mean colour of 3 × 3 pixels of the OpenGL frame, 0 … 255."""
    assert view.gl is not None
    image = view.gl.grabFramebuffer()
    ratio = view.devicePixelRatioF()
    x, y = round(point.x() * ratio), round(point.y() * ratio)
    colors = [image.pixelColor(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    return np.mean([[c.red(), c.green(), c.blue()] for c in colors], axis=0)


def in_front(view: SpaceView, *, inhibited: bool = False) -> str:
    """A memory whose centre nothing hides, large enough on screen to read its pixels."""
    assert view.scene is not None
    for row in np.argsort(view.camera.project(view.scene.centres)[:, 2]):
        memory_id = view.scene.ids[row]
        if view.scene.inhibited[row] == inhibited and view.memory_at(view.pixel_of(memory_id)) == memory_id:
            return memory_id
    raise AssertionError("every memory is hidden")


def drag(view: SpaceView, start: QPointF, end: QPointF, button: Qt.MouseButton) -> None:
    for kind, at, buttons in (
        (QEvent.Type.MouseButtonPress, start, button),
        (QEvent.Type.MouseMove, (start + end) / 2, button),
        (QEvent.Type.MouseMove, end, button),
        (QEvent.Type.MouseButtonRelease, end, Qt.MouseButton.NoButton),
    ):
        which = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else button
        event = QMouseEvent(kind, at, view.mapToGlobal(at), which, buttons, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(view, event)


def test_a_click_selects_the_memory_under_it_and_turns_it_bright(
    view: SpaceView, qtbot: QtBot, picture: Picture
) -> None:
    memory_id = in_front(view)
    view.fly_to(memory_id)
    settled(qtbot, view)
    memory_id = in_front(view)
    point = view.pixel_of(memory_id)
    before = color_at(view, point)
    with qtbot.waitSignal(view.state.selection_changed) as told:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=point.toPoint())
    settled(qtbot, view)
    assert told.args == [memory_id]
    assert color_at(view, point).sum() > before.sum() + 20
    picture(view)


def test_a_click_beside_everything_selects_nothing(view: SpaceView, qtbot: QtBot) -> None:
    view.state.select(view.state.snapshot.ids[0])
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPointF(3, 3).toPoint())
    assert view.state.selected == ""


def test_hovering_shows_the_first_words_as_plain_text(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    memory_id = in_front(view)
    qtbot.mouseMove(view, view.pixel_of(memory_id).toPoint())
    qtbot.waitUntil(lambda: view.overlay.card is not None)
    row = view.scene.row(memory_id)
    assert view.overlay.card.excerpt == view.state.snapshot.excerpts[row]
    picture(view)
    qtbot.mouseMove(view, QPointF(2, 2).toPoint())
    qtbot.waitUntil(lambda: view.overlay.card is None)


def test_resting_on_a_memory_lights_what_touches_it_and_dims_the_rest(
    view: SpaceView, qtbot: QtBot, picture: Picture
) -> None:
    memory_id = in_front(view)
    qtbot.mouseMove(view, QPointF(5, 5).toPoint())  # the pointer may stand there from before: no move, no event
    qtbot.mouseMove(view, view.pixel_of(memory_id).toPoint())
    qtbot.waitUntil(lambda: view.gl.tetrahedra.looks[:, 2].any() and view._air.dimming > 0)
    looks = view.gl.tetrahedra.looks
    lit = {view.scene.ids[row] for row in np.flatnonzero(looks[:, 2] & FLAG_LIT)}
    assert lit == {memory_id, *choosing.touching(view.scene, [memory_id])}
    settled(qtbot, view)
    picture(view)
    qtbot.mouseMove(view, QPointF(2, 2).toPoint())
    qtbot.waitUntil(lambda: view._air.dimming == 0)
    assert not (view.gl.tetrahedra.looks[:, 2] & FLAG_LIT).any()
    view.state.set_highlight(Highlight("words", view.scene.ids[:3]))
    qtbot.mouseMove(view, view.pixel_of(memory_id).toPoint())
    qtbot.waitUntil(lambda: view.overlay.card is not None)
    assert not view._dwell.isActive(), "what was found stays lit whatever the pointer rests on"


def test_a_drag_turns_the_space_and_selects_nothing(view: SpaceView, qtbot: QtBot) -> None:
    azimuth, frame = view.camera.pose.azimuth, view.gl.grabFramebuffer()
    drag(view, QPointF(400, 300), QPointF(520, 340), Qt.MouseButton.LeftButton)
    settled(qtbot, view)
    assert view.camera.pose.azimuth != azimuth
    assert view.gl.grabFramebuffer() != frame
    assert view.state.selected == ""


def test_a_right_drag_pans(view: SpaceView) -> None:
    memory_id = view.scene.ids[0]
    before = view.pixel_of(memory_id)
    drag(view, QPointF(400, 300), QPointF(430, 310), Qt.MouseButton.RightButton)
    moved = view.pixel_of(memory_id) - before
    assert moved.x() > 10
    assert moved.y() > 2


def test_the_wheel_zooms_to_the_cursor(view: SpaceView) -> None:
    memory_id = in_front(view)
    point, distance = view.pixel_of(memory_id), view.camera.pose.distance
    event = QWheelEvent(
        point,
        view.mapToGlobal(point),
        QPointF(0, 0).toPoint(),
        QPointF(0, 120).toPoint(),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)
    assert view.camera.pose.distance < distance
    assert (view.pixel_of(memory_id) - point).manhattanLength() < 40


def test_hits_stay_lit_while_the_rest_drops_to_a_trace(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    view.fly_to(in_front(view))
    settled(qtbot, view)
    lit = in_front(view)
    point = view.pixel_of(lit)
    full = color_at(view, point)
    view.state.set_highlight(Highlight("words", (lit,)))
    settled(qtbot, view)
    assert color_at(view, point).sum() >= full.sum() - 6
    picture(view)
    other = next(i for i in view.scene.ids if i != lit)
    view.state.set_highlight(Highlight("words", (other,)))
    settled(qtbot, view)
    background = np.array(QColor(DARK.canvas_bottom).getRgb()[:3])
    assert np.abs(color_at(view, point) - background).sum() < 0.4 * np.abs(full - background).sum()


def test_void_loses_its_hue_and_inhibited_is_hatched(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    view.fly_to(in_front(view))
    settled(qtbot, view)
    memory_id = in_front(view)
    point = view.pixel_of(memory_id)
    view.state.set_highlight(Highlight("words", (), frozenset({memory_id})))
    settled(qtbot, view)
    assert np.ptp(color_at(view, point)) < 45, "void is nearly grey"
    view.state.set_highlight(None)
    inhibited = in_front(view, inhibited=True)
    view.fly_to(inhibited)
    settled(qtbot, view)
    assert view.gl is not None
    image, at = view.gl.grabFramebuffer(), view.pixel_of(inhibited)
    reds = [image.pixelColor(round(at.x() + d), round(at.y() + d / 2)) for d in range(-60, 60)]
    redness = np.array([c.red() - max(c.green(), c.blue()) for c in reds])
    assert redness.max() > 80
    assert (redness > 60).any()
    assert (redness < 40).any(), "bright and dark stripes"
    picture(view)


def test_what_waits_in_quarantine_has_a_dashed_amber_edge(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    memory_id = in_front(view)
    view.fly_to(memory_id)
    settled(qtbot, view)
    memory_id = in_front(view)
    assert view.state.snapshot is not None
    waits = np.array([i == memory_id for i in view.state.snapshot.ids])
    silent = view.state.snapshot.inhibited | waits
    view.state.set_snapshot(replace(view.state.snapshot, quarantined=waits, inhibited=silent, version=2))
    settled(qtbot, view)
    picture(view)
    assert view.gl is not None
    assert view.scene is not None
    points = corners(view.scene.voxels[view.scene.row(memory_id)][None])[0] * WORLD
    seen = view.camera.project(points.astype(np.float32))[:, :2]
    image = view.gl.grabFramebuffer()
    amber = np.array(QColor(DARK.amber).getRgb()[:3])
    best = 0
    for one, other in combinations(range(4), 2):
        shares = np.linspace(0.08, 0.92, 80)[:, None]
        line = seen[one] * (1 - shares) + seen[other] * shares
        colors = np.array([image.pixelColor(round(x), round(y)).getRgb()[:3] for x, y in line])
        near = np.abs(colors - amber).sum(axis=1) < 90
        best = max(best, int((near[1:] & ~near[:-1]).sum()))
    assert best >= 3, "dashes along an edge"


def test_one_store_uploads_one_row(view: SpaceView, qtbot: QtBot) -> None:
    uploads = view.gl.tetrahedra.uploads
    geometry_bytes, look_bytes = uploads.geometry, uploads.looks
    view.state.set_snapshot(grown_snapshot(201, version=2))
    settled(qtbot, view)
    assert uploads.geometry - geometry_bytes == 16
    assert uploads.looks - look_bytes == 4
    assert uploads.draw_calls <= 4


def test_turning_the_space_uploads_nothing(view: SpaceView, qtbot: QtBot) -> None:
    uploads = view.gl.tetrahedra.uploads
    before = (uploads.geometry, uploads.looks)
    view.camera.orbit(90, 20)
    view.refresh()
    settled(qtbot, view)
    assert (uploads.geometry, uploads.looks) == before


def test_the_space_survives_a_new_context(view: SpaceView, qtbot: QtBot) -> None:
    point = view.pixel_of(in_front(view))
    before = color_at(view, point)
    other = QMainWindow()
    qtbot.addWidget(other)
    other.resize(800, 600)
    on_screen = isinstance(view.gl, GLCanvas)
    context = view.gl.context() if on_screen else None
    other.setCentralWidget(view)
    other.show()
    qtbot.waitExposed(other)
    settled(qtbot, view)
    view.resize(800, 600)
    view.camera.set_viewport(view.width(), view.height())
    settled(qtbot, view)
    assert not on_screen or view.gl.context() is not context
    assert np.abs(color_at(view, view.pixel_of(in_front(view))) - before).sum() < 200
    counts = {color_at(view, view.pixel_of(i)).sum() > 120 for i in view.scene.ids[:20]}
    assert True in counts, "memories are drawn again"
    other.takeCentralWidget()


def test_both_canvases_draw_the_same(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = []
    for off_screen in (True, False):
        monkeypatch.setattr(SpaceView, "OFF_SCREEN", off_screen)
        space = SpaceView(WindowState(), DARK)
        qtbot.addWidget(space)
        space.reduced_motion = True
        space.resize(800, 600)
        space.show()
        qtbot.waitExposed(space)
        space.state.set_snapshot(grown_snapshot(200))
        settled(qtbot, space)
        image = space.gl.grabFramebuffer().convertToFormat(QImage.Format.Format_RGB888)
        frames.append(np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)[:, : 3 * image.width()])
    apart = np.abs(frames[0].astype(int) - frames[1]).mean()
    assert frames[0].std() > 5
    assert apart < 0.5


def test_a_word_over_the_space_draws_no_frame_and_rest_makes_edges_smooth(qtbot: QtBot, view: SpaceView) -> None:
    canvas = view.gl
    if not isinstance(canvas, OffscreenCanvas):
        pytest.skip("only what is drawn off the screen counts its frames")
    qtbot.waitUntil(lambda: not canvas._rest.isActive(), timeout=PATIENCE)
    smooth, frames = canvas._image.copy(), canvas.frames
    view.overlay.update()
    qtbot.wait(50)
    assert canvas.frames == frames
    plain = canvas.grabFramebuffer()
    assert plain != smooth
    view.refresh()
    qtbot.waitUntil(lambda: canvas.frames >= frames + 3, timeout=PATIENCE)
    qtbot.waitUntil(lambda: canvas._image == smooth, timeout=PATIENCE)


def test_names_of_clusters_never_overlap(view: SpaceView, qtbot: QtBot, picture: Picture) -> None:
    settled(qtbot, view)
    labels = view.overlay.labels
    assert len(labels) >= 4
    for one in labels:
        for other in labels:
            if one is not other:
                a, b = one.box, other.box
                apart = a[0] >= b[0] + b[2] or b[0] >= a[0] + a[2] or a[1] >= b[1] + b[3] or b[1] >= a[1] + a[3]
                assert apart
    picture(view)


def test_without_opengl_the_same_memories_are_drawn_flat(qtbot: QtBot, picture: Picture) -> None:
    space = SpaceView(WindowState(), DARK, opengl=False)
    qtbot.addWidget(space)
    space.reduced_motion = True
    space.resize(800, 600)
    space.show()
    qtbot.waitExposed(space)
    space.state.set_snapshot(grown_snapshot(200))
    settled(qtbot, space)
    memory_id = in_front(space)
    point = space.pixel_of(memory_id)
    space.fly_to(memory_id)
    point = space.pixel_of(memory_id)
    qtbot.mouseClick(space, Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert space.state.selected == space.memory_at(point) != ""
    picture(space)
    color = space.grab().toImage().pixelColor(point.toPoint())
    assert color.lightness() > 40
