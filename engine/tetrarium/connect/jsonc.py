"""JSON as people write it – comments, trailing commas – read with the place of every part, and edited by insertion.

An edit puts characters in or takes characters out at one place; everything else stays as it was, byte for byte.
The libraries looked at either print the document anew or need another runtime (decision 0040).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tetrarium.connect.refusal import Broken

DEPTH = 100
"""Containers in containers; more than any configuration has, less than Python's stack."""

_SKIP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_LINE_REST = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
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


def put(text: str, path: Path, value: Any) -> str:
    """Set the value at a path, making the objects on the way; a text that says so already comes back as it is.

    Raises Broken when the text is not JSON, or when something on the way is no object or stands twice.
    """
    root = parse(text)
    if root is None:
        return text + _new_document(text, path, value)
    node, depth = root, 0
    for key in path:
        _must_be(text, node, dict, path[:depth])
        item = _only(text, node, key)
        if item is None:
            return _add(text, node, key, _nested(path[depth + 1 :], value))
        node, depth = item.value, depth + 1
    if node.value == value and type(node.value) is type(value):
        return text
    return text[: node.start] + _rendered(value, _indent_of(text, node.start), _Style.of(text)) + text[node.end :]


def append(text: str, path: Path, value: Any) -> str:
    """Add an element at the end of the array at a path, making it and the objects on the way. Raises Broken."""
    node = find(parse(text), path)
    if node is None:
        return put(text, path, [value])
    _must_be(text, node, list, path)
    return _add(text, node, None, value)


def take(text: str, path: Path, index: int | None = None) -> str:
    """Take out the member at a path, or the element `index` of the array there, with its comma and its line.

    A text that has none comes back as it is. Raises Broken when the text is not JSON.
    """
    root = parse(text)
    node = find(root, path if index is not None else path[:-1])
    if node is None or not node.items:
        return text
    places = [n for n, item in enumerate(node.items) if (n == index if index is not None else item.key == path[-1])]
    return _without(text, node, places[0]) if places else text


def broken(text: str, place: int, why: str) -> Broken:
    """The refusal for a place in a text, with its line and column (characters, from 1)."""
    line = text.count("\n", 0, place) + 1
    return Broken(line, place - (text.rfind("\n", 0, place) + 1) + 1, why)


# --- reading ----------------------------------------------------------------------------------------


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


def _only(text: str, node: Node, key: str) -> Item | None:
    found = [item for item in node.items if item.key == key]
    if len(found) > 1:
        raise broken(text, found[1].start, f'the key "{key}" stands twice; nobody can tell which one counts')
    return found[0] if found else None


def _must_be(text: str, node: Node, kind: type, path: Path) -> None:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "an array"
        raise broken(text, node.start, f"{'.'.join(path) or 'the document'} is not {wanted}")


# --- writing ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Style:
    """How the file writes: one step of indentation, and the end of a line."""

    step: str
    newline: str

    @staticmethod
    def of(text: str) -> _Style:
        """As the first indented line has it; two blanks and "\\n" when no line tells."""
        indented = re.search(r'^([ \t]+)(?=["{\[}\]])', text, re.MULTILINE)
        return _Style(indented.group(1) if indented else "  ", "\r\n" if "\r\n" in text else "\n")


def _new_document(text: str, path: Path, value: Any) -> str:
    style = _Style.of(text)
    glue = style.newline if text and not text.endswith("\n") else ""
    return glue + _rendered(_nested(path, value), "", style) + style.newline


def _add(text: str, node: Node, key: str | None, value: Any) -> str:
    """The text with one more item at the end of a container, in the manner of its neighbours."""
    style = _Style.of(text)
    in_lines = "\n" in text[node.start : node.end] or not node.items
    outer = _indent_of(text, node.start)
    inner = _indent_of(text, node.items[-1].start) if node.items and in_lines else outer + style.step
    word = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if not in_lines:
        last = node.items[-1]
        comma, place = ("", last.comma + 1) if last.comma is not None else (",", last.value.end)
        return f"{text[:place]}{comma} {word}{json.dumps(value, ensure_ascii=False)}{text[place:]}"
    line = style.newline + inner + word + _rendered(value, inner, style)
    if not node.items:
        end = "" if "\n" in text[node.start : node.end] else style.newline + outer
        return text[: node.start + 1] + line + end + text[node.start + 1 :]
    return _after_last(text, node.items[-1], line)


def _after_last(text: str, last: Item, line: str) -> str:
    """`line` put behind the last item and what follows it on its line; with a comma between, and one at the end
    where the file likes one there."""
    if last.comma is not None:
        place = _line_end(text, last.comma + 1)
        return text[:place] + line + "," + text[place:]
    place = _line_end(text, last.value.end)
    return text[: last.value.end] + "," + text[last.value.end : place] + line + text[place:]


def _line_end(text: str, start: int) -> int:
    """Behind the comments that follow on the same line, if the line ends there; else `start`."""
    found = _LINE_REST.match(text, start)
    end = found.end() if found else start
    return end if text.startswith(("\n", "\r\n"), end) else start


def _without(text: str, node: Node, index: int) -> str:
    item = node.items[index]
    start = _line_start(text, item.start, node.start + 1)
    if item.comma is not None:
        return text[:start] + text[item.comma + 1 :]
    rest = text[:start] + text[item.value.end :]
    before = node.items[index - 1].comma if index else None
    if before is None:
        # It was the only one: a line that was made for it goes with it.
        return _folded(rest, node.start, start)
    return rest[:before] + rest[before + 1 :]


def _folded(text: str, opening: int, place: int) -> str:
    """Close up `{ … }` when nothing but blanks is left inside."""
    close = re.compile(r"[ \t\r\n]*(?=[}\]])").match(text, place)
    return text[: opening + 1] + text[close.end() :] if close and not text[opening + 1 : place].strip() else text


def _line_start(text: str, place: int, least: int) -> int:
    """The start of the blanks before a place, with the line's end before them."""
    while place > least and text[place - 1] in " \t":
        place -= 1
    if place > least and text[place - 1] == "\n":
        place -= 1
        if place > least and text[place - 1] == "\r":
            place -= 1
    return place


def _indent_of(text: str, place: int) -> str:
    """The blanks at the start of the line of a place."""
    start = text.rfind("\n", 0, place) + 1
    return text[start:place][: len(text[start:place]) - len(text[start:place].lstrip(" \t"))]


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _rendered(value: Any, indent: str, style: _Style) -> str:
    return "".join(_pieces(value, indent, style))


def _pieces(value: Any, indent: str, style: _Style) -> Iterator[str]:
    """Objects, and arrays of objects, a line each; lists of words on one line."""
    deep = style.newline + indent + style.step
    if isinstance(value, dict) and value:
        for number, (key, part) in enumerate(value.items()):
            yield ("," if number else "{") + deep + json.dumps(key, ensure_ascii=False) + ": "
            yield from _pieces(part, indent + style.step, style)
        yield style.newline + indent + "}"
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for number, part in enumerate(value):
            yield ("," if number else "[") + deep
            yield from _pieces(part, indent + style.step, style)
        yield style.newline + indent + "]"
    else:
        yield json.dumps(value, ensure_ascii=False)
