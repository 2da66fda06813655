"""Memories on their way: what a plan moved flies from where it stood to where it stands, as one sequence.

Each is drawn by a call of its own while it flies and hidden among the others; nothing is uploaded while they fly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from OpenGL import GL

from tetrarium.model import Int64, UInt8
from tetrarium_gui.space import shaders
from tetrarium_gui.space.programs import Program, fill, floats
from tetrarium_gui.space.scene import WORLD, Scene

MOST = 5_000
"""More memories than this are simply where they are: a flight of all shows nothing."""
SPREAD = 0.4
"""Share of the sequence within which the moves begin, cluster by cluster."""

RECORD = np.dtype([("voxel", np.int32, 3), ("delay", np.float32), ("start", np.float32, 3), ("look", np.uint8, 4)])
"""32 bytes a memory that moves."""


def moved_rows(earlier: Scene | None, scene: Scene) -> tuple[Int64, Int64]:
    """Rows of the scene, and of the earlier one, of memories that stand elsewhere now; none when too many moved."""
    none = np.zeros(0, np.int64)
    if earlier is None or not len(earlier):
        return none, none
    same = min(len(earlier), len(scene))
    if earlier.ids[:same] == scene.ids[:same]:
        rows = np.flatnonzero((scene.voxels[:same] != earlier.voxels[:same]).any(axis=1))
        before = rows
    else:
        pairs = [(row, earlier.rows[i]) for i, row in scene.rows.items() if i in earlier.rows]
        here, there = (np.array(side, np.int64) for side in zip(*pairs, strict=True)) if pairs else (none, none)
        differs = (scene.voxels[here] != earlier.voxels[there]).any(axis=1)
        rows, before = here[differs], there[differs]
    return (rows, before) if 0 < len(rows) <= MOST else (none, none)


def flights(earlier: Scene, scene: Scene, rows: Int64, before: Int64, looks: UInt8) -> np.ndarray:
    """(m,) RECORD of the memories that move; those of one cluster begin together."""
    records = np.zeros(len(rows), RECORD)
    records["voxel"], records["look"] = scene.voxels[rows], looks[rows]
    records["start"] = (earlier.voxels[before] - scene.voxels[rows]) * WORLD
    _, group = np.unique(scene.cluster[rows], return_inverse=True)
    records["delay"] = SPREAD * group / max(1, group.max())
    return records


class Travellers:
    """Owns the records of what flies; the buffer of the card is written when they change."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._records = np.zeros(0, RECORD)
        self._is_stale = False

    def __len__(self) -> int:
        return len(self._records)

    def set_flights(self, records: np.ndarray) -> None:
        """(m,) RECORD; empty: nothing flies any more."""
        self._records, self._is_stale = records, True

    def initialize(self, corner_buffer: int) -> None:
        """Make program and buffer in the current context. corner_buffer: that of every tetrahedron."""
        self._program = Program(shaders.TRAVELLING_TETRAHEDRON_VERTEX, shaders.TETRAHEDRON_FRAGMENT)
        self._buffer, self._array = int(GL.glGenBuffers(1)), int(GL.glGenVertexArrays(1))
        GL.glBindVertexArray(self._array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, corner_buffer)
        for location in range(4):
            floats(location, 3, stride=48, start=12 * location)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._buffer)
        stride = RECORD.itemsize
        GL.glEnableVertexAttribArray(4)
        GL.glVertexAttribIPointer(4, 3, GL.GL_INT, stride, ctypes.c_void_p(0))
        floats(5, 1, stride=stride, start=12)
        GL.glEnableVertexAttribArray(6)
        GL.glVertexAttribIPointer(6, 4, GL.GL_UNSIGNED_BYTE, stride, ctypes.c_void_p(28))
        floats(7, 3, stride=stride, start=16)
        for location in (4, 5, 6, 7):
            GL.glVertexAttribDivisor(location, 1)
        GL.glBindVertexArray(0)
        self._is_stale = True

    def forget_context(self) -> None:
        """Free what the current context holds."""
        if self._program is not None:
            GL.glDeleteProgram(self._program.name)
            GL.glDeleteBuffers(1, np.array([self._buffer], np.uint32))
            GL.glDeleteVertexArrays(1, np.array([self._array], np.uint32))
        self._program = None

    def draw(self, begin: Callable[[Program, int], None]) -> int:
        """Draw what flies; how many draw calls that took. begin: binds program and array with what they know of the
        frame."""
        if self._program is None or not len(self._records):
            return 0
        if self._is_stale:
            fill(self._buffer, self._records.view(np.float32))
            self._is_stale = False
        begin(self._program, self._array)
        GL.glEnable(GL.GL_CULL_FACE)
        GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, 12, len(self._records))
        GL.glDisable(GL.GL_CULL_FACE)
        return 1
