"""What the window waits for: a space's picture from its packed file, a whole snapshot, one delta – and moving at size.

    python tests/bench/pictures.py [--sizes 100000 1000000] [--live 10000]

Pictures of random spaces are packed and unpacked; a live space of generated notes gives the cost of a whole
snapshot, of the delta of one store, and of bringing a snapshot up to date. CPU of the calling thread, medians of five.
Places are added to and loaded into a bare geometry in random growth, first and last tenth apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from generated_notes import generate
from measures import Watch

import tetrarium
from tetrarium import snapshots
from tetrarium.config import DEFAULTS
from tetrarium.geometry.lattice import AROUND_VOXEL, pack, unpack
from tetrarium.geometry.placement import Geometry
from tetrarium.geometry.places import Places, connected_components
from tetrarium.geometry.similarity import Calibration, similarity
from tetrarium.model import Cluster, SpaceSnapshot

RUNS = 5
COMPONENT = 500
"""Members of a component of the random space."""


def picture(n: int) -> SpaceSnapshot:
    rng = np.random.default_rng(1)
    notes, _ = generate(500, seed=7)
    excerpts = [note["content"][:120] for note in notes]
    clusters = max(1, n // COMPONENT)
    return SpaceSnapshot(
        version=n,
        ids=tuple(f"01M{at:023d}" for at in range(n)),
        excerpts=tuple(excerpts[at % 500] for at in range(n)),
        places=rng.integers(-500, 500, (n, 3)).astype(np.int32),
        cluster=rng.integers(0, clusters, n).astype(np.int32),
        category=rng.integers(0, 9, n).astype(np.uint8),
        memory_type=rng.integers(0, 5, n).astype(np.uint8),
        confidence=rng.integers(0, 3, n).astype(np.uint8),
        inhibited=rng.random(n) < 0.1,
        quarantined=np.zeros(n, np.bool_),
        importance=rng.random(n).astype(np.float32),
        created=rng.random(n) * 1e9,
        accessed=rng.random(n) * 1e9,
        access_count=rng.integers(0, 9, n).astype(np.int32),
        client=rng.integers(0, 2, n).astype(np.int32),
        clients=("claude-code", "cursor"),
        clusters=tuple(Cluster(c, f"cluster {c}", COMPONENT, c % 24) for c in range(clusters)),
    )


def packed(n: int, folder: Path) -> None:
    shown, file = picture(n), folder / "picture"
    save, load = Watch(), Watch()
    for _ in range(RUNS):
        with save.run():
            snapshots.save(shown, file, (n, 0))
        with load.run():
            found = snapshots.load(file)
    assert found.ids == shown.ids
    assert (found.places == shown.places).all()
    print(f"| picture of {n:,}, unpack | {load} | {'≤ 300 ms' if n <= 100_000 else '≤ 3,000 ms'} |")
    print(f"| picture of {n:,}, pack and sync | {save}, {file.stat().st_size / 1e6:.0f} MB | |", flush=True)


def grown(n: int) -> None:
    """Random growth in components of 500: what adding, loading and moving cost, apart from finding a place."""
    rng, places = random.Random(1), Places()
    cost, voxels, numbers = np.zeros(n), [], []
    for num in range(1, n + 1):
        number = (num - 1) // COMPONENT + 1
        if (num - 1) % COMPONENT == 0:
            edge = [pack((64 * (number % 40), 64 * (number // 40 % 40), 64 * (number // 1600)))]
            key = edge[0]
        while key in places.num_at:
            key = rng.choice(edge) + rng.choice(AROUND_VOXEL)
            if not set(places._touching(key)) & places.num_at.keys():
                key = edge[0]
        edge.append(key)
        started = time.thread_time_ns()
        places.add(num, unpack(key), number)
        cost[num - 1] = (time.thread_time_ns() - started) / 1e6
        voxels.append(unpack(key))
        numbers.append(number)
    tenth = n // 10
    print(
        f"| add one place at {n:,}, first / last tenth, median | {np.median(cost[:tenth]):.4f} / {np.median(cost[-tenth:]):.4f} ms | flat |"
    )
    arrays = np.arange(1, n + 1), np.array(voxels, np.int32), np.array(numbers)
    load, move = Watch(), Watch()
    for _ in range(RUNS):
        again = Places()
        with load.run():
            again.load(*arrays)
    assert again.key_of == places.key_of
    tracemalloc.start()
    fresh = Places()
    fresh.load(*arrays)
    ram = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    for at in range(200):
        one, other = COMPONENT * at // 2 % n + 1, COMPONENT * at // 2 % n + 2
        with move.run():
            fresh.change(
                (),
                {
                    one: (fresh.voxel_of(other), fresh.component_of[other]),
                    other: (fresh.voxel_of(one), fresh.component_of[one]),
                },
            )
    print(f"| load all places of {n:,} | {load}, RAM {ram:.0f} MB | |")
    print(f"| swap two, checked | {move} | |", flush=True)


def placed(n: int, topics: int = 200) -> None:
    """Placements of made-up memories whose relatives are known: the geometry's own share of a store, at size."""
    rng = np.random.default_rng(1)
    topic = rng.integers(topics, size=n)
    heart = rng.normal(size=(topics, 32))
    vectors = heart[topic] / np.sqrt(32) + rng.normal(size=(n, 32)) * 0.08
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    scale = Calibration(cosine_mean=0.0, cosine_std=0.18, keyword_mean=0.0, keyword_std=0.1, tau=2.0)
    geometry = Geometry(
        DEFAULTS, scale, lambda nums: vectors[list(nums)], lambda nums: [(int(topic[x]),) for x in nums]
    )
    latest: list[list[int]] = [[] for _ in range(topics)]
    cost = np.zeros(n)
    for num in range(n):
        group = latest[topic[num]]
        near = group[-40:]
        alike = similarity(vectors[near] @ vectors[num], np.ones(len(near)), scale) if near else np.zeros(0)
        best = np.argsort(-alike, kind="stable")[:16]
        relatives = [(near[at], float(alike[at])) for at in best.tolist()]
        started = time.thread_time_ns()
        placement = geometry.plan(vectors[num], {int(topic[num]): 1.0}, relatives)
        geometry.add(num, placement, vectors[num], (int(topic[num]),))
        cost[num] = (time.thread_time_ns() - started) / 1e6
        group.append(num)
    tenth = n // 10
    voxels = np.array([geometry.places.voxel_of(num) for num in range(n)], np.int32)
    scratch = connected_components(voxels)
    stored = np.array([geometry.places.component_of[num] for num in range(n)])
    same = np.unique(np.stack([scratch, stored]), axis=1).shape[1] == len(np.unique(stored)) == len(np.unique(scratch))
    print(
        f"| placement at {n:,}, vertex merge and component included: first / last tenth, median (mean) | {np.median(cost[:tenth]):.3f} / {np.median(cost[-tenth:]):.3f} ({cost[-tenth:].mean():.3f}) ms | ≤ 0.5 ms, flat |"
    )
    print(
        f"| overlaps; components as searched from scratch | {n - len(np.unique(voxels, axis=0))}; {same}, {len(np.unique(stored))} of {topics} topics | 0; True |",
        flush=True,
    )


def lived(n: int) -> None:
    notes, _ = generate(n + RUNS, seed=7)
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder, model="none") as space:
        for note in notes[:n]:
            space.store(**note, force=True)
        whole, delta, patch, figures = Watch(), Watch(), Watch(), Watch()
        shown = space.snapshot()
        for note in notes[n:]:
            space.store(**note, force=True)
            with delta.run():
                found = space.snapshot_since(shown.version)
            assert found is not None
            assert len(found.rows) == 1
            with patch.run():
                shown = shown.with_delta(found)
            with whole.run():
                space.snapshot()
            with figures.run():
                space.stats()
        print(f"| whole snapshot of {n:,} | {whole} | |")
        print(f"| delta of one store at {n:,} | {delta} | |")
        print(f"| bring a snapshot of {n:,} up to date | {patch} | |")
        print(f"| stats with S1's figures at {n:,} | {figures} | |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--live", type=int, default=10_000)
    given = parser.parse_args()
    print("| what | measured, p50 / p95 | target |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n in given.sizes:
            packed(n, Path(folder))
    placed(min(given.sizes, default=100_000))
    grown(min(given.sizes, default=100_000))
    lived(given.live)


if __name__ == "__main__":
    main()
