"""Does a place mean something? Ours against a force layout, a 3-D PCA and a random lattice walk, in one run.

    python tests/bench/space_meaning.py [--notes 5000] [--locomo LOCOMO.zip] [--documentation 3000] [--vectors DIR]

Three corpora: generated developer notes with 60 known topics, LoCoMo conversations (topic = session), documentation
paragraphs of the packages that are installed here (topic = module). Every memory goes through the public door, then
the plans that a dream would apply are applied one by one. Printed a corpus: purity, adjusted Rand and lone memories
after each plan, and a layout: of a memory's 10 nearest by meaning, how many stand within 3 edges (for the
others: within the radius that holds as many memories on average), how many of its 10 nearest in space are among them, and Spearman's rank correlations of distance in
meaning and in space. Meaning is measured by the embedding alone, and by the mix with keywords that places memories.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import math
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from engine import adjusted_rand, purity
from generated_notes import generate
from mcp_locomo import load
from measures import KeptPassages
from numpy.typing import NDArray

import tetrarium
from tetrarium.geometry.lattice import AROUND_VOXEL, centres, pack, unpack
from tetrarium.geometry.meaning import rows_of
from tetrarium.geometry.settle import nearest
from tetrarium.service import MemoryService

Layout = NDArray[np.float64]
"""(n, 3) places in edges."""

K = 10
EDGES = 3.0
PAIRS = 40_000
PACKAGES = (
    "numpy",
    "hypothesis",
    "mypy",
    "pyqtgraph",
    "pytest",
    "mcp",
    "ast",
    "asyncio",
    "email",
    "logging",
    "sqlite3",
)


@dataclass(frozen=True, slots=True)
class Corpus:
    name: str
    notes: list[dict[str, object]]
    topics: NDArray[np.int64]


def generated(n: int) -> Corpus:
    notes, labels = generate(n, seed=7)
    return Corpus("generated notes", notes, codes([label["topic"] for label in labels]))


def conversations(archive: Path) -> list[Corpus]:
    found = []
    for number in range(3):
        name, turns, _ = load(archive, number)
        notes = [{"content": turn.text, "session": turn.session} for turn in turns if len(turn.text) >= 20]
        sessions = [turn.session for turn in turns if len(turn.text) >= 20]
        found.append(Corpus(f"LoCoMo {name}, topic = session", notes, codes(sessions)))
    return found


def documentation(most: int, seed: int = 7) -> Corpus:
    """Paragraphs of 80 to 400 characters from the docstrings of installed packages."""
    found: list[tuple[str, str]] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.origin:
            continue
        root = Path(spec.origin)
        files = sorted(root.parent.rglob("*.py")) if root.name == "__init__.py" else [root]
        paragraphs: dict[str, None] = {}
        for file in files:
            if "test" not in str(file):
                paragraphs.update(dict.fromkeys(paragraphs_of(file)))
        found += [(package, text) for text in paragraphs]
    random.Random(seed).shuffle(found)
    found = found[:most]
    return Corpus(
        "documentation paragraphs, topic = package",
        [{"content": text} for _, text in found],
        codes([p for p, _ in found]),
    )


def paragraphs_of(file: Path) -> list[str]:
    try:
        tree = ast.parse(file.read_text("utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    parts = [" ".join(part.split()) for text in texts for part in text.split("\n\n")]
    return [p for p in parts if 80 <= len(p) <= 400 and p[0].isalpha() and not {">>>", "---", "==="} & set(p.split())]


def codes(names: Sequence[str]) -> NDArray[np.int64]:
    return np.unique(names, return_inverse=True)[1]


# --- layouts that are compared ----------------------------------------------------------------------


def principal(rows: NDArray[np.float32]) -> Layout:
    spread = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(spread[:: max(1, len(rows) // 2000)], full_matrices=False)
    return (spread @ axes[:3].T).astype(np.float64)


def forced(near: NDArray[np.int64], rounds: int = 120, seed: int = 1) -> Layout:
    """Fruchterman-Reingold on the graph of the nearest, repulsion from 64 random others a round."""
    rng = np.random.default_rng(seed)
    n = len(near)
    spots = rng.normal(size=(n, 3)) * n ** (1 / 3)
    heat = n ** (1 / 3) / 2
    for at in range(rounds):
        pull = spots[near] - spots[:, None]
        length = np.linalg.norm(pull, axis=2, keepdims=True)
        force = (pull * length).mean(axis=1)
        others = rng.integers(n, size=(n, 64))
        push = spots[:, None] - spots[others]
        squares = np.einsum("nmc,nmc->nm", push, push)[..., None] + 0.01
        force += (push / squares).mean(axis=1) * n / 8
        size = np.linalg.norm(force, axis=1, keepdims=True)
        spots += force / np.maximum(size, 1e-9) * np.minimum(size, heat * (1 - at / rounds))
    return spots


def walked(n: int, seed: int = 1) -> Layout:
    """Each memory takes a random free voxel beside a random one of those before it."""
    rng = random.Random(seed)
    taken, order = {pack((0, 0, 0))}, [pack((0, 0, 0))]
    while len(order) < n:
        key = rng.choice(order) + rng.choice(AROUND_VOXEL)
        if key not in taken:
            taken.add(key)
            order.append(key)
    return centres(np.array([unpack(key) for key in order], np.int32)).astype(np.float64)


def coverage(spots: Layout, radius: float) -> float:
    """Mean number of others within a radius."""
    return float(np.mean([(away <= radius).sum() for away in distances(spots)])) - 1


def radius_of(spots: Layout, count: float) -> float:
    """The radius within which as many others stand on average: a layout may not win by shrinking, or by clumping."""
    every = np.concatenate(distances(spots))
    return float(np.partition(every, int(share := (count + 1) / len(spots) * len(every)))[int(share)])


def distances(spots: Layout) -> list[NDArray[np.float64]]:
    some = np.arange(0, len(spots), max(1, len(spots) // 500))
    return [np.linalg.norm(spots - spots[at], axis=1) for at in some]


# --- measures -----------------------------------------------------------------------------------------


def rank_correlation(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    if len(one) < 20:
        return math.nan
    ranks = [np.argsort(np.argsort(x)).astype(float) for x in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def quality(
    spots: Layout, radius: float, near: NDArray[np.int64], rows: NDArray[np.float32], topics: NDArray[np.int64]
) -> str:
    rng = np.random.default_rng(3)
    some = rng.choice(len(spots), min(1_000, len(spots)), replace=False)
    within = np.linalg.norm(spots[near[some]] - spots[some][:, None], axis=2) <= radius
    hit = []
    for at in some:
        away = np.linalg.norm(spots - spots[at], axis=1)
        away[at] = np.inf
        hit.append(len(set(np.argpartition(away, K)[:K].tolist()) & set(near[at].tolist())) / K)

    def correlation(pick: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]) -> float:
        a, b = rng.integers(len(spots), size=(2, PAIRS))
        chosen = pick(a, b) & (a != b)
        a, b = a[chosen], b[chosen]
        return rank_correlation(-np.einsum("nd,nd->n", rows[a], rows[b]), np.linalg.norm(spots[a] - spots[b], axis=1))

    inside = correlation(lambda a, b: topics[a] == topics[b])
    between = correlation(lambda a, b: topics[a] != topics[b])
    middles = of_topics(spots, rows, topics)
    return f"{within.mean() * K:5.2f} | {np.mean(hit):.3f} | {inside:5.2f} | {between:5.2f} | {middles:5.2f}"


def of_topics(spots: Layout, rows: NDArray[np.float32], topics: NDArray[np.int64]) -> float:
    """The same between whole topics: their mean meanings against the medians of their places."""
    names = np.unique(topics)
    meanings = np.array([rows[topics == name].mean(axis=0) for name in names])
    middles = np.array([np.median(spots[topics == name], axis=0) for name in names])
    one, other = np.triu_indices(len(names), 1)
    alike = np.einsum("nd,nd->n", meanings[one], meanings[other])
    return rank_correlation(-alike, np.linalg.norm(middles[one] - middles[other], axis=1))


def state(space: MemoryService) -> tuple[list[int], Layout, NDArray[np.int64]]:
    table = space._space.indexes.table
    nums = table.numbers()
    return nums.tolist(), centres(table.place[nums]).astype(np.float64), table.component[nums]


def run(corpus: Corpus, vectors: Path | None, settings: dict[str, float]) -> None:
    print(f"\n## {corpus.name}: {len(corpus.notes)} memories, {len(set(corpus.topics.tolist()))} topics", flush=True)
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder, **settings) as space:
        embedder = space._space.embedder
        assert embedder is not None
        kept = KeptPassages(embedder, vectors)
        kept.prepare([str(note["content"]) for note in corpus.notes])
        space._space.embedder = kept  # type: ignore[assignment]
        for note in corpus.notes:
            space.store(**note, force=True)  # type: ignore[arg-type]
        layouts: dict[str, Layout] = {}
        print("| after | clusters of ≥ 2 | purity | adjusted Rand | lone | own purity | moves | plan + apply, CPU s |")
        print("|---|---|---|---|---|---|---|---|")
        for cause in ("", "attach", "merge", "fission", "attach", "settle", "layout"):
            started = time.process_time()
            moves = space.apply_plan(space.plan_clusters(cause)).moves if cause else 0
            took = time.process_time() - started
            nums, spots, component = state(space)
            layouts["Tetrarium" + (f", after {cause}" if cause else ", as stored")] = spots
            sizes = np.unique(component, return_counts=True)[1]
            print(
                f"| {cause or 'storing'} | {(sizes > 1).sum()} | {purity(component, corpus.topics):.3f} | "
                f"{adjusted_rand(component, corpus.topics):.3f} | {(sizes == 1).sum() / len(nums):.1%} | "
                f"{space.stats().figures.purity:.3f} | {moves} | {took:.1f} |",
                flush=True,
            )
        mixed = rows_of(space._space.geometry, nums)
        bare = space._space.indexes.vectors.vectors(nums)
        count = coverage(layouts["Tetrarium, as stored"], EDGES)
        chosen = {
            name: layouts[name]
            for name in ("Tetrarium, as stored", "Tetrarium, after settle", "Tetrarium, after layout")
        }
        for name, rows in (("the mix", mixed), ("the embedding alone", bare)):
            near = nearest(rows, K)
            rivals = {
                "3-D PCA": principal(rows),
                "force layout": forced(near),
                "random lattice walk": walked(len(nums)),
            }
            print(
                f"\nMeaning by {name}: nearest of the same topic {(corpus.topics[near] == corpus.topics[:, None]).mean():.1%}"
            )
            print(
                "| layout | of 10 nearest within 3 edges | 10 nearest found | ρ within topics | ρ between | ρ of topics |"
            )
            print("|---|---|---|---|---|---|")
            for title, spots in (chosen | rivals).items():
                print(f"| {title} | {quality(spots, radius_of(spots, count), near, rows, corpus.topics)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--documentation", type=int, default=3_000)
    parser.add_argument("--locomo", type=Path, help="zip of LoCoMo conversations")
    parser.add_argument("--vectors", type=Path, help="folder in which embeddings are kept for the next run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help="another value of a setting")
    given = parser.parse_args()
    settings = {name: float(value) for name, _, value in (item.partition("=") for item in given.set)}
    corpora = [generated(given.notes)] if given.notes else []
    corpora += [documentation(given.documentation)] if given.documentation else []
    corpora += conversations(given.locomo) if given.locomo else []
    for corpus in corpora:
        file = given.vectors / f"meaning-{corpus.name.split(',')[0].replace(' ', '-')}.npz" if given.vectors else None
        run(corpus, file, settings)


if __name__ == "__main__":
    main()
