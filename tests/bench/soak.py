"""A long day: 10,000 mixed calls through relay and host. Does memory grow, does a descriptor stay open?

    python tests/bench/soak.py [--calls 10000] [--warm-up 2000] [--seed 1]

What is stored is kept in memory, as an index must; so the slope of the host's memory is given as it is, and beside
it that of calls that store nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measures import spread, table

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import Pipe, host_of, stop_host

SAMPLE_EVERY = 50
WORDS = [
    "harbour",
    "lantern",
    "ledger",
    "valve",
    "orchard",
    "compiler",
    "socket",
    "heron",
    "quay",
    "bolt",
    "kiln",
    "tariff",
    "glacier",
    "loom",
    "ferry",
]


class Process:
    """Memory and open descriptors of a process over time."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.at: list[int] = []
        self.bytes: list[int] = []
        self.files: list[int] = []

    def look(self, call: int) -> None:
        self.at.append(call)
        self.bytes.append(int(Path(f"/proc/{self._number}/statm").read_text("ascii").split()[1]) * 4096)
        self.files.append(len(os.listdir(f"/proc/{self._number}/fd")))

    def row(self, name: str, target: str) -> tuple[str, str, str]:
        slope = np.polyfit(self.at, self.bytes, 1)[0]
        files = f"{min(self.files)}–{max(self.files)}"
        span = f"{self.bytes[0] / 1e6:.1f} → {self.bytes[-1] / 1e6:.1f} MB"
        return name, f"{slope:.0f} bytes a call · {span} · descriptors {files}", target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--warm-up", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    chance = random.Random(a.seed)
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        pipe = Pipe(space).hello()
        mixed = phase(pipe, space, chance, a.warm_up, a.calls, times, storing=True)
        reading = phase(pipe, space, chance, 0, a.calls // 4, times, storing=False)
        errors = [line for line in pipe.lines if b'"isError":true' in line]
        assert pipe.leave()[0] == 0
        stop_host(space)
    print(f"{len(times)} calls after the warm-up, {spread(times)} · errors {len(errors)} {errors[:1]}\n")
    rows = [
        mixed[0].row("host, mixed calls (one in five stores)", "≤ 1 kB a call"),
        mixed[1].row("relay, mixed calls", "≤ 1 kB a call"),
        reading[0].row("host, calls that store nothing", "≤ 1 kB a call"),
        reading[1].row("relay, calls that store nothing", "≤ 1 kB a call"),
    ]
    print(table(rows))


def phase(
    pipe: Pipe, space: Path, chance: random.Random, warm_up: int, calls: int, times: list[float], *, storing: bool
) -> tuple[Process, Process]:
    """That many calls, looked at after the warm-up; host and relay."""
    stored: list[str] = []
    host: Process | None = None
    relay = Process(pipe.process.pid)
    for number in range(warm_up + calls):
        begun = time.perf_counter()
        result = call(pipe, chance, stored, storing)
        if result.get("outcome") == "stored":
            stored.append(result["id"])
        if number < warm_up:
            continue
        times.append((time.perf_counter() - begun) * 1e3)
        if host is None:
            process = host_of(space)
            assert process is not None
            host = Process(process)
        if number % SAMPLE_EVERY == 0:
            host.look(number)
            relay.look(number)
    assert host
    return host, relay


def call(pipe: Pipe, chance: random.Random, stored: list[str], storing: bool) -> dict[str, Any]:
    """One call of some kind."""
    words = " ".join(chance.choices(WORDS, k=4))
    kind = chance.random()
    if storing and (kind < 0.2 or not stored):
        text = f"The {words} was checked {chance.randrange(10**6)} times, because lot {chance.randrange(10**9)} failed."
        arguments: dict[str, Any] = {"content": text, "force": True}
        tool = "memory_create"
    elif kind < 0.5:
        tool, arguments = "memory_search", {"query": words, "limit": 5}
    elif kind < 0.85 or not stored:
        tool, arguments = "void_recall", {"query": f"why was the {words} checked", "budget": 500}
    elif kind < 0.95:
        tool, arguments = "memory_feedback", {"id": chance.choice(stored), "verdict": "helped"}
    else:
        tool, arguments = "void_stats", {}
    result: dict[str, Any] = pipe.call(tool, **arguments).get("structuredContent", {})
    return result


if __name__ == "__main__":
    main()
