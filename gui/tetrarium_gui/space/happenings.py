"""What happened to the space between two pictures of it, shown as motion: moves fly, the superseded turn.

Growth needs nothing of this: a new memory carries the moment of its birth. With reduced motion nothing is shown; the new
picture is simply there.
"""

from __future__ import annotations

import numpy as np

from tetrarium.model import Bool, Int64, UInt8
from tetrarium_gui.space.motion import Motion
from tetrarium_gui.space.offscreen import Canvas
from tetrarium_gui.space.scene import FLAG_HIDDEN, STATE_FADING, Scene
from tetrarium_gui.space.travel import RECORD, flights, moved_rows

MOST_TURNING = 200
"""More that are inhibited at one stroke are simply inhibited."""
_NONE: Int64 = np.zeros(0, np.int64)

Pairs = tuple[tuple[str, str], ...]
"""Ids of what was superseded, and of its successor."""


class Happenings:
    """Knows which rows fly and which turn, and dresses the looks of a frame accordingly."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        self._flying = self._turning = _NONE
        self._waiting: Pairs = ()  # successions whose successor the picture does not show yet
        self.successions: Pairs = ()

    def dress(self, look: UInt8) -> None:
        """Change the looks of the scene's rows, (n, 4), for as long as something flies or turns."""
        look[self._flying, 2] |= FLAG_HIDDEN
        look[self._turning, 1] = STATE_FADING

    def leave(self, earlier: Scene | None, scene: Scene, canvas: Canvas) -> None:
        """A new scene comes: what still flies arrives at once; what turns goes on turning where rows are the same."""
        self.end_flight(canvas)
        if earlier is None or not self._stands(earlier, scene):
            self._turning = _NONE

    def between(self, earlier: Scene | None, scene: Scene, looks: UInt8, canvas: Canvas) -> bool:
        """Set in motion what differs; True when anything does. looks: (n, 4) of the new scene."""
        if earlier is None or self._motion.reduced:
            return False
        if not self._stands(earlier, scene):
            rows, before = moved_rows(earlier, scene)
            if len(rows):
                canvas.tetrahedra.travellers.set_flights(flights(earlier, scene, rows, before, looks))
                self._flying = rows
                self._motion.travel()
        turned = _newly_inhibited(earlier, scene)
        if len(turned):
            self._turning = np.union1d(self._turning, turned)
            self._motion.turn()
        self._begin_waiting(scene)
        return bool(len(self._flying) or len(turned))

    def succeed(self, pairs: Pairs, scene: Scene) -> None:
        """Draw a line from each superseded memory to its successor, once both are in the picture."""
        if not self._motion.reduced:
            self._waiting = pairs
            self._begin_waiting(scene)

    def end_flight(self, canvas: Canvas) -> None:
        """Everything is where it belongs."""
        if len(self._flying):
            self._flying = _NONE
            canvas.tetrahedra.travellers.set_flights(np.zeros(0, RECORD))

    def end_turn(self) -> None:
        """What turned is inhibited, and the lines are gone."""
        self._turning, self.successions = _NONE, ()

    def _begin_waiting(self, scene: Scene) -> None:
        ready = tuple(pair for pair in self._waiting if pair[0] in scene.rows and pair[1] in scene.rows)
        if ready:
            self.successions, self._waiting = ready, ()
            self._motion.turn()

    @staticmethod
    def _stands(earlier: Scene, scene: Scene) -> bool:
        n = len(earlier)
        return n <= len(scene) and bool(np.array_equal(scene.voxels[:n], earlier.voxels))


def _newly_inhibited(earlier: Scene, scene: Scene) -> Int64:
    """Rows of memories that both scenes hold in the same rows and only the new one as inhibited."""
    same = min(len(earlier), len(scene))
    new: Bool = scene.inhibited[:same] & ~earlier.inhibited[:same]
    if not 0 < int(new.sum()) <= MOST_TURNING or earlier.ids[:same] != scene.ids[:same]:
        return _NONE
    return np.flatnonzero(new)
