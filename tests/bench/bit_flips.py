"""One flipped bit in the store, in a derived file or in a backup: is a wrong answer ever served?

    python tests/bench/bit_flips.py [--flips 500] [--seed 1]

Each run flips one random bit of one file of a closed space, opens it and asks. Every answer must be what the sound space
answered, or the damage must be said: the space refuses to open, or its answers carry the note, or it mends what is
derived by itself. What is said and the answers left out are no wrong answer; a different text, another ranking or a missing memory
without a word is. A flip that changes nothing (free pages, slack in a page) is counted as harmless, and whether the
doctor sees it all the same as found.
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tetrarium
from tetrarium import paths, snapshots
from tetrarium.errors import DamagedSpace, EngineError
from tetrarium.service import MemoryService, kept_snapshot
from tetrarium.storage import backups

MEMORIES = 120
SUBJECTS = ("gateway", "ledger", "kiosk", "seat map", "invoice", "login token", "search index", "发布流程")
QUESTIONS = (*(f"how long does the {subject} need" for subject in SUBJECTS), "minute 42", "what was decided", "部署")
PICTURE = {"picture_size": 1}


class Warned(logging.Handler):
    """Remembers whether the engine said something of damage in its log."""

    said = False

    def emit(self, record: logging.LogRecord) -> None:
        self.said = self.said or record.levelno >= logging.WARNING


WARNED = Warned()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    log = logging.getLogger("tetrarium")
    log.propagate = False
    log.addHandler(WARNED)
    now = time.time()
    time.time = lambda: now  # recency would move near-equal hits while the benchmark runs
    chance = random.Random(a.seed)
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound"
        expected = make(sound)
        for number in range(a.flips):
            name, run = chance.choices([("store", store), ("picture", picture), ("backup", backup)], [6, 1, 3])[0]
            work = Path(folder) / "work"
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(sound, work)
            outcome = run(work, chance, expected)
            counts.setdefault(name, Counter())[outcome] += 1
            if outcome.startswith("WRONG"):
                print(f"flip {number} in the {name}: {outcome}")
    wrong = 0
    for name, found in counts.items():
        bad = sum(n for outcome, n in found.items() if outcome.startswith("WRONG"))
        harmless = found["harmless, not seen"]
        wrong += bad
        told = ", ".join(f"{outcome} {n}" for outcome, n in found.most_common())
        print(
            f"{name}: {found.total()} flips · found {1 - (harmless + bad) / found.total():.1%} · wrong answers {bad} · {told}"
        )
    raise SystemExit(bool(wrong))


def make(folder: Path) -> dict[str, Any]:
    with tetrarium.open_space(folder, reserve_bytes=0, **PICTURE) as space:
        ids = []
        for i in range(MEMORIES):
            subject = SUBJECTS[i % len(SUBJECTS)]
            text = f"Note {i}: the {subject} needs {i * 7 % 97} minutes before hall {i * 13 % 31} opens at minute {i}."
            ids.append(str(space.store(text, labels=[f"label{i % 5}"], force=True).id))
        for i in range(0, 40, 4):
            space.store(f"Note {i} was wrong: it takes {i + 100} minutes.", supersedes=ids[i], force=True)
        for i in range(1, 20, 4):
            space.update(ids[i], content=f"Note {i}: the {SUBJECTS[i % 8]} needs {i + 3} hours.", importance=0.9)
        space.relate(ids[1], ids[2], "depends_on")
        space.backup()
    with tetrarium.open_space(folder, reserve_bytes=0, **PICTURE) as space:
        expected = answers(space)
    snapshot = kept_snapshot(folder)
    assert snapshot is not None
    return expected | {"picture": (snapshot.ids, snapshot.places.tolist(), snapshot.excerpts)}


def answers(space: MemoryService) -> dict[str, Any]:
    """Everything that an agent or a person would see, but not the counters of use."""
    found: dict[str, Any] = {}
    for question in QUESTIONS:
        hits = space.search(question, limit=8)
        found[f"search {question}"] = [
            (h.id, round(h.score, 6), h.memory.content, h.memory.keywords) for h in hits.hits
        ]
        trace = space.recall(question, client="window")
        found[f"recall {question}"] = [(b.id, b.memory.content) for b in trace.blocks]
    found["page"] = [
        (m.id, m.content, m.labels, m.importance, m.standing, m.superseded_by, m.created_at, m.place)
        for m in space.page(limit=500)
    ]
    return found


def flip(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def store(folder: Path, chance: random.Random, expected: dict[str, Any]) -> str:
    flip(folder / paths.STORE_FILE, chance)
    (folder / paths.SNAPSHOT_FILE).unlink()
    WARNED.said = False
    try:
        with tetrarium.open_space(folder, reserve_bytes=0) as space:
            got = answers(space)
            note = space.search(QUESTIONS[0]).note
            seen = space.health().state == "bad"
    except EngineError as error:
        return f"refused: {type(error).__name__}"
    same = all(got[key] == expected[key] for key in got)
    if note:
        return "said, and left out" if not same else "said, answers the same"
    if not same:
        return "WRONG " + next(
            f"{key}: {one} instead of {other}"
            for key in got
            for one, other in zip([*got[key], None], [*expected[key], None], strict=False)
            if one != other
        )
    if seen:
        return "found by the doctor, answers the same"
    return "found, made again, answers the same" if WARNED.said else "harmless, not seen"


def picture(folder: Path, chance: random.Random, expected: dict[str, Any]) -> str:
    flip(folder / paths.SNAPSHOT_FILE, chance)
    seen = snapshots.is_damaged(folder)
    kept = kept_snapshot(folder)
    if kept is not None:
        same = (kept.ids, kept.places.tolist(), kept.excerpts) == expected["picture"]
        return ("found, answers the same" if seen else "harmless, not seen") if same else "WRONG picture"
    return "found, and made anew"


def backup(folder: Path, chance: random.Random, expected: dict[str, Any]) -> str:
    (copy,) = backups.copies(folder)
    flip(copy.file, chance)
    found = not backups.is_unchanged(copy)
    with tetrarium.open_space(folder, reserve_bytes=0) as space:
        try:
            space.restore_backup(copy.name)
        except DamagedSpace:
            return "found, and refused"
        same = [row[:2] for row in answers(space)["page"]] == [row[:2] for row in expected["page"]]
    return ("found, sound all the same" if found else "harmless, not seen") if same else "WRONG backup"


if __name__ == "__main__":
    main()
