"""What the space costs: processor time a frame, bytes a store, recolouring, picking – at 1,000 … 100,000 memories.

    python tests/bench/window.py [count …]

Needs a display with OpenGL (Xvfb will do). Frames are measured as process CPU time of all threads, which
stays put under load; wall time is told beside it; "words" are the names, legend and axes over the space. Gated are
invariants, not milliseconds: one store uploads 20 bytes at any size, turning uploads nothing, a frame takes at most four
draw calls.
"""

# the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("PYOPENGL_PLATFORM", "glx" if sys.platform.startswith("linux") else "")
if not os.environ["PYOPENGL_PLATFORM"]:
    del os.environ["PYOPENGL_PLATFORM"]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gui"))

import numpy as np
from grown import grown_snapshot
from OpenGL import GL
from PySide6.QtGui import QPixmap, QSurfaceFormat
from PySide6.QtWidgets import QApplication

from tetrarium_gui.space.detail import SOFTWARE_IN_MOTION, Budget
from tetrarium_gui.space.offscreen import OffscreenCanvas
from tetrarium_gui.space.picking import pick
from tetrarium_gui.space.scene import scene_of
from tetrarium_gui.space.tetrahedra import surface_format
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Highlight, WindowState
from tetrarium_gui.style import DARK

FRAMES = 20
SIZE = (1280, 800)


def milliseconds(work: Callable[[], object], rounds: int = 7) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times)


def measure(application: QApplication, count: int) -> dict[str, float]:
    clusters = max(6, min(count // 40, 2_500))
    snapshot = grown_snapshot(count, clusters=clusters)
    one_more = grown_snapshot(count + 1, clusters=clusters, version=2)
    view = SpaceView(WindowState(), DARK)
    view.reduced_motion = True
    view.resize(*SIZE)
    view.show()
    while not (view.gl is not None and view.gl.renderer):
        application.processEvents()
    assert view.gl is not None
    canvas, uploads = view.gl, view.gl.tetrahedra.uploads

    def frame() -> None:
        if isinstance(canvas, OffscreenCanvas):
            canvas.draw()  # reads it back as well
            return
        canvas.makeCurrent()
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, canvas.defaultFramebufferObject())
        canvas.paintGL()
        GL.glFinish()

    def shown_frame() -> None:
        view.refresh()
        application.processEvents()

    view.state.set_snapshot(snapshot)
    application.processEvents()
    frame()
    scene_now = scene_of(snapshot)
    row = {"scene ms": milliseconds(lambda: scene_of(snapshot), 3)}
    row["grown ms"] = milliseconds(lambda: scene_of(one_more, scene_now), 3)
    before, started, cpu = uploads.geometry + uploads.looks, time.perf_counter(), time.process_time()
    for _ in range(FRAMES):
        view.camera.orbit(9, 0)
        frame()
    row["cpu ms/frame"] = (time.process_time() - cpu) * 1e3 / FRAMES
    row["wall ms/frame"] = (time.perf_counter() - started) * 1e3 / FRAMES
    cpu = time.process_time()
    for _ in range(FRAMES):
        view.camera.orbit(9, 0)
        shown_frame()
    row["cpu shown"] = (time.process_time() - cpu) * 1e3 / FRAMES
    assert uploads.geometry + uploads.looks == before, "turning uploads nothing"
    assert uploads.draw_calls <= 4
    kept, canvas.tetrahedra.detail.budget = canvas.tetrahedra.detail.budget, SOFTWARE_IN_MOTION
    frame()
    cpu = time.process_time()
    for _ in range(FRAMES):
        view.camera.orbit(9, 0)
        frame()
    row["dragging"] = (time.process_time() - cpu) * 1e3 / FRAMES
    canvas.tetrahedra.detail.budget, canvas.tetrahedra.detail.hulls_allowed = Budget(1 << 30, 0.0), False
    frame()
    cpu = time.process_time()
    for _ in range(FRAMES):
        view.camera.orbit(9, 0)
        frame()
    row["all whole"] = (time.process_time() - cpu) * 1e3 / FRAMES
    canvas.tetrahedra.detail.budget, canvas.tetrahedra.detail.hulls_allowed = kept, True
    picture = QPixmap(*SIZE)
    cpu = time.process_time()
    for _ in range(FRAMES):
        view.overlay.render(picture)
    row["words"] = (time.process_time() - cpu) * 1e3 / FRAMES
    row["draw calls"] = uploads.draw_calls

    hits = tuple(np.random.default_rng(1).choice(snapshot.ids, min(30, count)).tolist())
    answers = [Highlight("one", hits), Highlight("other", hits[1:])]
    row["recolour ms"] = milliseconds(lambda: (view.state.set_highlight(answers[0]), answers.reverse()))
    view.state.set_highlight(None)
    pixels = np.random.default_rng(2).integers(
        (SIZE[0] // 4, SIZE[1] // 4), (SIZE[0] * 3 // 4, SIZE[1] * 3 // 4), (20, 2)
    )
    scene = view.scene
    assert scene is not None
    row["pick ms"] = milliseconds(lambda: [pick(scene, *view.camera.ray(x, y)) for x, y in pixels]) / len(pixels)

    frame()
    before = uploads.geometry + uploads.looks
    row["store ms"] = milliseconds(lambda: view.state.set_snapshot(one_more), 1)
    frame()
    row["store bytes"] = uploads.geometry + uploads.looks - before
    assert count + 1 > 1 << (count - 1).bit_length() or row["store bytes"] == 20, "one store is one row"
    view.close()
    return row


def main() -> None:
    counts = [int(argument) for argument in sys.argv[1:]] or [1_000, 10_000, 100_000]
    QSurfaceFormat.setDefaultFormat(surface_format(samples=int(os.environ.get("SAMPLES", "0"))))
    application = QApplication(sys.argv[:1])
    for at, count in enumerate(counts):
        row = measure(application, count)
        if not at:
            print(f"{'memories':>10}", *(f"{name:>14}" for name in row))
        print(f"{count:>10,}", *(f"{value:>14.2f}" for value in row.values()), flush=True)


if __name__ == "__main__":
    main()
