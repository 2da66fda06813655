"""The catalogue: both languages whole, the same places for values, no text beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from tetrarium.privacy import rules
from tetrarium.service import auditor
from tetrarium_gui import sentences, words

ROOM = Path(__file__).resolve().parents[2] / "gui" / "tetrarium_gui"
SHOWING = {
    "setText", "setToolTip", "setStatusTip", "setPlaceholderText", "setWindowTitle", "setAccessibleName", "addAction",
    "addMenu", "addTab", "setLabel", "QPushButton", "QCheckBox", "QLabel", "PlainLabel", "EmptyState", "QAction",
    "QDockWidget", "Notice", "tell", "drawText", "setTabText", "setHeaderLabels", "setTitle", "setSpecialValueText",
}  # fmt: skip
"""Calls that show a text to a person."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(ROOM.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def names_in_the_code() -> tuple[set[str], set[str]]:
    """Names that are written out, and the beginnings of those that are put together. A name may reach `t` through a
    function of ours, so every text that looks like a name of a section counts."""
    whole, starts = set(), set()
    sections = {name.split(".")[0] for name in words.catalogue()}
    for _, tree in modules():
        parts = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                if (
                    re.fullmatch(r"[a-z]+\.(?!ini$|png$)[a-z_0-9]+", node.value)
                    and node.value.split(".")[0] in sections
                ):
                    whole.add(node.value)
            elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                start = str(node.values[0].value)
                if "." in start and start.split(".")[0] in sections:
                    starts.add(start)
    return whole, starts


def test_every_text_is_there_in_both_languages_with_the_same_places_for_values() -> None:
    for name, texts in words.catalogue().items():
        assert len(texts) in (2, 3), name
        assert all(text.strip() for text in texts), name
        places = [{field for _, field, _, _ in Formatter().parse(text) if field} for text in texts]
        assert places.count(places[0]) == len(places), name
        assert len(texts) == 2 or "count" in places[0], name


def test_chinese_sentences_have_the_full_width_marks_of_chinese() -> None:
    han = "\u3400-\u9fff"
    texts = [texts[-1] for texts in words.catalogue().values()] + list(sentences.catalogue().values())
    spared = r"\(&.\)|\(\*\.[^)]*\)|`[^`]*`|(?:标签|关键词|类别|自|项目|状态|客户端):(?=x|决定|7天|全部)"  # keys, files, filters
    plain = [re.sub(spared, "", text) for text in texts]
    assert [text for text in plain if re.search(rf"[{han}][,:;()?!]|[,:;()?!] ?[{han}]", text)] == []


def test_every_name_in_the_code_is_in_the_catalogue_and_every_text_is_used() -> None:
    whole, starts = names_in_the_code()
    known = set(words.catalogue())
    assert whole - known == set()
    used = whole | {name for name in known if any(name.startswith(start) for start in starts)}
    assert known - used == set()


def test_no_text_is_shown_that_is_not_in_the_catalogue() -> None:
    loose = [
        f"{path.name}:{node.lineno} {argument.value!r}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) in SHOWING
        for argument in node.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and re.search(r"[A-Za-z]{2}", argument.value)
        and argument.value not in words.catalogue()
    ]
    assert loose == []


def test_one_and_many_are_told_apart_and_unknown_names_are_refused() -> None:
    words.set_language("en")
    assert words.t("status.memories", count=1) == "1 memory"
    assert words.t("status.memories", count=0) == "0 memories"
    words.set_language("zh")
    try:
        assert words.t("status.memories", count=12) == "12 条记忆"
    finally:
        words.set_language("en")
    with pytest.raises(KeyError):
        words.t("status.nothing")


def test_every_verb_of_the_audit_and_every_kind_of_secret_has_words() -> None:
    noted = {f"verb.{verb}" for verb in auditor.READS | auditor.WRITES}
    assert {name for name in words.catalogue() if name.startswith("verb.")} == noted
    kinds = {rule.kind for rule in (*rules.RULES, *rules.NAMED, rules.MAIL)} | {"private key"}
    assert {f"secret.{kind.lower().replace(' ', '_').replace('-', '_')}" for kind in kinds} == {
        name for name in words.catalogue() if name.startswith("secret.")
    }


def test_untrusted_text_meets_no_widget_that_reads_markup() -> None:
    """Rich text is asked for nowhere; labels are made by PlainLabel, which reads none."""
    rich = {"setHtml", "insertHtml", "appendHtml", "setMarkdown", "toHtml", "QTextBrowser", "QTextEdit", "QMessageBox"}
    found = [
        f"{path.name}:{node.lineno} {called(node)}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (called(node) in rich or (called(node) == "QLabel" and path.name != "parts.py"))
    ]
    assert found == []


def test_tooltips_of_untrusted_text_cannot_be_read_as_markup() -> None:
    """Qt guesses whether a tooltip is rich text: what is not from the catalogue goes through `plain_tip`."""
    found = [
        f"{path.name}:{node.lineno} {ast.unparse(node.args[-1])}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and called(node) == "setToolTip"
        and not (isinstance(node.args[-1], ast.Call) and called(node.args[-1]) in ("t", "plain_tip"))
    ]
    assert found == []
