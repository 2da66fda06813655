"""How long a client waits for its first answers, in the three shapes of the endpoint, and what they cost.

    python tests/bench/relay_start.py [--runs 20]

From the start of the process, over standard input and output: until `initialize` is answered, until `tools/list`
is, and until the first call of the engine is (a recall on a space of the sample's size). Warm: a host is there.
Cold: the relay starts one. Standalone: engine and endpoint in one process. CPU: of everything that was started for
it. The floor, in the same minutes: an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from measures import spread, table

import tetrarium
from tetrarium.service import fill_sample

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import HELLO, Pipe, host_of, stop_host

TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Runs:
    """Seconds of each run."""

    ready: list[float] = field(default_factory=list)
    listed: list[float] = field(default_factory=list)
    called: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def rows(self, name: str, target: str) -> list[tuple[str, str, str]]:
        return [
            (f"{name}: initialize answered", spread(self.ready, "s"), target),
            (f"{name}: tool list answered", spread(self.listed, "s"), target),
            (f"{name}: first recall answered", spread(self.called, "s"), ""),
            (f"{name}: CPU until then", spread(self.cpu, "s"), ""),
            (f"{name}: memory (RSS)", spread(self.memory, "MB"), ""),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        with tetrarium.open_space(space) as service:
            fill_sample(service)
        floor = [nothing() for _ in range(a.runs)]
        warm, cold, alone, hosts = Runs(), Runs(), Runs(), Runs()
        for _ in range(a.runs):
            one(space, cold, "--linger", "30")
            host = host_of(space)
            assert host is not None
            cold.cpu[-1] += cpu_of(host)
            hosts.memory.append(rss(host))
            before = cpu_of(host)
            one(space, warm, "--linger", "30")
            warm.cpu[-1] += cpu_of(host) - before
            stop_host(space)
            one(space, alone, standalone=True)
    rows = [("an interpreter that does nothing", spread(floor, "s"), "floor")]
    rows += warm.rows("relay → warm host", "≤ 0.25 s") + cold.rows("relay → cold host", "≤ 3 s")
    rows += [
        *alone.rows("standalone", "≤ 3 s"),
        ("host: memory (RSS) after one client", spread(hosts.memory, "MB"), ""),
    ]
    print(f"p50 / p95 of {a.runs} runs; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(table(rows))


def one(space: Path, runs: Runs, *options: str, standalone: bool = False) -> None:
    """One client: hello, the tool list, a recall."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    pipe = Pipe(space, *options, standalone=standalone)
    pipe.ask("initialize", HELLO)
    runs.ready.append(time.perf_counter() - begun)
    pipe.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    pipe.ask("tools/list", {})
    runs.listed.append(time.perf_counter() - begun)
    assert pipe.call("void_recall", query="what was decided about the token check?")["structuredContent"]["blocks"]
    runs.called.append(time.perf_counter() - begun)
    runs.memory.append(rss(pipe.process.pid))
    pipe.leave()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs.cpu.append(after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime)


def nothing() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return time.perf_counter() - begun


def cpu_of(process: int) -> float:
    """CPU seconds of a process up to now."""
    told = Path(f"/proc/{process}/stat").read_text("ascii").rsplit(") ", 1)[1].split()
    return (int(told[11]) + int(told[12])) / TICK


def rss(process: int) -> float:
    """Resident memory of a process now, MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    main()
