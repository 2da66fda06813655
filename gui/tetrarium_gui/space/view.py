"""The space as people touch it: orbit, pan, zoom to the cursor, hover, select, fly to, fit.

The view owns the camera, the scene and the clock of the small motions; a canvas below it draws (OpenGL, or
flat where there is none) and an overlay above it writes. Nothing runs while nothing moves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from tetrarium.model import CATEGORIES, Bool, Float32, UInt8
from tetrarium_gui.space import choosing
from tetrarium_gui.space.camera import Camera, Pose, blend
from tetrarium_gui.space.coloring import Visibility, palette_indices
from tetrarium_gui.space.detail import HARDWARE, SOFTWARE, SOFTWARE_IN_MOTION
from tetrarium_gui.space.flat import FlatCanvas
from tetrarium_gui.space.overlay import Card, Overlay
from tetrarium_gui.space.picking import pick
from tetrarium_gui.space.scene import CIRCUMRADIUS, Scene, births, geometry, looks, scene_of
from tetrarium_gui.space.tetrahedra import Atmosphere, GLCanvas
from tetrarium_gui.state import WindowState
from tetrarium_gui.style import CAMERA_EASE, GROW_TIME, REVEAL_TIME, Theme, scene_palette, visible
from tetrarium_gui.words import t

FRAME = 16
"""Milliseconds between frames while something moves."""
REST = 150
"""Milliseconds without a move after which software rendering draws the full detail again."""
CLICK_SLACK = 5.0
"""Pixels that a press may wander and still be a click."""
FLY_TO_RADIUS = 3.2
"""World units round a memory that a flight to it shows."""
ROOM = 1.8
"""World units round each memory of a selection that a fit shows."""
KEY_STEP = 40.0
"""Pixels of drag that one arrow key stands for."""
POSES_KEPT = 30
FIRST_LOOK = 0.93
"""Share of the memories that the first look frames; a few far ones may lie outside (Home shows all)."""
LOOKED_AT = 2_000
"""Memories that this framing looks at; more would change nothing to see."""
OUTGROWN = 1.15
"""An untouched camera steps back when the fit needs this much more distance."""


class SpaceView(QWidget):
    """Shows the window's state in space; a click asks for a selection through `state.select`."""

    hovered = Signal(str)
    notice = Signal(str)
    menu_asked = Signal(QPoint)

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
        self.reduced_motion = False
        self.hovered_id = ""
        self._born: Float32 = np.zeros(0, np.float32)
        self._started = time.monotonic()
        self._air = Atmosphere(theme)
        self._grows_until = self._reveals_from = 0.0
        self._flight: tuple[Pose, Pose, float] | None = None
        self._poses: list[Pose] = []
        self.visibility = Visibility()
        self._colors: UInt8 = np.zeros(0, np.uint8)
        self._away: Bool = np.zeros(0, np.bool_)
        self._path: list[tuple[float, float]] = []  # of a box or lasso that is being drawn, pixels
        self._press: QPointF | None = None
        self._untouched = True  # until a person moves the camera, a growing space stays in view
        self._last = QPointF()
        self._dragged = False
        self._clock = QTimer(self)
        self._clock.setInterval(FRAME)
        self._clock.timeout.connect(self._tick)

        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST)
        self._rest.timeout.connect(self._take_detail)

        self.gl: GLCanvas | None = None
        self.flat: FlatCanvas | None = None
        if opengl:
            self.gl = GLCanvas(self.camera, self._air, self)
            self.gl.failed.connect(self._fall_back, Qt.ConnectionType.QueuedConnection)
            self.gl.ready.connect(self._tell_renderer, Qt.ConnectionType.QueuedConnection)
        else:
            self._make_flat()
        self.overlay = Overlay(self.camera, theme, self)
        self.overlay.badge = "" if opengl else "flat"

        state.snapshot_changed.connect(self._take_snapshot)
        state.selection_changed.connect(self._take_selection)
        state.highlight_changed.connect(self._take_highlight)
        state.color_by_changed.connect(self._take_colors)
        state.chosen_changed.connect(self._take_looks)
        state.links_changed.connect(self._take_links)

    # --- commands -------------------------------------------------------------------------------
    def fit_all(self) -> None:
        """Home: every memory in view."""
        if self.scene is not None and len(self.scene):
            self._fly(self.camera.fit(self.scene.centres, CIRCUMRADIUS))

    def fit_selection(self) -> None:
        """F: the selected memory's cluster, else what is lit, else everything."""
        scene = self.scene
        if scene is None:
            return
        row = scene.row(self.state.selected)
        if row >= 0:
            self._fly(self.camera.fit(scene.centres[scene.cluster == scene.cluster[row]], ROOM))
            return
        lit = [scene.rows[i] for i in self.state.highlight.lit if i in scene.rows] if self.state.highlight else []
        if lit:
            self._fly(self.camera.fit(scene.centres[lit], ROOM))
        else:
            self.fit_all()

    def fly_to(self, memory_id: str) -> None:
        """Bring one memory to the middle, near enough to see its neighbours."""
        if self.scene is not None and (row := self.scene.row(memory_id)) >= 0:
            self._fly(self.camera.fit(self.scene.centres[row : row + 1], FLY_TO_RADIUS))

    def step_back(self) -> None:
        """The pose before the last flight."""
        if self._poses:
            self._start_flight(self._poses.pop())

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
        self._born = births(scene, earlier, self._now(), self._born)
        if self.reduced_motion:
            self._born = np.minimum(self._born, self._now() - GROW_TIME)
        self.scene = self.overlay.scene = scene
        self.camera.set_scene(scene.centre, scene.radius)
        if self.gl is not None:
            self.gl.tetrahedra.set_geometry(geometry(scene, self._born))
            self.gl.tetrahedra.detail.set_scene(scene)
            self.gl.tetrahedra.set_dots(scene.shared)
        if self.flat is not None:
            self.flat.scene = scene
        if (earlier is None or not len(earlier)) and len(scene):
            self.camera.pose = self.camera.best_side(self._heart(scene), CIRCUMRADIUS)
        elif len(scene):
            self._grows_until = self._now() + GROW_TIME
            self._clock.start()
            self._keep_in_view(scene)
        self._take_colors()
        self._take_links()

    @staticmethod
    def _heart(scene: Scene) -> Float32:
        """The centres of all but the most remote memories: what a first look should fill the window with."""
        some = scene.centres[:: max(1, len(scene) // LOOKED_AT)]
        away = np.linalg.norm(some - np.median(some, axis=0), axis=1)
        near: Float32 = some[away <= np.quantile(away, FIRST_LOOK)]
        return near

    def _keep_in_view(self, scene: Scene) -> None:
        """Step back when an untouched space outgrows the window."""
        if not self._untouched:
            return
        heart = self._heart(scene)
        goal = self._flight[1] if self._flight is not None else self.camera.pose
        if self.camera.fit(heart, CIRCUMRADIUS).distance <= goal.distance * OUTGROWN:
            return  # no other side is looked for while this one does: a dozen fits a store cost 3 ms
        pose = self.camera.best_side(heart, CIRCUMRADIUS)
        if pose.distance > goal.distance * OUTGROWN:
            self._start_flight(pose)

    def _take_selection(self, memory_id: str) -> None:
        self._take_looks()
        if self.gl is not None and self.scene is not None:
            row = self.scene.row(memory_id)
            self.gl.tetrahedra.set_halo(self.scene.centres[row] if row >= 0 else None)

    def _take_highlight(self) -> None:
        highlight, scene = self.state.highlight, self.scene
        self._reveals_from = self._now()
        self._air.reveal = 1.0 if self.reduced_motion else 0.0
        self.overlay.recalling = highlight is not None and bool(highlight.void)
        self.overlay.lit_clusters = None
        self.overlay.caption = "" if highlight is None else visible(highlight.title)
        if highlight is not None and scene is not None:
            self.overlay.lit_clusters = frozenset(
                int(scene.cluster[scene.rows[i]]) for i in highlight.lit if i in scene.rows
            )
        if highlight is not None:
            self._clock.start()
        self._air.dimming = 0.0 if highlight is None else 1.0
        self._take_looks()

    def _take_looks(self) -> None:
        scene = self.scene
        if scene is None:
            return
        look = looks(
            scene,
            colors=self._colors,
            highlight=self.state.highlight,
            selected=self.state.selected,
            hovered=self.hovered_id,
            marked=frozenset(self.state.chosen),
            away=None if self.visibility.is_whole else self._away,
        )
        if self.gl is not None:
            self.gl.tetrahedra.set_looks(look)
        if self.flat is not None:
            self.flat.looks, self.flat.dimming = look, self.state.highlight is not None
        self.refresh()

    def _take_colors(self) -> None:
        """What the colours mean has changed, or what there is to colour."""
        if self.scene is None or self.state.snapshot is None:
            return
        self._colors = palette_indices(self.state.snapshot, self.scene, self.state.color_by, time.time())
        self.overlay.color_by = self.state.color_by
        self._take_visibility()

    def _take_visibility(self) -> None:
        if self.scene is None:
            return
        self._away = self.visibility.mask(self.scene, self._colors)
        self.overlay.filtered = self.visibility.filtered
        self.overlay.away = 0 if self.visibility.is_whole else int(self._away.sum())
        self._take_looks()

    def _take_links(self) -> None:
        self.overlay.links = self.state.links
        self.refresh()

    # --- several memories -----------------------------------------------------------------------
    def chosen(self) -> frozenset[str]:
        """The marked memories, else the selected one."""
        return frozenset(self.state.chosen or ([self.state.selected] if self.state.selected else ()))

    def isolate(self) -> None:
        """Show the chosen memories alone."""
        if chosen := self.chosen():
            self.visibility.isolated = chosen
            self._take_visibility()

    def hide_chosen(self) -> None:
        """Hide the chosen memories; they stay as they are."""
        if chosen := self.chosen():
            self.visibility.hidden |= chosen
            self.state.choose(())
            self._take_visibility()

    def show_everything(self) -> None:
        """Take isolation, hiding and the legend's filters back."""
        self.visibility.show_all()
        self._take_visibility()

    def filter_class(self, index: int) -> None:
        """Filter a class of the legend away, or show it again."""
        self.visibility.toggle(index)
        self._take_visibility()

    def mark_rest(self) -> None:
        """Mark what is shown and not marked."""
        if self.scene is not None:
            self._mark(choosing.rest(self.scene, frozenset(self.state.chosen), self._away))

    def mark_touching(self) -> None:
        """Let the marks grow by one step over shared vertices."""
        if self.scene is not None:
            self._mark(self.chosen().union(choosing.touching(self.scene, self.chosen())))

    def mark_cluster(self) -> None:
        """Mark the whole cluster of the selected memory."""
        scene = self.scene
        if scene is not None and (row := scene.row(self.state.selected)) >= 0:
            self._mark(scene.ids[at] for at in np.flatnonzero(scene.cluster == scene.cluster[row]))

    def _mark(self, memory_ids: Iterable[str]) -> None:
        """Mark these memories, in the order of the scene."""
        assert self.scene is not None
        self.state.choose(tuple(sorted(memory_ids, key=self.scene.row)))

    # --- camera commands ------------------------------------------------------------------------
    def look_from(self, side: str) -> None:
        """From `front`, `right` or `top`."""
        self._fly(self.camera.from_side(side))

    def set_level(self, level: bool) -> None:
        """With or without perspective."""
        self.camera.level = level
        self.refresh()

    # --- pointer and keys -----------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._press = self._last = event.position()
        self._dragged = False
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._press is None or event.buttons() == Qt.MouseButton.NoButton:
            self._hover(position)
            return
        moved = position - self._press
        if not self._dragged and abs(moved.x()) + abs(moved.y()) < CLICK_SLACK:
            return
        step, self._last, self._dragged = position - self._last, position, True
        self._flight, self._untouched = None, False
        self._hide_card()
        gesture = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        if gesture and event.buttons() & Qt.MouseButton.LeftButton:
            self._draw_outline(position, is_box=bool(gesture & Qt.KeyboardModifier.ShiftModifier))
            return
        self._in_motion()
        if event.buttons() & (Qt.MouseButton.RightButton | Qt.MouseButton.MiddleButton):
            self.camera.pan(step.x(), step.y())
        else:
            self.camera.orbit(step.x(), step.y())
        self.refresh()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._path:
            self._mark_outlined()
        elif self._press is not None and not self._dragged and event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position(), adds=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif self._press is not None and not self._dragged and event.button() == Qt.MouseButton.RightButton:
            self.state.select(self._at(event.position()))
            self.menu_asked.emit(event.globalPosition().toPoint())
        self._press = None

    def _click(self, position: QPointF, *, adds: bool) -> None:
        """Select what is under the pointer; with Shift put a mark on it or take it off; on the legend, filter."""
        if (index := self.overlay.legend_at(position)) is not None:
            self.filter_class(index)
            return
        memory_id = self._at(position)
        if adds:
            if memory_id:
                first = self.chosen()
                self._mark(first ^ {memory_id} if first != {memory_id} else first)
            return
        self.state.choose(())
        self.state.select(memory_id)

    def _draw_outline(self, position: QPointF, *, is_box: bool) -> None:
        assert self._press is not None
        start, here = (self._press.x(), self._press.y()), (position.x(), position.y())
        self._path = [start, here] if is_box else [*(self._path or [start]), here]
        self.overlay.outline, self.overlay.outline_is_box = tuple(self._path), is_box
        self.overlay.update()

    def _mark_outlined(self) -> None:
        """The box or lasso is closed: mark what lies inside, beside what is marked already."""
        path, self._path = self._path, []
        is_box, self.overlay.outline = self.overlay.outline_is_box, ()
        self.overlay.update()
        if self.scene is None:
            return
        found = (
            choosing.in_box(self.scene, self.camera, path[0], path[-1], self._away)
            if is_box
            else choosing.in_lasso(self.scene, self.camera, path, self._away)
        )
        self._mark({*self.state.chosen, *found})

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if memory_id := self._at(event.position()):
            self.fly_to(memory_id)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._flight, self._untouched = None, False
        position = event.position()
        self._in_motion()
        self.camera.zoom(float(np.exp(-event.angleDelta().y() / 120 * 0.16)), position.x(), position.y())
        self._hide_card()
        self.refresh()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: (-KEY_STEP, 0.0),
            Qt.Key.Key_Right: (KEY_STEP, 0.0),
            Qt.Key.Key_Up: (0.0, -KEY_STEP),
            Qt.Key.Key_Down: (0.0, KEY_STEP),
        }
        zooms = {Qt.Key.Key_Plus: 0.85, Qt.Key.Key_Equal: 0.85, Qt.Key.Key_Minus: 1 / 0.85}
        key = Qt.Key(event.key())
        self._untouched &= key not in steps and key not in zooms
        if key in steps:
            self.camera.orbit(*steps[key])
        elif key in zooms:
            self.camera.zoom(zooms[key], self.width() / 2, self.height() / 2)
        else:
            super().keyPressEvent(event)
            return
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        self._hide_card()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.camera.set_viewport(self.width(), self.height())
        for child in (self.gl, self.flat, self.overlay):
            if child is not None:
                child.setGeometry(self.rect())
        if self._untouched and self._flight is None and self.scene is not None and len(self.scene):
            self.camera.pose = self.camera.fit(self._heart(self.scene), CIRCUMRADIUS)
        self.refresh()

    def _at(self, position: QPointF) -> str:
        if self.scene is None:
            return ""
        away = None if self.visibility.is_whole else self._away
        row = pick(self.scene, *self.camera.ray(position.x(), position.y()), away)
        return self.scene.ids[row] if row >= 0 else ""

    def _hover(self, position: QPointF) -> None:
        memory_id = self._at(position)
        changed = memory_id != self.hovered_id
        if not changed and not memory_id:
            return
        self.hovered_id = memory_id
        self.overlay.card = self._card(memory_id, position) if memory_id else None
        self.setCursor(Qt.CursorShape.PointingHandCursor if memory_id else Qt.CursorShape.ArrowCursor)
        if changed:
            self._take_looks()
            self.hovered.emit(memory_id)
        else:
            self.overlay.update()

    def _card(self, memory_id: str, position: QPointF) -> Card:
        scene, snapshot = self.scene, self.state.snapshot
        assert scene is not None
        assert snapshot is not None
        row = scene.row(memory_id)
        words = [
            t(f"category.{CATEGORIES[int(snapshot.category[row])].value}"),
            scene.clusters[int(scene.cluster[row])].name,
        ]
        if scene.inhibited[row]:
            words.append(t("space.inhibited"))
        palette = scene_palette(self.theme)
        color = palette[int(self._colors[row])]
        return Card(
            excerpt=snapshot.excerpts[row],
            line=" · ".join(word for word in words if word),
            color=self.theme.inhibited if scene.inhibited[row] else color,
            x=position.x(),
            y=position.y(),
        )

    def _hide_card(self) -> None:
        if self.hovered_id:
            self.hovered_id, self.overlay.card = "", None
            self._take_looks()

    # --- motion ---------------------------------------------------------------------------------
    def _now(self) -> float:
        return time.monotonic() - self._started

    def _fly(self, pose: Pose) -> None:
        self._untouched = False
        self._poses = [*self._poses[1 - POSES_KEPT :], self.camera.pose]
        self._start_flight(pose)

    def _start_flight(self, pose: Pose) -> None:
        if self.reduced_motion or not self.isVisible():
            self.camera.pose = pose
            self.refresh()
            return
        self._flight = (self.camera.pose, pose, self._now())
        self._clock.start()

    def _tick(self) -> None:
        """One frame of whatever moves; stops the clock when nothing does."""
        now = self._air.now = self._now()
        moving = now < self._grows_until + FRAME / 1000
        if self._flight is not None:
            self._in_motion()
            start, end, since = self._flight
            share = min(1.0, (now - since) / CAMERA_EASE)
            self.camera.pose = blend(start, end, share)
            self._flight = None if share >= 1.0 else self._flight
            moving |= self._flight is not None
        if self._air.reveal < 1.0:
            self._air.reveal = min(1.0, (now - self._reveals_from) / REVEAL_TIME)
            moving |= self._air.reveal < 1.0
        if not moving:
            self._clock.stop()
        self.refresh()

    @property
    def is_still(self) -> bool:
        """Nothing moves; what is on screen is final."""
        return not (self._clock.isActive() or self._rest.isActive())

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
