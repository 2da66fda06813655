"""All memories in one instanced draw call inside pyqtgraph's GLViewWidget.

The item owns the numpy arrays and treats the buffers of the graphics card as a cache: it uploads only the
rows that changed (20 bytes for one new memory, 4 for one new look), and makes everything again when the
context is lost (a dock that floats gets a new one). Programs belong to the item, not to the process, so a
second context never draws with the first one's.
"""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from OpenGL import GL
from pyqtgraph.opengl import GLViewWidget
from pyqtgraph.opengl.GLGraphicsItem import GLGraphicsItem
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMatrix4x4, QSurfaceFormat
from PySide6.QtWidgets import QWidget

from tetrarium.model import Float32, Float64, Int32, UInt8
from tetrarium_gui.space import shaders
from tetrarium_gui.space.camera import FIELD_OF_VIEW, Camera
from tetrarium_gui.space.detail import Detail, Lists
from tetrarium_gui.space.scene import EVEN_CORNERS, FACES, GEOMETRY, LOOK_BYTES, changed_range
from tetrarium_gui.style import DIM, GROW_TIME, Theme, scene_palette

log = logging.getLogger(__name__)

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swiftshader", "gdi generic", "basic render")
LEAST_CAPACITY = 1024
DOTS_FROM_PIXELS = 16.0
"""Shared vertices are drawn once an edge at the centre of interest is this long on screen."""


def surface_format(*, samples: int) -> QSurfaceFormat:
    """OpenGL 3.3 core with 24 bits of depth; set as default before the application is made."""
    wanted = QSurfaceFormat()
    wanted.setVersion(3, 3)
    wanted.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    wanted.setDepthBufferSize(24)
    wanted.setSamples(samples)
    wanted.setSwapInterval(1)
    return wanted


@dataclass(slots=True)
class Atmosphere:
    """What a frame needs beside the arrays: clock (seconds), dimming and reveal (0 … 1), theme."""

    theme: Theme
    now: float = 0.0
    dimming: float = 0.0
    reveal: float = 1.0


@dataclass(slots=True)
class Uploads:
    """Bytes sent to the graphics card, and draw calls of the last frame; read by tests and the benchmark."""

    geometry: int = 0
    looks: int = 0
    draw_calls: int = 0


