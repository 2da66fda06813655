"""What is changed in a configuration: our own part and nothing else, and how that is taken back.

`apply` puts it in; the same again changes nothing. `retract` takes it out of a text that others went on editing,
where `was` is the text before ours came: what stood in our place then stands there again.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from tetrarium.connect import jsonc, splicing, toml
from tetrarium.connect.refusal import Refused


class Edit(Protocol):
    """One part of ours in a file."""

    def apply(self, text: str) -> str:
        """The text with our part as it should be. Raises Broken or Refused."""

    def retract(self, text: str, was: str) -> str:
        """The text without our part, or with what it replaced. Raises Broken or Refused."""


@dataclass(frozen=True, slots=True)
class JsonObject:
    """Members of the object at a path; members that others gave it stay."""

    path: tuple[str, ...]
    values: dict[str, Any]

    def apply(self, text: str) -> str:
        found = jsonc.find(jsonc.parse(text), self.path)
        if found is None or not isinstance(found.value, dict):
            return splicing.put(text, self.path, self.values)
        for key, value in self.values.items():
            text = splicing.put(text, (*self.path, key), value)
        return text

    def retract(self, text: str, was: str) -> str:
        before = jsonc.find(jsonc.parse(was), self.path)
        if before is None:
            return _pruned(splicing.take(text, self.path), self.path, was)
        if not isinstance(before.value, dict):
            return splicing.put(text, self.path, before.value)
        for key in self.values:
            where = (*self.path, key)
            text = splicing.put(text, where, before.value[key]) if key in before.value else splicing.take(text, where)
        return text


@dataclass(frozen=True, slots=True)
class JsonElement:
    """One element of the array at a path; ours is the one in which `mark` occurs."""

    path: tuple[str, ...]
    value: dict[str, Any]
    mark: str

    def apply(self, text: str) -> str:
        if self._ours(text) == [self.value]:
            return text
        return splicing.append(self._without(text), self.path, self.value)

    def retract(self, text: str, was: str) -> str:
        text = self._without(text)
        for value in self._ours(was):
            text = splicing.append(text, self.path, value)
        return _pruned(text, (*self.path, ""), was)

    def _places(self, text: str) -> list[int]:
        found = jsonc.find(jsonc.parse(text), self.path)
        if found is None:
            return []
        return [n for n, item in enumerate(found.items) if self.mark in json.dumps(item.value.value)]

    def _ours(self, text: str) -> list[Any]:
        found = jsonc.find(jsonc.parse(text), self.path)
        return [found.items[n].value.value for n in self._places(text)] if found else []

    def _without(self, text: str) -> str:
        for place in reversed(self._places(text)):
            text = splicing.take(text, self.path, place)
        return text


@dataclass(frozen=True, slots=True)
class TomlTable:
    """Values of the table at a path; values that others gave it stay."""

    path: tuple[str, ...]
    values: dict[str, Any]

    def apply(self, text: str) -> str:
        return toml.put(text, self.path, self.values)

    def retract(self, text: str, was: str) -> str:
        before = toml.find(toml.parse(was), self.path)
        if before is None:
            return _as_ended(toml.take(text, self.path), was)
        text = toml.put(text, self.path, {key: before[key] for key in self.values if key in before})
        return toml.unset(text, self.path, [key for key in self.values if key not in before])


BEGIN = "<!-- tetrarium:begin (written by 'tetrarium connect --instructions'; --undo takes it out) -->"
END = "<!-- tetrarium:end -->"
_BLOCK = re.compile(r"<!-- tetrarium:begin\b[^\r\n]*-->.*?<!-- tetrarium:end -->(?:\r?\n)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between two markers in a text file; `head` opens a file that was empty."""

    body: str
    head: str = ""

    def apply(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        block = "\n".join((BEGIN, self.body.strip("\n"), END, "")).replace("\n", newline)
        found = self._found(text)
        if found is not None:
            return text[: found.start()] + block + text[found.end() :]
        if not text.strip():
            return text + self.head.replace("\n", newline) + block
        return text + ("" if text.endswith("\n") else newline) + newline + block

    def retract(self, text: str, was: str) -> str:
        found, before = self._found(text), self._found(was)
        if found is None:
            return text
        if before is not None:
            return text[: found.start()] + before.group() + text[found.end() :]
        above = re.sub(r"\r?\n\Z", "", text[: found.start()]) if was.strip() else text[: found.start()]
        left = above + text[found.end() :]
        return "" if left == self.head else _as_ended(left, was)

    @staticmethod
    def _found(text: str) -> re.Match[str] | None:
        found = list(_BLOCK.finditer(text))
        if len(found) > 1 or text.count("<!-- tetrarium:") != 2 * len(found):
            raise Refused(
                "The markers of the instructions do not pair up.",
                advice="Nothing was changed; remove the markers first.",
            )
        return found[0] if found else None


KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (JsonObject, JsonElement, TomlTable, Block)}


def as_record(edit: Edit) -> dict[str, Any]:
    """The edit as JSON can hold it."""
    return {"kind": type(edit).__name__, **asdict(edit)}  # type: ignore[call-overload]  # every kind is a dataclass


def from_record(record: dict[str, Any]) -> Edit:
    """The edit of a record."""
    fields = {key: tuple(value) if key == "path" else value for key, value in record.items() if key != "kind"}
    edit: Edit = KINDS[record["kind"]](**fields)
    return edit


def _as_ended(text: str, was: str) -> str:
    """`was` where only a line end, which came with ours, tells the two apart."""
    return was if text.rstrip("\r\n") == was.rstrip("\r\n") else text


def _pruned(text: str, path: tuple[str, ...], was: str) -> str:
    """Without the containers on the way to `path` that are empty now and were not there before."""
    for length in range(len(path) - 1, 0, -1):
        above = path[:length]
        found = jsonc.find(jsonc.parse(text), above)
        if found is None or found.items or jsonc.find(jsonc.parse(was), above) is not None:
            break
        text = splicing.take(text, above)
    return text
