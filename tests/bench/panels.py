"""What the panels cost: the list opened, sorted and narrowed, the timeline, clusters, long texts. How the event loop lags
while agents are at work is measured by `lag`.

    python tests/bench/panels.py [count …]

Needs a display (Xvfb will do). Milliseconds of wall time, medians. Gated is one thing: the list of the last count opens
within 300 ms of processor time.
"""

# ruff: noqa: E402  # the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tetrarium_gui.app import display_problem, set_opengl_platform

set_opengl_platform()
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gui"))

from grown import grown_snapshot
from PySide6.QtCore import Qt
from PySide6.QtGui import QSurfaceFormat
from PySide6.QtWidgets import QApplication

from tetrarium_gui.panels.clusters import ClustersPanel
from tetrarium_gui.panels.table import TablePanel
from tetrarium_gui.panels.timeline import TimelinePanel
from tetrarium_gui.panels.writing import TextBox
from tetrarium_gui.space.tetrahedra import surface_format
from tetrarium_gui.style import DARK

OPENS_WITHIN = 300.0
"""Milliseconds: the bar for a list of 100,000 rows."""


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
    print(f"list opened: {opened:.0f} ms processor, bar {OPENS_WITHIN:.0f}")
    return 0 if opened <= OPENS_WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
