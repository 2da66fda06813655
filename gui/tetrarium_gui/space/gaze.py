"""Where the window looks: fits, flights, the way back – and when the camera may move by itself.

It moves by itself in three cases: a first look, a space that outgrows the picture, and the answer to a question. It
never does once a hand has moved it since: what a person looks at is a person's choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from tetrarium.model import Float32
from tetrarium_gui.space import framing
from tetrarium_gui.space.camera import Camera, Pose
from tetrarium_gui.space.motion import Motion
from tetrarium_gui.space.scene import CIRCUMRADIUS

FLY_TO_RADIUS = 3.2
"""World units round a memory that a flight to it shows."""
POSES_KEPT = 30
OUTGROWN = 1.15
"""An untouched camera steps back when the fit needs this much more distance."""


class Gaze:
    """Moves the camera of one view. centres, hits: (n, 3) float32, world units."""

    def __init__(self, camera: Camera, motion: Motion, view: QWidget) -> None:
        self.camera, self._motion, self._view = camera, motion, view
        self._poses: list[Pose] = []
        self._untouched = True  # until a person moves the camera, a growing space stays in view
        self._held = False  # a hand moved the camera since the question that is lit was asked
        self._before_answer: Pose | None = None  # where the camera comes back to when the question is cleared
        self._is_home = False  # "fit all" went here and left strays out, and nobody moved since

    # --- asked for ------------------------------------------------------------------------------
    def fit_all(self, centres: Float32) -> None:
        """All but a few strays (`framing.HOME`); once more: every memory."""
        everything = self.camera.fit(centres, CIRCUMRADIUS)
        most = self.camera.fit(framing.most(self.camera, centres, framing.HOME), CIRCUMRADIUS)
        worth_it = not self._is_home and most.distance < framing.WORTH * everything.distance
        self.fly(most if worth_it else everything)
        self._is_home = worth_it

    def fit(self, centres: Float32) -> None:
        """A selection, with some room."""
        self.fly(self.camera.fit(centres, framing.ROOM))

    def fly_to(self, centre: Float32) -> None:
        """One memory, (1, 3), near enough to see its neighbours."""
        self.fly(self.camera.fit(centre, FLY_TO_RADIUS))

    def fly(self, pose: Pose) -> None:
        """Any pose that a person asked for; `step_back` returns from it."""
        self._untouched = self._is_home = False
        self._before_answer = None
        self._poses = [*self._poses[1 - POSES_KEPT :], self.camera.pose]
        self._go(pose)

    def step_back(self) -> None:
        """The pose before the last flight."""
        if self._poses:
            self._is_home, self._before_answer = False, None
            self._go(self._poses.pop())

    def moved_by_hand(self, *, while_lit: bool) -> None:
        """A hand moved the camera: a flight ends, and what is lit will not move it again."""
        self._motion.stop_flight()
        self._untouched = self._is_home = False
        self._held |= while_lit

    # --- by itself ------------------------------------------------------------------------------
    def look_first(self, centres: Float32) -> None:
        """At a space that was not there before."""
        self.camera.pose = self.camera.best_side(framing.heart(centres), CIRCUMRADIUS)

    def keep_in_view(self, centres: Float32) -> None:
        """Step back when an untouched space outgrows the window."""
        if not self._untouched or self._before_answer is not None:
            return
        heart, enough = framing.heart(centres), self._motion.goal.distance * OUTGROWN
        if self.camera.fit(heart, CIRCUMRADIUS).distance <= enough:
            return  # no other side is looked for while this one does: a dozen fits a store cost 3 ms
        pose = self.camera.best_side(heart, CIRCUMRADIUS)
        if pose.distance > enough:
            self._go(pose)

    def show_answer(self, hits: Float32) -> None:
        """Frame most of the hits of a question, unless a hand moved the camera since it was asked."""
        if not len(hits) or self._held:
            return
        self._before_answer = self._before_answer or self._motion.goal
        self._is_home = False
        self._go(framing.of_answer(self.camera, hits))

    def come_back(self) -> None:
        """The question is cleared: back to where the camera was before its answer, unless a hand moved it since."""
        if self._before_answer is not None and not self._held:
            self._go(self._before_answer)
        self._before_answer, self._held = None, False

    def resized(self, centres: Float32, hits: Sequence[int]) -> None:
        """The window has another size: what was framed stays framed. hits: rows of the centres."""
        if self._before_answer is not None and not self._held and hits:
            self._motion.fly(framing.of_answer(self.camera, centres[hits]), at_once=True)
        elif self._untouched and self._motion.goal == self.camera.pose and len(centres):
            self.camera.pose = self.camera.fit(framing.heart(centres), CIRCUMRADIUS)

    def _go(self, pose: Pose) -> None:
        self._motion.fly(pose, at_once=not self._view.isVisible())
