"""Make the pictures of the documentation from the real window on the sample space.

    python docs/make_pictures.py [folder for the sample space]

Needs a display with OpenGL (Xvfb will do). Writes docs/pictures/*.png.
"""

# ruff: noqa: E402  # the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tetrarium_gui.app import SAMPLES, display_problem, set_opengl_platform

set_opengl_platform()

from PySide6.QtCore import QElapsedTimer, QEventLoop, QSettings
from PySide6.QtGui import QSurfaceFormat
from PySide6.QtWidgets import QApplication

from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.panels.filters import Filter
from tetrarium_gui.shell import Shell
from tetrarium_gui.space.tetrahedra import surface_format
from tetrarium_gui.space.view import SpaceView
from tetrarium_gui.state import WindowState
from tetrarium_gui.style import DARK

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "gui"), str(TESTS)]
from grown import grown_snapshot

from agents import Agent
from clients import stop_host

PICTURES = Path(__file__).resolve().parent / "pictures"
SIZE = (1440, 900)
PATIENCE = 180_000
"""Milliseconds that one step waits at most."""
GROWN = (
    ("space-1k", 1_000, 12, True),
    ("space-10k", 10_000, 60, True),
    ("space-100k", 100_000, 240, True),
    ("hulls", 60_000, 1_500, True),
    ("flat", 1_000, 12, False),
)
"""Name of a picture, memories, clusters, whether with OpenGL."""
SETTLED = 400
"""Milliseconds after which the docks have moved to where they belong."""
QUESTION = "what happens when the payment provider does not answer?"


def main() -> int:
    if problem := display_problem():
        print(problem, file=sys.stderr)
        return 3
    QSurfaceFormat.setDefaultFormat(surface_format(samples=SAMPLES))
    application = QApplication(sys.argv[:1])
    application.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch) / "sample"
        settings = QSettings(str(Path(scratch) / "window.ini"), QSettings.Format.IniFormat)
        settings.setValue("appearance", "dark")
        settings.setValue("reduced_motion", True)
        settings.setValue("language", "en")
        shell = Shell(folder, settings, sample=True)
        shell.window.resize(*SIZE)
        shell.show()
        wait(lambda: shell.window.state.snapshot is not None and shell.window.status.filled)
        tell(shell.window)
        tell_corrections(shell.window)
        tell_agents(shell.window, folder)
        tell_privacy(shell.window)
        settings.setValue("language", "zh")
        reopened(shell, None)
        tell_chinese(shell.window)
        settings.setValue("language", "en")
        settings.setValue("appearance", "dark")
        reopened(shell, Path(scratch) / "empty")
        save(shell.window, "empty")
        shell.window.close()
        shell.close()
    tell_sizes()
    return 0


def reopened(shell: Shell, folder: Path | None) -> None:
    """Another window, as the person gets it, and wait until it stands."""
    shell.reopen(folder)
    shell.window.resize(*SIZE)
    wait(lambda: shell.window.state.snapshot is not None and shell.window.status.filled)


def tell(window: MainWindow) -> None:
    """The scenes, in the order in which a newcomer meets them."""
    save(window, "space")
    window.commands["search"].trigger()
    window.search.box.setText("offline kiosk sync")
    wait(lambda: window.search.hits.rowCount() > 0)
    window.search.step(1)
    wait(lambda: window.inspector.memory is not None)
    window.commands["fit_selection"].trigger()
    save(window, "search")
    window.commands["clear"].trigger()
    save(window, "cluster")
    window.state.select("")
    window.commands["fit_all"].trigger()
    window.commands["recall"].trigger()
    window.search.box.setText(QUESTION)
    window.search.box.returnPressed.emit()
    wait(lambda: window.voids.trace is not None)
    save(window, "recall")
    window.commands["theme_light"].trigger()
    save(window, "light")
    window.commands["theme_dark"].trigger()
    window.commands["clear"].trigger()
    window.docks.show("timeline")
    window.commands["replay"].trigger()
    wait(lambda: window.space.replay.position > 0.55)
    window.commands["replay"].trigger()
    save(window, "replay")
    window.commands["clear"].trigger()
    window.panels.timeline.kinds[0].click()
    window.commands["color_category"].trigger()
    save(window, "timeline")
    window.panels.timeline.reset()
    window.commands["color_cluster"].trigger()