class Tetrahedra(GLGraphicsItem):  # type: ignore[misc]  # pyqtgraph publishes no types
    """Draws backdrop, memories, shared vertices and the selection's halo from arrays it is given."""

    def __init__(self, camera: Camera, atmosphere: Atmosphere) -> None:
        super().__init__()
        self.camera, self.atmosphere = camera, atmosphere
        self.uploads = Uploads()
        self.detail = Detail()
        self._listed: Lists | None = None
        self._most_texels = 0
        self._geometry = np.zeros(0, GEOMETRY)
        self._looks: UInt8 = np.zeros((0, LOOK_BYTES), np.uint8)
        self._on_card_geometry = np.zeros(0, GEOMETRY)
        self._on_card_looks: UInt8 = np.zeros((0, LOOK_BYTES), np.uint8)
        self._dots: Float32 = np.zeros((0, 3), np.float32)
        self._dots_changed = False
        self._halo: Float32 | None = None
        self._capacity = 0
        self._programs: dict[str, _Program] = {}

    def __len__(self) -> int:
        return len(self._geometry)

    # --- arrays in ------------------------------------------------------------------------------
    def set_geometry(self, records: np.ndarray) -> None:
        """(n,) GEOMETRY; the next frame uploads what differs from what the card holds."""
        self._geometry = records
        self.update()

    def set_looks(self, looks: UInt8) -> None:
        """(n, 4) uint8, same rows as the geometry."""
        self._looks = looks
        self.update()

    def set_dots(self, points: Float32) -> None:
        """(m, 3) float32 shared vertices, world units."""
        self._dots, self._dots_changed = points, True
        self.update()

    def set_halo(self, centre: Float32 | None) -> None:
        self._halo = centre
        self.update()

    # --- pyqtgraph's side -----------------------------------------------------------------------
    def initializeGL(self) -> None:
        """Make programs and buffers in the current context and forget what an earlier one held."""
        self._programs = {
            "backdrop": _Program(shaders.BACKDROP_VERTEX, shaders.BACKDROP_FRAGMENT),
            "memory": _Program(shaders.TETRAHEDRON_VERTEX, shaders.TETRAHEDRON_FRAGMENT),
            "listed": _Program(shaders.LISTED_TETRAHEDRON_VERTEX, shaders.TETRAHEDRON_FRAGMENT),
            "far": _Program(shaders.FAR_VERTEX, shaders.FAR_FRAGMENT),
            "dot": _Program(shaders.DOT_VERTEX, shaders.DOT_FRAGMENT),
        }
        self._buffers = [int(name) for name in GL.glGenBuffers(7)]
        self._corner_buffer, self._geometry_buffer, self._look_buffer, *others = self._buffers
        self._dot_buffer, self._halo_buffer, self._whole_buffer, self._far_buffer = others
        self._arrays = [int(name) for name in GL.glGenVertexArrays(6)]
        self._memory_array, self._listed_array, self._far_array, *rest = self._arrays
        self._dot_array, self._halo_array, self._empty_array = rest
        self._textures = [int(name) for name in GL.glGenTextures(2)]
        self._most_texels = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_BUFFER_SIZE))
        self._listed = None
        self._describe_memories()
        self._describe_lists()
        for array, buffer in ((self._dot_array, self._dot_buffer), (self._halo_array, self._halo_buffer)):
            GL.glBindVertexArray(array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
            _floats(0, 3, stride=12, start=0)
        GL.glBindVertexArray(0)
        self._capacity = 0
        self._on_card_geometry, self._on_card_looks = np.zeros(0, GEOMETRY), np.zeros((0, LOOK_BYTES), np.uint8)
        self._dots_changed = True

    def forget_context(self) -> None:
        """The context is about to go: free its objects (it must be current) and build anew at the next one."""
        for program in self._programs.values():
            GL.glDeleteProgram(program.name)
        if self._programs:
            GL.glDeleteTextures(np.array(self._textures, np.uint32))
            GL.glDeleteBuffers(len(self._buffers), np.array(self._buffers, np.uint32))
            GL.glDeleteVertexArrays(len(self._arrays), np.array(self._arrays, np.uint32))
        self._programs = {}

    def isInitialized(self) -> bool:
        return bool(self._programs)

    def paint(self) -> None:
        if not self._programs:
            return
        self._upload()
        self.uploads.draw_calls = 0
        self._draw_backdrop()
        GL.glEnable(GL.GL_DEPTH_TEST)
        GL.glDepthFunc(GL.GL_LEQUAL)
        if len(self):
            self._draw_memories()
            self._draw_dots()
        GL.glBindVertexArray(0)
        GL.glUseProgram(0)

    # --- uploads --------------------------------------------------------------------------------
    def _upload(self) -> None:
        n = len(self._geometry)
        if n > self._capacity:
            self._capacity = max(LEAST_CAPACITY, 1 << int(n - 1).bit_length())
            self._reserve(self._geometry_buffer, self._capacity * GEOMETRY.itemsize)
            self._reserve(self._look_buffer, self._capacity * LOOK_BYTES)
            self._on_card_geometry = np.zeros(0, GEOMETRY)
            self._on_card_looks = np.zeros((0, LOOK_BYTES), np.uint8)
        if self._on_card_geometry is not self._geometry:
            self.uploads.geometry += _upload_changed(self._geometry_buffer, self._geometry, self._on_card_geometry)
            self._on_card_geometry = self._geometry
        if self._on_card_looks is not self._looks:
            self.uploads.looks += _upload_changed(self._look_buffer, self._looks, self._on_card_looks)
            self._on_card_looks = self._looks
        if self._dots_changed:
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._dot_buffer)
            GL.glBufferData(GL.GL_ARRAY_BUFFER, self._dots.nbytes, self._dots, GL.GL_STATIC_DRAW)
            self._dots_changed = False

    @staticmethod
    def _reserve(buffer: int, size: int) -> None:
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, size, None, GL.GL_DYNAMIC_DRAW)

    def _describe_memories(self) -> None:
        corners = _corner_table()
        GL.glBindVertexArray(self._memory_array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._corner_buffer)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, corners.nbytes, corners, GL.GL_STATIC_DRAW)
        for location in range(4):
            _floats(location, 3, stride=48, start=12 * location)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._geometry_buffer)
        GL.glEnableVertexAttribArray(4)
        GL.glVertexAttribIPointer(4, 3, GL.GL_INT, GEOMETRY.itemsize, ctypes.c_void_p(0))
        _floats(5, 1, stride=GEOMETRY.itemsize, start=12)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._look_buffer)
        GL.glEnableVertexAttribArray(6)
        GL.glVertexAttribIPointer(6, 4, GL.GL_UNSIGNED_BYTE, LOOK_BYTES, ctypes.c_void_p(0))
        for location in (4, 5, 6):
            GL.glVertexAttribDivisor(location, 1)

    def _describe_lists(self) -> None:
        """Vertex arrays for lists of rows: whole tetrahedra fetch theirs by row, points are picked by index."""
        GL.glBindVertexArray(self._listed_array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._corner_buffer)
        for location in range(4):
            _floats(location, 3, stride=48, start=12 * location)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._whole_buffer)
        GL.glEnableVertexAttribArray(4)
        GL.glVertexAttribIPointer(4, 1, GL.GL_INT, 4, ctypes.c_void_p(0))
        GL.glVertexAttribDivisor(4, 1)
        GL.glBindVertexArray(self._far_array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._geometry_buffer)
        GL.glEnableVertexAttribArray(4)
        GL.glVertexAttribIPointer(4, 3, GL.GL_INT, GEOMETRY.itemsize, ctypes.c_void_p(0))
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._look_buffer)
        GL.glEnableVertexAttribArray(6)
        GL.glVertexAttribIPointer(6, 4, GL.GL_UNSIGNED_BYTE, LOOK_BYTES, ctypes.c_void_p(0))
        GL.glBindBuffer(GL.GL_ELEMENT_ARRAY_BUFFER, self._far_buffer)
        GL.glBindVertexArray(0)
        formats = ((GL.GL_RGBA32I, self._geometry_buffer), (GL.GL_RGBA8UI, self._look_buffer))
        for texture, (layout, buffer) in zip(self._textures, formats, strict=True):
            GL.glBindTexture(GL.GL_TEXTURE_BUFFER, texture)
            GL.glTexBuffer(GL.GL_TEXTURE_BUFFER, layout, buffer)

    # --- drawing --------------------------------------------------------------------------------
    def _draw_backdrop(self) -> None:
        program = self._programs["backdrop"]
        GL.glUseProgram(program.name)
        self._set_background(program)
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glDisable(GL.GL_BLEND)
        GL.glBindVertexArray(self._empty_array)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        self.uploads.draw_calls += 1

    def _draw_memories(self) -> None:
        lists = self.detail.lists(self.camera) if len(self) <= self._most_texels else None
        GL.glDisable(GL.GL_BLEND)
        if lists is None:
            self._begin(self._programs["memory"], self._memory_array)
            self._draw_whole(len(self))
            return
        if lists is not self._listed:
            self._listed = lists
            GL.glBindVertexArray(0)
            _fill(self._whole_buffer, lists.whole)
            _fill(self._far_buffer, lists.points)
        if len(lists.whole):
            program = self._programs["listed"]
            self._begin(program, self._listed_array)
            for unit, (name, texture) in enumerate(zip(("places", "marks"), self._textures, strict=True)):
                GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
                GL.glBindTexture(GL.GL_TEXTURE_BUFFER, texture)
                GL.glUniform1i(program[name], unit)
            self._draw_whole(len(lists.whole))
        if len(lists.points):
            program = self._programs["far"]
            self._begin(program, self._far_array)
            pixels = self.view().deviceHeight() / (2 * np.tan(FIELD_OF_VIEW / 2))
            GL.glUniform1f(program["pixels_a_world_unit"], pixels)
            GL.glUniform1f(program["level_depth"], self.camera.level_depth)
            GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
            GL.glDrawElements(GL.GL_POINTS, len(lists.points), GL.GL_UNSIGNED_INT, None)
            self.uploads.draw_calls += 1

    def _draw_whole(self, count: int) -> None:
        GL.glEnable(GL.GL_CULL_FACE)
        GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, 12, count)
        GL.glDisable(GL.GL_CULL_FACE)
        self.uploads.draw_calls += 1

    def _begin(self, program: _Program, array: int) -> None:
        """Bind a program that draws memories, with all that it knows of the frame."""
        air = self.atmosphere
        GL.glUseProgram(program.name)
        self._set_background(program)
        self._set_matrices(program)
        palette = np.array([_rgb(color) for color in scene_palette(air.theme)], np.float32)
        GL.glUniform3fv(program["palette"], len(palette), palette)
        program.set_color("inhibited_color", air.theme.inhibited)
        program.set_color("selection_color", air.theme.selection)
        distance, radius = self.camera.pose.distance, self.camera.scene_radius
        for name, number in (
            ("now", air.now),
            ("grow_time", GROW_TIME),
            ("dimming", air.dimming),
            ("dim_share", DIM),
            ("reveal", air.reveal),
            ("fog_start", distance * 1.05),
            ("fog_end", distance + max(1.6 * radius, distance)),
            ("pixel_ratio", self.view().devicePixelRatioF()),
            ("light_theme", float(air.theme.name == "light")),
        ):
            GL.glUniform1f(program[name], number)
        GL.glBindVertexArray(array)

    def _draw_dots(self) -> None:
        edge_pixels = 1.0 / self.camera.pixel_size()
        dots_shown = len(self._dots) > 0 and edge_pixels > DOTS_FROM_PIXELS
        if not dots_shown and self._halo is None:
            return
        theme, program = self.atmosphere.theme, self._programs["dot"]
        GL.glUseProgram(program.name)
        self._set_matrices(program)
        pixels = self.view().deviceHeight() / (2 * np.tan(FIELD_OF_VIEW / 2))
        GL.glUniform1f(program["pixels_a_world_unit"], pixels)
        GL.glUniform1f(program["level_depth"], self.camera.level_depth)
        GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFuncSeparate(GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA)
        GL.glDepthMask(False)
        if dots_shown:
            distance = self.camera.pose.distance
            strength = min(1.0, (edge_pixels - DOTS_FROM_PIXELS) / 24) * (1 - 0.75 * self.atmosphere.dimming)
            program.set_color("dot_color", theme.text)
            self._set_dot(
                program, size=0.085, most_pixels=9.0, strength=0.85 * strength, softness=0.0, towards_eye=0.06
            )
            GL.glUniform1f(program["fade_start"], distance)
            GL.glUniform1f(program["fade_end"], distance * 1.6)
            GL.glBindVertexArray(self._dot_array)
            GL.glDrawArrays(GL.GL_POINTS, 0, len(self._dots))
            self.uploads.draw_calls += 1
        if self._halo is not None:
            halo = np.ascontiguousarray(self._halo, np.float32)
            program.set_color("dot_color", theme.accent if theme.name == "light" else theme.selection)
            self._set_dot(program, size=3.2, most_pixels=400.0, strength=0.42, softness=1.0, towards_eye=0.0)
            GL.glUniform1f(program["fade_start"], 1e6)
            GL.glUniform1f(program["fade_end"], 2e6)
            GL.glBindVertexArray(self._halo_array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._halo_buffer)
            GL.glBufferData(GL.GL_ARRAY_BUFFER, halo.nbytes, halo, GL.GL_STREAM_DRAW)
            GL.glDrawArrays(GL.GL_POINTS, 0, 1)
            self.uploads.draw_calls += 1
        GL.glDepthMask(True)
        GL.glDisable(GL.GL_BLEND)

    def _set_dot(
        self,
        program: _Program,
        *,
        size: float,
        most_pixels: float,
        strength: float,
        softness: float,
        towards_eye: float,
    ) -> None:
        GL.glUniform1f(program["world_size"], size)
        GL.glUniform1f(program["most_pixels"], most_pixels * self.view().devicePixelRatioF())
        GL.glUniform1f(program["strength"], strength)
        GL.glUniform1f(program["softness"], softness)
        GL.glUniform1f(program["towards_eye"], towards_eye)

    def _set_background(self, program: _Program) -> None:
        program.set_color("canvas_top", self.atmosphere.theme.canvas_top)
        program.set_color("canvas_bottom", self.atmosphere.theme.canvas_bottom)
        GL.glUniform1f(program["device_height"], float(self.view().deviceHeight()))

    def _set_matrices(self, program: _Program) -> None:
        GL.glUniformMatrix4fv(program["view"], 1, True, self.camera.view_matrix().astype(np.float32))
        GL.glUniformMatrix4fv(program["projection"], 1, True, self.camera.projection_matrix().astype(np.float32))


