"""What moves in the space and for how long. One clock for all of it, which stands still while nothing moves."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from tetrarium_gui.space.camera import Camera, Pose, blend
from tetrarium_gui.space.tetrahedra import Atmosphere
from tetrarium_gui.style import CAMERA_EASE, GROW_TIME, REVEAL_TIME, SUCCESSION_TIME, TRAVEL_TIME

FRAME = 16
"""Milliseconds between frames while something moves."""
SHARE = 2.0
"""Times as long as a frame takes, between two of them, where that is more: hands and words come in between."""
SLOWEST = 100
"""Milliseconds between frames at most."""


class Motion(QObject):
    """Flights of the camera, growth of new memories, hits that light up in their order, moves of a plan, succession.
    `reduced`: all of it at once."""

    stepped = Signal()
    arrived = Signal()  # what travelled is where it belongs
    turned = Signal()  # what was superseded has turned
    flown = Signal()  # the camera moved in a flight

    def __init__(self, camera: Camera, air: Atmosphere, parent: QObject) -> None:
        super().__init__(parent)
        self._camera, self._air = camera, air
        self.reduced = False
        self.frame_takes: Callable[[], float] = lambda: 0.0  # milliseconds that the last frame kept the event loop
        self._started = time.monotonic()
        self._busy_until = 0.0
        self._reveals_from = self._travels_from = self._turns_from = 0.0
        self._flight: tuple[Pose, Pose, float] | None = None
        self._clock = QTimer(self)
        self._clock.setInterval(FRAME)
        self._clock.timeout.connect(self._tick)

    def now(self) -> float:
        """Seconds on the clock of the space."""
        return time.monotonic() - self._started

    @property
    def is_still(self) -> bool:
        return not self._clock.isActive()

    @property
    def goal(self) -> Pose:
        """Where the camera is, or flies to."""
        return self._flight[1] if self._flight is not None else self._camera.pose

    def run(self, seconds: float) -> None:
        """Draw frames for as long as this."""
        self._busy_until = max(self._busy_until, self.now() + seconds)
        self._clock.start()

    def grow(self) -> None:
        """New memories grow from their anchors."""
        self.run(GROW_TIME)

    def reveal(self) -> None:
        """Light the hits in the order of their scores."""
        self._reveals_from = self.now()
        self._air.reveal = 1.0 if self.reduced else 0.0
        self._clock.start()

    def travel(self) -> None:
        """Memories go from where they stood to where they stand."""
        self._travels_from, self._air.travel = self.now(), 0.0
        self._clock.start()

    def turn(self) -> None:
        """Superseded memories turn, and lines run to their successors."""
        self._turns_from, self._air.fade = self.now(), 0.0
        self._clock.start()

    def fly(self, pose: Pose, *, at_once: bool = False) -> None:
        """Ease the camera to a pose; at once where nobody sees it or wants it."""
        if self.reduced or at_once:
            self._flight, self._camera.pose = None, pose
            self.stepped.emit()
            return
        self._flight = (self._camera.pose, pose, self.now())
        self._clock.start()

    def stop_flight(self) -> None:
        """A hand took the camera."""
        self._flight = None

    def _tick(self) -> None:
        """One frame of whatever moves; stops the clock when nothing does."""
        now = self._air.now = self.now()
        moving = now < self._busy_until + FRAME / 1000
        if self._flight is not None:
            start, end, since = self._flight
            share = min(1.0, (now - since) / CAMERA_EASE)
            self._camera.pose = blend(start, end, share)
            self._flight = None if share >= 1.0 else self._flight
            moving |= self._flight is not None
            self.flown.emit()
        if self._air.reveal < 1.0:
            self._air.reveal = min(1.0, (now - self._reveals_from) / REVEAL_TIME)
            moving |= self._air.reveal < 1.0
        if self._air.travel < 1.0:
            self._air.travel = min(1.0, (now - self._travels_from) / TRAVEL_TIME)
            moving |= self._air.travel < 1.0
            if self._air.travel >= 1.0:
                self.arrived.emit()
        if self._air.fade < 1.0:
            self._air.fade = min(1.0, (now - self._turns_from) / SUCCESSION_TIME)
            moving |= self._air.fade < 1.0
            if self._air.fade >= 1.0:
                self.turned.emit()
        if not moving:
            self._clock.stop()
        self._clock.setInterval(round(min(SLOWEST, max(FRAME, SHARE * self.frame_takes()))))
        self.stepped.emit()
