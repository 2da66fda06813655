"""How the window's event loop lags while agents store and recall without a pause.

    python tests/bench/lag.py [--n 80 10000] [--rounds 200] [--seed 7]

Needs a display (Xvfb will do). The lag of a 10 ms timer on the main thread, and the processor time that this thread
took, in four cases: nothing happens (the machine's own share), an agent in another process stores and recalls in
turn, the same through relay and host, so that the window follows it, and the window's own engine does (the hardest: it
shares the interpreter). Spaces of generated notes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generated_notes import generate
from measures import table

sys.path.append(str(Path(__file__).resolve().parents[1]))
import tetrarium
from clients import Pipe, stop_host
from tetrarium.service import MemoryService
from tetrarium_gui import app

TICK = 10
LOOK = 50
"""Milliseconds between two looks at whether what is waited for is there."""
PATIENCE = 600.0
IDLE = 5.0
"""Seconds for which nothing happens."""
BAR = 50.0
"""Milliseconds: the ninety-ninth of a hundred lags."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="*", default=[80, 10_000])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--space", type=Path, help="use (and keep) a space here")
    parser.add_argument("--agent", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--connected", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.agent:
        return connected(a.agent, a.rounds) if a.connected else agent(a.agent, a.rounds)
    if problem := app.display_problem():
        print(problem, file=sys.stderr)
        return app.NO_DISPLAY
    app.set_opengl_platform()
    rows = [row for n in a.n for row in measured(n, a.rounds, a.seed, a.space)]
    print(table(rows))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


def line(service: MemoryService, number: int) -> None:
    service.store(
        f"Boat {number} leaves quay {number % 9} at {number % 24}:{number % 60:02}, whatever comes.", force=True
    )
    service.recall(f"when does boat {number} leave?", client="cursor")


def agent(folder: Path, rounds: int) -> int:
    with tetrarium.open_space(folder) as service:
        for number in range(rounds):
            line(service, 100_000 + number)
    return 0


def connected(folder: Path, rounds: int) -> int:
    """The same through relay and host, as an IDE does it: the window is told of each."""
    pipe = Pipe(folder).hello()
    for number in range(rounds):
        text = f"Boat {number} leaves pier {number % 9} at {number % 24}:{number % 60:02}, whatever comes."
        pipe.call("memory_create", content=text, force=True)
        pipe.call("void_recall", query=f"when does boat {number} leave the pier?")
    pipe.leave()
    stop_host(folder)
    return 0


def measured(n: int, rounds: int, seed: int, kept: Path | None) -> list[tuple[str, str, str]]:
    from PySide6.QtCore import QEventLoop, QSettings, Qt, QTimer
    from PySide6.QtGui import QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    from tetrarium_gui.shell import Shell
    from tetrarium_gui.space.tetrahedra import surface_format

    QSurfaceFormat.setDefaultFormat(surface_format(samples=app.SAMPLES))
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setStyle("Fusion")
    sys.setswitchinterval(app.SWITCH_EVERY)

    def wait(true: Callable[[], bool]) -> None:
        """Let the event loop run as it does in the program: asleep, and without the interpreter's lock, between events."""
        loop, look, since = QEventLoop(), QTimer(), time.monotonic()

        def check() -> None:
            if true() or time.monotonic() - since > PATIENCE:
                loop.quit()

        look.timeout.connect(check)
        look.start(LOOK)
        loop.exec()
        look.stop()
        if time.monotonic() - since > PATIENCE:
            raise TimeoutError("the window did not get there in time")

    with tempfile.TemporaryDirectory() as scratch:
        folder = (kept or Path(scratch)) / f"space-{n}"
        if not folder.exists():
            with tetrarium.open_space(folder) as service:
                for note in generate(n, seed=seed)[0]:
                    service.store(**note, force=True)
        collecting = app.collect_here(application)
        shell = Shell(folder, QSettings(str(Path(scratch) / "w.ini"), QSettings.Format.IniFormat))
        shell.show()
        wait(lambda: shell.window.state.snapshot is not None and shell.window.space.is_still)

        lags: list[float] = []
        last = [time.perf_counter()]

        def tick() -> None:
            now = time.perf_counter()
            lags.append(max(0.0, (now - last[0]) * 1e3 - TICK))
            last[0] = now

        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(tick)
        timer.start(TICK)

        def row(name: str, work: Callable[[], object]) -> tuple[str, str, str]:
            lags.clear()
            last[0], began, cpu = time.perf_counter(), time.perf_counter(), time.thread_time()
            work()
            share = (time.thread_time() - cpu) / (time.perf_counter() - began)
            ordered = sorted(lags)
            p50, p95, p99 = (ordered[min(len(ordered) - 1, round(q * len(ordered)))] for q in (0.5, 0.95, 0.99))
            words = f"lag p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f}, most {ordered[-1]:.0f} ms, n = {len(ordered)}"
            return f"{n:,} memories, {name}", f"{words}; main thread {share:.0%} of a processor", f"p99 ≤ {BAR:.0f} ms"

        def idle() -> None:
            until = time.perf_counter() + IDLE
            wait(lambda: time.perf_counter() >= until)

        def beside(*more: str) -> None:
            command = [sys.executable, __file__, "--agent", str(folder), "--rounds", str(rounds), *more]
            with subprocess.Popen(command) as program:
                wait(lambda: program.poll() is not None)

        def within() -> None:
            done = [0]

            def go(_: object = None) -> None:
                done[0] += 1
                if done[0] <= rounds:
                    shell.bridge.edit(lambda s: line(s, done[0]), go)

            go()
            wait(lambda: done[0] > rounds)

        rows = [
            row("nothing happens", idle),
            row("an agent beside", beside),
            row("an agent that is followed", lambda: beside("--connected")),
            row("the window's own engine", within),
        ]
        timer.stop()
        collecting.stop()
        shell.window.close()
        shell.close()
    return rows


if __name__ == "__main__":
    sys.exit(main())
