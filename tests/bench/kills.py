"""kill -9 in random moments of a storing loop: how many acknowledged memories are lost?

    python tests/bench/kills.py [--kills 100] [--seed 1]

A child stores without a pause and prints each id after the store returned; it is killed at a random moment,
and the next child goes on with the same space. At the end every printed id must be there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import apsw

import tetrarium
from tetrarium import paths

STORING = """
import sys, tetrarium
space = tetrarium.open_space(sys.argv[1])
base = space.stats().memories
for i in range(base, base + 100_000):
    text = f"Memory number {i} of the storing loop, with the square {i * i} to tell it apart."
    result = space.store(text, keywords=[f"group{i % 7}", "loop"], force=True)
    sys.stdout.write(result.id + "\\n")
    sys.stdout.flush()
"""
ID_LENGTH = 26


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    chance = random.Random(a.seed)
    acknowledged: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(a.kills):
            acknowledged |= killed_run(folder, chance.uniform(0.02, 0.6))
        with tetrarium.open_space(folder) as space:
            present = set(space.snapshot().ids)
            found = len(space.search("storing loop", limit=10))
        connection = apsw.Connection(f"{folder}/{paths.STORE_FILE}")
        sound = connection.pragma("integrity_check")
    lost = acknowledged - present
    print(f"kills {a.kills} · acknowledged {len(acknowledged)} · present {len(present)} · LOST {len(lost)}")
    print(f"integrity check: {sound} · a search afterwards finds {found}")
    raise SystemExit(bool(lost) or sound != "ok")


def killed_run(folder: str, after: float) -> set[str]:
    """Store until the moment comes, counted from the first acknowledged store."""
    with subprocess.Popen([sys.executable, "-c", STORING, folder], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        seen = [child.stdout.readline()]
        time.sleep(after)
        os.kill(child.pid, signal.SIGKILL)
        seen += child.stdout.readlines()
    return {line.strip() for line in seen if len(line) == ID_LENGTH + 1}


if __name__ == "__main__":
    main()
