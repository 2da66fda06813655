"""What does it cost to note every read and write?

    python tests/bench/audit_cost.py [--n 2000] [--rounds 400]

The same recalls and stores, every other one with the audit switched off; CPU of the calling thread without the
embedding. The queue is flushed apart and measured apart, as `maintain` does it; verifying the chain too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import tetrarium
from tetrarium.service import MemoryService


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=400)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder) as space:
        for i in range(a.n):
            space.store(text(i), keywords=[f"service{i % 61}"], force=True)
        inner: Any = space._space
        inner.embed_passages = _cached(inner.embed_passages)
        alternate(
            "recall",
            space,
            a.rounds,
            lambda i: space.recall(f"what does worker {i % 50 // 2} wait for?", client="bench"),
        )
        alternate(
            "search", space, a.rounds, lambda i: space.search(f"worker {i % 50 // 2} waits", limit=20, client="bench")
        )
        alternate("store", space, a.rounds, lambda i: space.store(text(a.n + i), client="bench", force=True))
        for _ in range(1_000):
            space.recall("what does worker 7 wait for?", client="bench")
        started = time.thread_time()
        space.maintain()
        print(f"maintain after 1,000 recalls, audit and counters: {(time.thread_time() - started) * 1e3:.1f} ms")
        started = time.thread_time()
        proof = space.verify_audit()
        took = time.thread_time() - started
        print(
            f"verify {proof.rows} rows: {took * 1e3:.0f} ms ({took / proof.rows * 1e6:.1f} µs a row), sound {proof.is_sound}"
        )
        ((size,),) = inner.database.connection.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'audit%'"
        ).fetchall()
        print(f"{size / proof.rows:.0f} bytes a row")


def text(i: int) -> str:
    return f"Note {i}: worker {i % 977} of service {i % 61} waits {i % 89} seconds before it tries call {i} again."


def alternate(name: str, space: MemoryService, rounds: int, run: Callable[[int], Any]) -> None:
    """Medians of the verb with and without the audit, taken in turn."""
    auditor: Any = space._auditor
    taken: dict[bool, list[float]] = {True: [], False: []}
    for i in range(2 * rounds):
        noted = i % 4 in (0, 3)  # in turn the first and the second to ask the same
        auditor._verb = "" if noted else "something around it"
        started = time.thread_time_ns()
        run(i)
        taken[noted].append((time.thread_time_ns() - started) / 1e6)
    auditor._verb = ""
    on, off = statistics.median(taken[True]), statistics.median(taken[False])
    print(f"{name}: {on:.3f} ms noted, {off:.3f} ms not, difference {on - off:+.3f} ms (n = {rounds} each)")


def _cached(embed: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Embeds once: the model's share is not what is measured."""
    first = embed(["a note"])
    return lambda texts: [first[0]] * len(texts)


if __name__ == "__main__":
    main()
