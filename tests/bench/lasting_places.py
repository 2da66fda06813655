"""The same space before and after 1,000 more stores and a restart: what stood stands where it stood.

    python tests/bench/lasting_places.py [--before 2000] [--more 1000] [--picture docs/pictures/lasting.png]

Needs a display with OpenGL (Xvfb will do). Prints how many of the old memories stand elsewhere (0) or in another
cluster, and draws three views from one and the same camera: before; afterwards; afterwards with the old ones alone lit.
"""

# ruff: noqa: E402  # the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tetrarium_gui.app import SAMPLES, set_opengl_platform

set_opengl_platform()

from generated_notes import generate
from PySide6.QtCore import QElapsedTimer, QEventLoop
from PySide6.QtGui import QImage, QPainter, QSurfaceFormat
from PySide6.QtWidgets import QApplication

import tetrarium
from tetrarium.model import SpaceSnapshot
from tetrarium_gui.space.tetrahedra import surface_format
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import Highlight, WindowState
from tetrarium_gui.style import DARK

SIZE = (760, 620)
PATIENCE = 60_000
"""Milliseconds until a picture must have been drawn."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=int, default=2_000)
    parser.add_argument("--more", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--picture", type=Path, default=Path("docs/pictures/lasting.png"))
    options = parser.parse_args()
    notes, _ = generate(options.before + options.more, seed=options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        old = grow(folder, notes[: options.before])
        grow(folder, notes[options.before :])
        with tetrarium.open_space(folder) as restarted:
            new = restarted.snapshot()
    moved, changed = differences(old, new)
    print(
        f"{len(old)} memories, then {len(new) - len(old)} more and a restart: {moved} moved, {changed} changed cluster"
    )
    draw(old, new, options.picture)
    print(options.picture)
    return int(moved > 0)


def grow(folder: Path, notes: Sequence[dict[str, Any]]) -> SpaceSnapshot:
    """Store through the public door, and close: the next call is a restart."""
    with tetrarium.open_space(folder) as space:
        for note in notes:
            space.store(**note, force=True)
        return space.snapshot()


def differences(old: SpaceSnapshot, new: SpaceSnapshot) -> tuple[int, int]:
    """Old memories that stand elsewhere, and those whose cluster has another id."""

    def standing(snapshot: SpaceSnapshot) -> dict[str, tuple[tuple[int, ...], int]]:
        ids = [snapshot.clusters[at].id for at in snapshot.cluster.tolist()]
        return dict(zip(snapshot.ids, zip(map(tuple, snapshot.places.tolist()), ids, strict=True), strict=True))

    before, after = standing(old), standing(new)
    return (
        sum(after[memory][0] != place for memory, (place, _) in before.items()),
        sum(after[memory][1] != cluster for memory, (_, cluster) in before.items()),
    )


def draw(old: SpaceSnapshot, new: SpaceSnapshot, picture: Path) -> None:
    """Three panels, side by side, under one camera."""
    QSurfaceFormat.setDefaultFormat(surface_format(samples=SAMPLES))
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    state = WindowState()
    view = SpaceView(state, DARK)
    view.reduced_motion = True
    view.resize(*SIZE)
    view.show()
    panels: list[QImage] = []

    def take(caption: str) -> None:
        view.set_caption(caption)
        clock = QElapsedTimer()
        clock.start()
        while not (view.gl is not None and view.gl.renderer and view.is_still) or clock.elapsed() < 500:
            if clock.elapsed() > PATIENCE:
                raise TimeoutError("the space was not drawn in time")
            application.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        panels.append(view.grab().toImage())

    state.set_snapshot(new)
    view.fit_all()
    pose = view.camera.pose
    state.set_snapshot(old)
    view.camera.pose = pose
    take(f"{len(old):,} memories")
    state.set_snapshot(new)
    view.camera.pose = pose
    take(f"{len(new) - len(old):,} more, and a restart")
    state.set_highlight(Highlight("the first ones alone", tuple(old.ids)))
    view.camera.pose = pose
    take("the first ones alone")
    view.close()

    whole = QImage(SIZE[0] * 3 + 16, SIZE[1], QImage.Format.Format_RGB32)
    whole.fill(0)
    painter = QPainter(whole)
    for at, panel in enumerate(panels):
        painter.drawImage(at * (SIZE[0] + 8), 0, panel)
    painter.end()
    picture.parent.mkdir(parents=True, exist_ok=True)
    whole.save(str(picture))


if __name__ == "__main__":
    sys.exit(main())
