"""The program started again and again under load: does every start end with an answer, or hang?

    python tests/bench/starts.py [--starts 100] [--at-once 3] [--burners 2] [--seed 1]

Each start is the real program on a display (Xvfb will do), all on one space of the sample's size, several at once and
beside processes that do nothing but compute. Two of three wait for the picture of the space, search, and close the window when
hits are there; the third closes it at a random moment of its first second. A start that has not ended after `--patience`
seconds has hung: its threads are printed and the benchmark fails. Wall seconds, from the start of the process.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from measures import spread, table

import tetrarium
from tetrarium.service import fill_sample
from tetrarium_gui import app

BURN = "while True: sum(range(10_000))"
LEFT = 5.0
"""Seconds before the end of patience at which a child prints where its threads are."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the program. closes_after: seconds, or 0 for "when the hits are there"."""

    closes_after: float
    seconds: dict[str, float]
    problem: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--burners", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=120.0)
    parser.add_argument("--child", nargs=3, metavar=("FOLDER", "CLOSES", "BEGAN"), help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.child:
        return child(Path(a.child[0]), float(a.child[1]), float(a.child[2]), a.patience)
    if problem := app.display_problem():
        print(problem, file=sys.stderr)
        return app.NO_DISPLAY
    chance = random.Random(a.seed)
    with tempfile.TemporaryDirectory() as scratch:
        space = Path(scratch) / "space"
        with tetrarium.open_space(space) as service:
            fill_sample(service)
        burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(a.burners)]
        try:
            with ThreadPoolExecutor(a.at_once) as pool:
                closings = [chance.uniform(0.01, 1.0) if at % 3 == 2 else 0.0 for at in range(a.starts)]
                starts = list(pool.map(lambda c: start(space, c, a.patience, scratch), closings))
        finally:
            for burner in burners:
                burner.kill()
    waited = [s for s in starts if not s.closes_after]
    rows = [
        (f"{name}, n = {len(waited)}", spread([s.seconds[key] for s in waited if key in s.seconds], "s"), "")
        for key, name in (("shown", "window shown"), ("picture", "the space in it"), ("hits", "a search answered"))
    ]
    rows.append(("ended, all", spread([s.seconds["ended"] for s in starts], "s"), ""))
    print(table(rows))
    failed = [s for s in starts if s.problem]
    for s in failed:
        print(f"--- closing after {s.closes_after or 'the hits'}: {s.problem}")
    load = os.getloadavg()[0]
    print(f"{len(starts)} starts, {a.at_once} at once, load average {load:.1f}: {len(failed)} hung or failed")
    return 1 if failed else 0


def start(space: Path, closes_after: float, patience: float, scratch: str) -> Start:
    """Start the program once and wait for its end."""
    began = time.time()
    command = [sys.executable, __file__, "--patience", str(patience)]
    command += ["--child", str(space), str(closes_after), str(began)]
    env = os.environ | {"XDG_CONFIG_HOME": scratch}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired as late:
        said = late.stderr.decode(errors="replace") if isinstance(late.stderr, bytes) else late.stderr or ""
        return Start(closes_after, {"ended": patience}, f"hung\n{said[-6000:]}")
    ended = time.time() - began
    told = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {}
    problem = f"exit code {done.returncode}\n{done.stderr[-3000:]}" if done.returncode else ""
    if not problem and not closes_after and "hits" not in told:
        problem = "ended without an answer"
    return Start(closes_after, {**told, "ended": ended}, problem)


def child(folder: Path, closes_after: float, began: float, patience: float) -> int:
    """The program itself, with somebody before it who looks, searches and closes."""
    faulthandler.dump_traceback_later(patience - LEFT, exit=False)
    app.set_opengl_platform()
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    from tetrarium_gui.main_window import MainWindow
    from tetrarium_gui.space.tetrahedra import surface_format

    QSurfaceFormat.setDefaultFormat(surface_format(samples=app.SAMPLES))
    application = QApplication(sys.argv[:1])
    told: dict[str, float] = {}
    look = QTimer(application)

    def watch() -> None:
        windows = [w for w in application.topLevelWidgets() if isinstance(w, MainWindow)]
        if not windows or not windows[0].isVisible():
            return
        window = windows[0]
        if "shown" not in told:
            told["shown"] = time.time() - began
            if closes_after:
                QTimer.singleShot(round(closes_after * 1000), window.close)
        if closes_after:
            return
        if "picture" not in told and window.state.snapshot is not None and len(window.state.snapshot):
            told["picture"] = time.time() - began
            window.bridge.searched.connect(lambda result: found(window, len(result.hits)))
            window.search.box.setText("payment provider")

    def found(window: MainWindow, hits: int) -> None:
        if hits and "hits" not in told:
            told["hits"] = time.time() - began
            QTimer.singleShot(0, window.close)

    look.timeout.connect(watch)
    look.start(20)
    code = app.run(folder)
    print(json.dumps(told))
    return code


if __name__ == "__main__":
    sys.exit(main())
