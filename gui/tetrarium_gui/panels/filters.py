"""Filters that are written into a search: `label:x category:decision since:7d project:*`. Pure.

A filter is a key, a colon and a value, the value in quotes where it has blanks; the keys may be Chinese, and so may the
categories. What is no filter stays a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tetrarium.model import CATEGORIES
from tetrarium_gui.words import catalogue, t
from tetrarium_gui.worker import EVERYWHERE

KEYS = ("category", "label", "keyword", "project", "since", "until", "state", "client")
"""In the order in which they are offered."""
SEVERAL = ("category", "label", "keyword")
"""Keys that may be given more than once: any of the categories, all of the labels and keywords."""
STATES = ("live", "inhibited", "all", "quarantined")
SPANS = {"h": 1, "d": 24, "w": 168, "m": 730, "y": 8766, "时": 1, "天": 24, "周": 168, "月": 730, "年": 8766}
"""Hours of a unit."""
OFFERED_SPANS = ("24h", "7d", "30d", "1y")

_TOKEN = re.compile(r'(?<!\S)(?P<key>[^\W\d_]+)[:：](?P<value>"[^"]*"|“[^”]*”|[^\s"“]+)(?=\s)')
_UNFINISHED = re.compile(r'(?<!\S)(?P<key>[^\W\d_]+)[:：](?P<value>["“]?[^\s"”“]*)$')


@dataclass(frozen=True, slots=True)
class Filter:
    """One chip."""

    key: str
    value: str

    def words(self) -> str:
        """What its chip says."""
        return f"{t(f'filter.{self.key}')}: {shown_value(self.key, self.value)}"


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: words, and what narrows them."""

    words: str
    filters: tuple[Filter, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.filters)

    def arguments(self, now: datetime | None = None) -> dict[str, Any]:
        """As `search` of the engine takes them."""
        given: dict[str, Any] = {"project": EVERYWHERE}
        for one in self.filters:
            if one.key in ("since", "until"):
                given[one.key] = moment(one.value, now or datetime.now(UTC))
            elif one.key == "label":
                given["labels"] = (*given.get("labels", ()), one.value)
            elif one.key == "keyword":
                given["keywords"] = (*given.get("keywords", ()), one.value)
            elif one.key == "category":
                given["categories"] = (*given.get("categories", ()), one.value)
            else:
                given["stored_by" if one.key == "client" else one.key] = one.value
        return given

    def project(self) -> str:
        """The project that a recall is asked in: the only filter that an agent has."""
        return next((one.value for one in self.filters if one.key == "project"), EVERYWHERE)


def taken(text: str, *, ended: bool = False) -> tuple[str, tuple[Filter, ...]]:
    """The words of a text without its finished filters, and these. A filter is finished by the blank behind it;
    ended: by the end of the text too."""
    found: list[Filter] = []

    def take(match: re.Match[str]) -> str:
        one = read(match["key"], match["value"])
        if one is None:
            return match.group()
        found.append(one)
        return ""

    rest = _TOKEN.sub(take, f"{text} " if ended else text)
    return (re.sub(r"\s+", " ", rest).lstrip() if found else text), tuple(found)


def unfinished(text: str) -> tuple[str, str] | None:
    """The key and the beginning of the value that stand at the end of a text; None where none does."""
    match = _UNFINISHED.search(text)
    key = _key(match["key"]) if match else ""
    return (key, match["value"].strip('"“')) if match and key else None


def read(key: str, value: str) -> Filter | None:
    """The filter of a key and a value as they were written, None when they are none."""
    known, plain = _key(key), value.strip('"“”')
    if not known or not plain:
        return None
    if known == "category":
        plain = next((c.value for c in CATEGORIES if plain.casefold() in _names("category", c.value)), "")
    elif known == "state":
        plain = next((s for s in STATES if plain.casefold() in _names("filter", s)), "")
    elif known in ("since", "until") and moment(plain, datetime.now(UTC)) is None:
        plain = ""
    return Filter(known, plain) if plain else None


def added(filters: tuple[Filter, ...], one: Filter) -> tuple[Filter, ...]:
    """With one more; it takes the place of another one of its key where that can be given only once."""
    kept = tuple(f for f in filters if f != one and (f.key != one.key or one.key in SEVERAL))
    return (*kept, one)


def moment(value: str, now: datetime) -> datetime | None:
    """The moment that a value names: a span back from now (7d, 24h), or a date; None when it is neither."""
    if match := re.fullmatch(r"(\d{1,4})([hdwmy时天周月年])", value.strip().casefold()):
        return now - timedelta(hours=int(match[1]) * SPANS[match[2]])
    text = value.strip()
    text = f"{text}-01" if re.fullmatch(r"\d{4}-\d{2}", text) else text
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        return None
    return told.astimezone(UTC) if 1970 <= told.year <= 9000 else None


def shown_value(key: str, value: str) -> str:
    """A value in the reader's words."""
    if key == "category":
        return t(f"category.{value}")
    if key == "state":
        return t(f"filter.{value}")
    return t("filter.everywhere") if value == EVERYWHERE else value


def _key(written: str) -> str:
    name = written.casefold()
    return next((key for key in KEYS if name in _names("filter", key)), "")


def _names(section: str, name: str) -> set[str]:
    """A name, and what it is called in either language."""
    return {name, *(text.casefold() for text in catalogue()[f"{section}.{name}"])}
