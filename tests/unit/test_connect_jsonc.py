"""Reading JSON as people write it, and editing it at one place."""

from __future__ import annotations

import pytest

from tetrarium.connect import jsonc, splicing, toml
from tetrarium.connect.edits import TomlTable
from tetrarium.connect.refusal import Broken, Refused

ENTRY = {"command": "/opt/x", "args": ["a b"]}


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        ('{"a": 1', 1, 8, "',' or '}'"),
        ('{\n  "a": ,\n}', 2, 8, "a value"),
        ('{\n  "a": "open\n}', 2, 8, "does not end on its line"),
        ("{\n  /* open", 2, 3, "comment does not end"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ("{'a': 1}", 1, 2, "double quotes"),
        ('{"a" 1}', 1, 6, "':'"),
        ('{"a": 01}', 1, 7, "a value"),
        ('{"a": truex}', 1, 7, "a value"),
        ('{"a": "\\q"}', 1, 7, "escape"),
        ("[1 2]", 1, 4, "',' or ']'"),
        ('{"a": 1,,}', 1, 9, "a key"),
        ("[" * 200, 1, 102, "stand in each other"),
        ('{"中文": }', 1, 8, "a value"),
    ],
)
def test_a_broken_text_is_refused_with_its_line_and_column(text: str, line: int, column: int, why: str) -> None:
    with pytest.raises(Broken) as refused:
        splicing.put(text, ("mcpServers", "t"), ENTRY)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert why in refused.value.why


def test_values_are_read_as_json_reads_them() -> None:
    node = jsonc.parse('\n// c\n{"a": [1, -2.5e3, true, null, "\\u4e2d\\n"], /* x */ "b": {"c": {},},}\n')
    assert node is not None
    assert node.value == {"a": [1, -2500.0, True, None, "中\n"], "b": {"c": {}}}


@pytest.mark.parametrize("text", ["", " \n", "// only a comment\n", "/* x */"])
def test_a_text_without_a_document_gets_one_behind_what_is_there(text: str) -> None:
    after = splicing.put(text, ("a", "b"), ENTRY)
    assert after.startswith(text)
    found = jsonc.find(jsonc.parse(after), ("a", "b"))
    assert found is not None
    assert found.value == ENTRY


def test_what_stands_on_the_way_and_is_no_object_is_refused() -> None:
    with pytest.raises(Broken, match="mcpServers is not an object"):
        splicing.put('{"mcpServers": []}', ("mcpServers", "t"), ENTRY)
    with pytest.raises(Broken, match="the document is not an object"):
        splicing.put("[]", ("mcpServers", "t"), ENTRY)


def test_a_key_that_stands_twice_on_the_way_is_refused() -> None:
    with pytest.raises(Broken, match="stands twice"):
        splicing.put('{"s": {}, "s": {}}', ("s", "t"), ENTRY)


def test_an_element_of_an_array_comes_and_goes_alone() -> None:
    text = '{\n  "hooks": {\n    "start": [\n      {"command": "mine"} // keep\n    ]\n  }\n}\n'
    after = splicing.append(text, ("hooks", "start"), ENTRY)
    assert '{"command": "mine"}, // keep\n' in after
    assert splicing.take(after, ("hooks", "start"), 1) == text
    assert splicing.append("{}", ("hooks", "start"), 1) == '{\n  "hooks": {\n    "start": [1]\n  }\n}'


def test_broken_toml_is_refused_with_its_line_and_column() -> None:
    with pytest.raises(Broken) as refused:
        toml.put('a = 1\nb = "open\n', ("mcp_servers", "t"), ENTRY)
    assert refused.value.line == 2


@pytest.mark.parametrize("text", ['mcp_servers = { docs = { command = "d" } }\n', "[mcp_servers]\nt = 5\n"])
def test_toml_that_has_no_place_for_a_table_is_left_alone(text: str) -> None:
    with pytest.raises(Refused, match="Nothing was changed"):
        toml.put(text, ("mcp_servers", "t"), ENTRY)


def test_comments_around_a_table_stay_when_it_goes() -> None:
    before = "[a]\nx = 1\n\n# about b\n[b]\ny = [\n  1, # one\n]\n"
    after = toml.put(before, ("mcp_servers", "t"), ENTRY)
    grown = after + '[mcp_servers.t.env]\nK = "v"\n\n# about c\n[c]\nz = 1\n'
    assert toml.take(grown, ("mcp_servers", "t")) == before + "\n# about c\n[c]\nz = 1\n"


def test_a_table_of_ours_that_was_there_gets_back_what_it_held_and_keeps_what_others_put_in() -> None:
    was = '[mcp_servers.t]\r\ncommand = "/old"   # mine\r\nenabled = false\r\n\r\n[z]\r\na = 1\r\n'
    edit = TomlTable(("mcp_servers", "t"), ENTRY)
    after = edit.apply(was)
    assert toml.find(toml.parse(after), ("mcp_servers", "t")) == {
        "command": "/opt/x",
        "args": ["a b"],
        "enabled": False,
    }
    assert after.count("\n") == after.count("\r\n")
    assert edit.retract(after.replace("a = 1", "a = 2"), was) == was.replace("a = 1", "a = 2")
