"""Arguments of a tool: one flat declaration gives the JSON schema and the check.

We check ourselves, because a model reads the complaint: it must name the argument and say what to do.
Harmless other forms are taken: `"500"` for a number, `"a, b"` for a list, `null` for "not given".
"""

from __future__ import annotations

import copy
import difflib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal

from tetrarium.errors import InvalidInput

Kind = Literal["text", "texts", "whole", "number", "flag", "moment"]

_JSON_TYPES: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "moment": {"type": "string"},
}
_SEPARATORS = re.compile(r"[,;\n，；、]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument. `least` and `most` bound a number, or the count of a list; `ends_day` reads a bare date as its end;
    `listed`: agents are told of it, else it is for scripts and for those who know; `told`: the schema lists its choices.
    `whole`: the entries of a list are sentences, so that one text is one entry and not cut at its commas; `words`: texts
    that a moment may be instead."""

    name: str
    kind: Kind
    about: str
    required: bool = False
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    ends_day: bool = False
    whole: bool = False
    words: tuple[str, ...] = ()
    listed: bool = True
    told: bool = True

    def schema(self) -> dict[str, Any]:
        """Its JSON schema: one type, no reference, no alternative."""
        schema = copy.deepcopy(_JSON_TYPES[self.kind])
        if self.kind != "texts":  # the length of a list is checked, but not worth a model's attention
            for word, bound in (("minimum", self.least), ("maximum", self.most)):
                if bound is not None:
                    schema[word] = bound
        if self.choices and self.told:
            (schema["items"] if self.kind == "texts" else schema)["enum"] = list(self.choices)
        return schema | {"description": self.about}


def input_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    properties = {a.name: a.schema() for a in arguments if a.listed}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [a.name for a in arguments if a.required]:
        schema["required"] = required
    return schema


def read(arguments: Sequence[Argument], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments as Python values: str, tuple of str, int, float, bool, aware datetime; what was not given is absent.

    Raises InvalidInput that names the argument.
    """
    known = {a.name: a for a in arguments}
    values: dict[str, Any] = {}
    for name, value in (given or {}).items():
        if name not in known:
            raise InvalidInput(
                f"There is no argument '{visible(str(name))[:60]}'.", advice=nearest(str(name), list(known))
            )
        if value is not None:
            values[name] = _READERS[known[name].kind](known[name], value)
    for argument in arguments:
        if argument.required and argument.name not in values:
            raise InvalidInput(f"The argument '{argument.name}' is missing.", advice=argument.about)
    return values


def visible(text: str) -> str:
    """The text with everything shown that would act on a terminal or hide: controls, bidi marks, half surrogates."""
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def from_system(text: str) -> str:
    """A word of the command line or the environment, read as UTF-8 whatever the locale says."""
    try:
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def nearest(name: str, known: list[str]) -> str:
    """Advice after a name that does not exist."""
    if not known:
        return "It takes no arguments."
    close = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Use {', '.join(known)}."


_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def _wrong(argument: Argument, value: Any, wanted: str) -> InvalidInput:
    shown = visible(repr(value) if not isinstance(value, str) else value)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    return InvalidInput(f"'{argument.name}' cannot be {shown or 'empty'}.", advice=f"Give {wanted}.")


def _text(argument: Argument, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _wrong(argument, value, "one text")
    text = str(value)
    if half := _SURROGATE.search(text):
        raise InvalidInput(
            f"'{argument.name}' holds \\u{ord(half[0]):04x} at position {half.start()}, half of a character that has no other half.",
            advice="Send the whole character or leave it out.",
        )
    if argument.choices:
        return _choice(argument, text)
    return text


def _choice(argument: Argument, text: str) -> str:
    choice = text.strip().lower()
    if choice not in argument.choices:
        raise _wrong(argument, text, f"one of {', '.join(argument.choices)}")
    return choice


def _texts(argument: Argument, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = _split(value, whole=argument.whole)
    if not isinstance(value, (list, tuple)):
        raise _wrong(argument, value, "a list of texts")
    one = Argument(name=argument.name, kind="text", about=argument.about, choices=argument.choices)
    texts = tuple(text for item in value if (text := _text(one, item).strip()))
    if argument.most is not None and len(texts) > argument.most:
        raise InvalidInput(f"'{argument.name}' has {len(texts)} entries.", advice=f"Give at most {argument.most:g}.")
    return texts


def _split(text: str, *, whole: bool) -> list[Any]:
    """A list written as one text: as JSON, or with commas; sentences one a line, ids with commas as well."""
    if text.lstrip().startswith("["):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = None
        if isinstance(listed, list):
            return listed
    if whole and " " in text.strip().replace(", ", ","):
        return text.splitlines()
    return _SEPARATORS.split(text)


def _number(argument: Argument, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(argument, value, "a number")
    if (argument.least is not None and number < argument.least) or (
        argument.most is not None and number > argument.most
    ):
        raise _wrong(argument, value, _range(argument))
    return number


def _range(argument: Argument) -> str:
    if argument.most is None:
        return f"{argument.least:g} or more"
    return (
        f"a number from {argument.least:g} to {argument.most:.0f}"
        if argument.most > 1
        else f"a number from {argument.least:g} to {argument.most:g}"
    )


def _whole(argument: Argument, value: Any) -> int:
    number = _number(argument, value)
    if number != int(number):
        raise _wrong(argument, value, "a whole number")
    return int(number)


def _flag(argument: Argument, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if (flag := _FLAGS.get(str(value).strip().lower())) is None:
        raise _wrong(argument, value, "true or false")
    return flag


def _moment(argument: Argument, value: Any) -> datetime | str:
    """An aware datetime in UTC; without an offset the time is this machine's local time, as a person would mean it."""
    text = _text(argument, value).strip()
    if text.lower() in argument.words:
        return text.lower()
    try:
        moment = datetime.fromisoformat(text)
        if argument.ends_day and len(text) <= len("2026-01-31"):
            moment = datetime.combine(moment.date() + timedelta(days=1), time(), moment.tzinfo)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise _wrong(argument, value, "a date or time such as 2026-01-31 or 2026-01-31T14:00:00+01:00") from None


_READERS = {"text": _text, "texts": _texts, "whole": _whole, "number": _number, "flag": _flag, "moment": _moment}
