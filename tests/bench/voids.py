"""Does voiding suppress noise, and only noise? Generated notes with known topics, against honest controls.

    python tests/bench/voids.py [--n 10000] [--seed 11] [--questions 600] [--derived] [--vectors cache.npz] [--out folder]

gold answers the question, near shares its topic, noise does neither. Printed: noise voided (NSR), gold voided
(FSR), near voided (OSR), noise in the answer (leak), gold in the first five and in the answer, and the change
of gold recall by voiding – for Tetrarium, with voiding off, with the same number voided at random, and with
the lowest scores cut. `--derived` withholds the keywords from the stores. `--out` writes one JSON line a
question (candidates with state and reason, answer) and the generated labels and questions beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from generated_notes import generate, questions
from measures import KeptPassages

import tetrarium
from tetrarium.model import Reason, RecallTrace
from tetrarium.recall import budget as budgeting
from tetrarium.service import MemoryService

DRAWS = 1_000
STATES = {
    Reason.KEPT: "kept",
    Reason.OFF_TOPIC: "void",
    Reason.OVER_BUDGET: "budget",
    Reason.NO_EVIDENCE: "floor",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One question answered under one rule: line numbers of candidates, what was voided, what was returned."""

    candidates: list[int]
    voided: set[int]
    returned: list[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--derived", action="store_true")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--out", type=Path)
    a = parser.parse_args()
    notes, labels = generate(a.n, seed=a.seed)
    asked = questions(labels, seed=a.seed, count=a.questions)
    with tempfile.TemporaryDirectory() as folder, tetrarium.open_space(folder) as space:
        lines = filled(space, notes, a.vectors, derived=a.derived)
        runs, costs = answers(space, asked, lines, seed=a.seed, out=a.out)
    if a.out:
        write(a.out, labels, asked)
    print(f"n {a.n}, seed {a.seed}, {len(asked)} questions{', keywords derived' if a.derived else ''}")
    print(
        "| rule | noise voided | gold voided | near voided | noise in answer | gold in top 5 | gold in answer | void share |"
    )
    print("|---" * 8 + "|")
    for rule, found in runs.items():
        print(f"| {rule} | {figures(asked, labels, found)} |")
    print(f"recall, cpu p50 / p95 ms: {np.percentile(costs, 50):.2f} / {np.percentile(costs, 95):.2f}")


def filled(space: MemoryService, notes: list[dict[str, Any]], vectors: Path | None, *, derived: bool) -> dict[str, int]:
    """Store every note; gives id → line."""
    passages = KeptPassages(space._space.embedder, vectors)
    passages.prepare([note["content"] for note in notes])
    space._space.embedder = passages
    lines = {}
    for line, note in enumerate(notes):
        words = () if derived else note["keywords"]
        lines[str(space.store(note["content"], keywords=words, category=note["category"], force=True).id)] = line
    return lines


def answers(
    space: MemoryService, asked: list[dict[str, Any]], lines: dict[str, int], *, seed: int, out: Path | None
) -> tuple[dict[str, list[Answer]], list[float]]:
    rng = random.Random(seed)
    runs: dict[str, list[Answer]] = {
        "Tetrarium": [],
        "voiding off": [],
        "as many at random": [],
        "as many lowest scores": [],
    }
    costs, rows = [], []
    for question in asked:
        space.search(question["query"])
        started = time.thread_time()
        trace = space.recall(question["query"])
        costs.append((time.thread_time() - started) * 1e3)
        candidates = [lines[c.id] for c in trace.candidates]
        void = {lines[c.id] for c in trace.candidates if c.reason is Reason.OFF_TOPIC}
        runs["Tetrarium"].append(Answer(candidates, void, [lines[block.id] for block in trace.blocks]))
        for rule, chosen in (
            ("voiding off", set()),
            ("as many at random", set(rng.sample(candidates, len(void)))),
            ("as many lowest scores", set(candidates[len(candidates) - len(void) :])),
        ):
            runs[rule].append(Answer(candidates, chosen, fitted(trace, candidates, chosen)))
        rows.append(told(len(rows), trace, candidates, runs["Tetrarium"][-1].returned, costs[-1]))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return runs, costs


def fitted(trace: RecallTrace, candidates: list[int], void: set[int]) -> list[int]:
    """The answer that the same budget gives when other candidates are voided."""
    left = [(line, c.tokens) for line, c in zip(candidates, trace.candidates, strict=True) if line not in void]
    return [left[i][0] for i in budgeting.fit([tokens for _, tokens in left], trace.budget).kept]


def told(number: int, trace: RecallTrace, candidates: list[int], returned: list[int], cost: float) -> dict[str, Any]:
    states = [
        {"i": line, "score": c.score, "state": STATES[c.reason], "reason": c.reason.value}
        for line, c in zip(candidates, trace.candidates, strict=True)
    ]
    return {"q": number, "ms": trace.elapsed_ms, "cpu_ms": cost, "cand": states, "ret": returned}


def write(out: Path, labels: list[dict[str, Any]], asked: list[dict[str, Any]]) -> None:
    for name, rows in (("labels.jsonl", labels), ("questions.jsonl", asked)):
        (out / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def figures(asked: list[dict[str, Any]], labels: list[dict[str, Any]], found: list[Answer]) -> str:
    """Micro averages with 95 % bootstrap intervals over questions."""
    topic = np.array([label["topic"] for label in labels])
    counts = np.array([counted(question, topic, answer) for question, answer in zip(asked, found, strict=True)])
    rng = np.random.default_rng(1)
    drawn = np.stack([counts[rng.integers(0, len(counts), len(counts))].sum(axis=0) for _ in range(DRAWS)])
    whole = counts.sum(axis=0)
    cells = []
    for part, of in ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)):
        low, high = np.percentile(drawn[:, part] / np.maximum(drawn[:, of], 1), [2.5, 97.5])
        share = f"{whole[part] / max(whole[of], 1):.3f} [{low:.3f}, {high:.3f}]"
        cells.append(f"{share} of {int(whole[of])}" if part == 2 else share)
    return " | ".join(cells)


def counted(question: dict[str, Any], topic: Any, answer: Answer) -> list[float]:
    gold = set(question["gold"])
    kinds = {line: "gold" if line in gold else "near" if topic[line] == question["topic"] else "noise" for line in answer.candidates}  # fmt: skip
    row: list[float] = []
    for kind in ("noise", "gold", "near"):
        members = [line for line, is_kind in kinds.items() if is_kind == kind]
        row += [sum(line in answer.voided for line in members), len(members)]
    row += [sum(kinds[line] == "noise" for line in answer.returned), len(answer.returned)]
    row += [bool(gold & set(answer.returned[:5])), bool(gold)]
    row += [len(gold & set(answer.returned)), len(gold)]
    return [*row, len(answer.voided), len(answer.candidates)]


if __name__ == "__main__":
    main()
