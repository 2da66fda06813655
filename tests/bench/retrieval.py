"""Does the right memory come up? Evidence retrieval on conversations and on a bilingual set, one configuration.

    python tests/bench/retrieval.py --locomo locomo.zip --bilingual bilingual.jsonl [--split dev] [--without]

locomo: conversations of LoCoMo (one JSON each in a zip); every turn is one memory, a question's gold are its
evidence turns (dev = the first three files). bilingual: JSON Lines of memories and questions in English and
Chinese. `--without` switches each idea of the ranking off in turn. Prints the plain BM25Okapi of the library
beside it. The data are not part of Tetrarium.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measures import KeptPassages
from rank_bm25 import BM25Okapi

import tetrarium
from tetrarium.config import S1_WEIGHTS
from tetrarium.indexing.tokens import tokenize

WITHOUT: dict[str, dict[str, float]] = {
    "all": {},
    "without vectors": {"vector_weight": 0.0},
    "without keywords": {"keyword_weight": 0.0},
    "without the entity boost": {"entity_weight": 0.0},
    "without neighbours": {"neighbour_weight": 0.0},
    "without session evidence": {"session_weight": 0.0},
    "without synonyms": {"synonym_weight": 0.0},
    "without intents": {"intent_weight": 0.0},
    "without the bounded factors": {
        "recency_span": 0.0,
        "importance_span": 0.0,
        "access_span": 0.0,
        "hub_span": 0.0,
        "confidence_span": 0.0,
    },
    "BM25 with k1 1.5, b 0.75": {"bm25_k1": 1.5, "bm25_b": 0.75},
    "S1's weights": S1_WEIGHTS,
}
MEASURES = ("R@1", "R@5", "R@10", "R@20", "nDCG@10", "MRR")
DEPTH = 50


@dataclass(frozen=True, slots=True)
class Pool:
    """Memories that are searched together, and questions on them."""

    memories: list[dict[str, Any]]
    questions: list[dict[str, Any]]


def locomo(path: Path, split: str) -> Iterator[Pool]:
    with zipfile.ZipFile(path) as archive:
        names = sorted(n for n in archive.namelist() if n.endswith(".json") and "__MACOSX" not in n)
        chosen = {"dev": names[:3], "heldout": names[3:], "all": names}[split]
        for name in chosen:
            yield _conversation(json.loads(archive.read(name)))


def _conversation(told: dict[str, Any]) -> Pool:
    sessions = sorted((k for k in told if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k.split("_")[1]))
    memories = []
    for session in sessions:
        for turn in told[session]:
            text = f"{turn['speaker']}: {turn.get('text', '')}"
            if turn.get("blip_caption"):
                text += f" [shares {turn['blip_caption']}]"
            memories.append({"id": turn["dia_id"], "text": text, "session": session})
    known = {memory["id"] for memory in memories}
    questions = []
    for row in told["qa"]:
        gold = {
            f"D{int(a)}:{int(b)}"
            for told_ in row.get("evidence", [])
            for a, b in re.findall(r"D:?(\d+):(\d+)", str(told_))
        } & known
        if row["category"] in (1, 2, 3, 4) and gold:
            questions.append({"text": row["question"], "gold": gold})
    return Pool(memories, questions)


def bilingual(path: Path, split: str) -> Iterator[Pool]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    memories = [{"id": r["id"], "text": r["text"], "session": ""} for r in rows if r["type"] == "memory"]
    asked = [r for r in rows if r["type"] == "query" and (split == "all" or r["split"] == split)]
    yield Pool(memories, [{"text": r["text"], "gold": set(r["gold"])} for r in asked])


def measured(ranked: list[str], gold: set[str]) -> dict[str, float]:
    hits = [i for i, name in enumerate(ranked) if name in gold]
    scores = {f"R@{k}": sum(i < k for i in hits) / len(gold) for k in (1, 5, 10, 20)}
    best = sum(1 / math.log2(i + 2) for i in range(min(len(gold), 10)))
    scores["nDCG@10"] = sum(1 / math.log2(i + 2) for i in hits if i < 10) / best
    scores["MRR"] = 1 / (hits[0] + 1) if hits else 0.0
    return scores


def ours(pools: list[Pool], kept: dict[int, Path], settings: dict[str, float]) -> str:
    rows = []
    for number, pool in enumerate(pools):
        with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder, **settings) as space:
            passages = KeptPassages(space._space.embedder, kept.get(number))
            passages.prepare([memory["text"] for memory in pool.memories])
            space._space.embedder = passages
            names = {
                space.store(memory["text"], session=memory["session"], force=True).id: memory["id"]
                for memory in pool.memories
            }
            for question in pool.questions:
                ranked = [names[hit.id] for hit in space.search(question["text"], limit=DEPTH)]
                rows.append(measured(ranked, question["gold"]))
    return cells(rows)


def library(pools: list[Pool]) -> str:
    rows = []
    for pool in pools:
        index = BM25Okapi([tokenize(memory["text"]) for memory in pool.memories])
        for question in pool.questions:
            order = np.argsort(-index.get_scores(tokenize(question["text"])), kind="stable")[:DEPTH]
            rows.append(measured([pool.memories[i]["id"] for i in order], question["gold"]))
    return cells(rows)


def cells(rows: list[dict[str, float]]) -> str:
    return " | ".join(f"{np.mean([row[name] for row in rows]):.3f}" for name in MEASURES) + f" | {len(rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--bilingual", type=Path)
    parser.add_argument("--split", default="dev", choices=["dev", "heldout", "all"])
    parser.add_argument("--without", action="store_true", help="each idea switched off in turn")
    parser.add_argument("--cache", type=Path, help="folder that keeps embeddings for the next run")
    a = parser.parse_args()
    sets = [(name, load(path, a.split)) for name, load, path in (("LoCoMo", locomo, a.locomo), ("bilingual", bilingual, a.bilingual)) if path]  # fmt: skip
    print(f"| set | ranking | {' | '.join(MEASURES)} | n |")
    print("|---" * (len(MEASURES) + 3) + "|")
    for name, found in sets:
        pools = list(found)
        kept = {i: a.cache / f"{name}-{a.split}-{i}.npz" for i in range(len(pools))} if a.cache else {}
        print(f"| {name} | rank_bm25 alone, our tokens | {library(pools)} |")
        for what, settings in (WITHOUT if a.without else {"Tetrarium": {}}).items():
            print(f"| {name} | {what} | {ours(pools, kept, settings)} |", flush=True)


if __name__ == "__main__":
    main()
