"""Draws the hulls of small clusters: one instanced call, corners fetched from a buffer, four bytes a cluster and frame."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from OpenGL import GL

from tetrarium.model import Float32, UInt8
from tetrarium_gui.space import shaders
from tetrarium_gui.space.detail import Lists
from tetrarium_gui.space.hulls import CORNERS, Hulls, sphere
from tetrarium_gui.space.programs import Program, fill, upload_changed

MOST_FINE = 500
"""Hulls that are drawn with all their faces; more have twenty faces each, since they are few pixels wide."""


class Bodies:
    """Owns the corners as they were last wanted; the buffers of the card are a cache of them."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._colors: UInt8 = np.zeros(0, np.uint8)
        self._on_card: Float32 = np.zeros((0, CORNERS * 4), np.float32)
        self._capacity = 0
        self._listed: Lists | None = None
        self.uploaded = 0
        """Bytes sent to the card."""

    def set_colors(self, colors: UInt8) -> None:
        """(k,) palette index of each cluster."""
        self._colors = colors

    def initialize(self) -> None:
        """Make program and buffers in the current context."""
        self._program = Program(shaders.HULL_VERTEX, shaders.HULL_FRAGMENT)
        self._buffers = [int(name) for name in GL.glGenBuffers(4)]
        self._arrays = [int(name) for name in GL.glGenVertexArrays(2)]
        self._texture = int(GL.glGenTextures(1))
        corner_buffer, list_buffer, *face_buffers = self._buffers
        for array, face_buffer, faces in zip(self._arrays, face_buffers, sphere()[1:], strict=True):
            GL.glBindVertexArray(array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, list_buffer)
            GL.glEnableVertexAttribArray(0)
            GL.glVertexAttribIPointer(0, 1, GL.GL_INT, 4, ctypes.c_void_p(0))
            GL.glVertexAttribDivisor(0, 1)
            corners = np.ascontiguousarray(faces, np.uint32)
            GL.glBindBuffer(GL.GL_ELEMENT_ARRAY_BUFFER, face_buffer)
            GL.glBufferData(GL.GL_ELEMENT_ARRAY_BUFFER, corners.nbytes, corners, GL.GL_STATIC_DRAW)
        GL.glBindVertexArray(0)
        GL.glBindBuffer(GL.GL_TEXTURE_BUFFER, corner_buffer)
        GL.glBindTexture(GL.GL_TEXTURE_BUFFER, self._texture)
        GL.glTexBuffer(GL.GL_TEXTURE_BUFFER, GL.GL_RGBA32F, corner_buffer)
        self._on_card, self._capacity, self._listed = np.zeros((0, CORNERS * 4), np.float32), 0, None

    def forget_context(self) -> None:
        """Free what the current context holds."""
        if self._program is not None:
            GL.glDeleteProgram(self._program.name)
            GL.glDeleteTextures(np.array([self._texture], np.uint32))
            GL.glDeleteBuffers(len(self._buffers), np.array(self._buffers, np.uint32))
            GL.glDeleteVertexArrays(len(self._arrays), np.array(self._arrays, np.uint32))
        self._program = None

    def draw(self, hulls: Hulls, lists: Lists, begin: Callable[[Program, int], None]) -> int:
        """Draw the hulls of a frame; how many draw calls that took. begin: binds program and array with what they know
        of the frame."""
        if self._program is None or not len(lists.hulls):
            return 0
        if lists is not self._listed:
            self._listed = lists
            GL.glBindVertexArray(0)
            fill(self._buffers[1], lists.hulls)
            self._upload(hulls)
        coarse = int(len(lists.hulls) > MOST_FINE)
        begin(self._program, self._arrays[coarse])
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_BUFFER, self._texture)
        GL.glUniform1i(self._program["corners"], 0)
        GL.glEnable(GL.GL_CULL_FACE)
        corners = sphere()[1 + coarse].size
        GL.glDrawElementsInstanced(GL.GL_TRIANGLES, corners, GL.GL_UNSIGNED_INT, None, len(lists.hulls))
        GL.glDisable(GL.GL_CULL_FACE)
        return 1

    def _upload(self, hulls: Hulls) -> None:
        """Bring the corners on the card to what they are now: the rows that differ."""
        count = len(hulls.corners)
        now: Float32 = np.empty((count, CORNERS, 4), np.float32)
        now[:, :, :3], now[:, :, 3] = hulls.corners, self._colors[:count, None]
        rows: Float32 = now.reshape(count, CORNERS * 4)
        if count > self._capacity:
            self._capacity = max(64, 1 << int(count - 1).bit_length())
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._buffers[0])
            GL.glBufferData(GL.GL_ARRAY_BUFFER, self._capacity * CORNERS * 16, None, GL.GL_DYNAMIC_DRAW)
            self._on_card = np.zeros((0, CORNERS * 4), np.float32)
        self.uploaded += upload_changed(self._buffers[0], rows, self._on_card)
        self._on_card = rows
