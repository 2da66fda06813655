"""`tetrarium demo`: three questions to a believable space, for a first look without a window."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from tetrarium.cli.memories import COMMANDS, show
from tetrarium.cli.terminal import common, space, write
from tetrarium.mcp.answers import Answer
from tetrarium.mcp.tools import Caller
from tetrarium.paths import resources, sample_dir

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

DEMO_ANSWERS = {"en-en": "pay-015", "zh-zh": "team-005", "zh-en": "team-016"}
"""The sample memories that the demo asks for, by language of the question and of the memory."""

DEMO_BUDGET = 600
"""Tokens of each of the demo's recalls: a screenful."""


def add(commands: Any) -> None:
    """Its parser."""
    demo = commands.add_parser("demo", help="fill a sample space and answer three questions from it")
    common(demo)
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from tetrarium.service import fill_sample

    with space(options.data_dir or sample_dir(), makes=True) as service:
        added = fill_sample(service)
        memories = service.stats().memories
        recalls = [(query, _ask(service, query)) for query in _demo_questions()]
    if options.json:
        write(
            json.dumps(
                {"stored": added, "memories": memories, "recalls": [answer.structured for _, answer in recalls]},
                ensure_ascii=False,
            )
        )
        return 0
    write(f"Sample space: {memories} memories" + (f", {added} of them stored just now." if added else "."))
    for query, answer in recalls:
        write(f"\n? {query}\n")
        show(answer, in_json=False)
    return 0


def _ask(service: MemoryService, query: str) -> Answer:
    return COMMANDS["recall"].call({"query": query, "budget": DEMO_BUDGET, "project": "*"}, Caller(client="demo"))(
        service
    )


def _demo_questions() -> list[str]:
    """One question a kind, by the memory that answers it; the first of its kind where the sample has changed."""
    questions = json.loads((resources() / "sample" / "questions.json").read_text(encoding="utf-8"))
    chosen = []
    for kind, ref in DEMO_ANSWERS.items():
        of_kind = [question for question in questions if question["kind"] == kind]
        chosen.append(next((question for question in of_kind if ref in question["gold"]), of_kind[0])["query"])
    return chosen
