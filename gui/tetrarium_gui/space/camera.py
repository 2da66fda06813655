"""The camera: a turntable that keeps the horizon, zooms to the cursor and never clips what is in focus.

Pure numpy. Our own projection sets near and far round the scene, because a depth range of a million to
one (what the widget below us would choose) makes shared faces flicker with 24 bits of depth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tetrarium.model import Float32, Float64

FIELD_OF_VIEW = np.radians(38.0)
"""Vertical, radians: long enough that parallel edges look parallel."""
NEAREST = 2.2
"""Least distance from the centre of interest, world units."""
FARTHEST = 5.0
"""Greatest distance, radii of the scene."""
LEAST_NEAR_PLANE = 0.05
MARGIN = 1.12
"""A fit leaves this much room round what it fits."""
ORBIT_SPEED = np.radians(0.35)
"""Radians a pixel of drag."""

_STEEPEST = np.pi / 2 - 0.02
SIDES = {
    "front": (-np.pi / 2, 0.0),
    "back": (np.pi / 2, 0.0),
    "right": (0.0, 0.0),
    "left": (np.pi, 0.0),
    "top": (-np.pi / 2, _STEEPEST),
    "bottom": (-np.pi / 2, -_STEEPEST),
}
"""Azimuth and elevation, radians, of a look from each side."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the camera looks (world units), from how far, and from which side (radians)."""

    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    distance: float = 20.0
    azimuth: float = float(np.radians(32.0))
    elevation: float = float(np.radians(20.0))


def blend(start: Pose, end: Pose, share: float) -> Pose:
    """The pose a share (0 … 1) of the way, eased as a cubic; distance moves by ratio, azimuth the short way."""
    t = share * share * (3 - 2 * share)
    turn = (end.azimuth - start.azimuth + np.pi) % (2 * np.pi) - np.pi
    centre = np.asarray(start.centre) * (1 - t) + np.asarray(end.centre) * t
    return Pose(
        centre=(float(centre[0]), float(centre[1]), float(centre[2])),
        distance=float(start.distance ** (1 - t) * end.distance**t),
        azimuth=start.azimuth + float(turn) * t,
        elevation=start.elevation * (1 - t) + end.elevation * t,
    )


