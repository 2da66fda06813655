"""Edits of JSON as people write it: characters are put in or taken out at one place, everything else stays as it was.

What is put in looks like its neighbours: their indentation, their line ends, their taste in trailing commas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tetrarium.connect.jsonc import Item, Node, Path, broken, find, parse

_LINE_REST = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")


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


def _only(text: str, node: Node, key: str) -> Item | None:
    found = [item for item in node.items if item.key == key]
    if len(found) > 1:
        raise broken(text, found[1].start, f'the key "{key}" stands twice; nobody can tell which one counts')
    return found[0] if found else None


def _must_be(text: str, node: Node, kind: type, path: Path) -> None:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "an array"
        raise broken(text, node.start, f"{'.'.join(path) or 'the document'} is not {wanted}")


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
