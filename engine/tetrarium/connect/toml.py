"""One table of a TOML file: added at its end, its values changed in place, taken out again; the rest stays byte for byte.

tomlkit changes values in place without touching the rest. A new table it would put among its relatives, and it
gives the comments below a table to that table; so tables are added and taken out by lines, and the standard
library's reader confirms each time that nothing else changed its meaning.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from tetrarium.connect.refusal import Broken, Refused

Path = tuple[str, ...]
"""Names from the root to a table."""

_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_HEADER = re.compile(r"[ \t]*\[")
_LONE = re.compile(r"(?<!\r)\n")
_SIMPLE = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> dict[str, Any]:
    """The document. Raises Broken with line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        why = _PLACE.sub("", str(error)).strip().rstrip(".")
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        raise Broken(line, column, why[:1].lower() + why[1:]) from None


def find(document: Mapping[str, Any], path: Path) -> Any:
    """The value at a path, None when there is none."""
    here: Any = document
    for key in path:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here


def put(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """Set values of the table at a path, making it at the end of the file; a text that says so comes back as it is.

    Raises Broken when the text is not TOML, Refused when the table cannot be added without rewriting others.
    """
    before = parse(text)
    found = find(before, path)
    if isinstance(found, dict):
        missing = {key: value for key, value in values.items() if found.get(key) != value}
        after = _edited(text, path, lambda table: table.update(missing)) if missing else text
    elif found is None:
        after = _appended(text, path, values)
    else:
        raise Refused(f"'{_name(path)}' is not a table.", advice="Nothing was changed; mend the file first.")
    wanted = _with(before, path, {**(found or {}), **values})
    return _confirmed(after, wanted)


def unset(text: str, path: Path, keys: Collection[str]) -> str:
    """Take values out of the table at a path, which stays. Raises as `put`."""
    found = find(parse(text), path)
    gone = [key for key in keys if isinstance(found, dict) and key in found]
    after = _edited(text, path, lambda table: [table.remove(key) for key in gone]) if gone else text
    left = {key: value for key, value in (found or {}).items() if key not in gone}
    return _confirmed(after, _with(parse(text), path, left)) if gone else text


def take(text: str, path: Path) -> str:
    """Take out the table at a path with its tables below; a text that has none comes back as it is. Raises as `put`."""
    before = parse(text)
    if find(before, path) is None:
        return text
    after = text
    for start, end in reversed(_spans(text, path)):
        after = after[:start] + after[end:]
    return _confirmed(after, _with(before, path, None))


def _edited(text: str, path: Path, edit: Callable[[Any], object]) -> str:
    """The text after an edit of an existing table in place."""
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for key in path:
            table = table[key]
        edit(table)
        after = tomlkit.dumps(document)
    except TOMLKitError as error:  # it reads a little less than the standard library
        raise Refused(f"The table '{_name(path)}' cannot be changed ({error}).", advice=_BY_HAND) from None
    # A value that is new comes with a bare line feed, whatever the file has.
    return _LONE.sub("\r\n", after) if "\r\n" in text and not _LONE.search(text) else after


def _appended(text: str, path: Path, values: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    table = tomlkit.table()
    for key, value in values.items():
        table[key] = value
    body = tomlkit.dumps(table).strip("\n").replace("\n", newline)
    return f"{text}{gap}[{_name(path)}]{newline}{body}{newline}"


def _spans(text: str, path: Path) -> list[tuple[int, int]]:
    """From each header of the table, or of one below it, to the end of its last line of content; a blank line that
    stands before goes too, comments behind stay."""
    lines = text.splitlines(keepends=True)
    places = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    spans = []
    for number, line in enumerate(lines):
        if _header(line)[: len(path)] != path:
            continue
        end = next((n for n in range(number + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
        while end > number + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        first = number - 1 if number and not lines[number - 1].strip() else number
        spans.append((places[first], places[end]))
    return spans


def _header(line: str) -> Path:
    """The path that a line opens as a table; () for any other line."""
    if not _HEADER.match(line):
        return ()
    try:
        here: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(here, dict) and here:
        key, here = next(iter(here.items()))
        path.append(key)
    return tuple(path)


def _with(document: Mapping[str, Any], path: Path, table: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of a document with the table at a path set, or left out (None) with what is empty then."""
    copy = dict(document)
    key, rest = path[0], path[1:]
    if rest:
        copy[key] = _with(copy.get(key, {}), rest, table)
        if table is None and not copy[key]:
            del copy[key]
    elif table is None:
        copy.pop(key, None)
    else:
        copy[key] = dict(table)
    return copy


_BY_HAND = "Nothing was changed; put the table in by hand (`tetrarium connect print` shows it)."


def _confirmed(text: str, wanted: Mapping[str, Any]) -> str:
    """The text, when it means what is wanted. Raises Refused."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        said = {}
    if said != wanted:
        raise Refused("The table cannot be changed without rewriting its neighbours.", advice=_BY_HAND)
    return text


def _name(path: Path) -> str:
    return ".".join(key if _SIMPLE.fullmatch(key) else tomlkit.item(key).as_string() for key in path)
