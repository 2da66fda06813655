"""What an agent's client puts before its model: the table of tools."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # publishes no types
import pytest

from tetrarium.mcp.arguments import read
from tetrarium.mcp.tools import BY_NAME, CATEGORY_NAMES, TOOLS, Caller, Tool, _scope
from tetrarium.model import CATEGORIES

NAMES = [
    "memory_create",
    "memory_search",
    "void_store",
    "void_recall",
    "void_stats",
    "memory_recall",
    "void_zones",
    "void_explain",
    "memory_update",
    "memory_forget",
    "memory_feedback",
    "knowledge_relations",
    "memory_link",
    "decision_record",
    "pattern_learn",
]
READING = {
    "memory_search",
    "void_recall",
    "void_stats",
    "memory_recall",
    "void_zones",
    "void_explain",
    "knowledge_relations",
}
ROOT = Path(__file__).resolve().parents[2]


def test_the_table_holds_the_tools_that_are_promised() -> None:
    assert [tool.name for tool in TOOLS] == NAMES


def test_the_readme_lists_the_tools_in_the_words_of_the_table() -> None:
    rows = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    assert rows == [f"| `{tool.name}` | {tool.summary} |" for tool in TOOLS]


def test_the_documentation_of_the_tools_is_the_one_drawn_from_the_table() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "make_tools.py"))["page"]()
    assert (ROOT / "docs" / "tools.md").read_text("utf-8") == drawn, "run docs/make_tools.py"


def test_arguments_that_agents_are_not_told_of_are_taken_all_the_same() -> None:
    create = BY_NAME["memory_create"]
    assert "created_at" not in create.input_schema["properties"]
    given = {"content": "x", "created_at": "2026-01-31", "file": "a.py", "idempotency_key": "k"}
    assert set(read(create.arguments, given)) == set(given)


def test_names_descriptions_and_input_schemas_stay_under_8000_characters() -> None:
    shown = [{"name": t.name, "description": t.description, "inputSchema": t.input_schema} for t in TOOLS]
    assert len(json.dumps(shown, ensure_ascii=False)) < 8_000


def test_the_whole_list_with_output_schemas_stays_under_16000_characters() -> None:
    from tetrarium.mcp.session import _listed

    listed = [_listed(tool).model_dump(by_alias=True, exclude_none=True, mode="json") for tool in TOOLS]
    assert len(json.dumps(listed, ensure_ascii=False)) < 16_000


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_valid_flat_and_described(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "if", "not"} & set(_keys(schema))
    for name, described in tool.input_schema["properties"].items():
        assert isinstance(described["type"], str), name
        assert described["description"], name
    assert tool.title
    assert tool.description


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_reading_tools_say_that_they_only_read(tool: Tool) -> None:
    assert tool.read_only is (tool.name in READING)
    assert tool.destructive is (tool.name == "memory_forget")


def test_a_name_with_the_servers_prefix_fits_the_shortest_limit_of_the_ides() -> None:
    assert all(len("tetrarium" + tool.name) <= 60 for tool in TOOLS)


def test_the_categories_of_the_schema_are_those_of_the_model() -> None:
    assert tuple(str(category) for category in CATEGORIES) == CATEGORY_NAMES


def test_a_call_looks_in_the_callers_project_unless_it_names_another_or_all() -> None:
    caller = Caller(client="x", project="mine")
    assert _scope({}, caller) == "mine"
    assert _scope({"project": "other"}, caller) == "other"
    assert _scope({"project": ""}, caller) == ""
    assert _scope({"project": "*"}, caller) == "*"


def test_the_tool_list_needs_no_engine() -> None:
    script = "import sys, tetrarium.mcp.session, tetrarium.mcp.stdio; print([m for m in ('numpy', 'onnxruntime', 'apsw') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"


def test_every_tool_is_found_by_its_name() -> None:
    assert {name: tool.name for name, tool in BY_NAME.items()} == {name: name for name in NAMES}


def _keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key
            yield from _keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _keys(value)
