"""Does it help retrieval to boost memories that share vertices with good hits, beyond neighbour smoothing?

    python tests/bench/vertex_boost.py LOCOMO.zip [--notes 2000] [--vectors DIR]

Every question is asked through the public search; then each of its first 100 hits gains a share of the mean score of
its three best hits among the memories whose tetrahedra touch its own. Printed a share: how many questions have their
evidence in the first 5 and 10, mean reciprocal rank, and how many questions gained and lost against no boost.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from generated_notes import generate, questions
from mcp_locomo import load
from measures import KeptPassages

import tetrarium
from tetrarium.service import MemoryService

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
HITS = 100
BEST = 3

Asked = list[tuple[str, set[str]]]


def ranks(space: MemoryService, asked: Asked) -> dict[float, list[int]]:
    """share → rank of the first memory that answers, HITS + 1 when none does, by question."""
    places = space._space.geometry.places
    by_id, ids = space._space.indexes.table.by_id, space._space.indexes.table.ids
    found: dict[float, list[int]] = {share: [] for share in SHARES}
    for query, gold in asked:
        scores = {hit.id: hit.score for hit in space.search(query, limit=HITS, project="*")}
        touching = {
            one: sorted((scores.get(ids[num], 0.0) for num in places.neighbours(by_id[one])), reverse=True)[:BEST]
            for one in scores
        }
        for share in SHARES:
            boosted = {one: score + share * (sum(touching[one]) / BEST) for one, score in scores.items()}
            order = sorted(boosted, key=lambda one: -boosted[one])
            found[share].append(next((at for at, one in enumerate(order, 1) if one in gold), HITS + 1))
    return found


def show(name: str, found: dict[float, list[int]]) -> None:
    plain = np.array(found[0.0])
    print(
        f"\n{name}, {len(plain)} questions\n| share | in first 5 | in first 10 | MRR | gained, lost |\n|---|---|---|---|---|"
    )
    for share, got in found.items():
        at = np.array(got)
        print(
            f"| {share:.2f} | {(at <= 5).mean():.3f} | {(at <= 10).mean():.3f} | {(1 / at * (at <= HITS)).mean():.3f} "
            f"| {(at < plain).sum()}, {(at > plain).sum()} |",
            flush=True,
        )


def opened(folder: str, vectors: Path | None, texts: list[str]) -> MemoryService:
    space = tetrarium.open_space(folder)
    assert space._space.embedder is not None
    kept = KeptPassages(space._space.embedder, vectors)
    kept.prepare(texts)
    space._space.embedder = kept  # type: ignore[assignment]
    return space


def arranged(space: MemoryService) -> None:
    for cause in ("attach", "merge", "settle"):
        space.apply_plan(space.plan_clusters(cause))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--vectors", type=Path, help="folder in which embeddings are kept for the next run")
    given = parser.parse_args()
    whole: dict[float, list[int]] = {share: [] for share in SHARES}
    for number in range(3):
        name, turns, asked = load(given.locomo, number)
        cache = given.vectors / f"meaning-LoCoMo-{name}.npz" if given.vectors else None
        with tempfile.TemporaryDirectory() as folder, opened(folder, cache, [t.text for t in turns]) as space:
            ids = {t.id: str(space.store(t.text, session=t.session, force=True).id) for t in turns if len(t.text) > 1}
            arranged(space)
            found = ranks(space, [(q.text, {ids[e] for e in q.evidence if e in ids}) for q in asked])
        for share in SHARES:
            whole[share] += found[share]
    show("LoCoMo, three conversations", whole)
    notes, labels = generate(given.notes, seed=7)
    cache = given.vectors / "meaning-generated-notes.npz" if given.vectors else None
    with tempfile.TemporaryDirectory() as folder, opened(folder, cache, [str(n["content"]) for n in notes]) as space:
        stored = [str(space.store(**note, force=True).id) for note in notes]
        arranged(space)
        asked_notes = [
            (q["query"], {stored[g] for g in q["gold"]}) for q in questions(labels, seed=7, count=200) if q["gold"]
        ]
        show(f"Generated notes, {given.notes}", ranks(space, asked_notes))


if __name__ == "__main__":
    main()
