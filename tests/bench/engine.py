"""The engine at size: store, recall, file, memory, placement, cold open – each beside its floor or target.

    python tests/bench/engine.py [--n 10000] [--seed 7] [--vectors cache.npz]

Stores generated developer notes with known topics through the public door and asks the generated
questions. Embedding is left out of the figures (it is the model's own cost, printed apart): passages are
embedded beforehand, questions once before they are timed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from generated_notes import generate, questions
from measures import KeptPassages, Watch, bare_commit, memory_mb, spread, table
from rank_bm25 import BM25Okapi

import tetrarium
from tetrarium.geometry.lattice import pack_all
from tetrarium.geometry.places import connected_components
from tetrarium.indexing.tokens import tokenize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--vectors", type=Path, help="keep the embeddings in this file for the next run")
    a = parser.parse_args()
    notes, labels = generate(a.n, seed=a.seed)
    asked = questions(labels, seed=a.seed, count=120)
    with tempfile.TemporaryDirectory() as folder:
        print(table(measure(Path(folder), notes, labels, asked, a.vectors)))


def measure(folder, notes, labels, asked, vectors):  # type: ignore[no-untyped-def]
    rows: list[tuple[str, str, str]] = []
    floor = bare_commit(folder)
    space = tetrarium.open_space(folder / "space")
    real = space._space.embedder
    one = Watch()
    for note in notes[:40]:
        with one.run():
            real.embed_passages([note["content"]])
    rows.append(("embedding of one note (the model's own share)", str(one), "≤ 25 ms"))
    kept = KeptPassages(real, vectors)
    kept.prepare([note["content"] for note in notes])
    space._space.embedder = kept

    store, place = Watch(), Watch()
    plan = space._space.place

    def timed_place(vector, keywords):  # type: ignore[no-untyped-def]
        with place.run():
            return plan(vector, keywords)

    space._space.place = timed_place
    ids = []
    for note in notes:
        with store.run():
            ids.append(space.store(**note, force=True).id)
    last = Watch()
    last.cpu, last.wall = store.cpu[-1000:], store.wall[-1000:]
    ratio = float(np.median(last.cpu) / np.median(floor.cpu))
    rows.append(("store without embedding, last 1,000", str(last), f"≤ 12 ms (S3); floor {floor}; {ratio:.1f}× (≤ 6×)"))
    tenth = max(1, len(place.cpu) // 10)
    rows.append(
        (
            "placement incl. nearest relatives, first / last tenth",
            f"{np.median(place.cpu[:tenth]):.2f} / {np.median(place.cpu[-tenth:]):.2f} ms cpu",
            "flat",
        )
    )
    space._space.place = plan
    rows.append(("memory, headless with the model", f"{memory_mb():.0f} MB", "≤ 350 MB"))

    for question in asked:
        space.search(question["query"])
    recall, search = Watch(), Watch()
    hits = 0
    for question in asked:
        with recall.run():
            trace = space.recall(question["query"])
        with search.run():
            space.search(question["query"])
        top = {block.id for block in trace.blocks[:5]}
        hits += bool(question["gold"]) and any(ids[g] in top for g in question["gold"])
    rows.append(("recall without embedding, voids included", str(recall), "≤ 8 ms p50 cpu (S3 at 10k), ≤ 11 at 100k"))
    rows.append(("search without embedding", str(search), ""))
    with_gold = sum(bool(question["gold"]) for question in asked)
    rows.append(("questions with a right memory in the first five", f"{hits} of {with_gold}", ""))

    rows += keyword_rows(space, notes, asked)
    rows += place_rows(space, labels, ids)
    space.close()
    size = sum(file.stat().st_size for file in (folder / "space").iterdir())
    rows.append(("store on disk", f"{size / 1e6:.1f} MB", "≤ 28 MB at 10k, ≤ 250 MB at 100k (S3)"))
    opened = Watch()
    with opened.run():
        space = tetrarium.open_space(folder / "space")
        space._space.embedder = kept
        space.recall(asked[0]["query"])
    rows.append(
        ("cold open to first recall, without loading the model", str(opened), "≤ 0.3 s at 10k, ≤ 1.5 s at 100k cpu")
    )
    space.close()
    return rows


def keyword_rows(space, notes, asked):  # type: ignore[no-untyped-def]
    """The keyword side alone against the library that scores it."""
    documents = [" ".join(tokenize(note["content"] + " " + " ".join(note["keywords"]))).split() for note in notes]
    build = Watch()
    with build.run():
        whole = BM25Okapi(documents, k1=space.settings.bm25_k1, b=space.settings.bm25_b)
    ours, theirs, overlap = Watch(), Watch(), []
    keywords, match = space._space.indexes.keywords, space._space.reader.match
    for question in asked[:40]:
        terms = list(dict.fromkeys(tokenize(question["query"])))
        with theirs.run():
            scores = whole.get_scores(terms)
            best = np.sort(np.partition(scores, -10)[-10:])
        with ours.run():
            nums = match(keywords.rare(terms), space.settings.keyword_candidates)
            columns = space._space.indexes.table
            own = keywords.scores(terms, [columns.tokens[num] for num in nums], columns.length[nums])
        top = np.sort(own)[-10:]
        overlap.append(float((top >= best[0] - 1e-9).mean()))
    ratio = np.median(theirs.cpu) / np.median(ours.cpu)
    return [
        ("keyword top 10 through BM25Okapi", f"{spread(ours.cpu)}, tie-aware overlap {np.mean(overlap):.3f}", f"rank_bm25 alone {spread(theirs.cpu)}: {ratio:.0f}× (≥ 15× at 10k, overlap ≥ 0.98)"),
    ]  # fmt: skip


def place_rows(space, labels, ids):  # type: ignore[no-untyped-def]
    table_ = space._space.indexes.table
    nums = np.array([table_.by_id[i] for i in ids])
    voxels, component = table_.place[nums], table_.component[nums]
    topics = np.unique([label["topic"] for label in labels], return_inverse=True)[1]
    overlaps = len(nums) - len(np.unique(pack_all(voxels)))
    started = time.thread_time()
    scratch = connected_components(voxels)
    same = (
        len(np.unique(np.stack([scratch, component]), axis=1).T) == len(np.unique(component)) == len(np.unique(scratch))
    )
    sizes = np.unique(component, return_counts=True)[1]
    return [
        ("overlapping tetrahedra", str(overlaps), "0"),
        ("components / topics of the generator", f"{len(sizes)} / {topics.max() + 1}", "equal where the text allows"),
        ("purity, adjusted Rand, lone memories", f"{purity(component, topics):.3f}, {adjusted_rand(component, topics):.3f}, {(sizes == 1).sum() / len(nums):.1%}", "≥ 0.95, ≥ 0.9, ≤ 4 %"),
        ("components equal to a search from scratch", f"{same} ({(time.thread_time() - started) * 1e3:.0f} ms)", "True"),
    ]  # fmt: skip


def purity(clusters, topics):  # type: ignore[no-untyped-def]
    counts = contingency(clusters, topics)
    return counts.max(axis=1).sum() / counts.sum()


def adjusted_rand(clusters, topics):  # type: ignore[no-untyped-def]
    counts = contingency(clusters, topics)
    pairs = lambda x: (x * (x - 1) / 2).sum()  # noqa: E731
    both, a, b, n = pairs(counts), pairs(counts.sum(axis=1)), pairs(counts.sum(axis=0)), counts.sum()
    expected = a * b / (n * (n - 1) / 2)
    return (both - expected) / ((a + b) / 2 - expected)


def contingency(clusters, topics):  # type: ignore[no-untyped-def]
    rows = np.unique(clusters, return_inverse=True)[1]
    counts = np.zeros((rows.max() + 1, topics.max() + 1))
    np.add.at(counts, (rows, topics), 1)
    return counts


if __name__ == "__main__":
    main()
