"""What a person does not want stored, whoever asks: texts, topics, folders, clients. Pure.

A pattern is text with * for anything, whatever the case – not a regular expression, so that no list of a person can
make a store slow. A topic is words that must all be in a memory, in any form that search would find.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tetrarium.errors import InvalidInput
from tetrarium.indexing.tokens import fold, tokenize

KINDS = ("pattern", "topic", "folder", "client")

LONGEST = 200
"""Characters of an exclusion."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What of a memory exclusions look at. words: its tokens, those of keywords and labels among them."""

    text: str
    words: Collection[str]
    file: str
    project: str
    client: str


def checked(kind: str, pattern: object) -> str:
    """The pattern as it is kept. Raises InvalidInput for an unknown kind and for one that would exclude everything."""
    if kind not in KINDS:
        raise InvalidInput(f"There is no exclusion by '{kind}'.", advice=f"Use one of: {', '.join(KINDS)}.")
    text = " ".join(str(pattern).split())[:LONGEST]
    telling = tokenize(text) if kind == "topic" else text.strip("*/\\. ")
    if not telling:
        raise InvalidInput(f"The {kind} '{text}' says nothing to exclude.", advice="Name what is never to be stored.")
    return _path(text) if kind == "folder" else text


def matches(kind: str, pattern: str, subject: Subject) -> bool:
    """Whether an exclusion keeps a memory out."""
    if kind == "pattern":
        return _holds(fold(subject.text), [part for part in fold(pattern).split("*") if part])
    if kind == "topic":
        return set(tokenize(pattern)) <= set(subject.words)
    if kind == "folder":
        return any(_is_inside(_path(place), pattern) for place in (subject.file, subject.project) if place)
    return fold(subject.client).startswith(fold(pattern))


def _holds(text: str, parts: list[str]) -> bool:
    """Whether the parts stand in the text one after the other."""
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def _is_inside(place: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it; a folder without a root is one anywhere on the way."""
    return (
        place == folder or place.startswith(f"{folder}/") or (folder[0] not in "/~" and f"/{folder}/" in f"/{place}/")
    )


def _path(text: str) -> str:
    return text.replace("\\", "/").rstrip("/").casefold()
