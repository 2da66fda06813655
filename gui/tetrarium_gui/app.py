"""Start-up and wiring: the only place where window, bridge and engine are put together.

Order matters: the display is looked for before Qt (its X platform ends the process when there is none),
PyOpenGL's platform is set before its first import, and the engine is imported here, on the main thread,
before its own thread starts.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from PySide6.QtCore import QObject, QTimer

NO_DISPLAY = 3
"""Exit code when there is nowhere to open a window."""
SAMPLES = 4
"""Samples a pixel for smooth silhouettes."""

SWITCH_EVERY = 0.001
"""Seconds after which a thread that computes in Python lets another one in. Painting asks the interpreter for its lock a
hundred times a frame; at Python's 5 ms each of them may wait as long while the engine computes (lag p99 175 → 95 ms, measured)."""

COLLECT_EVERY = 500
"""Milliseconds between two looks at whether garbage is to be collected."""

log = logging.getLogger(__name__)


def display_problem() -> str:
    """Why no window can be opened, "" when one can. Looks at the environment only, never at Qt."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return ""
    chosen = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if chosen not in ("", "xcb", "wayland"):
        return ""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return ""
    return (
        "Tetrarium's window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set. Nothing was changed. "
        "Without a window use: tetrarium store | search | recall | stats, or the endpoint tetrarium-mcp."
    )


def set_opengl_platform() -> None:
    """Tell PyOpenGL which door to the driver Qt uses. With both X and Wayland about, it would guess wrongly
    (every call then fails with "no valid context"), so both are set to the same one."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return
    wanted = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    on_x = wanted == "xcb" or (wanted in ("", "offscreen") and bool(os.environ.get("DISPLAY")))
    if on_x and not wanted:
        os.environ["QT_QPA_PLATFORM"] = "xcb"
    os.environ.setdefault("PYOPENGL_PLATFORM", "glx" if on_x else "egl")


def collect_here(parent: QObject) -> QTimer:
    """Collect Python's garbage on this thread only, while the event loop turns.

    A collection starts on whichever thread allocates. On the engine's, it would destroy widgets that belong to
    this one, and Qt ends the process (seen in a test run: "Aborted", garbage-collecting in the lane).
    """
    from PySide6.QtCore import QTimer

    gc.disable()
    gc.collect()
    gc.freeze()  # modules and classes are looked through no more: the oldest generation takes 3 ms instead of 60
    timer = QTimer(parent)
    timer.timeout.connect(_collect_when_due)
    timer.start(COLLECT_EVERY)
    return timer


def _collect_when_due() -> None:
    young, middle, old = gc.get_count()
    first, second, third = gc.get_threshold()
    if old > third:
        gc.collect(2)
    elif middle > second:
        gc.collect(1)
    elif young > first:
        gc.collect(0)


def run(data_dir: Path | None = None, *, sample: bool = False) -> int:
    """Open the window on a space and stay until it is closed; the exit code of the process."""
    if problem := display_problem():
        log.error("%s", problem)
        return NO_DISPLAY
    set_opengl_platform()
    from PySide6.QtCore import QSettings, QTimer  # after the platform is known, and not for the command line
    from PySide6.QtGui import QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    from tetrarium.paths import default_data_dir, sample_dir
    from tetrarium_gui.shell import Shell
    from tetrarium_gui.space.tetrahedra import surface_format

    QSurfaceFormat.setDefaultFormat(surface_format(samples=SAMPLES))
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("Tetrarium")
    application.setStyle("Fusion")
    path = data_dir or (sample_dir() if sample else default_data_dir())
    config = Path(platformdirs.user_config_dir("Tetrarium", appauthor=False)) / "window.ini"
    shell = Shell(path, QSettings(str(config), QSettings.Format.IniFormat), sample=sample)
    # Python hears a signal when Qt next calls it: within one look of the engine for what others stored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            number, lambda *_: QTimer.singleShot(0, lambda: shell.window.leave())
        )  # also heard before the loop runs
    collect_here(application)
    sys.setswitchinterval(SWITCH_EVERY)
    shell.show()
    code = application.exec()
    if not shell.close():
        # It computes, on a slow machine perhaps the model's first words. What was acknowledged is on disk; the rest of a
        # transaction is rolled back at the next open. Waiting for the interpreter's own end would crash in Qt.
        log.warning("The engine did not end in time; what was stored is safe.")
        logging.shutdown()
        os._exit(code)
    return code
