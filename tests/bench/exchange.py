"""Export and import: do spaces that hypothesis built come back byte for byte, and what does a large one cost?

    python tests/bench/exchange.py [--trips 500] [--n 100000] [--seed 1]

Round trips: a random life of a space (stores, corrections, edits, trash, plans, names, feedback), exported with
vectors, imported into an empty space, exported again. Cost: made-up memories with vectors of the model's size, written
straight into the store; time and resident memory of export (.jsonl and .zst), preview, import, undo.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

import tetrarium
from tetrarium.geometry.placement import Placement
from tetrarium.lifecycle import ingest
from tetrarium.model import Source
from tetrarium.service import MemoryService
from tetrarium.storage import memories as rows

sys.path.insert(0, str(Path(__file__).parents[1] / "properties"))
from test_exchange_properties import STEPS, differs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trips", type=int, default=500)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    failed = round_trips(a.trips, a.seed) if a.trips else 0
    if a.n:
        cost(a.n)
    raise SystemExit(bool(failed))


def round_trips(trips: int, chosen: int) -> int:
    results: list[str] = []

    @seed(chosen)
    @settings(
        max_examples=trips,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(STEPS)
    def trip(steps: list[tuple[str, int, str]]) -> None:
        results.append(differs(steps))

    started = time.perf_counter()
    trip()
    different = [result for result in results if result]
    print(
        f"round trips {len(results)} · identical {len(results) - len(different)} · {time.perf_counter() - started:.0f} s"
    )
    for result in different[:5]:
        print("  ", result[:400])
    return len(different)


def cost(n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with tetrarium.open_space(root / "one") as one:
            fill(one, n)
        with tetrarium.open_space(root / "one") as one:
            measured("export, with vectors", lambda: one.export(root / "v.jsonl", vectors=True))
            measured("export", lambda: one.export(root / "all.jsonl"))
            measured("export, .zst", lambda: one.export(root / "all.jsonl.zst"))
            measured("export, pseudonyms, k = 5", lambda: one.export(root / "k.jsonl", k=5, remedy="generalise"))
        sizes = {f.name: f"{f.stat().st_size / 1e6:.0f} MB" for f in sorted(root.iterdir()) if f.is_file()}
        print(f"files: {sizes}")
        with tetrarium.open_space(root / "two") as two:
            measured("preview", lambda: two.preview_import(root / "v.jsonl"))
            report = measured("import", lambda: two.import_file(root / "v.jsonl"))
            measured("undo", lambda: two.undo_import(report.batch))


def fill(space: MemoryService, n: int) -> None:
    """Made-up memories, placed on a line of voxels, four in a cluster."""
    inner: Any = space._space
    rng = np.random.default_rng(5)
    now = rows.now()
    with inner.database.write() as connection:
        for i in range(n):
            text = f"Note {i}: worker {i % 977} of service {i % 61} waits {i % 89} seconds before it tries call {i * 7919 % n} again."
            draft = ingest.make_draft(
                text, keywords=(f"service{i % 61}", f"worker{i % 977}"), labels=("made-up",), entities=(), category=None,
                importance=None, source=Source("bench", f"author {i % 40}", f"session {i // 50}", f"project {i % 7}", ""),
                created_at=now, expires_at=None, rarity=lambda _: 1.0, settings=space.settings,
            )  # fmt: skip
            num, _ = rows.insert(connection, draft, now=now)
            vector = rng.normal(size=inner.dimension).astype(np.float32)
            rows.set_vector(connection, num, inner.model, vector / np.linalg.norm(vector))
            x, y = i % 4, i // 4
            voxel = (2 * (y % 300) * 6 + 2 * x, 12 * (y // 300 % 300), 12 * (y // 90_000))
            inner.settle(connection, num, Placement(voxel, y + 1, 0, is_new_component=True))


def resident() -> float:
    """MB of this process now."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def peak() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measured(name: str, run: Callable[[], Any]) -> Any:
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before, started, cpu = resident(), time.perf_counter(), time.process_time()
    result = run()
    took = time.perf_counter() - started
    print(
        f"{name}: {took:.1f} s wall, {time.process_time() - cpu:.1f} s CPU; resident {before:.0f} MB, peak {peak():.0f} MB (+{peak() - before:.0f})",
        flush=True,
    )
    return result


if __name__ == "__main__":
    main()
