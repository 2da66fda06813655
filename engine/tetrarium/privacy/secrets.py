"""Find secrets in a text and mask them, before anything else sees the text.

A mask tells the kind and nothing else – `[secret: AWS key]` – and is the same every time, so that two texts which
differ in a secret only are one memory. A mask is never a secret, nor part of one: masking what is masked changes
nothing. Any text takes time linear in its length (a test holds it to that). The rules are data (`rules`); private keys,
which span lines, are found here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from tetrarium.privacy.rules import MAIL, NAMED, RULES, Named, Rule, bare_of

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,-]|\\[nrt])*")
_KEY_BODY_BEFORE = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[nr])*\Z")
_BODY_BEFORE = 8_000
"""Characters before an END line that may belong to a key whose BEGIN was cut off."""

_PRIVATE_KEY = "private key"
_KINDS = sorted({_PRIVATE_KEY, MAIL.kind, *(rule.kind for rule in RULES), *(rule.kind for rule in NAMED)})
_MASK = re.compile(rf"\[secret: ({'|'.join(_KINDS)})\]")
_PASSES = 8
"""A secret may come to light beside one that was masked, so a masked text is looked through again; nearly always once."""


@dataclass(frozen=True, slots=True)
class Span:
    """text[start:end] is a secret of this kind."""

    start: int
    end: int
    kind: str


def find(text: str, *, mail: bool = False) -> tuple[Span, ...]:
    """The secrets of a text in order, not overlapping. mail: e-mail addresses too."""
    text = _without_masks(text)
    lowered = _lowered(text)
    spans = list(_private_keys(text)) if _PRIVATE_KEY in lowered else []
    for rule in (*RULES, MAIL) if mail else RULES:
        if any(cue in lowered for cue in rule.cues):
            spans.extend(_spans(rule, text))
    for named in NAMED:
        if any(cue in lowered for cue in named.cues):
            spans.extend(_named(named, text, lowered))
    return _merged(spans) if spans else ()


def mask(text: str, *, mail: bool = False) -> tuple[str, tuple[str, ...]]:
    """The text with every secret replaced by its mask, and the kinds in the order in which they were found."""
    kinds = list[str]()
    for _ in range(_PASSES):
        spans = find(text, mail=mail)
        if not spans:
            break
        text = _replaced(text, spans)
        kinds += (span.kind for span in spans)
    return text, tuple(kinds)


def masks_in(text: str) -> tuple[str, ...]:
    """The kinds of the masks that stand in a text."""
    return tuple(mask[1] for mask in _MASK.finditer(text))


def mask_of(kind: str) -> str:
    """What stands in place of a secret."""
    return f"[secret: {kind}]"


def _replaced(text: str, spans: tuple[Span, ...]) -> str:
    parts, at = list[str](), 0
    for span in spans:
        parts += (text[at : span.start], mask_of(span.kind))
        at = span.end
    return "".join((*parts, text[at:]))


def _without_masks(text: str) -> str:
    """The text with blank lines in place of its masks, as long as they: no pattern reaches across so many."""
    if "[secret: " not in text:
        return text
    return _MASK.sub(lambda mask: "\n" * len(mask[0]), text)


def _spans(rule: Rule, text: str) -> Iterator[Span]:
    groups = rule.pattern.groupindex
    for match in rule.pattern.finditer(text):
        if (rule.alone and not _stands_alone(text, match.start())) or not rule.accepts(match):
            continue
        start, end = match.span("secret" if "secret" in groups else 0)
        yield Span(start, end, rule.kind)


def _named(rule: Named, text: str, lowered: str) -> Iterator[Span]:
    done = 0
    for name in rule.name.finditer(lowered):
        if name.start() < done:
            continue
        for tail in rule.tails:
            value = tail.match(text, name.end())
            if value is None or not rule.accepts(name, value):
                continue
            if value.group("quoted") is not None:
                start, end = value.span("quoted")
            else:
                start = value.start("bare")
                end = start + len(bare_of(value))
            yield Span(start, end, rule.kind)
            done = end
            break


def _lowered(text: str) -> str:
    """In lower case, character by character: places are the same in both."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def _stands_alone(text: str, start: int) -> bool:
    """Whether no word runs into a place; `\\n` and `%3D` before it are escapes, not letters."""
    before = text[max(0, start - 3) : start]
    if not before or not (before[-1].isalnum() or before[-1] == "_") or not before[-1].isascii():
        return True
    return before[-2:] in (r"\n", r"\r", r"\t") or re.fullmatch(r"%[0-9A-Fa-f]{2}", before) is not None


def _private_keys(text: str) -> Iterator[Span]:
    """Keys in PEM form, whole, or cut off at either end."""
    ends = [match.span() for match in _END.finditer(text)]
    starts = [start for start, _ in ends]
    begins = [match.span() for match in _BEGIN.finditer(text)]
    closed = set[int]()
    for number, (begin, head) in enumerate(begins):
        place = bisect_left(starts, head)
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        if place < len(ends) and ends[place][0] < following:
            closed.add(place)
            yield Span(begin, ends[place][1], _PRIVATE_KEY)
        else:
            body = _KEY_BODY.match(text, head, following)
            end = body.end() if body else head
            yield Span(begin, begin + len(text[begin:end].rstrip()), _PRIVATE_KEY)
    for place, (start, end) in enumerate(ends):
        if place not in closed:
            floor = max(ends[place - 1][1] if place else 0, start - _BODY_BEFORE)
            body = _KEY_BODY_BEFORE.search(text[floor:start])
            yield Span(floor + (body.start() if body else start - floor), end, _PRIVATE_KEY)


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Overlapping finds become one, named by the rule that stands first."""
    order = {id(span): rank for rank, span in enumerate(spans)}
    merged: list[tuple[int, Span]] = []
    for span in sorted(spans, key=lambda s: (s.start, order[id(s)])):
        rank = order[id(span)]
        if merged and span.start < merged[-1][1].end:
            first, before = merged[-1]
            best = before if first < rank else span
            merged[-1] = (min(first, rank), Span(before.start, max(before.end, span.end), best.kind))
        else:
            merged.append((rank, span))
    return tuple(span for _, span in merged)
