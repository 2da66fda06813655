"""What the engine says, in the reader's language.

The engine says things in English, to agents, to the command line and to the window alike. A sentence is known here by its
own words with {} for its values – its template, as the code has it – so that nothing in the engine has to know of
languages, and what another program or an older version said is read too (decision 0078). A test finds every template in
the engine's code and holds `resources/translations/sentences.toml` complete.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache

from tetrarium.paths import resources
from tetrarium_gui.words import language

LONGEST = 2_000
"""Characters of what is looked up; longer texts hold somebody's words, not a sentence of ours."""
LEAST_LETTERS = 6
"""Letters that a template must have: with fewer it would fit anything."""

_END = re.compile(r"(?<=[.!?]) ")
_NUMBER = re.compile(r"^(undo|redo) of \d+(?=: )")
"""Rows of history have numbers for the engine; a person is told the words."""
_BACK = re.compile(r"^(?:undo|redo) of (?:\d+|\d+ entries): ")
_LIST = re.compile(r", | and |; ")


@dataclass(frozen=True, slots=True)
class _Template:
    """A sentence of the engine. piece: its longest part without a value; pattern: all of it."""

    piece: str
    pattern: re.Pattern[str]
    chinese: str


@lru_cache(maxsize=1)
def catalogue() -> dict[str, str]:
    """Template → Chinese."""
    rooms = tomllib.loads((resources() / "translations" / "sentences.toml").read_text("utf-8"))
    return {english: chinese for sentences in rooms.values() for english, chinese in sentences.items()}


def said(text: str) -> str:
    """A text of the engine in the reader's language: each sentence of it that is known, the others as they are."""
    if language() == "en" or not text or len(text) > LONGEST:
        return text
    return _told(text)


def done_words(summary: str) -> str:
    """A line of history in the reader's language: what was done, and the words of the memory as they are."""
    summary = _NUMBER.sub(r"\1", summary)
    if language() == "en":
        return summary
    return _heads().sub(_head, summary)


def back_words(summary: str) -> str:
    """What an undo or redo did, in the reader's language, without saying again that it was one."""
    return done_words(_BACK.sub("", summary))


def _told(text: str) -> str:
    if (whole := _matched(text)) is not None:
        return whole
    if ("; " in text or " and " in text) and (listed := _value(text)) != text:
        return listed
    ends = [match.start() for match in _END.finditer(text)]
    for end in reversed(ends):
        if (start := _matched(text[:end])) is not None:
            return start + _told(text[end + 1 :])
    if not ends:
        return text
    return f"{text[: ends[0]]} {_told(text[ends[0] + 1 :])}"  # a sentence that is not known stays as it is


def _matched(text: str) -> str | None:
    if (exact := catalogue().get(text)) is not None:
        return exact
    for template in _templates():
        if template.piece in text and (match := template.pattern.fullmatch(text)):
            return template.chinese.format(*map(_value, match.groups()))
    return None


def _value(value: str) -> str:
    """What stands in a sentence: a sentence itself, a list of such, or somebody's words, which stay."""
    if (known := _matched(value)) is not None:
        return known
    parts = [_matched(part) for part in _LIST.split(value)]
    return "、".join(filter(None, parts)) if None not in parts else value


@lru_cache(maxsize=1)
def _templates() -> tuple[_Template, ...]:
    """Those with values, the most telling first."""
    found = []
    for english, chinese in catalogue().items():
        pieces = english.split("{}")
        if len(pieces) > 1 and sum(map(str.isalpha, "".join(pieces))) >= LEAST_LETTERS:
            pattern = re.compile("(.*?)".join(map(re.escape, pieces)), re.DOTALL)
            found.append(_Template(max(pieces, key=len), pattern, chinese))
    return tuple(sorted(found, key=lambda template: -len(template.pattern.pattern)))


@lru_cache(maxsize=1)
def _heads() -> re.Pattern[str]:
    rooms = tomllib.loads((resources() / "translations" / "sentences.toml").read_text("utf-8"))
    known = sorted((name for name in rooms["history"] if "{" not in name), key=len, reverse=True)
    what = "|".join(map(re.escape, known))
    return re.compile(
        rf"(?P<before>^|; |: )(?:(?P<count>\d+) )?(?P<what>(?:{what})(?:, (?:{what}))*)(?P<of> of (?:\d+ entries|\d+))?(?=$| “|; |: )"
    )


def _head(match: re.Match[str]) -> str:
    words = "、".join(catalogue()[word] for word in match["what"].split(", "))
    of = re.sub("[^0-9]", "", match["of"] or "")
    count = f"{match['count']} 条" if match["count"] else ""
    return match["before"] + " ".join(filter(None, (words, of, count)))
