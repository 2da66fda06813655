"""Nonsense on the wire: 25 malformed lines and 20,000 seeded mutations of good requests, through relay and host.

    python tests/bench/fuzz.py [--mutations 20000] [--seed 1] [--standalone]

The process must live, every legible id must be answered, and every byte on standard output must be the protocol.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from clients import Pipe, stop_host
from nonsense import Line, cases, mutations, unanswered

QUIET = 60.0
"""Seconds without a new answer after which those that are missing are taken as lost."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--standalone", action="store_true")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "space"
        pipe = Pipe(space, standalone=a.standalone).hello()
        pipe.call("memory_create", content="The importer reads GB18030 files because the bank still sends them.")
        before = len(pipe.lines)
        lines = [*cases(), *mutations(a.mutations, a.seed)]
        begun = time.perf_counter()
        feeder = threading.Thread(target=lambda: [pipe.send(line.line) for line in lines])
        feeder.start()
        seen = 0
        until = time.monotonic() + QUIET
        while time.monotonic() < until and (feeder.is_alive() or missing(pipe, before, lines)):
            if len(pipe.lines) > seen:
                seen, until = len(pipe.lines), time.monotonic() + QUIET
            feeder.join(1.0)
            threading.Event().wait(0.2)
        seconds = time.perf_counter() - begun
        alive = pipe.process.poll() is None and pipe.ask("ping", {})["result"] == {}
        code, _ = pipe.leave()
        stop_host(space)
    answers = [json.loads(line) for line in pipe.lines]  # a stray byte would end this line
    stray = sum(answer.get("jsonrpc") != "2.0" for answer in answers)
    lost = missing(pipe, before, lines)
    owed = sum(line.certain and line.request is not None for line in lines)
    print(
        f"{len(lines)} lines in {seconds:.0f} s · legible ids {owed} · UNANSWERED {lost} · answers {len(answers) - before}"
    )
    print(f"alive {alive} · exit code {code} · STRAY lines {stray} · standard error {len(pipe.errors)} lines")
    raise SystemExit(bool(lost or stray or code) or not alive)


def missing(pipe: Pipe, before: int, lines: list[Line]) -> int:
    """Legible ids that have no answer yet."""
    return unanswered(lines, [json.loads(line).get("id") for line in pipe.lines[before:]]).total()


if __name__ == "__main__":
    main()
