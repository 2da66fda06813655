"""JSON as people write it – comments, trailing commas – read with the place of every part.

The libraries looked at either print a document anew or need another runtime (decision 0040).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tetrarium.connect.refusal import Broken

DEPTH = 100
"""Containers in containers; more than any configuration has, less than Python's stack."""

_SKIP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"true\b|false\b|null\b|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")

Path = tuple[str, ...]
"""Keys from the root to a value."""


@dataclass(frozen=True, slots=True)
class Item:
    """A member of an object or an element of an array: `start` at its key or value, `comma` at the one after it."""

    key: str | None
    start: int
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value: its Python form, where it stands, and its parts if it is an object or array."""

    value: Any
    start: int
    end: int
    items: tuple[Item, ...] = ()

    def member(self, key: str) -> Item | None:
        return next((item for item in self.items if item.key == key), None)


def parse(text: str) -> Node | None:
    """The document; None when there is none, only blanks and comments. Raises Broken with line and column."""
    start = _after_blanks(text, 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    rest = _after_blanks(text, node.end)
    if rest != len(text):
        raise broken(text, rest, "something stands after the end of the document")
    return node


def find(root: Node | None, path: Path) -> Node | None:
    """The value at a path, None when there is none."""
    node = root
    for key in path:
        item = node.member(key) if node is not None and isinstance(node.value, dict) else None
        node = item.value if item else None
    return node


def broken(text: str, place: int, why: str) -> Broken:
    """The refusal for a place in a text, with its line and column (characters, from 1)."""
    line = text.count("\n", 0, place) + 1
    return Broken(line, place - (text.rfind("\n", 0, place) + 1) + 1, why)


def _value(text: str, start: int, depth: int) -> Node:
    if depth > DEPTH:
        raise broken(text, start, f"more than {DEPTH} objects and arrays stand in each other")
    if text.startswith(("{", "["), start):
        return _container(text, start, depth)
    if text.startswith('"', start):
        word, end = _string(text, start)
        return Node(word, start, end)
    if found := _SCALAR.match(text, start):
        return Node(json.loads(found.group()), start, found.end())
    raise broken(text, start, "a value is expected here" if start < len(text) else "the document ends too early")


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: list[Item] = []
    here = _after_blanks(text, start + 1)
    while not text.startswith(close, here):
        if items and items[-1].comma is None:
            raise broken(text, here, f"',' or '{close}' is expected here")
        item = _item(text, here, is_object, depth)
        items.append(item)
        here = _after_blanks(text, item.value.end if item.comma is None else item.comma + 1)
    value = {i.key: i.value.value for i in items} if is_object else [i.value.value for i in items]
    return Node(value, start, here + 1, tuple(items))


def _item(text: str, start: int, is_object: bool, depth: int) -> Item:
    key, here = None, start
    if is_object:
        if not text.startswith('"', start):
            raise broken(text, start, "a key in double quotes or '}' is expected here")
        key, here = _string(text, start)
        here = _after_blanks(text, here)
        if not text.startswith(":", here):
            raise broken(text, here, "':' is expected here")
        here = _after_blanks(text, here + 1)
    value = _value(text, here, depth + 1)
    comma = _after_blanks(text, value.end)
    return Item(key, start, value, comma if text.startswith(",", comma) else None)


def _string(text: str, start: int) -> tuple[str, int]:
    found = _STRING.match(text, start)
    if found is None:
        raise broken(text, start, "this string does not end on its line")
    try:
        return str(json.loads(found.group())), found.end()
    except ValueError:
        raise broken(text, start, "this string has an escape that JSON does not know") from None


def _after_blanks(text: str, start: int) -> int:
    found = _SKIP.match(text, start)
    end = found.end() if found else start
    if text.startswith("/*", end):
        raise broken(text, end, "this comment does not end")
    return end
