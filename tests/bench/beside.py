"""A window beside an agent: how soon does it know what the agent stored, and what does either cost the other?

    python tests/bench/beside.py [--stores 60]

The agent stores through relay and host; the window's engine thread runs here, without a window. From the agent's
answer to the window's event, wall; the agent's stores with and without the engine beside it; memory of both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measures import memory_mb, spread, table
from PySide6.QtCore import QCoreApplication

from tetrarium.events import Event, SpaceChanged
from tetrarium_gui.worker import EngineThread

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import Pipe, host_of, stop_host

PATIENCE = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", type=int, default=60)
    a = parser.parse_args()
    application = QCoreApplication([])
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        pipe = Pipe(space).hello()
        store(pipe, "before", 0)
        alone = [store(pipe, "alone", number)[1] for number in range(a.stores)]
        seen: dict[str, float] = {}

        def hear(event: Event) -> None:
            if isinstance(event, SpaceChanged):
                seen.update(dict.fromkeys(event.changes.stored, time.perf_counter()))

        thread, ready = EngineThread(space), list[object]()
        thread.happened.connect(hear)
        thread.answered.connect(ready.append)
        thread.start()
        wait(application, lambda: bool(ready))
        beside: list[float] = []
        lag: list[float] = []
        for number in range(a.stores):
            memory, took = store(pipe, "beside", number)
            answered = time.perf_counter()
            beside.append(took)
            wait(application, lambda memory=memory: memory in seen)
            lag.append((seen[memory] - answered) * 1e3)
        host = host_of(space)
        pages = int(Path(f"/proc/{host}/statm").read_text("ascii").split()[1])
        rows = [
            ("agent's answer → the window knows", spread(lag), "≤ 500 ms: the window looks twice a second"),
            ("store of the agent, no window, wall", spread(alone), ""),
            ("store of the agent, window beside, wall", spread(beside), ""),
            (
                "memory of the host / of the window's engine with Qt's core",
                f"{pages * 4096 / 1e6:.0f} / {memory_mb():.0f} MB",
                "",
            ),
        ]
        thread.close()
        pipe.leave()
        stop_host(space)
    print(f"p50 / p95, n = {a.stores}; load average {os.getloadavg()[0]:.1f}\n\n{table(rows)}")


def store(pipe: Pipe, name: str, number: int) -> tuple[str, float]:
    """One store; its id, and milliseconds."""
    begun = time.perf_counter()
    text = f"The {name} lantern number {number} is lit {number * 7} minutes after dusk."
    stored = pipe.call("memory_create", content=text, force=True)["structuredContent"]
    return stored["id"], (time.perf_counter() - begun) * 1e3


def wait(application: QCoreApplication, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        application.processEvents()
        time.sleep(0.002)


if __name__ == "__main__":
    main()
