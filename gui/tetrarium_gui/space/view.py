"""The space as people touch it: orbit, pan, zoom to the cursor, hover, select, fly to, fit.

The view owns the camera, the scene and the clock of the small motions; a canvas below it draws (OpenGL, or
flat where there is none) and an overlay above it writes. Nothing runs while nothing moves.
"""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from tetrarium.model import Bool, Float32, UInt8
from tetrarium_gui.space import beacons, choosing, gizmo
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.cards import Card, card_of
from tetrarium_gui.space.coloring import Visibility, palette_indices
from tetrarium_gui.space.detail import HARDWARE, SOFTWARE, SOFTWARE_IN_MOTION
from tetrarium_gui.space.flat import FlatCanvas
from tetrarium_gui.space.gaze import Gaze
from tetrarium_gui.space.hands import Hands
from tetrarium_gui.space.happenings import Happenings, Pairs
from tetrarium_gui.space.marking import Marking
from tetrarium_gui.space.motion import Motion
from tetrarium_gui.space.offscreen import Canvas, OffscreenCanvas, software_opengl
from tetrarium_gui.space.overlay import Overlay
from tetrarium_gui.space.picking import pick
from tetrarium_gui.space.replay import Replay
from tetrarium_gui.space.scene import Scene, births, geometry, looks, scene_of
from tetrarium_gui.space.tetrahedra import Atmosphere, GLCanvas
from tetrarium_gui.state import ColorBy, Highlight, WindowState
from tetrarium_gui.style import GROW_TIME, PALETTE_SIZE, Theme, scene_palette, visible
from tetrarium_gui.words import t

DWELL = 200
"""Milliseconds for which the pointer rests on a memory before what touches it lights up and the rest dims."""
HOVER_DIMMING = 0.6
"""How far the rest dims then, of how far it dims for a question."""
REST = 150
"""Milliseconds without a move after which software rendering draws the full detail again."""