class GLCanvas(GLViewWidget):  # type: ignore[misc]  # pyqtgraph publishes no types
    """The OpenGL pane: pyqtgraph's widget with our camera and one item. Mouse events pass to the view above."""

    failed = Signal(str)
    ready = Signal(str)

    def __init__(self, camera: Camera, atmosphere: Atmosphere, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.camera = camera
        self.renderer = ""
        self.setBackgroundColor(atmosphere.theme.canvas_bottom)
        self.tetrahedra = Tetrahedra(camera, atmosphere)
        self.addItem(self.tetrahedra)

    @property
    def renders_in_software(self) -> bool:
        return any(name in self.renderer.lower() for name in SOFTWARE_RENDERERS)

    def initializeGL(self) -> None:
        """Called for every new context. A driver that cannot do 3.3 is reported once, then the flat view takes over."""
        try:
            super().initializeGL()
            self.renderer = GL.glGetString(GL.GL_RENDERER).decode("utf-8", "replace")
        except (RuntimeError, GL.GLError) as error:
            log.warning("OpenGL cannot draw the space: %s", error)
            self.failed.emit(str(error))
            return
        # A context dies with its window (docking, floating, another screen); its objects go with it.
        self.context().aboutToBeDestroyed.connect(self._release, Qt.ConnectionType.UniqueConnection)
        log.info("The space is drawn by %s", self.renderer)
        self.ready.emit(self.renderer)

    def projectionMatrix(self, region: object, viewport: object) -> QMatrix4x4:
        return _qt_matrix(self.camera.projection_matrix())

    def viewMatrix(self) -> QMatrix4x4:
        return _qt_matrix(self.camera.view_matrix())

    def drawItemTree(self, item: Any = None, useItemNames: bool = False) -> None:
        """Draw our item; unlike the method it replaces it never prints to stdout, which may be a protocol."""
        self.tetrahedra.paint()

    def _release(self) -> None:
        self.makeCurrent()
        self.tetrahedra.forget_context()
        self.doneCurrent()


class _Program:
    """A linked program and its uniform locations."""

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
        GL.glUniform3f(self[uniform], *_rgb(color))


def _upload_changed(buffer: int, now: np.ndarray, before: np.ndarray) -> int:
    first, last = changed_range(now, before)
    if last == first:
        return 0
    part = np.ascontiguousarray(now[first:last])
    row_bytes = part.nbytes // len(part)
    GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
    GL.glBufferSubData(GL.GL_ARRAY_BUFFER, first * row_bytes, part.nbytes, part)
    return int(part.nbytes)


def _fill(buffer: int, rows: Int32) -> None:
    GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffer)
    GL.glBufferData(GL.GL_ARRAY_BUFFER, rows.nbytes, rows, GL.GL_STREAM_DRAW)


def _corner_table() -> Float32:
    """(12, 12) float32: even corner, odd corner, even normal, barycentric – wound so that both face outward."""
    rows = []
    for face in FACES:
        even = EVEN_CORNERS[face].astype(np.float32)
        odd = (1 - EVEN_CORNERS[face])[::-1].astype(np.float32)  # inversion turns the winding; turn it back
        normal = np.cross(even[1] - even[0], even[2] - even[0])
        normal /= np.linalg.norm(normal)
        rows += [np.concatenate([even[i], odd[i], normal, np.eye(3)[i]]) for i in range(3)]
    return np.array(rows, np.float32)


def _floats(location: int, size: int, *, stride: int, start: int) -> None:
    GL.glEnableVertexAttribArray(location)
    GL.glVertexAttribPointer(location, size, GL.GL_FLOAT, False, stride, ctypes.c_void_p(start))


def _rgb(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255


def _qt_matrix(matrix: Float64) -> QMatrix4x4:
    return QMatrix4x4([float(value) for value in matrix.ravel()])
