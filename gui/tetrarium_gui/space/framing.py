"""Which memories a look at the space is framed for: most of them, and never one far stray at the price of all. No Qt.

A few memories that belong to no topic stand far out. Framed with them, everything else is specks; so a fit may leave a
few outside, says how many it may, and the same command once more shows the last one.
"""

from __future__ import annotations

import numpy as np

from tetrarium.model import Float32, Float64
from tetrarium_gui.space.camera import Camera, Pose

FIRST_LOOK = 0.93
"""Share of the memories that the first look frames."""
HOME = 0.98
"""Share that "fit all" frames; the same once more frames every one."""
WORTH = 0.85
"""Strays are left out only where the others come nearer by this, as a share of the distance."""
ANSWER = 0.80
"""Share of the hits of a question that the camera goes to; the others are pointed at from the edge of the picture."""
FEW = 5
"""So few are framed to the last one."""
LOOKED_AT = 2_000
"""Memories that the first look is computed from; more would change nothing to see."""
ROOM = 1.8
"""World units round each memory of a selection that a fit shows."""
HIT_ROOM = 2.6
"""The same round the hits of a question: what stands next to them belongs to the picture."""


def heart(centres: Float32) -> Float32:
    """The centres of all but the most remote memories: what a first look should fill the window with."""
    some = centres[:: max(1, len(centres) // LOOKED_AT)]
    away = np.linalg.norm(some - np.median(some, axis=0), axis=1)
    near: Float32 = some[away <= np.quantile(away, FIRST_LOOK)]
    return near


def most(camera: Camera, centres: Float32, share: float) -> Float32:
    """A share of (n, 3) centres: without those that stand out farthest as the picture is wide and high. A few: all."""
    if len(centres) <= FEW:
        return centres
    out = _out(camera, centres)
    nearest = np.partition(out, int(np.ceil(share * len(out))) - 1)[int(np.ceil(share * len(out))) - 1]
    kept: Float32 = centres[out <= nearest]
    return kept


def of_answer(camera: Camera, hits: Float32) -> Pose:
    """The pose that shows most of the hits, seen from the present side. hits: (n, 3) centres in order of score."""
    return camera.fit(most(camera, hits, ANSWER), HIT_ROOM)


def _out(camera: Camera, centres: Float32) -> Float64:
    """(n,) how far each stands from the middle of all on screen, as a share of the picture; from afar, so that depth
    does not count."""
    right, up, _ = camera.axes()
    across = centres.astype(np.float64) @ np.stack([right, up], axis=1)
    offset = np.abs(across - np.median(across, axis=0)) / (camera.width / camera.height, 1.0)
    out: Float64 = offset.max(axis=1)
    return out
