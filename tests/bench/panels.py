"""What the panels cost: the list opened, sorted and narrowed, the timeline, clusters, long texts; and how the window's
event loop lags while an agent stores and recalls without pause.

    python tests/bench/panels.py [count …]

Needs a display (Xvfb will do). Milliseconds of wall time, medians; the lag is that of a 10 ms timer. Gated is one
thing: the list of the last count opens within 300 ms of processor time.
"""

# ruff: noqa: E402  # the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tetrarium_gui.app import display_problem, set_opengl_platform

set_opengl_platform()
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gui"))

from grown import grown_snapshot
from PySide6.QtCore import QElapsedTimer, QEventLoop, QSettings, Qt, QTimer
from PySide6.QtGui import QSurfaceFormat
from PySide6.QtWidgets import QApplication

from tetrarium.service import fill_sample, open_space
from tetrarium_gui.panels.clusters import ClustersPanel
from tetrarium_gui.panels.table import TablePanel
from tetrarium_gui.panels.timeline import TimelinePanel
from tetrarium_gui.panels.writing import TextBox
from tetrarium_gui.shell import Shell
from tetrarium_gui.space.tetrahedra import surface_format
from tetrarium_gui.style import DARK

OPENS_WITHIN = 300.0
"""Milliseconds: the bar for a list of 100,000 rows."""
FILLED, STORES = 80, 40
"""Memories there at first, and how many an agent stores, each followed by a recall."""
TICK = 10


def cost(work: Callable[[], object], rounds: int = 5) -> tuple[float, float]:
    """Median (wall, processor) milliseconds of a call and the painting that follows."""
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        QApplication.processEvents()
        walls.append((time.perf_counter() - wall) * 1e3)
        cpus.append((time.process_time() - cpu) * 1e3)
    return statistics.median(walls), statistics.median(cpus)


def panels(count: int) -> float:
    """Print the table of one count; gives the processor time of opening the list."""
    snapshot = grown_snapshot(count, clusters=max(6, min(count // 40, 2_500)))
    table, timeline, clusters = TablePanel(DARK), TimelinePanel(DARK), ClustersPanel(DARK)
    for panel in (table, timeline, clusters):
        panel.resize(1400, 260)
        panel.show()
    rows = {
        "list opened": lambda: table.set_snapshot(snapshot, ""),
        "list sorted by text": lambda: table.rows.sort(0),
        "list sorted by date": lambda: table.rows.sort(6, Qt.SortOrder.DescendingOrder),
        "list narrowed": lambda: table.rows.narrow("kiosk", -1, 0),
        "list whole again": lambda: table.rows.narrow("", -1, 0),
        "timeline": lambda: timeline.set_snapshot(snapshot),
        "clusters": lambda: clusters.show_clusters(snapshot.clusters),
    }
    opened = 0.0
    for name, work in rows.items():
        wall, cpu = cost(work)
        opened = cpu if name == "list opened" else opened
        print(f"{count:>8,}  {name:<22} {wall:8.1f} ms wall {cpu:8.1f} ms processor")
    for panel in (table, timeline, clusters):
        panel.close()
    return opened


def texts() -> None:
    box = TextBox("inspector.content_name", read_only=True)
    box.resize(320, 400)
    box.show()
    for name, text in (("a word of a megabyte", "x" * 1_000_000), ("a megabyte of words", "word " * 200_000)):
        wall, cpu = cost(lambda text=text: box.show_text(text), 3)
        print(f"          {name:<22} {wall:8.1f} ms wall {cpu:8.1f} ms processor (shown by its beginning)")
        wall, cpu = cost(lambda text=text: box.show_text(text, whole=True), 1)
        print(f"          {name:<22} {wall:8.1f} ms wall {cpu:8.1f} ms processor (whole)")
    box.close()


def lag() -> None:
    """The timer's lag while another program stores and the window recalls, all without a pause."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "space"
        with open_space(folder) as service:
            room = iter(range(FILLED))
            fill_sample(service, stop=lambda: next(room, None) is None)
        shell = Shell(folder, QSettings(str(Path(scratch) / "w.ini"), QSettings.Format.IniFormat))
        shell.show()
        wait(lambda: shell.window.state.snapshot is not None)
        lags: list[float] = []
        clock, timer = QElapsedTimer(), QTimer()
        clock.start()

        def tick() -> None:
            lags.append(max(0.0, clock.restart() - TICK))

        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(tick)
        timer.start(TICK)
        done = [0]

        def store(_: object = None) -> None:
            done[0] += 1
            if done[0] < STORES:
                number = done[0]
                shell.bridge.edit(
                    lambda s: (
                        s.store(f"Boat {number} leaves quay {number % 9} at {number % 24}:00, whatever.", force=True),
                        s.recall(f"when does boat {number} leave?", client="cursor"),
                    ),
                    store,
                )

        store()
        wait(lambda: done[0] >= STORES)
        timer.stop()
        ordered = sorted(lags)
        share = [ordered[min(len(ordered) - 1, round(q * len(ordered)))] for q in (0.5, 0.95, 0.99)]
        print(
            f"lag of the event loop, {STORES} stores and recalls: p50 {share[0]:.0f}, p95 {share[1]:.0f}, p99 {share[2]:.0f} ms"
        )
        shell.window.close()
        shell.close()


def wait(true: Callable[[], bool]) -> None:
    clock = QElapsedTimer()
    clock.start()
    while not true():
        if clock.elapsed() > 180_000:
            raise TimeoutError("the window did not get there in time")
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


def main() -> int:
    if problem := display_problem():
        print(problem, file=sys.stderr)
        return 3
    QSurfaceFormat.setDefaultFormat(surface_format(samples=0))
    application = QApplication(sys.argv[:1])
    application.setStyle("Fusion")
    opened = 0.0
    for count in [int(argument) for argument in sys.argv[1:]] or [1_000, 10_000, 100_000]:
        opened = panels(count)
    texts()
    lag()
    print(f"list opened: {opened:.0f} ms processor, bar {OPENS_WITHIN:.0f}")
    return 0 if opened <= OPENS_WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
