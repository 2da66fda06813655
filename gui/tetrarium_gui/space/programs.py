"""Small things that every pass over the OpenGL frame needs: programs with their uniforms, uploads, attributes."""

from __future__ import annotations

import ctypes

import numpy as np
from OpenGL import GL

from tetrarium.model import Float32, Float64, Int32
from tetrarium_gui.space.camera import FIELD_OF_VIEW, Camera
from tetrarium_gui.space.scene import changed_range
from tetrarium_gui.style import Theme, scene_palette


class Program:
    """A linked program and its uniform locations. Raises RuntimeError with the driver's words."""

    def __init__(self, vertex: str, fragment: str) -> None:
        self.name = int(GL.glCreateProgram())
        for kind, source in ((GL.GL_VERTEX_SHADER, vertex), (GL.GL_FRAGMENT_SHADER, fragment)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, source)
            GL.glCompileShader(shader)
            if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
                raise RuntimeError(f"shader: {GL.glGetShaderInfoLog(shader)!r}")
            GL.glAttachShader(self.name, shader)
            GL.glDeleteShader(shader)
        GL.glLinkProgram(self.name)
        if not GL.glGetProgramiv(self.name, GL.GL_LINK_STATUS):
            raise RuntimeError(f"program: {GL.glGetProgramInfoLog(self.name)!r}")
        self._locations: dict[str, int] = {}

    def __getitem__(self, uniform: str) -> int:
        if uniform not in self._locations:
            self._locations[uniform] = int(GL.glGetUniformLocation(self.name, uniform))
        return self._locations[uniform]

    def set_color(self, uniform: str, color: str) -> None:
        GL.glUniform3f(self[uniform], *rgb(color))

    def set_numbers(self, **numbers: float) -> None:
        for uniform, number in numbers.items():
            GL.glUniform1f(self[uniform], number)

    def set_camera(self, camera: Camera, device_height: float) -> None:
        """View, projection, and how large a world unit is."""
        GL.glUniformMatrix4fv(self["view"], 1, True, camera.view_matrix().astype(np.float32))
        GL.glUniformMatrix4fv(self["projection"], 1, True, camera.projection_matrix().astype(np.float32))
        self.set_numbers(
            pixels_a_world_unit=device_height / (2 * np.tan(FIELD_OF_VIEW / 2)), level_depth=camera.level_depth
        )

    def set_palette(self, theme: Theme) -> None:
        palette = np.array([rgb(color) for color in scene_palette(theme)], np.float32)
        GL.glUniform3fv(self["palette"], len(palette), palette)
        self.set_color("inhibited_color", theme.inhibited)
        self.set_color("quarantine_color", theme.amber)

    def set_background(self, theme: Theme, device_height: float) -> None:
        self.set_color("canvas_top", theme.canvas_top)
        self.set_color("canvas_bottom", theme.canvas_bottom)
        GL.glUniform1f(self["device_height"], device_height)


def upload_changed(buffer: int, now: np.ndarray, before: np.ndarray) -> int:
    """Bring a buffer that holds `before` to `now` by the rows that differ; the bytes that this took."""
    first, last = changed_range(now, before)
    if last == first:
        return 0
    part = np.ascontiguousarray(now[first:last])
    row_bytes = part.nbytes // len(part)
    GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
    GL.glBufferSubData(GL.GL_ARRAY_BUFFER, first * row_bytes, part.nbytes, part)
    return int(part.nbytes)


def fill(buffer: int, rows: Int32 | Float32) -> None:
    """Put an array into a buffer that is written anew now and then."""
    GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
    GL.glBufferData(GL.GL_ARRAY_BUFFER, rows.nbytes, np.ascontiguousarray(rows), GL.GL_STREAM_DRAW)


def floats(location: int, size: int, *, stride: int, start: int) -> None:
    """Describe an attribute of the bound buffer."""
    GL.glEnableVertexAttribArray(location)
    GL.glVertexAttribPointer(location, size, GL.GL_FLOAT, False, stride, ctypes.c_void_p(start))


def blend_over() -> None:
    """What is drawn from here on lies over the picture by its alpha, and hides nothing that comes later."""
    GL.glEnable(GL.GL_BLEND)
    GL.glBlendFuncSeparate(GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA)
    GL.glDepthMask(False)


def blend_no_more() -> None:
    GL.glDepthMask(True)
    GL.glDisable(GL.GL_BLEND)


def rgb(color: str) -> tuple[float, float, float]:
    """#RRGGBB as three shares."""
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255


def flat(matrix: Float64) -> list[float]:
    """A matrix as the numbers that Qt takes."""
    return [float(value) for value in matrix.ravel()]
