"""Is "why was this memory not recalled?" answered right? Random pairs of a question and a memory of the sample space.

For each pair the explanation is asked for, then what it names is done for real through the public verbs – released,
asked in the other project, with the larger budget, the lower void target, the wider settings – and the question is
asked again. The explanation is right when the memory is then answered, when the verdict agrees with the trace, and
when explaining changed no byte of the store.

    python -m tests.bench.explain [pairs] [seed]
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import tetrarium
from tetrarium import paths
from tetrarium.model import ChangeKind, Explanation, Reason, RecallTrace
from tetrarium.service import EVERYWHERE, MemoryService, fill_sample

FORGIVING = {
    ChangeKind.FETCH: "vector_candidates",
    ChangeKind.CANDIDATES: "max_candidates",
    ChangeKind.EVIDENCE_FLOOR: "evidence_floor",
}
"""Changes that are settings of the space."""


ABSENT = (
    "What is the offside rule in football?",
    "Which vaccinations does a puppy need?",
    "How deep is the Mariana trench?",
    "Who composed the Goldberg variations?",
)
"""Questions on which the recall answers nothing at all."""


def prepared(folder: Path) -> list[str]:
    """The sample space, some of it in another project, some expired; gives the questions to ask."""
    with tetrarium.open_space(folder) as space:
        fill_sample(space)
        for number, memory in enumerate(space.page(limit=1_000, order="created", descending=False)):
            if number % 11 == 0:
                space.update(memory.id, expires_at=datetime.now(UTC) - timedelta(days=1))
            if number % 13 == 0:
                space.store(f"{memory.content} This holds for the branch office.", project="branch", force=True)
    questions = json.loads((paths.resources() / "sample" / "questions.json").read_text("utf-8"))
    return [*(question["query"] for question in questions), *ABSENT]


def is_right(space: MemoryService, trace: RecallTrace, found: Explanation) -> bool:
    """Whether the memory is answered once everything is done that the explanation names."""
    answered = found.memory_id in [block.id for block in trace.blocks]
    if answered or found.reason is Reason.KEPT:
        return answered and found.reason is Reason.KEPT and not found.changes
    if not found.changes:
        return False
    asked: dict[str, object] = {"project": trace.project, "budget": trace.budget, "void_target": trace.void_target}
    wider: dict[str, float | int | str] = {}
    undo: list[Callable[[], object]] = []
    before = space.get(found.memory_id)
    for change in found.changes:
        if change.kind is ChangeKind.RELEASE:
            space.release(found.memory_id)
            undo.append(lambda: space.inhibit(found.memory_id, reason="again"))
        elif change.kind is ChangeKind.EXPIRY:
            space.update(found.memory_id, expires_at="never")
            undo.append(lambda: space.update(found.memory_id, expires_at=before.expires_at))
        elif change.kind in FORGIVING:
            wider[FORGIVING[change.kind]] = float(change.value) if change.value == 0 else int(change.value)
        elif change.kind is not ChangeKind.ASK_AGAIN:
            asked[change.kind.value] = change.value
    if wider:
        with tetrarium.open_space(space.path, **wider) as other:
            again = other.recall(trace.query, **asked, client="window")  # type: ignore[arg-type]
    else:
        again = space.recall(trace.query, **asked, client="window")  # type: ignore[arg-type]
    for step in undo:
        step()
    return found.memory_id in [block.id for block in again.blocks]


def digest(folder: Path) -> str:
    """Of every byte of the store and its log; not of the shared-memory file, in which SQLite notes who reads."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.endswith("-shm"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def main(pairs: int, seed: int) -> int:
    """Prints the table; gives how many explanations were wrong."""
    rng = random.Random(seed)
    wrong = Counter[str]()
    reasons, named, counts = Counter[str](), Counter[str](), Counter[int]()
    times = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions = prepared(folder)
        with tetrarium.open_space(folder) as space:
            memories = space.page(limit=1_000)
            for _ in range(pairs):
                memory, question = rng.choice(memories), rng.choice(questions)
                trace = space.recall(
                    question, project=rng.choice(["", EVERYWHERE]), budget=rng.choice([600, 1500, 4000])
                )
                before, started = digest(folder), time.process_time()
                found = space.explain(memory.id, trace.id)
                times.append((time.process_time() - started) * 1e3)
                if digest(folder) != before:
                    wrong["wrote"] += 1
                reasons[found.reason] += 1
                counts[len(found.changes)] += 1
                named.update(str(change.kind) for change in found.changes)
                if not is_right(space, trace, found):
                    wrong[f"{found.reason} {[str(c.kind) for c in found.changes]} {found.remedy}"] += 1
    print(f"pairs {pairs}, seed {seed}: {pairs - sum(wrong.values())} right")
    print("reasons:", dict(reasons))
    print("changes named:", dict(named), "per answer:", dict(sorted(counts.items())))
    print(f"explain, CPU ms: p50 {sorted(times)[len(times) // 2]:.1f}, max {max(times):.1f}")
    for what, count in wrong.items():
        print("wrong:", count, what)
    return sum(wrong.values())


if __name__ == "__main__":
    sys.exit(min(1, main(*(int(argument) for argument in (sys.argv[1:] + ["200", "7"][len(sys.argv) - 1 :])))))
