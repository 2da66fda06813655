"""Pointer and keys over the space: which drag turns, moves, nears or marks, and what a click means.

People come with the fingers of another program, so the drags are a table, and there is one for each habit.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from tetrarium_gui.space.camera import Camera

CLICK_SLACK = 5.0
"""Pixels that a press may wander and still be a click."""
KEY_STEP = 40.0
"""Pixels of drag that one arrow key stands for."""
WHEEL_STEP = 0.85
"""Distance after one notch of the wheel or one press of +, as a share of the one before."""
DRAG_ZOOM = 0.006
"""Share of the distance that a pixel of an upward drag takes off."""

_BUTTONS, _KEYS = Qt.MouseButton, Qt.KeyboardModifier


class Drag(StrEnum):
    """What a drag does."""

    ORBIT = "orbit"
    PAN = "pan"
    ZOOM = "zoom"
    BOX = "box"
    LASSO = "lasso"


Bindings = dict[tuple[Qt.MouseButton, Qt.KeyboardModifier], Drag]

HABITS: dict[str, Bindings] = {
    "tetrarium": {
        (_BUTTONS.LeftButton, _KEYS.NoModifier): Drag.ORBIT,
        (_BUTTONS.LeftButton, _KEYS.ShiftModifier): Drag.BOX,
        (_BUTTONS.LeftButton, _KEYS.ControlModifier): Drag.LASSO,
        (_BUTTONS.MiddleButton, _KEYS.NoModifier): Drag.PAN,
        (_BUTTONS.RightButton, _KEYS.NoModifier): Drag.PAN,
    },
    "blender": {
        (_BUTTONS.LeftButton, _KEYS.NoModifier): Drag.BOX,
        (_BUTTONS.LeftButton, _KEYS.ControlModifier): Drag.LASSO,
        (_BUTTONS.MiddleButton, _KEYS.NoModifier): Drag.ORBIT,
        (_BUTTONS.MiddleButton, _KEYS.ShiftModifier): Drag.PAN,
        (_BUTTONS.MiddleButton, _KEYS.ControlModifier): Drag.ZOOM,
    },
    "cad": {
        (_BUTTONS.LeftButton, _KEYS.NoModifier): Drag.BOX,
        (_BUTTONS.LeftButton, _KEYS.ControlModifier): Drag.LASSO,
        (_BUTTONS.MiddleButton, _KEYS.NoModifier): Drag.PAN,
        (_BUTTONS.MiddleButton, _KEYS.ShiftModifier): Drag.ORBIT,
        (_BUTTONS.MiddleButton, _KEYS.ControlModifier): Drag.ZOOM,
        (_BUTTONS.RightButton, _KEYS.NoModifier): Drag.ORBIT,
    },
}
"""Drags by the habit that a person brings; a modifier without a line of its own counts as none."""


class Space(Protocol):
    """What the hands act on."""

    camera: Camera

    def width(self) -> int: ...
    def height(self) -> int: ...
    def moved_by_hand(self, *, in_motion: bool = True) -> None:
        """The camera was moved: draw, and remember that a person chose this pose."""

    def hover(self, position: QPointF) -> None: ...
    def leave(self) -> None: ...
    def click(self, position: QPointF, *, adds: bool) -> None: ...
    def select_at(self, position: QPointF) -> None: ...
    def ask_menu(self, position: QPointF) -> None: ...
    def draw_outline(self, path: list[tuple[float, float]], *, is_box: bool) -> None: ...
    def mark_outlined(self, path: list[tuple[float, float]], *, is_box: bool, adds: bool) -> None: ...


class Hands:
    """Reads the events of the space's widget. `habit`: a name in HABITS."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.habit = "tetrarium"
        self._press: QPointF | None = None
        self._last = QPointF()
        self._dragged = False
        self._path: list[tuple[float, float]] = []  # of a box or lasso that is being drawn, pixels

    def press(self, event: QMouseEvent) -> None:
        self._press = self._last = event.position()
        self._dragged = False

    def move(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._press is None or event.buttons() == _BUTTONS.NoButton:
            self._space.hover(position)
            return
        moved = position - self._press
        if not self._dragged and abs(moved.x()) + abs(moved.y()) < CLICK_SLACK:
            return
        step, self._last, self._dragged = position - self._last, position, True
        self._space.leave()
        drag = self._drag(event)
        if drag in (Drag.BOX, Drag.LASSO):
            start, here = (self._press.x(), self._press.y()), (position.x(), position.y())
            self._path = [start, here] if drag is Drag.BOX else [*(self._path or [start]), here]
            self._space.draw_outline(self._path, is_box=drag is Drag.BOX)
            return
        camera = self._space.camera
        if drag is Drag.PAN:
            camera.pan(step.x(), step.y())
        elif drag is Drag.ORBIT:
            camera.orbit(step.x(), step.y())
        elif drag is Drag.ZOOM:
            camera.zoom(float((1 + DRAG_ZOOM) ** step.y()), self._press.x(), self._press.y())
        else:
            return
        self._space.moved_by_hand()

    def release(self, event: QMouseEvent) -> None:
        """End of a drag, or a click: left selects, right asks for the menu of what is there."""
        adds = bool(event.modifiers() & (_KEYS.ShiftModifier | _KEYS.ControlModifier))
        if self._path:
            path, self._path = self._path, []
            is_box = len(path) == 2 and not event.modifiers() & _KEYS.ControlModifier
            self._space.mark_outlined(path, is_box=is_box, adds=adds)
        elif self._press is not None and not self._dragged and event.button() == _BUTTONS.LeftButton:
            self._space.click(event.position(), adds=bool(event.modifiers() & _KEYS.ShiftModifier))
        elif self._press is not None and not self._dragged and event.button() == _BUTTONS.RightButton:
            self._space.select_at(event.position())
            self._space.ask_menu(event.globalPosition())
        self._press = None

    def wheel(self, event: QWheelEvent) -> None:
        """Zoom to the cursor."""
        position = event.position()
        self._space.leave()
        self._space.camera.zoom(float(WHEEL_STEP ** (event.angleDelta().y() / 120)), position.x(), position.y())
        self._space.moved_by_hand()
        event.accept()

    def key(self, event: QKeyEvent) -> bool:
        """Arrows turn, + and − zoom; False for any other key."""
        steps = {
            Qt.Key.Key_Left: (-KEY_STEP, 0.0),
            Qt.Key.Key_Right: (KEY_STEP, 0.0),
            Qt.Key.Key_Up: (0.0, -KEY_STEP),
            Qt.Key.Key_Down: (0.0, KEY_STEP),
        }
        zooms = {Qt.Key.Key_Plus: WHEEL_STEP, Qt.Key.Key_Equal: WHEEL_STEP, Qt.Key.Key_Minus: 1 / WHEEL_STEP}
        key = Qt.Key(event.key())
        if key in steps:
            self._space.camera.orbit(*steps[key])
        elif key in zooms:
            self._space.camera.zoom(zooms[key], self._space.width() / 2, self._space.height() / 2)
        else:
            return False
        self._space.moved_by_hand(in_motion=False)
        return True

    def _drag(self, event: QMouseEvent) -> Drag | None:
        """What the buttons that are down do; a box or lasso once begun stays what it is."""
        table = HABITS[self.habit]
        held = event.modifiers() & (_KEYS.ShiftModifier | _KEYS.ControlModifier)
        for button in (_BUTTONS.RightButton, _BUTTONS.MiddleButton, _BUTTONS.LeftButton):
            if event.buttons() & button:
                return table.get((button, held)) or table.get((button, _KEYS.NoModifier))
        return None
