"""What shines over the memories: shared vertices, the halo of the selection, the light of the hits. Points, blended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from OpenGL import GL

from tetrarium.model import Float32
from tetrarium_gui.space import beacons, shaders
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.programs import Program, blend_no_more, blend_over, fill, floats
from tetrarium_gui.style import Theme

DOTS_FROM_PIXELS = 16.0
"""Shared vertices are drawn once an edge at the centre of interest is this long on screen."""
_NEVER = 1e6


@dataclass(frozen=True, slots=True)
class Frame:
    """What a pass knows of the frame that is drawn. device_height: pixels; dimming, reveal: 0 … 1."""

    camera: Camera
    theme: Theme
    device_height: float
    pixel_ratio: float
    dimming: float
    reveal: float


class Lights:
    """Owns its arrays; the buffers of the card are a cache of them, written when they changed."""

    def __init__(self) -> None:
        self._dots: Float32 = np.zeros((0, 3), np.float32)
        self._beacons = beacons.NONE
        self._halo: Float32 | None = None
        self._stale = {"dots", "beacons"}
        self._programs: dict[str, Program] = {}

    def set_dots(self, points: Float32) -> None:
        """(m, 3) float32 shared vertices, world units."""
        self._dots = points
        self._stale.add("dots")

    def set_halo(self, centre: Float32 | None) -> None:
        self._halo = centre

    def set_beacons(self, lights: beacons.Beacons) -> None:
        if not np.array_equal(lights, self._beacons):
            self._beacons = lights
            self._stale.add("beacons")

    def initialize(self) -> None:
        """Make programs and buffers in the current context."""
        self._programs = {
            "dot": Program(shaders.DOT_VERTEX, shaders.DOT_FRAGMENT),
            "beacon": Program(shaders.BEACON_VERTEX, shaders.BEACON_FRAGMENT),
        }
        self._buffers = [int(name) for name in GL.glGenBuffers(3)]
        self._arrays = [int(name) for name in GL.glGenVertexArrays(3)]
        for array, buffer, columns in zip(self._arrays, self._buffers, (3, 3, beacons.COLUMNS), strict=True):
            GL.glBindVertexArray(array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
            floats(0, 3, stride=4 * columns, start=0)
            for location in range(1, columns - 2):
                floats(location, 1, stride=4 * columns, start=4 * (location + 2))
        GL.glBindVertexArray(0)
        self._stale = {"dots", "beacons"}

    def forget_context(self) -> None:
        """Free what the current context holds."""
        for program in self._programs.values():
            GL.glDeleteProgram(program.name)
        if self._programs:
            GL.glDeleteBuffers(len(self._buffers), np.array(self._buffers, np.uint32))
            GL.glDeleteVertexArrays(len(self._arrays), np.array(self._arrays, np.uint32))
        self._programs = {}

    def draw(self, frame: Frame) -> int:
        """Draw what there is to draw; how many draw calls that took."""
        edge_pixels = 1.0 / frame.camera.pixel_size()
        dots_shown = len(self._dots) > 0 and edge_pixels > DOTS_FROM_PIXELS
        lit = len(self._beacons) > 0 and frame.dimming > 0
        if not dots_shown and not lit and self._halo is None:
            return 0
        self._upload()
        GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
        blend_over()
        if dots_shown:
            self._draw_dots(frame, min(1.0, (edge_pixels - DOTS_FROM_PIXELS) / 24) * (1 - 0.75 * frame.dimming))
        if self._halo is not None:
            self._draw_halo(frame, self._halo)
        if lit:
            self._draw_beacons(frame)
        blend_no_more()
        return int(dots_shown) + int(self._halo is not None) + int(lit)

    def _upload(self) -> None:
        dots, _, lights = self._buffers
        if "dots" in self._stale:
            fill(dots, self._dots)
        if "beacons" in self._stale:
            fill(lights, self._beacons)
        self._stale.clear()

    def _draw_dots(self, frame: Frame, strength: float) -> None:
        distance = frame.camera.pose.distance
        program = self._dot_program(frame, frame.theme.text)
        program.set_numbers(
            world_size=0.085, most_pixels=9.0 * frame.pixel_ratio, strength=0.85 * strength, softness=0.0,
            towards_eye=0.06, fade_start=distance, fade_end=distance * 1.6,
        )  # fmt: skip
        GL.glBindVertexArray(self._arrays[0])
        GL.glDrawArrays(GL.GL_POINTS, 0, len(self._dots))

    def _draw_halo(self, frame: Frame, centre: Float32) -> None:
        theme = frame.theme
        program = self._dot_program(frame, theme.accent if theme.name == "light" else theme.selection)
        program.set_numbers(
            world_size=3.2, most_pixels=400.0 * frame.pixel_ratio, least_pixels=44.0 * frame.pixel_ratio, strength=0.42,
            softness=1.0, towards_eye=0.0, fade_start=_NEVER, fade_end=2 * _NEVER,
        )  # fmt: skip
        fill(self._buffers[1], centre)
        GL.glBindVertexArray(self._arrays[1])
        GL.glDrawArrays(GL.GL_POINTS, 0, 1)

    def _draw_beacons(self, frame: Frame) -> None:
        """Not hidden by what stands before them: a hit inside a cluster shines through it."""
        program = self._programs["beacon"]
        GL.glUseProgram(program.name)
        program.set_camera(frame.camera, frame.device_height)
        program.set_palette(frame.theme)
        program.set_numbers(
            reveal=frame.reveal, pixel_ratio=frame.pixel_ratio, least_pixels=beacons.LEAST_PIXELS,
            light_theme=float(frame.theme.name == "light"),
        )  # fmt: skip
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glBindVertexArray(self._arrays[2])
        GL.glDrawArrays(GL.GL_POINTS, 0, len(self._beacons))
        GL.glEnable(GL.GL_DEPTH_TEST)

    def _dot_program(self, frame: Frame, color: str) -> Program:
        program = self._programs["dot"]
        GL.glUseProgram(program.name)
        program.set_camera(frame.camera, frame.device_height)
        program.set_numbers(least_pixels=1.0)
        program.set_color("dot_color", color)
        return program
