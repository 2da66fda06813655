"""Promises and tests agree in both directions."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).resolve().parents[1]
CLAIMED = ("journeys", "faults", "conformance", "gui")
"""Rooms whose every test belongs to a promise."""


def promises() -> dict[str, tuple[str, ...]]:
    spec = importlib.util.spec_from_file_location("promises", TESTS / "promises.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, tuple[str, ...]] = module.PROMISES
    return found


def names_in(file: Path) -> set[str]:
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in nodes if isinstance(node, kinds) and node.name.startswith("test_")}


def test_every_promise_names_tests_that_exist() -> None:
    for promise, names in promises().items():
        assert names, promise
        for name in names:
            file, test = name.split("::")
            existing = names_in(TESTS / file)
            assert existing, name
            assert test == "*" or test in existing, f"{promise} → {name}"


def test_every_test_of_a_journey_a_fault_or_the_window_keeps_a_promise() -> None:
    named = {name for names in promises().values() for name in names}
    for room in CLAIMED:
        for file in sorted((TESTS / room).glob("test_*.py")):
            relative = file.relative_to(TESTS).as_posix()
            unclaimed = [test for test in names_in(file) if not {f"{relative}::{test}", f"{relative}::*"} & named]
            assert not unclaimed, f"{relative}: {unclaimed}"


def test_every_tool_stands_in_a_promise_and_in_the_readme() -> None:
    from tetrarium.mcp.tools import TOOLS

    told = " ".join(promises())
    readme = (TESTS.parent / "README.md").read_text("utf-8")
    for tool in TOOLS:
        assert tool.name in told
        assert f"| `{tool.name}` |" in readme


def test_every_prompt_and_every_resource_stands_in_the_readme() -> None:
    from tetrarium.mcp.prompts import PROMPTS
    from tetrarium.mcp.resources import STATS, TEMPLATES

    readme = (TESTS.parent / "README.md").read_text("utf-8")
    for name in (STATS, *(template.uri_template for template in TEMPLATES), *(prompt.name for prompt in PROMPTS)):
        assert f"`{name}`" in readme
