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

from tetrarium.model import Float32, UInt8
from tetrarium_gui.space import shaders
from tetrarium_gui.space.bodies import Bodies
from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.detail import Detail, Lists
from tetrarium_gui.space.lights import Frame, Lights
from tetrarium_gui.space.programs import Program, fill, flat, floats, upload_changed
from tetrarium_gui.space.scene import EVEN_CORNERS, FACES, GEOMETRY, LOOK_BYTES
from tetrarium_gui.space.travel import Travellers
from tetrarium_gui.style import DIM, GROW_TIME, Theme

log = logging.getLogger(__name__)

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swiftshader", "gdi generic", "basic render")
LEAST_CAPACITY = 1024


def is_software(renderer: str) -> bool:
    """Whether what calls itself so draws on the processor."""
    return any(name in renderer.lower() for name in SOFTWARE_RENDERERS)


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
    """What a frame needs beside the arrays: theme, clock (seconds), and, 0 … 1, how far the rest is dimmed, hits are
    lit, moves have come, and what was just superseded has turned."""

    theme: Theme
    now: float = 0.0
    dimming: float = 0.0
    reveal: float = 1.0
    travel: float = 1.0
    fade: float = 1.0


@dataclass(slots=True)
class Uploads:
    """Bytes sent to the graphics card, and draw calls of the last frame; read by tests and the benchmark."""

    geometry: int = 0
    looks: int = 0
    draw_calls: int = 0


