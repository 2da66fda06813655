"""Whatever a configuration looks like, an edit changes our own part of it and not one byte more."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tetrarium.connect import jsonc, splicing, toml
from tetrarium.connect.edits import BEGIN, Block, JsonElement, JsonObject, TomlTable

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | KEYS
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=3), max_leaves=12)
BLANKS = ("", " ", "\t", "{n}", "{n}    ", ' // note: {{}}, "x"{n}', "/* , }} ] */", " /* two{n}lines */ ")
ENTRY = {"command": "/opt/t", "args": ["--data-dir", "/a b/中"]}


@st.composite
def documents(draw: st.DrawFn, root: Any) -> str:
    """A value written by somebody with a taste of their own: comments, trailing commas, blanks, line ends."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))

    def blank() -> str:
        return draw(st.sampled_from(BLANKS)).format(n=newline)

    def written(value: Any) -> str:
        if isinstance(value, dict):
            parts = [
                json.dumps(k, ensure_ascii=draw(st.booleans())) + blank() + ":" + blank() + written(v)
                for k, v in value.items()
            ]
        elif isinstance(value, list):
            parts = [written(v) for v in value]
        else:
            return json.dumps(value, ensure_ascii=False)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        body = ",".join(blank() + part + blank() for part in parts)
        if parts and draw(st.booleans()):
            body += "," + blank()
        return opening + body + (blank() if not parts else "") + closing

    return blank() + written(root) + blank()


OBJECTS = st.dictionaries(KEYS.filter(lambda k: k not in ("servers", "t")), VALUES, max_size=4)


@st.composite
def configurations(draw: st.DrawFn) -> str:
    """A document that may have other servers, but not ours."""
    root = draw(OBJECTS)
    if draw(st.booleans()):
        root["servers"] = draw(OBJECTS)
    return draw(documents(root))


def is_put_into(part: str, whole: str) -> bool:
    """Whether `whole` is `part` with characters put in at no more than two places."""
    start = next((n for n, (a, b) in enumerate(zip(part, whole, strict=False)) if a != b), len(part))
    rest, grown = part[start:], whole[start:]
    end = next((n for n, (a, b) in enumerate(zip(rest[::-1], grown[::-1], strict=False)) if a != b), len(rest))
    middle = rest[: len(rest) - end]
    return len(grown) >= len(rest) and middle in grown[: len(grown) - end]


@given(configurations())
def test_our_entry_is_put_in_and_everything_else_stays_byte_for_byte(text: str) -> None:
    before = jsonc.parse(text)
    after = splicing.put(text, ("servers", "t"), ENTRY)
    grown = jsonc.parse(after)
    assert before is not None
    assert grown is not None
    assert grown.value == {**before.value, "servers": {**before.value.get("servers", {}), "t": ENTRY}}
    assert is_put_into(text, after)
    assert splicing.put(after, ("servers", "t"), ENTRY) == after


@given(configurations())
def test_taking_our_entry_out_gives_back_the_text_but_for_blanks_in_an_object_that_is_empty_again(text: str) -> None:
    edit = JsonObject(("servers", "t"), ENTRY)
    back = edit.retract(edit.apply(text), text)
    before, after = jsonc.parse(text), jsonc.parse(back)
    assert before is not None
    assert after is not None
    assert after.value == before.value
    servers = jsonc.find(before, ("servers",))
    if before.items and (servers is None or servers.items):
        assert back == text


@given(configurations(), st.dictionaries(KEYS, SCALARS, min_size=1, max_size=3))
def test_what_others_write_into_our_entry_stays_when_we_update_it(text: str, theirs: dict[str, Any]) -> None:
    theirs = {key: value for key, value in theirs.items() if key not in ENTRY}
    grown = splicing.put(text, ("servers", "t"), {**theirs, "command": "/old"})
    found = jsonc.find(jsonc.parse(JsonObject(("servers", "t"), ENTRY).apply(grown)), ("servers", "t"))
    assert found is not None
    assert found.value == {**theirs, **ENTRY}


@given(configurations(), VALUES)
def test_a_hook_comes_and_goes_beside_the_hooks_of_others(text: str, other: Any) -> None:
    text = splicing.append(text, ("hooks", "start"), {"other": other, "n": 1})
    edit = JsonElement(
        ("hooks", "start"), {"command": "tetrarium hook session-start --ide x"}, " hook session-start --ide x"
    )
    after = edit.apply(text)
    assert edit.apply(after) == after
    assert is_put_into(text, after)
    assert edit.retract(after, text) == text


TOML_KEYS = st.from_regex(r"[a-z]{1,5}", fullmatch=True).filter(lambda k: k not in ("servers", "t"))
TOML_VALUES = (
    st.integers(-99, 99).map(str)
    | st.booleans().map(lambda b: str(b).lower())
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6).map(
        lambda s: json.dumps(s, ensure_ascii=False)
    )
    | st.just("[\n  1, # one\n  2,\n]")
    | st.just('"""\n[not.a.table]\n"""')
)


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """Root keys and tables, with comments and blank lines between them, in either kind of line end."""
    lines = []
    for name in [None, *draw(st.lists(TOML_KEYS, unique=True, max_size=3))]:
        lines += (
            [f"\n# about {name}", f"[{name}]  # {{}}" if draw(st.booleans()) else f"[ servers . {name} ]"]
            if name
            else []
        )
        for key in draw(st.lists(TOML_KEYS, unique=True, max_size=3)):
            lines.append(
                f"{key}{'_' if name is None else ''}={draw(TOML_VALUES)}{draw(st.sampled_from(['', '   # note']))}"
            )
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n# the end\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(toml_files())
def test_our_table_is_put_at_the_end_and_taken_out_to_the_same_text(text: str) -> None:
    before = toml.parse(text)
    after = toml.put(text, ("servers", "t"), ENTRY)
    assert after.startswith(text)
    assert toml.parse(after) == {**before, "servers": {**before.get("servers", {}), "t": ENTRY}}
    assert toml.put(after, ("servers", "t"), ENTRY) == after
    assert TomlTable(("servers", "t"), ENTRY).retract(after, text) == text
    changed = toml.put(after, ("servers", "t"), {"command": "/new"})
    assert changed == after.replace('"/opt/t"', '"/new"')


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_instructions_come_and_go_without_a_trace(text: str, newline: str) -> None:
    text = text.replace("\r", "").replace("\n", newline)
    block = Block("Recall first.\nStore what was learnt.")
    after = block.apply(text)
    assert after.startswith(text)
    assert after.count(BEGIN) == 1
    assert block.apply(after) == after
    assert block.retract(after, text) == text
    assert block.retract(after + "mine" + newline, text).endswith("mine" + newline)
