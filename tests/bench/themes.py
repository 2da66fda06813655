"""How well a theme that is always let through knows its own: memories that come later, and those that are not of it.

    python tests/bench/themes.py [folder of a space; without it the sample is made]

Every void zone of every question: with one member held out, does the theme of the others hold it (found)? And does the
theme of the whole zone hold off-topic candidates of other zones (leaked)?
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tetrarium.model import Reason, RecallTrace
from tetrarium.recall import themes
from tetrarium.service import MemoryService, fill_sample, open_space

ASKED = 9
"""First words of a memory that make a question."""
EVERY = 3
"""Each so-manieth memory is asked for."""
LEAST = 3
"""Members of a zone from which one is held out."""


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        given = len(sys.argv) > 1
        with open_space(Path(sys.argv[1]) if given else Path(scratch) / "sample") as space:
            if not given:
                fill_sample(space)
            measure(space)


def measure(space: MemoryService) -> None:
    questions = [" ".join(memory.content.split()[:ASKED]) for memory in space.page(limit=1_000)[::EVERY]]
    traces = [space.recall(question, project="*") for question in questions]
    zones = sum(len(trace.void_zones) for trace in traces)
    sys.stdout.write(f"{len(questions)} questions, {zones} zones\nshare   found of held out   leaked of others\n")
    for share in (0.2, 0.3, 0.4, 0.5):
        themes.SHARE = share
        found, held, leaked, others = map(sum, zip(*(one(space, trace) for trace in traces), strict=True))
        sys.stdout.write(f"{share:.1f}     {found / held:.3f} of {held:,}     {leaked / others:.4f} of {others:,}\n")


def one(space: MemoryService, trace: RecallTrace) -> tuple[int, int, int, int]:
    """Found, held out, leaked, others of one recall."""
    table, rarity = space._space.indexes.table, space._space.indexes.rarity
    words = {c.id: table.keywords[table.by_id[c.id]] for c in trace.candidates}
    off_topic = {c.id for c in trace.candidates if c.reason is Reason.OFF_TOPIC}
    found = held = leaked = others = 0
    for zone in trace.void_zones:
        whole = themes.made("", 0, zone.members, [words[member] for member in zone.members], rarity)
        beside = off_topic - set(zone.members)
        others += len(beside)
        leaked += sum(whole.holds(words[other]) for other in beside)
        for out in zone.members if len(zone.members) >= LEAST else ():
            rest = [member for member in zone.members if member != out]
            held += 1
            found += themes.made("", 0, rest, [words[member] for member in rest], rarity).holds(words[out])
    return found, held, leaked, others


if __name__ == "__main__":
    main()