class Tetrahedra(GLGraphicsItem):  # type: ignore[misc]  # pyqtgraph publishes no types
    """Draws the backdrop and the memories from arrays it is given, and what shines over them."""

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
        self.lights = Lights()
        self.bodies = Bodies()
        self.travellers = Travellers()
        self._capacity = 0
        self._programs: dict[str, Program] = {}

    def __len__(self) -> int:
        return len(self._geometry)

    @property
    def looks(self) -> UInt8:
        """(n, 4) what the next frame draws."""
        return self._looks

    # --- arrays in ------------------------------------------------------------------------------
    def set_geometry(self, records: np.ndarray) -> None:
        """(n,) GEOMETRY; the next frame uploads what differs from what the card holds."""
        self._geometry = records
        self.update()

    def set_looks(self, looks: UInt8) -> None:
        """(n, 4) uint8, same rows as the geometry."""
        self._looks = looks
        self.update()

    # --- pyqtgraph's side -----------------------------------------------------------------------
    def initializeGL(self) -> None:
        """Make programs and buffers in the current context and forget what an earlier one held."""
        self._programs = {
            "backdrop": Program(shaders.BACKDROP_VERTEX, shaders.BACKDROP_FRAGMENT),
            "memory": Program(shaders.TETRAHEDRON_VERTEX, shaders.TETRAHEDRON_FRAGMENT),
            "listed": Program(shaders.LISTED_TETRAHEDRON_VERTEX, shaders.TETRAHEDRON_FRAGMENT),
            "far": Program(shaders.FAR_VERTEX, shaders.FAR_FRAGMENT),
        }
        self._buffers = [int(name) for name in GL.glGenBuffers(5)]
        self._corner_buffer, self._geometry_buffer, self._look_buffer, *others = self._buffers
        self._whole_buffer, self._far_buffer = others
        self._arrays = [int(name) for name in GL.glGenVertexArrays(4)]
        self._memory_array, self._listed_array, self._far_array, self._empty_array = self._arrays
        self._textures = [int(name) for name in GL.glGenTextures(2)]
        self._most_texels = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_BUFFER_SIZE))
        self._listed = None
        self._describe_memories()
        self._describe_lists()
        self.lights.initialize()
        self.bodies.initialize()
        self.travellers.initialize(self._corner_buffer)
        GL.glBindVertexArray(0)
        self._capacity = 0
        self._on_card_geometry, self._on_card_looks = np.zeros(0, GEOMETRY), np.zeros((0, LOOK_BYTES), np.uint8)

    def forget_context(self) -> None:
        """The context is about to go: free its objects (it must be current) and build anew at the next one."""
        for program in self._programs.values():
            GL.glDeleteProgram(program.name)
        if self._programs:
            GL.glDeleteTextures(np.array(self._textures, np.uint32))
            GL.glDeleteBuffers(len(self._buffers), np.array(self._buffers, np.uint32))
            GL.glDeleteVertexArrays(len(self._arrays), np.array(self._arrays, np.uint32))
        self._programs = {}
        self.lights.forget_context()
        self.bodies.forget_context()
        self.travellers.forget_context()

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
            self.uploads.draw_calls += self.travellers.draw(self._begin)
            self.uploads.draw_calls += self.lights.draw(self._frame())
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
            self.uploads.geometry += upload_changed(self._geometry_buffer, self._geometry, self._on_card_geometry)
            self._on_card_geometry = self._geometry
        if self._on_card_looks is not self._looks:
            self.uploads.looks += upload_changed(self._look_buffer, self._looks, self._on_card_looks)
            self._on_card_looks = self._looks

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
            floats(location, 3, stride=48, start=12 * location)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._geometry_buffer)
        GL.glEnableVertexAttribArray(4)
        GL.glVertexAttribIPointer(4, 3, GL.GL_INT, GEOMETRY.itemsize, ctypes.c_void_p(0))
        floats(5, 1, stride=GEOMETRY.itemsize, start=12)
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
            floats(location, 3, stride=48, start=12 * location)
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
        program.set_background(self.atmosphere.theme, float(self.view().deviceHeight()))
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
            fill(self._whole_buffer, lists.whole)
            fill(self._far_buffer, lists.points)
        self.uploads.draw_calls += self.bodies.draw(self.detail.hulls, lists, self._begin)
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
            GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
            GL.glDrawElements(GL.GL_POINTS, len(lists.points), GL.GL_UNSIGNED_INT, None)
            self.uploads.draw_calls += 1

    def _draw_whole(self, count: int) -> None:
        GL.glEnable(GL.GL_CULL_FACE)
        GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, 12, count)
        GL.glDisable(GL.GL_CULL_FACE)
        self.uploads.draw_calls += 1

    def _begin(self, program: Program, array: int) -> None:
        """Bind a program that draws memories, with all that it knows of the frame."""
        air = self.atmosphere
        height = float(self.view().deviceHeight())
        GL.glUseProgram(program.name)
        program.set_background(air.theme, height)
        program.set_camera(self.camera, height)
        program.set_palette(air.theme)
        program.set_color("selection_color", air.theme.selection)
        distance, radius = self.camera.pose.distance, self.camera.scene_radius
        program.set_numbers(
            now=air.now,
            grow_time=GROW_TIME,
            dimming=air.dimming,
            dim_share=DIM,
            reveal=air.reveal,
            travel=air.travel,
            fade=air.fade,
            fog_start=distance * 1.05,
            fog_end=distance + max(1.6 * radius, distance),
            pixel_ratio=self.view().devicePixelRatioF(),
            light_theme=float(air.theme.name == "light"),
        )
        GL.glBindVertexArray(array)

    def _frame(self) -> Frame:
        air, view = self.atmosphere, self.view()
        return Frame(
            self.camera, air.theme, float(view.deviceHeight()), view.devicePixelRatioF(), air.dimming, air.reveal
        )


class GLCanvas(GLViewWidget):  # type: ignore[misc]  # pyqtgraph publishes no types
    """The OpenGL pane on a graphics card: pyqtgraph's widget with our camera and one item. Mouse events pass to the view
    above. Where there is none, `offscreen` draws."""

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
        return is_software(self.renderer)

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
        return QMatrix4x4(flat(self.camera.projection_matrix()))

    def viewMatrix(self) -> QMatrix4x4:
        return QMatrix4x4(flat(self.camera.view_matrix()))

    def drawItemTree(self, item: Any = None, useItemNames: bool = False) -> None:
        """Draw our item; unlike the method it replaces it never prints to stdout, which may be a protocol."""
        self.tetrahedra.paint()

    def _release(self) -> None:
        self.makeCurrent()
        self.tetrahedra.forget_context()
        self.doneCurrent()


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