class SpaceView(Marking, QWidget):
    """Shows the window's state in space; a click asks for a selection through `state.select`."""

    hovered = Signal(str)
    notice = Signal(str)
    menu_asked = Signal(QPoint)
    memory_clicked = Signal(str)
    OFF_SCREEN = True
    """Whether the space is drawn off the screen where OpenGL runs on the processor; tests of the other canvas say no."""

    def __init__(self, state: WindowState, theme: Theme, *, opengl: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("space")
        self.setAccessibleName(t("space.name"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(320, 240)
        self.state, self.theme = state, theme
        self.camera = Camera()
        self.scene: Scene | None = None
        self.hovered_id = ""
        self._born: Float32 = np.zeros(0, np.float32)
        self._air = Atmosphere(theme)
        self.motion = Motion(self.camera, self._air, self)
        self.motion.stepped.connect(self.refresh)
        self.motion.flown.connect(self._in_motion)
        self.motion.arrived.connect(self._end_flight)
        self.motion.turned.connect(self._end_turn)
        self.happenings = Happenings(self.motion)
        self.gaze = Gaze(self.camera, self.motion, self)
        self.hands = Hands(self)
        self.visibility = Visibility()
        self.replay = Replay(self)
        self.replay.moved.connect(self._take_visibility)
        self.replay.ended.connect(self._take_visibility)
        self._colors: UInt8 = np.zeros(0, np.uint8)
        self._away: Bool = np.zeros(0, np.bool_)
        self._is_whole = True  # nothing is away
        self._lit: list[int] = []  # rows of the hits, the best first

        self._around: tuple[str, ...] = ()  # what the pointer rests on, and what touches it
        self._dwell = QTimer(self)
        self._dwell.setSingleShot(True)
        self._dwell.setInterval(DWELL)
        self._dwell.timeout.connect(self._light_around)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST)
        self._rest.timeout.connect(self._take_detail)

        self.gl: Canvas | None = None
        self.flat: FlatCanvas | None = None
        if opengl:
            software = software_opengl() if self.OFF_SCREEN else None
            if software is not None:
                self.gl = canvas = OffscreenCanvas(self.camera, self._air, software, self)
                self.motion.frame_takes = lambda: canvas.frame_takes
            else:
                self.gl = GLCanvas(self.camera, self._air, self)
            self.gl.failed.connect(self._fall_back, Qt.ConnectionType.QueuedConnection)
            self.gl.ready.connect(self._tell_renderer, Qt.ConnectionType.QueuedConnection)
        else:
            self._make_flat()
        self.overlay = Overlay(self.camera, theme, self)
        self.overlay.counted = lambda: self.gl.tetrahedra.detail.as_hulls if self.gl is not None else None
        self.overlay.badge = "" if opengl else "flat"

        state.snapshot_changed.connect(self._take_snapshot)
        state.selection_changed.connect(self._take_selection)
        state.highlight_changed.connect(self._take_highlight)
        state.color_by_changed.connect(self._take_colors)
        state.chosen_changed.connect(self._take_looks)
        state.links_changed.connect(self._take_links)

    # --- commands -------------------------------------------------------------------------------
    def fit_all(self) -> None:
        """Home: all but a few strays in view; once more: every memory."""
        if self.scene is not None and len(self.scene):
            self.gaze.fit_all(self.scene.centres)

    def fit_selection(self) -> None:
        """F: the marked memories, else the selected one's cluster, else what is lit, else everything."""
        scene = self.scene
        if scene is not None and len(marked := [scene.rows[i] for i in self.state.chosen if i in scene.rows]) > 1:
            self.gaze.fit(scene.centres[marked])
        elif scene is not None and (row := scene.row(self.state.selected)) >= 0:
            self.gaze.fit(scene.centres[scene.cluster == scene.cluster[row]])
        elif scene is not None and self._lit:
            self.gaze.fit(scene.centres[self._lit])
        else:
            self.fit_all()

    def fly_to(self, memory_id: str) -> None:
        """Bring one memory to the middle, near enough to see its neighbours."""
        if self.scene is not None and (row := self.scene.row(memory_id)) >= 0:
            self.gaze.fly_to(self.scene.centres[row : row + 1])

    def show_hits(self) -> None:
        """Bring what a question lit into view, unless a hand moved the camera since; cleared, it goes back."""
        if self.scene is not None:
            self.gaze.show_answer(self.scene.centres[self._lit])

    def step_back(self) -> None:
        """The pose before the last flight."""
        self.gaze.step_back()

    @property
    def reduced_motion(self) -> bool:
        """Nothing moves by itself; what would move is there at once."""
        return self.motion.reduced

    @reduced_motion.setter
    def reduced_motion(self, reduced: bool) -> None:
        self.motion.reduced = reduced

    def set_theme(self, theme: Theme) -> None:
        self.theme = self._air.theme = self.overlay.theme = theme
        if self.flat is not None:
            self.flat.theme = theme
        self.refresh()

    def set_caption(self, words: str) -> None:
        """A line at the top left; what is lit puts its own there."""
        self.overlay.caption = words
        self.overlay.update()

    def set_unavailable(self) -> None:
        self.overlay.unavailable = True
        self.overlay.update()

    def refresh(self) -> None:
        """Draw the next frame."""
        self.overlay.successions, self.overlay.succession = self.happenings.successions, self._air.fade
        if self.gl is not None:
            self.gl.update()
        if self.flat is not None:
            self.flat.update()
        self.overlay.update()

    def pixel_of(self, memory_id: str) -> QPointF:
        """Where the centre of a memory is on screen."""
        assert self.scene is not None
        x, y, _ = self.camera.project(self.scene.centres[self.scene.row(memory_id)][None])[0]
        return QPointF(float(x), float(y))

    # --- state in -------------------------------------------------------------------------------
    def _take_snapshot(self) -> None:
        assert self.state.snapshot is not None
        earlier, scene = self.scene, scene_of(self.state.snapshot, self.scene)
        self.replay.set_snapshot(self.state.snapshot)
        now = self.motion.now()
        self._born = births(scene, earlier, now, self._born)
        if self.reduced_motion:
            self._born = np.minimum(self._born, now - GROW_TIME)
        self.scene = self.overlay.scene = scene
        self.camera.set_scene(scene.centre, scene.radius)
        if self.gl is not None:
            self.happenings.leave(earlier, scene, self.gl)
            self.gl.tetrahedra.set_geometry(geometry(scene, self._born))
            self.gl.tetrahedra.detail.set_scene(scene)
            self.gl.tetrahedra.lights.set_dots(scene.shared)
            self.gl.tetrahedra.bodies.set_colors(scene.hues)
        if self.flat is not None:
            self.flat.scene = scene
        if (earlier is None or not len(earlier)) and len(scene):
            self.gaze.look_first(scene.centres)
            self.motion.grow()  # also lets the clock of the frame run, by which memories are there
        elif len(scene):
            self.motion.grow()
            self.gaze.keep_in_view(scene.centres)
        self._find_lit()
        self._take_colors()
        self._take_links()
        self._set_halo()
        shown = self.gl if self.isVisible() else None
        if shown is not None and self.happenings.between(earlier, scene, shown.tetrahedra.looks, shown):
            self._take_looks()

    def show_successions(self, pairs: Pairs) -> None:
        """Draw a line from each superseded memory to its successor, for a moment."""
        if self.scene is not None and self.isVisible():
            self.happenings.succeed(pairs, self.scene)

    def _end_flight(self) -> None:
        if self.gl is not None:
            self.happenings.end_flight(self.gl)
        self._take_looks()

    def _end_turn(self) -> None:
        self.happenings.end_turn()
        self._take_looks()

    def _take_selection(self, _: str) -> None:
        self._take_looks()
        self._set_halo()

    def _set_halo(self) -> None:
        memory_id = self.state.selected
        if self.gl is not None and self.scene is not None:
            row = self.scene.row(memory_id)
            self.gl.tetrahedra.lights.set_halo(self.scene.centres[row] if row >= 0 else None)

    def _take_highlight(self) -> None:
        highlight = self.state.highlight
        self._light_no_more()
        self.overlay.recalling = len(highlight.void) if highlight is not None else 0
        self.overlay.caption = "" if highlight is None else visible(highlight.title)
        self._air.dimming = 0.0 if highlight is None else 1.0
        self._find_lit()
        self._allow_hulls()
        if highlight is not None:
            self.motion.reveal()
        else:
            self.gaze.come_back()
        self._take_looks()

    def _find_lit(self) -> None:
        highlight, scene = self.state.highlight, self.scene
        self._lit = beacons.lit_rows(scene, highlight) if scene is not None else []
        self.overlay.lit = self._lit
        self.overlay.lit_clusters = None
        if highlight is not None and scene is not None:
            self.overlay.lit_clusters = frozenset(scene.cluster[self._lit].tolist())

    def _take_looks(self) -> None:
        scene = self.scene
        if scene is None:
            return
        look = looks(
            scene,
            colors=self._colors,
            highlight=self._lighting(),
            selected=self.state.selected,
            hovered=self.hovered_id,
            marked=frozenset(self.state.chosen),
            away=None if self._is_whole else self._away,
        )
        self.happenings.dress(look)
        if self.gl is not None:
            self.gl.tetrahedra.set_looks(look)
            self.gl.tetrahedra.lights.set_beacons(beacons.beacons(scene, self._shown_lit(), self._colors))
        if self.flat is not None:
            self.flat.looks, self.flat.dimming = look, self._lighting() is not None
        self.refresh()

    def _lighting(self) -> Highlight | None:
        """What is lit: what was found, else what is around the pointer."""
        return self.state.highlight or (Highlight("", self._around) if self._around else None)

    def _light_around(self) -> None:
        """The pointer rests on a memory: light it and what touches it."""
        if self.scene is None or self.state.highlight is not None or (row := self.scene.row(self.hovered_id)) < 0:
            return
        self._around = (self.hovered_id, *choosing.sharing(self.scene, row))
        self._air.dimming, self._air.reveal = HOVER_DIMMING, 1.0
        self._take_looks()

    def _light_no_more(self) -> None:
        """The pointer moved on."""
        self._dwell.stop()
        if self._around:
            self._around = ()
            self._air.dimming = 0.0 if self.state.highlight is None else 1.0

    def _shown_lit(self) -> list[int]:
        return self._lit if self._is_whole else [row for row in self._lit if not self._away[row]]

    def _take_colors(self) -> None:
        """What the colours mean has changed, or what there is to colour."""
        if self.scene is None or self.state.snapshot is None:
            return
        self._colors = palette_indices(self.state.snapshot, self.scene, self.state.color_by, time.time())
        self.overlay.color_by = self.state.color_by
        self.overlay.counts = np.bincount(self._colors, minlength=PALETTE_SIZE).tolist()
        self._take_visibility()

    def _take_visibility(self) -> None:
        scene = self.scene
        if scene is None:
            return
        before, self._away = self._away, self.visibility.mask(scene, self._colors)
        if (shown := self.replay.shown()) is not None:
            self._away |= ~shown
            if not self.reduced_motion and len(before) == len(self._away):
                self._grow(before & ~self._away)
        self._is_whole = self.visibility.is_whole and shown is None
        self._allow_hulls()
        self.overlay.filtered = self.visibility.filtered
        self.overlay.away = int(self._away.sum()) if not self.visibility.is_whole else 0
        self.overlay.present = (
            None if self._is_whole else np.bincount(scene.cluster[~self._away], minlength=len(scene.clusters)) > 0
        )
        self._take_looks()

    def _allow_hulls(self) -> None:
        """Only where a body of one colour says what its memories would."""
        recalling = self.state.highlight is not None and bool(self.state.highlight.void)
        if self.gl is not None:
            by_cluster = self.state.color_by is ColorBy.CLUSTER
            self.gl.tetrahedra.detail.hulls_allowed = by_cluster and self._is_whole and not recalling

    def _grow(self, rows: Bool) -> None:
        """Let memories grow from their anchors once more: they are shown after they were not."""
        if self.scene is None or not rows.any():
            return
        self._born = np.where(rows, np.float32(self.motion.now()), self._born)
        if self.gl is not None:
            self.gl.tetrahedra.set_geometry(geometry(self.scene, self._born))
        self.motion.grow()

    def _take_links(self) -> None:
        self.overlay.links = self.state.links
        self.refresh()

    def show_path(self, ids: tuple[str, ...]) -> None:
        """Draw a way from memory to memory, and go there; none takes it away."""
        if ids != self.overlay.path:
            self.overlay.path = ids
            self.overlay.update()
            if self.scene is not None and (rows := [self.scene.rows[i] for i in ids if i in self.scene.rows]):
                self.gaze.fit(self.scene.centres[rows])

    # --- camera commands ------------------------------------------------------------------------
    def look_from(self, side: str) -> None:
        """From a side of `camera.SIDES`: `front`, `right`, `top` …"""
        self.gaze.fly(self.camera.from_side(side))

    def set_level(self, level: bool) -> None:
        """With or without perspective."""
        self.camera.level = level
        self.refresh()

    # --- pointer and keys -----------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hands.press(event)
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hands.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.hands.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if memory_id := self.memory_at(event.position()):
            self.fly_to(memory_id)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.hands.wheel(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.hands.key(event):
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.leave()

    def moved_by_hand(self, *, in_motion: bool = True) -> None:
        """The camera was moved: draw, and remember that a person chose this pose."""
        self.gaze.moved_by_hand(while_lit=self.state.highlight is not None)
        if in_motion:
            self._in_motion()
        self.refresh()

    def click(self, position: QPointF, *, adds: bool) -> None:
        """Select what is under the pointer; with Shift put a mark on it or take it off; on the legend, filter; on an
        end of the axes, look from there."""
        if (index := self.overlay.legend_at(position)) is not None:
            self.filter_class(index)
            return
        if side := gizmo.side_at(self.camera, position):
            self.look_from(side)
            return
        memory_id = self.memory_at(position)
        if adds:
            if memory_id:
                first = self.chosen()
                self._mark(first ^ {memory_id} if first != {memory_id} else first)
            return
        self.state.choose(())
        self.state.select(memory_id)
        if memory_id:
            self.memory_clicked.emit(memory_id)

    def select_at(self, position: QPointF) -> None:
        """Select what is under the pointer, and nothing where nothing is."""
        self.state.select(self.memory_at(position))

    def ask_menu(self, position: QPointF) -> None:
        """Ask for the menu of what is selected. position: on the screen."""
        self.menu_asked.emit(position.toPoint())

    def draw_outline(self, path: list[tuple[float, float]], *, is_box: bool) -> None:
        """The box or lasso that is being drawn, as pixels."""
        self.overlay.outline, self.overlay.outline_is_box = tuple(path), is_box
        self.overlay.update()

    def mark_outlined(self, path: list[tuple[float, float]], *, is_box: bool, adds: bool) -> None:
        """The box or lasso is closed: mark what lies inside; adds: beside what is marked already."""
        self.overlay.outline = ()
        self.overlay.update()
        self.mark_within(path, is_box=is_box, adds=adds)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.camera.set_viewport(self.width(), self.height())
        for child in (self.gl, self.flat, self.overlay):
            if child is not None:
                child.setGeometry(self.rect())
        if self.scene is not None:
            self.gaze.resized(self.scene.centres, self._lit)
        self.refresh()

    def memory_at(self, position: QPointF) -> str:
        """The nearest memory under a pixel, "" for none."""
        if self.scene is None:
            return ""
        away = None if self._is_whole else self._away
        row = pick(self.scene, *self.camera.ray(position.x(), position.y()), away)
        return self.scene.ids[row] if row >= 0 else ""

    def hover(self, position: QPointF) -> None:
        """Show what the pointer is over."""
        memory_id = self.memory_at(position)
        changed = memory_id != self.hovered_id
        if not changed and not memory_id:
            return
        self.hovered_id = memory_id
        self.overlay.card = self._card(memory_id, position)
        self.setCursor(Qt.CursorShape.PointingHandCursor if memory_id else Qt.CursorShape.ArrowCursor)
        if changed:
            self._light_no_more()
            if memory_id and self.state.highlight is None:
                self._dwell.start()
            self._take_looks()
            self.hovered.emit(memory_id)
        else:
            self.overlay.update()

    def _card(self, memory_id: str, position: QPointF) -> Card | None:
        if not memory_id or self.scene is None or self.state.snapshot is None:
            return None
        row = self.scene.row(memory_id)
        color = scene_palette(self.theme)[int(self._colors[row])]
        return card_of(self.scene, self.state.snapshot, row, self.theme, color, (position.x(), position.y()))

    def leave(self) -> None:
        """The pointer is over nothing any more."""
        if self.hovered_id:
            self.hovered_id, self.overlay.card = "", None
            self._light_no_more()
            self._take_looks()

    @property
    def is_still(self) -> bool:
        """Nothing moves; what is on screen is final."""
        return self.motion.is_still and not self._rest.isActive()

    # --- canvas ---------------------------------------------------------------------------------
    def _tell_renderer(self, renderer: str) -> None:
        if self.gl is not None and self.gl.renders_in_software:
            self.overlay.badge = "software"
            self.overlay.update()
        self._take_detail()

    def _take_detail(self) -> None:
        """Give every frame the detail that this renderer can afford at rest."""
        if self.gl is not None:
            self.gl.tetrahedra.detail.budget = SOFTWARE if self.gl.renders_in_software else HARDWARE
            self.refresh()

    def _in_motion(self) -> None:
        """The camera moves: software rendering keeps up with the hand by drawing less until it rests."""
        if self.gl is not None and self.gl.renders_in_software:
            self.gl.tetrahedra.detail.budget = SOFTWARE_IN_MOTION
            self._rest.start()

    def _fall_back(self, reason: str) -> None:
        """OpenGL cannot draw here: show the same arrays flat."""
        if self.gl is not None:
            self.gl.hide()
            self.gl.deleteLater()
            self.gl = None
        self._make_flat()
        self.overlay.raise_()
        self.overlay.badge = "flat"
        self._take_looks()
        self.notice.emit(reason)

    def _make_flat(self) -> None:
        self.flat = FlatCanvas(self.camera, self.theme, self)
        self.flat.setGeometry(self.rect())
        self.flat.scene = self.scene
        self.flat.show()
        self.flat.lower()
