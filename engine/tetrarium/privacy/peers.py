"""Files of other memories, read as notes: the knowledge graph of the reference memory server (`memory.jsonl`, or the
object that its `read_graph` gives) and what agents keep in Markdown (CLAUDE.md, AGENTS.md, MEMORY.md, .cursorrules).

A note is a bullet with what is indented under it, a paragraph, or an observation of an entity, word for word; its
labels are the headings above it or the type of the entity. Left out: front matter, comments (our own block of
instructions among them), rules between sections, and lines that only include another file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tetrarium.errors import InvalidInput
from tetrarium.privacy import archive, validation
from tetrarium.storage.exchange import Record

GRAPH, MARKDOWN = "knowledge graph", "Markdown notes"

MOST_BYTES, MOST_NOTES = 8 << 20, 20_000
"""Of one file; hundreds of times what an agent reads."""

INTRODUCTION = 80
"""Characters of a paragraph that ends with a colon and is taken as the heading of the list under it."""

_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, at the start of a file."""
_NAMES = (".md", ".mdc", ".markdown", ".cursorrules", ".windsurfrules", ".clinerules")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_RULE = re.compile(r"\s{0,3}(?:=+|(?:[-*_]\s*){3,})\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_INCLUDE = re.compile(r"@[\w~./\\-]+")
_WORD = re.compile(r"\w")
_RECORD = re.compile(rb'\s*\{\s*"(?:type"\s*:\s*"(?:entity|relation)"|entities"\s*:)')
_NO_KIND = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Note:
    """One statement. name: the entity that it is about, or ""."""

    line: int
    text: str
    labels: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tie:
    """One entity is related to another."""

    line: int
    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no note, and why."""

    line: int
    why: str


Found = Note | Tie | Unreadable


def form_of(path: Path, caps: archive.Caps) -> str:
    """What a file is by its name and its first line: GRAPH, MARKDOWN, or "" for anything else.

    Raises InvalidInput for what cannot be read, and for an export of ours that is only for reading.
    """
    if path.name.casefold().endswith(_NAMES):
        first = next(archive.lines(path, caps), b"")
        if first == b"# Memories\n" and any(b" memories, exported " in line for line in _head(path, caps)):
            raise InvalidInput(
                f"{path} is an export for reading; nothing was imported.",
                advice="Export it without --markdown: that can be imported.",
            )
        return MARKDOWN
    first = next((line for line in _head(path, caps) if line.strip()), b"")
    return GRAPH if _RECORD.match(first.removeprefix(_MARK)) else ""


def notes(path: Path, form: str, caps: archive.Caps) -> Iterator[Found]:
    """What stands in a file of that form, in order. Raises InvalidInput for a file that passes a cap or is not UTF-8."""
    narrow = archive.Caps(caps.line, min(caps.total, MOST_BYTES), caps.ratio)
    for _ in archive.lines(path, narrow):
        pass  # what is too large is refused before anything of it is worked out
    lines = _lines(path, narrow)
    for number, found in enumerate(_graph(lines) if form == GRAPH else _markdown(lines)):
        if number == MOST_NOTES:
            raise InvalidInput(
                f"{path} holds more than {MOST_NOTES:,} notes; nothing was imported.", advice="Import it in parts."
            )
        yield found


def _head(path: Path, caps: archive.Caps) -> Iterable[bytes]:
    return islice(archive.lines(path, caps), 5)


def _lines(path: Path, caps: archive.Caps) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(archive.lines(path, caps), start=1):
        if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InvalidInput(f"{path} is in UTF-16; nothing was imported.", advice="Save it in UTF-8.")
        yield number, line.removeprefix(_MARK) if number == 1 else line


# --- the knowledge graph -------------------------------------------------------------------------


def _graph(lines: Iterable[tuple[int, bytes]]) -> Iterator[Found]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = validation.parsed(line)
        except ValueError as error:
            yield Unreadable(number, str(error))
            continue
        if isinstance(record.get("entities"), list):
            for kind, key in (("entity", "entities"), ("relation", "relations")):
                for one in record.get(key) or ():
                    yield from _of_record(number, {"type": kind, **one} if isinstance(one, dict) else {})
        else:
            yield from _of_record(number, record)


def _of_record(number: int, record: Record) -> Iterator[Found]:
    if record.get("type") == "entity":
        name, kind, said = record.get("name"), record.get("entityType", ""), record.get("observations", [])
        if not (_is_name(name) and isinstance(kind, str) and isinstance(said, list)):
            yield Unreadable(number, "an entity has a name, an entityType and a list of observations")
            return
        labels = (kind,) if kind.strip() else ()
        for text in said:
            if isinstance(text, str):
                yield Note(number, f"{name}: {text}", labels, str(name))
            else:
                yield Unreadable(number, "an observation is not text")
        if not said:
            yield Note(number, f"{name}: {kind}" if labels else str(name), labels, str(name))
    elif record.get("type") == "relation":
        source, target, kind = record.get("from"), record.get("to"), record.get("relationType")
        if _is_name(source) and _is_name(target) and _is_name(kind):
            word = _NO_KIND.sub("_", str(kind).casefold()).strip("_")[:60] or "related_to"
            yield Tie(number, str(source), str(target), word)
        else:
            yield Unreadable(number, "a relation has from, to and relationType")
    else:
        yield Unreadable(number, "it is neither an entity nor a relation")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


# --- Markdown ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    """A paragraph, or a bullet (indent ≥ 0) with what is indented under it."""

    line: int
    indent: int = -1
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()

    def take(self, line: str) -> None:
        """One more line, without the indentation of the block."""
        room = len(line) - len(line.lstrip())
        self.lines.append(line[min(room, self.indent + 2) :] if self.indent >= 0 else line)


def _markdown(lines: Iterable[tuple[int, bytes]]) -> Iterator[Found]:
    headings: list[tuple[int, str]] = []
    introduction = ""
    block: _Block | None = None
    inside = ""  # "---": front matter; "-->": a comment; "```": code
    blank = False

    def ended() -> Iterator[Found]:
        nonlocal block, introduction
        done, block = block, None
        if done is None or not _WORD.search(done.text) or _INCLUDE.fullmatch(done.text):
            return
        if done.indent < 0:
            introduction = ""
            if len(done.text) <= INTRODUCTION and done.text.endswith((":", "：")):
                introduction = done.text.rstrip(":： *_")
                return
        labels = (*(title for _, title in headings), introduction)
        yield Note(done.line, done.text, tuple(filter(None, labels)))

    for number, raw in lines:
        try:
            line = raw.decode().rstrip()
        except UnicodeDecodeError as error:
            yield from ended()
            yield Unreadable(number, f"it is not UTF-8 (byte {error.start})")
            continue
        if inside == "```":
            assert block is not None
            block.take(line)
            inside = "" if _FENCE.match(line) else inside
        elif inside:
            inside = "" if (line.strip() == "---" if inside == "---" else inside in line) else inside
        elif number == 1 and line == "---":
            inside = "---"
        elif line.lstrip().startswith("<!--"):
            yield from ended()
            inside = "" if "-->" in line else "-->"
        elif not line:
            if block is not None and block.indent < 0:
                yield from ended()
            blank = True
            continue
        elif _FENCE.match(line):
            block = block or _Block(number)
            block.lines += [""] * (blank and bool(block.lines))
            block.take(line)
            inside = "```"
        elif heading := _HEADING.match(line):
            yield from ended()
            introduction = ""
            level = len(line.lstrip()) - len(line.lstrip().lstrip("#"))
            headings = [*((depth, title) for depth, title in headings if depth < level), (level, heading[1])]
        elif _RULE.match(line):
            yield from ended()
        elif (bullet := _BULLET.match(line)) and (block is None or block.indent < 0 or len(bullet[1]) <= block.indent):
            yield from ended()
            block = _Block(number, len(bullet[1]), [bullet[2]])
        else:
            if block is not None and blank and not line.startswith((" ", "\t")):
                yield from ended()
            block = block or _Block(number)
            block.lines += [""] * (blank and bool(block.lines))
            block.take(line.strip() if block.indent < 0 else line)
        blank = False
    yield from ended()
