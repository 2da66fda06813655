"""The window beside an agent: how soon is shown what the agent stored and recalled, and what does watching cost the agent?

    python tests/bench/following.py [--questions 60]

Needs a display with OpenGL (Xvfb will do). The agent works through relay and host; the whole window runs here, with Activity in
front. Wall time from the agent's answer, in its own thread, to the row in the feed, to the light in the space (the frame after it is drawn),
to the stored memory in the space. Then recalls of the agent with nobody, and with a bare watcher, in turns of ten.
"""

# the OpenGL platform is set before anything of Qt is imported
from __future__ import annotations

import argparse
import json
import os
import queue
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("PYOPENGL_PLATFORM", "glx" if sys.platform.startswith("linux") else "")
if not os.environ["PYOPENGL_PLATFORM"]:
    del os.environ["PYOPENGL_PLATFORM"]
sys.path.append(str(Path(__file__).resolve().parents[1]))

from measures import spread, table
from PySide6.QtCore import QSettings
from PySide6.QtGui import QSurfaceFormat
from PySide6.QtWidgets import QApplication

from clients import Pipe, stop_host
from tetrarium.mcp import meeting, news
from tetrarium.service import fill_sample, open_space
from tetrarium_gui.bridge import Bridge
from tetrarium_gui.main_window import MainWindow
from tetrarium_gui.space.tetrahedra import surface_format

PATIENCE = 60.0
TURNS = 20
"""Turns of ten recalls each, without and with a watcher."""
APART = 1.5
"""Seconds between two questions, so that each has the lights for itself."""
QUESTION = "what happens when the payment provider does not answer, case {}?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=60)
    a = parser.parse_args()
    QSurfaceFormat.setDefaultFormat(surface_format(samples=0))
    application = QApplication([])
    application.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        with open_space(space) as service:
            fill_sample(service)
            trace = service.recall(QUESTION.format(0), project="*")
        pipe = Pipe(space, "--linger", "60").hello()
        pipe.call("void_recall", query="warm up")
        told, cost = alone_and_watched(pipe, space, TURNS)
        rows = followed(application, pipe, space, folder, a.questions)
        seen = news.RecallSeen("agent", time.time(), "", (), 0.3, trace)
        line = news.line_of(seen)
        work = [milliseconds(lambda: news.line_of(seen)) for _ in range(60)]
        reading = [milliseconds(lambda: news.read(line)) for _ in range(60)]
        rows += [
            (
                f"recall of the agent, nobody watches / a watcher is told each, n = {10 * TURNS}",
                f"{spread(told)} / {spread(cost)}",
            ),
            (
                f"a recall as a line ({len(line) / 1e3:.0f} kB, {len(trace.candidates)} candidates): written / read",
                f"{spread(work)} / {spread(reading)}",
            ),
        ]
        pipe.leave()
        stop_host(space)
    print(f"p50 / p95, ms, n = {a.questions}; load average {os.getloadavg()[0]:.1f}\n")
    print(table([(what, figure, "") for what, figure in rows]))


def alone_and_watched(pipe: Pipe, space: Path, turns: int) -> tuple[list[float], list[float]]:
    """Milliseconds of recalls without and with a watcher, ten of each in turns, either first."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns):
        for watched in (turn % 2, 1 - turn % 2):
            with listening(space) if watched else nullcontext():
                times[watched].extend(recall(pipe, 100 * turn + 50 * watched + number) for number in range(10))
    return times


@contextmanager
def listening(space: Path) -> Iterator[None]:
    """A watcher that reads what it is told and makes nothing of it: this process is the agent as well."""
    address = meeting.address_of(space)
    assert address is not None
    with meeting.connect(address) as connection:
        connection.sendall(json.dumps(asdict(meeting.Visit(meeting.WIRE, address.token, True))).encode() + b"\n")
        assert connection.recv(1_000)
        reader = threading.Thread(target=lambda: list(iter(lambda: connection.recv(1 << 16), b"")), daemon=True)
        reader.start()
        yield
        connection.shutdown(socket.SHUT_RDWR)
        reader.join(PATIENCE)


def followed(application: QApplication, pipe: Pipe, space: Path, folder: str, count: int) -> list[tuple[str, str]]:
    """Milliseconds from the agent's answers to what the window shows."""
    bridge = Bridge(space)
    window = MainWindow(bridge, QSettings(str(Path(folder) / "window.ini"), QSettings.Format.IniFormat))
    window.commands["reduced_motion"].setChecked(True)
    window.show()
    window.docks.show("activity")
    bridge.start()
    wait(application, lambda: window.state.snapshot is not None and window.status.filled)
    wait(application, lambda: window.top_bar.agents.text().endswith("1"))
    answers: queue.Queue[float] = queue.Queue()
    jobs: queue.Queue[Callable[[], object] | None] = queue.Queue()

    def work() -> None:
        while (job := jobs.get()) is not None:
            job()
            answers.put(time.perf_counter())

    threading.Thread(target=work, daemon=True).start()
    feed, rows, lights, stores = window.panels.activity.feed, list[float](), list[float](), list[float]()
    for number in range(count):
        query = QUESTION.format(5_000 + number)
        before, lit, listed = window.state.highlight, 0.0, 0.0
        jobs.put(lambda query=query: pipe.call("void_recall", query=query))
        until = time.monotonic() + PATIENCE
        while not (lit and listed):
            assert time.monotonic() < until
            application.processEvents()
            if not lit and window.state.highlight is not before:
                window.space.repaint()
                lit = time.perf_counter()
            top = feed.topLevelItem(0)
            if not listed and top is not None and query[:40] in top.text(3) and str(5_000 + number) in top.text(3):
                feed.viewport().repaint()
                listed = time.perf_counter()
            time.sleep(0.001)
        answered = answers.get(timeout=PATIENCE)
        rows.append((listed - answered) * 1e3)
        lights.append((lit - answered) * 1e3)
        rest(application, APART)
    for number in range(count):
        known = len(window.state.snapshot or ())
        text = f"Lantern number {number} of the window's bench is lit {number * 7} minutes after dusk."
        jobs.put(lambda text=text: pipe.call("memory_create", content=text, force=True))
        wait(application, lambda known=known: len(window.state.snapshot or ()) > known)
        stores.append((time.perf_counter() - answers.get(timeout=PATIENCE)) * 1e3)
        rest(application, 0.3)
    jobs.put(None)
    assert bridge.close()
    window.make_room()
    return [
        ("agent's recall answered → lit in the space", spread(lights)),
        ("agent's recall answered → listed in Activity", spread(rows)),
        ("agent's store answered → stands in the space", spread(stores)),
    ]


def recall(pipe: Pipe, number: int) -> float:
    return milliseconds(lambda: pipe.call("void_recall", query=QUESTION.format(number)))


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e3


def wait(application: QApplication, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        application.processEvents()
        time.sleep(0.001)


def rest(application: QApplication, seconds: float) -> None:
    until = time.monotonic() + seconds
    wait(application, lambda: time.monotonic() >= until)


if __name__ == "__main__":
    main()
