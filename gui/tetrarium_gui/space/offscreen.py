"""The space where OpenGL runs on the processor: drawn off the screen, shown as a picture.

A QOpenGLWidget makes Qt put the whole window together with OpenGL, whatever changed in it. On a graphics card that costs
nothing; on a software renderer one changed word in the status line costs 14 ms of processor time and a frame of the space
31 (measured: llvmpipe, 1440 × 900). Drawn into a framebuffer of our own and copied, the same frame costs 20 and the word
1, so hands and words keep up while agents store. It also needs no new context when a dock floats.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np
from OpenGL import GL
from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QOffscreenSurface, QOpenGLContext, QPainter, QPaintEvent
from PySide6.QtOpenGL import QOpenGLFramebufferObject, QOpenGLFramebufferObjectFormat
from PySide6.QtWidgets import QWidget

from tetrarium_gui.space.camera import Camera
from tetrarium_gui.space.tetrahedra import Atmosphere, GLCanvas, Tetrahedra, is_software, surface_format

log = logging.getLogger(__name__)

REST = 250
"""Milliseconds without a new frame after which one with smooth edges is drawn."""
SAMPLES = 4
"""Samples a pixel of that one: it costs two to three times as much."""
SMOOTH_UP_TO = 20.0
"""Milliseconds of a frame above which edges stay plain: the smooth one would hold up hands and words."""


@dataclass(frozen=True, slots=True)
class SoftwareOpenGL:
    """A context of our own and what it draws to when it draws to nothing."""

    context: QOpenGLContext
    surface: QOffscreenSurface
    renderer: str


def software_opengl() -> SoftwareOpenGL | None:
    """A context, where OpenGL works here and runs on the processor; else None."""
    context, surface = QOpenGLContext(), QOffscreenSurface()
    context.setFormat(surface_format(samples=0))
    if not context.create():
        return None
    surface.setFormat(context.format())
    surface.create()
    if not context.makeCurrent(surface):
        return None
    try:
        renderer = GL.glGetString(GL.GL_RENDERER).decode("utf-8", "replace")
    except (AttributeError, GL.GLError) as error:
        log.info("OpenGL does not say what draws: %s", error)
        return None
    finally:
        context.doneCurrent()
    return SoftwareOpenGL(context, surface, renderer) if is_software(renderer) else None


class OffscreenCanvas(QWidget):
    """Shows what the item draws. The same to its owner as the canvas on the screen. Mouse events pass to the view above."""

    failed = Signal(str)
    ready = Signal(str)

    def __init__(
        self, camera: Camera, atmosphere: Atmosphere, opengl: SoftwareOpenGL, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._opengl = opengl
        self.renderer = ""
        self.frames = 0
        self.frame_takes = 0.0  # milliseconds of the last frame in motion
        self._stale = True
        self._broken = False
        self._plain: QOpenGLFramebufferObject | None = None
        self._smooth: QOpenGLFramebufferObject | None = None
        self._pixels = self._shown = np.zeros((0, 0), np.uint32)
        self._image = QImage()
        self.tetrahedra = Tetrahedra(camera, atmosphere)
        self.tetrahedra._setView(self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST)
        self._rest.timeout.connect(self._smoothen)

    # --- what the owner and the item ask --------------------------------------------------------
    @property
    def renders_in_software(self) -> bool:
        return True

    def isValid(self) -> bool:
        return self._opengl.context.isValid()

    def deviceHeight(self) -> int:
        """Pixels of the screen."""
        return self._size().height()

    def update(self, *region: object) -> None:
        """Draw the next frame, and show it. Qt's own repaints show the last one."""
        self._stale = True
        super().update(*region)

    def draw(self) -> None:
        """Draw the next frame at once, with plain edges; it is shown with the next repaint."""
        self._draw(smooth=False)

    def grabFramebuffer(self) -> QImage:
        """The next frame as a picture of its own."""
        self._draw(smooth=False)
        return self._image.copy()

    # --- Qt -------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._broken:
            return
        if self._stale or self._image.size() != self._size():
            started = time.perf_counter()
            self._draw(smooth=False)
            self.frame_takes = (time.perf_counter() - started) * 1e3
            self._rest.start()
        painter = QPainter(self)
        area, ratio = event.rect(), self.devicePixelRatioF()
        source = QRect(area.topLeft() * ratio, area.size() * ratio)
        painter.drawImage(area, self._image, source)
        painter.end()

    # --- inside ---------------------------------------------------------------------------------
    def _size(self) -> QSize:
        return QSize(max(1, self.width()), max(1, self.height())) * self.devicePixelRatioF()

    def _smoothen(self) -> None:
        """Nothing moved for a while: the same frame again, with smooth edges."""
        if not self._stale and not self._broken and self.isVisible() and self.frame_takes <= SMOOTH_UP_TO:
            self._draw(smooth=True)
            super().update()

    def _draw(self, *, smooth: bool) -> None:
        context, size = self._opengl.context, self._size()
        if not context.makeCurrent(self._opengl.surface):
            self._give_up("the OpenGL context was lost")
            return
        try:
            target = self._target(size, smooth=smooth)
            target.bind()
            GL.glViewport(0, 0, size.width(), size.height())
            GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)
            if not self.tetrahedra.isInitialized():
                self.tetrahedra.initializeGL()
            self.tetrahedra.paint()
            if smooth:
                assert self._plain is not None
                QOpenGLFramebufferObject.blitFramebuffer(self._plain, target)
                self._plain.bind()
            self._read(size)
            target.release()
        except (RuntimeError, GL.GLError) as error:
            self._give_up(str(error))
        finally:
            context.doneCurrent()
        self._stale = False
        self.frames += 1
        if not self.renderer and not self._broken:
            self.renderer = self._opengl.renderer
            log.info("The space is drawn by %s, off the screen", self.renderer)
            self.ready.emit(self.renderer)

    def _target(self, size: QSize, *, smooth: bool) -> QOpenGLFramebufferObject:
        if self._plain is None or self._plain.size() != size:
            self._plain, self._smooth = _framebuffer(size, samples=0), None
            self._pixels = np.empty((size.height(), size.width()), np.uint32)
            self._shown = np.empty_like(self._pixels)
            self._image = QImage(self._shown.data, size.width(), size.height(), QImage.Format.Format_RGB32)
        if not smooth:
            return self._plain
        if self._smooth is None:
            self._smooth = _framebuffer(size, samples=SAMPLES)
        return self._smooth

    def _read(self, size: QSize) -> None:
        """Copy the bound framebuffer into the picture. OpenGL's first row is the lowest.

        The array has the type that is asked for: into any other, PyOpenGL would write a copy.
        """
        kind = GL.GL_UNSIGNED_INT_8_8_8_8_REV
        GL.glReadPixels(0, 0, size.width(), size.height(), GL.GL_BGRA, kind, self._pixels)
        np.copyto(self._shown, self._pixels[::-1])

    def _give_up(self, reason: str) -> None:
        """Told once; the flat view takes over."""
        if not self._broken:
            self._broken = True
            log.warning("OpenGL cannot draw the space: %s", reason)
            self.failed.emit(reason)


def _framebuffer(size: QSize, *, samples: int) -> QOpenGLFramebufferObject:
    wanted = QOpenGLFramebufferObjectFormat()
    wanted.setAttachment(QOpenGLFramebufferObject.Attachment.CombinedDepthStencil)
    wanted.setSamples(samples)
    return QOpenGLFramebufferObject(size, wanted)


Canvas = GLCanvas | OffscreenCanvas
"""What OpenGL draws the space on: a card's, or the processor's."""