def tell_corrections(window: MainWindow) -> None:
    """How a person corrects and understands."""
    window.commands["theme_dark"].trigger()
    window.search.box.setText(QUESTION)
    window.search.box.returnPressed.emit()
    wait(lambda: window.state.highlight is not None and bool(window.state.highlight.void))
    wait(lambda: window.bridge.waited() == 0)
    window.docks.show("voids")
    window.panels.voids.zones.setCurrentItem(window.panels.voids.zones.topLevelItem(1).child(0))
    window.panels.voids.why.click()
    wait(lambda: window.panels.voids.explanation.isVisible())
    window.panels.voids.passes[1].click()
    window.docks.show("settings")
    settle()
    zones = window.panels.voids.zones
    zones.scrollToItem(zones.currentItem(), zones.ScrollHint.PositionAtTop)
    save(window, "voids")
    window.docks.show("inspector")
    window.commands["clear"].trigger()
    edges = window.panels.inhibition.edges
    window.docks.show("inhibition")
    wait(lambda: edges.topLevelItemCount() > 0)
    window.docks.show("clusters")
    for at in range(edges.topLevelItemCount()):
        edges.setCurrentItem(edges.topLevelItem(at))
        wait(lambda: window.inspector.memory is not None and window.inspector.memory.id == window.state.selected)
        window.commands["fit_selection"].trigger()
        wait(lambda: window.space.is_still)
        if window.space.memory_at(window.space.pixel_of(window.state.selected)) == window.state.selected:
            break  # nothing stands before it
    save(window, "inhibition")
    window.commands["edit"].trigger()
    window.docks.show("timeline")
    save(window, "editing")


def tell_agents(window: MainWindow, folder: Path) -> None:
    """Two agents at work, followed live."""
    window.search.clear()
    window.state.set_highlight(None)
    window.state.select("")
    window.commands["fit_all"].trigger()
    agents = [Agent(folder, name) for name in ("claude-code", "cursor")]
    agents[1].call("memory_search", query="kiosk")
    agents[1].store("The kiosk of the northern pier gets its new card reader on the second of December.")
    agents[0].recall(QUESTION)
    window.docks.show("activity")
    wait(lambda: window.state.highlight is not None and window.top_bar.agents.text().endswith("2"))
    wait(lambda: window.panels.activity.feed.topLevelItemCount() >= 5)
    save(window, "agents")
    for agent in agents:
        agent.leave()
    stop_host(folder)


def tell_privacy(window: MainWindow) -> None:
    """Who read and wrote what, beside a search that is narrowed."""
    window.state.select("")
    window.docks.show("privacy")
    wait(lambda: window.panels.privacy.audit.list.topLevelItemCount() > 0)
    wait(lambda: "✓" in window.panels.privacy.audit.chain.text())
    window.commands["search"].trigger()
    window.search.filters.put(Filter("category", "decision"))
    window.search.filters.put(Filter("since", "1y"))
    window.search.box.setText("kiosk payment")
    wait(lambda: window.search.hits.rowCount() > 0)
    window.commands["fit_all"].trigger()
    save(window, "privacy")
    window.commands["clear"].trigger()


def tell_chinese(window: MainWindow) -> None:
    """The same window in Chinese, in the light."""
    window.commands["theme_light"].trigger()
    window.search.box.setText("离线同步冲突怎么处理")
    wait(lambda: window.search.hits.rowCount() > 0)
    window.search.step(1)
    wait(lambda: window.inspector.memory is not None)
    save(window, "chinese")


def tell_sizes() -> None:
    """The space alone at several sizes, grown as the tests grow it, and drawn flat, without OpenGL."""
    for name, count, clusters, opengl in GROWN:
        state = WindowState()
        view = SpaceView(state, DARK, opengl=opengl)
        view.reduced_motion = True
        view.resize(*SIZE)
        view.show()
        state.set_snapshot(grown_snapshot(count, clusters=clusters))
        wait(lambda view=view: view.is_still)
        view.fit_all()
        save(view, name)
        view.close()
        view.deleteLater()


def wait(true: Callable[[], bool]) -> None:
    clock = QElapsedTimer()
    clock.start()
    while not true():
        if clock.elapsed() > PATIENCE:
            raise TimeoutError("the window did not get there in time")
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


def settle() -> None:
    """Let the docks move to where they belong."""
    settled = QElapsedTimer()
    settled.start()
    wait(lambda: settled.elapsed() > SETTLED)


def save(shown: MainWindow | SpaceView, name: str) -> None:
    space = shown if isinstance(shown, SpaceView) else shown.space
    wait(lambda: space.is_still)
    settle()
    shown.repaint()
    QApplication.processEvents()
    PICTURES.mkdir(exist_ok=True)
    shown.grab().save(str(PICTURES / f"{name}.png"))
    print(os.path.relpath(PICTURES / f"{name}.png"))


if __name__ == "__main__":
    sys.exit(main())
