"""Set-up for tests of the window: the surface format and PyOpenGL's platform before anything of Qt.

Tests marked needs_display draw with OpenGL on a real X display; without one they are skipped and the others
run on Qt's offscreen platform. Every scenario leaves a picture in artifacts/.
"""

# ruff: noqa: E402  # the environment is set before anything of Qt is imported
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

if screens := os.environ.get("TETRARIUM_SCREENS"):  # one for each process that runs tests side by side (dev.py)
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    os.environ["DISPLAY"] = screens.split(",")[worker % len(screens.split(","))]
HAS_DISPLAY = not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY"))
if sys.platform.startswith("linux"):
    os.environ["QT_QPA_PLATFORM"] = "xcb" if HAS_DISPLAY else "offscreen"
    os.environ["PYOPENGL_PLATFORM"] = "glx"

from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtGui import QSurfaceFormat
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from waiting import PATIENCE, Sample

from tetrarium_gui.app import collect_here
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.space.tetrahedra import surface_format

ARTIFACTS = Path(__file__).resolve().parents[2] / "artifacts"

# One sample a pixel: colours of single pixels are compared.
QSurfaceFormat.setDefaultFormat(surface_format(samples=0))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here not in item.path.parents:
            continue
        item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
        # A runner has no session bus; Qt says so when it looks for the desktop's colours.
        item.add_marker(pytest.mark.qt_log_ignore("(?i)dbus", extend=True))
        if not HAS_DISPLAY and item.get_closest_marker("needs_display"):
            item.add_marker(pytest.mark.skip(reason="no DISPLAY: this test draws with OpenGL on a real X display"))


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session", autouse=True)
def fusion(qapp: QApplication) -> None:
    qapp.setStyle("Fusion")
    collect_here(qapp)


@pytest.fixture(scope="session")
def sample(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Filled once, as `tetrarium --sample` does at its first use."""
    folder = tmp_path_factory.mktemp("sample")
    bridge, growth, loop = Bridge(folder, sample=True), [], QEventLoop()
    bridge.growing.connect(lambda snapshot: growth.append(len(snapshot)))
    bridge.stats_ready.connect(loop.quit)
    bridge.unavailable.connect(loop.quit)
    QTimer.singleShot(4 * PATIENCE, loop.quit)
    bridge.start()
    loop.exec()
    assert bridge.close()
    return Sample(folder, tuple(growth))


@pytest.fixture
def sample_folder(sample: Sample) -> Path:
    return sample.folder


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[QWidget], None]:
    """Saves what a widget shows as artifacts/<test>.png."""

    def save(widget: QWidget) -> None:
        ARTIFACTS.mkdir(exist_ok=True)
        assert widget.grab().save(str(ARTIFACTS / f"{re.sub(r'[^a-z0-9_]+', '_', request.node.name.lower())}.png"))

    return save


@pytest.fixture
def open_window(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[Path], MainWindow]]:
    """Opens the real window on a real space; closes it and joins its thread at the end."""
    opened: list[MainWindow] = []

    def open_one(folder: Path) -> MainWindow:
        bridge = Bridge(folder)
        window = MainWindow(bridge, QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat))
        window.commands["reduced_motion"].setChecked(True)
        opened.append(window)
        window.show()
        qtbot.waitExposed(window)
        window.activateWindow()
        with qtbot.waitSignal(bridge.stats_ready, timeout=PATIENCE):
            bridge.start()
        qtbot.waitUntil(lambda: window.state.snapshot is not None, timeout=PATIENCE)
        return window

    yield open_one
    for window in opened:
        assert window.bridge.close()
        window.close()
        window.deleteLater()