class Camera:
    """A pose, a viewport and the scene's sphere; all pixels are logical, y grows downward."""

    def __init__(self) -> None:
        self.pose = Pose()
        self.level = False
        """Without perspective: parallel sight lines, every edge of the same length on screen."""
        self.width, self.height = 800, 600
        self.scene_centre: Float64 = np.zeros(3)
        self.scene_radius = 10.0

    def set_viewport(self, width: int, height: int) -> None:
        self.width, self.height = max(1, width), max(1, height)

    def set_scene(self, centre: Float32, radius: float) -> None:
        self.scene_centre, self.scene_radius = centre.astype(np.float64), max(radius, 1.0)

    # --- moves --------------------------------------------------------------------------------
    def orbit(self, dx: float, dy: float) -> None:
        """Turn by a drag of (dx, dy) pixels; the horizon stays level."""
        limit = _STEEPEST
        self.pose = replace(
            self.pose,
            azimuth=self.pose.azimuth - dx * ORBIT_SPEED,
            elevation=float(np.clip(self.pose.elevation + dy * ORBIT_SPEED, -limit, limit)),
        )

    def pan(self, dx: float, dy: float) -> None:
        """Move the centre of interest so that it follows a drag of (dx, dy) pixels."""
        right, up, _ = self.axes()
        shift = (-right * dx + up * dy) * self.pixel_size()
        self._look_at(np.asarray(self.pose.centre) + shift, self.pose.distance)

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Come nearer (factor < 1) or go away; what is under pixel (x, y) stays under it."""
        distance = float(np.clip(self.pose.distance * factor, NEAREST, FARTHEST * self.scene_radius + NEAREST))
        right, up, _ = self.axes()
        offset = (right * (x - self.width / 2) - up * (y - self.height / 2)) * self.pixel_size()
        centre = np.asarray(self.pose.centre) + offset * (1 - distance / self.pose.distance)
        self._look_at(centre, distance)

    def fit(self, points: Float32, radius: float) -> Pose:
        """The pose that shows balls of `radius` round all (n, 3) points, seen from the present side."""
        if not len(points):
            return replace(self.pose, centre=(0.0, 0.0, 0.0))
        right, up, back = self.axes()
        across = points @ np.stack([right, up, back], axis=1)
        middle = (across.min(axis=0) + across.max(axis=0)) / 2
        half_height = np.tan(FIELD_OF_VIEW / 2)
        slopes = np.array([half_height * self.width / self.height, half_height]) / MARGIN
        distance = NEAREST
        for _ in range(3):  # perspective shifts the middle of the picture; three rounds settle it
            local = across - middle
            reach = np.abs(local[:, :2]) + radius
            distance = max(NEAREST, float((reach / slopes + local[:, 2:]).max()))
            depth = np.maximum(distance - local[:, 2:], 0.1)
            on_screen = local[:, :2] / depth
            middle[:2] += (on_screen.min(axis=0) + on_screen.max(axis=0)) / 2 * distance * 0.8
        centre = middle @ np.stack([right, up, back])
        return replace(self.pose, centre=(float(centre[0]), float(centre[1]), float(centre[2])), distance=distance)

    def from_side(self, side: str) -> Pose:
        """The same centre and distance from along an axis: a name in SIDES."""
        azimuth, elevation = SIDES[side]
        return replace(self.pose, azimuth=float(azimuth), elevation=float(elevation))

    def best_side(self, points: Float32, radius: float) -> Pose:
        """The fit from that azimuth, of a dozen, from which the points fill the window best."""
        before, poses = self.pose, []
        for turn in range(12):
            self.pose = replace(before, azimuth=before.azimuth + turn * np.pi / 12)
            poses.append(self.fit(points, radius))
        self.pose = before
        return min(poses, key=lambda pose: pose.distance)

    # --- matrices -----------------------------------------------------------------------------
    def axes(self) -> tuple[Float64, Float64, Float64]:
        """Unit vectors in the world: right, up, and back (from the centre towards the eye)."""
        ca, sa = np.cos(self.pose.azimuth), np.sin(self.pose.azimuth)
        ce, se = np.cos(self.pose.elevation), np.sin(self.pose.elevation)
        up = np.array([-se * ca, -se * sa, ce])  # back × right, written out: a frame asks a dozen times
        return np.array([-sa, ca, 0.0]), up, np.array([ce * ca, ce * sa, se])

    def eye(self) -> Float64:
        return np.asarray(self.pose.centre) + self.axes()[2] * self.pose.distance

    def view_matrix(self) -> Float64:
        """(4, 4) world → eye, row-major."""
        rotation = np.stack(self.axes())
        matrix = np.eye(4)
        matrix[:3, :3] = rotation
        matrix[:3, 3] = -rotation @ self.eye()
        return matrix

    def projection_matrix(self) -> Float64:
        """(4, 4) eye → clip, row-major; near and far enclose the scene."""
        near, far = self.clip_planes()
        if self.level:
            return self._level_projection(near, far)
        top = near * np.tan(FIELD_OF_VIEW / 2)
        right = top * self.width / self.height
        matrix = np.zeros((4, 4))
        matrix[0, 0], matrix[1, 1] = near / right, near / top
        matrix[2, 2], matrix[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
        matrix[3, 2] = -1.0
        return matrix

    def _level_projection(self, near: float, far: float) -> Float64:
        top = self.height * self.pixel_size() / 2
        matrix = np.eye(4)
        matrix[0, 0], matrix[1, 1] = self.height / (top * self.width), 1 / top
        matrix[2, 2], matrix[2, 3] = -2 / (far - near), -(far + near) / (far - near)
        return matrix

    @property
    def level_depth(self) -> float:
        """The depth at which perspective would show what is shown everywhere; 0 with perspective."""
        return self.pose.distance if self.level else 0.0

    def clip_planes(self) -> tuple[float, float]:
        depth = float((self.eye() - self.scene_centre) @ self.axes()[2])
        near = depth - self.scene_radius - 1.0
        if not self.level:
            near = max(LEAST_NEAR_PLANE, near)
        return near, max(near + 1.0, depth + self.scene_radius + 1.0)

    def project(self, points: Float32) -> Float64:
        """(n, 3): pixel x, pixel y, depth before the eye (world units; ≤ 0 is behind it)."""
        right, up, back = self.axes()
        relative = points.astype(np.float64) - self.eye()
        depth = -(relative @ back)
        scale = self.pixels_a_unit(np.where(np.abs(depth) < 1e-9, 1e-9, depth))
        if self.level:
            depth = depth - self.clip_planes()[0]  # nothing is behind an eye that stands nowhere
        return np.stack(
            [self.width / 2 + relative @ right * scale, self.height / 2 - relative @ up * scale, depth], axis=1
        )

    def pixels_a_unit(self, depth: Float64) -> Float64:
        """Pixels that a world unit has at each depth before the eye."""
        there = np.full_like(depth, self.pose.distance) if self.level else depth
        return np.asarray(self.height / (2 * np.tan(FIELD_OF_VIEW / 2)) / there, np.float64)

    def ray(self, x: float, y: float) -> tuple[Float64, Float64]:
        """Origin and unit direction of the sight line through pixel (x, y)."""
        right, up, back = self.axes()
        if self.level:
            aside = (right * (x - self.width / 2) - up * (y - self.height / 2)) * self.pixel_size()
            start = self.eye() + aside - back * self.clip_planes()[0]
            return start, -back
        slope = 2 * np.tan(FIELD_OF_VIEW / 2) / self.height
        direction = right * (x - self.width / 2) * slope - up * (y - self.height / 2) * slope - back
        return self.eye(), direction / np.linalg.norm(direction)

    def pixel_size(self, depth: float | None = None) -> float:
        """World units a pixel, at the centre of interest or at a depth before the eye."""
        there = self.pose.distance if depth is None or self.level else depth
        return float(2 * np.tan(FIELD_OF_VIEW / 2) * there / self.height)

    def _look_at(self, centre: Float64, distance: float) -> None:
        """Move, but keep the centre of interest within reach of the scene, so that nobody gets lost."""
        offset = centre - self.scene_centre
        reach = float(np.linalg.norm(offset))
        if reach > 1.5 * self.scene_radius:
            centre = self.scene_centre + offset * (1.5 * self.scene_radius / reach)
        self.pose = replace(self.pose, centre=(float(centre[0]), float(centre[1]), float(centre[2])), distance=distance)
