"""Whatever arguments come: an answer that follows the tool's schema, or a refusal that says why."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # publishes no types
import pytest

from tetrarium.errors import UserError
from tetrarium.mcp.arguments import Argument
from tetrarium.mcp.tools import TOOLS, Caller, Tool
from tetrarium.service import MemoryService, open_space

ROUNDS = 120
WORDS = [
    "port",
    "cache",
    "端口",
    "缓存",
    "the",
    "retry",
    "of",
    "JWT_SECRET",
    "v2.3.1",
    "utils/date.js",
    "not",
    "8080",
    "🧠",
    "naïve",
    "\u202e",
    "~~~",
    "\x1b[0m",
    "NEAR(",
    '"',
    "'",
    "-",
    "*",
    "银行",
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryService]:
    with open_space(tmp_path_factory.mktemp("schemas") / "space") as service:
        for number in range(8):
            service.store(
                f"Shelf {number} of the store room holds the spare parts of engine {number}.", client="fuzz 1"
            )
        service.recall("spare parts", client="fuzz 1")
        yield service


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_answer_follows_the_schema_and_every_refusal_gives_advice(tool: Tool, service: MemoryService) -> None:
    chance = random.Random(tool.name)
    validator = jsonschema.Draft202012Validator(tool.output_schema)
    answered = 0
    refusals: list[str] = []
    for _ in range(ROUNDS):
        ids = [memory.id for memory in service.page(limit=8)]
        given = {a.name: value(a, chance, ids) for a in tool.arguments if a.required or chance.random() < 0.25}
        try:
            answer = tool.call(given, Caller("fuzz 1", chance.choice(["", "lantern"])))(service)
        except UserError as refusal:
            refusals.append(str(refusal))
            continue
        validator.validate(answer.structured)
        assert answer.text
        assert "\x1b" not in answer.text
        answered += 1
    assert answered > ROUNDS / 10
    assert refusals or not any(argument.required for argument in tool.arguments)
    assert all(len(words) > 10 for words in refusals)


def value(argument: Argument, chance: random.Random, ids: list[str]) -> Any:
    """Mostly fitting, sometimes not."""
    if argument.name in ("id", "memory_id", "start", "other") and chance.random() < 0.6:
        return chance.choice(ids)
    if argument.name == "recall_id" and chance.random() < 0.8:
        return None
    if chance.random() < 0.05:
        return chance.choice([None, True, [], {}, {"a": 1}, "", "\ud800", -1, 1e308, 10**30, ["x", 5], "x" * 5_000])
    match argument.kind:
        case "text":
            return chance.choice(argument.choices or (" ".join(chance.choices(WORDS, k=chance.randint(1, 20))),))
        case "texts":
            return chance.choices(argument.choices or WORDS, k=chance.randint(0, 4))
        case "whole":
            return chance.randint(int(argument.least or 0), min(int(argument.most or 9_000), 9_000))
        case "number":
            return round(chance.uniform(argument.least or 0, argument.most or 1), 3)
        case "flag":
            return chance.random() < 0.5
        case "moment":
            return chance.choice(
                ["2026-01-31", "2026-01-31T23:30", "2031-05-05T10:00:00+08:00", "0001-01-01", "9999-12-31"]
            )
