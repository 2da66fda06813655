"""Which memories a range of time, some kinds, confidences and importances leave, and how many stand in each bar.

Every chart counts what the other charts leave, so that a bar that is filtered away can be seen and brought back. Pure
numpy, no Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tetrarium.model import CATEGORIES, CONFIDENCES, Bool, Float64, Int64, SpaceSnapshot, UInt8

HOUR, DAY = 3_600.0, 86_400.0
STEPS: tuple[tuple[str, float], ...] = (
    ("hour", HOUR), ("day", DAY), ("week", 7 * DAY), ("month", 30.4375 * DAY), ("quarter", 91.3125 * DAY),
)  # fmt: skip
"""Widths that a bar of the histogram may have, seconds."""
MOST_BARS = 80
IMPORTANCE_BARS = 5
"""The bounds are those of the colours: fifths."""


@dataclass(slots=True)
class Filter:
    """What is let through; nothing chosen lets everything through. span: seconds since 1970, both ends included."""

    span: tuple[float, float] | None = None
    kinds: set[int] = field(default_factory=set)
    confidence: set[int] = field(default_factory=set)
    importance: set[int] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        return self.span is None and not (self.kinds or self.confidence or self.importance)

    def mask(self, snapshot: SpaceSnapshot, *, without: str = "") -> Bool:
        """(n,) memories let through; without: `span`, `confidence` or `importance` is not asked."""
        passing: Bool = np.ones(len(snapshot), np.bool_)
        if self.span is not None and without != "span":
            passing &= (snapshot.created >= self.span[0]) & (snapshot.created <= self.span[1])
        if self.kinds:
            passing &= np.isin(snapshot.category, list(self.kinds))
        if self.confidence and without != "confidence":
            passing &= np.isin(snapshot.confidence, list(self.confidence))
        if self.importance and without != "importance":
            passing &= np.isin(fifths(snapshot), list(self.importance))
        return passing


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over time. edges: (b + 1,) seconds since 1970; step: a name in STEPS; counts: (9, b), a row a category, of
    what is let through; all: (b,) of all memories."""

    edges: Float64
    step: str
    counts: Int64
    all: Int64


def bars_of(snapshot: SpaceSnapshot, passing: Bool) -> Bars:
    """The histogram of when memories were stored, in the finest step that gives no more than MOST_BARS bars."""
    first, last = float(snapshot.created.min()), float(snapshot.created.max())
    step, width = next(
        ((name, width) for name, width in STEPS if (last - first) / width < MOST_BARS - 1),
        ("quarter", (last - first) / (MOST_BARS - 2)),
    )
    start = np.floor(first / width) * width
    count = int((last - start) // width) + 1
    at = np.minimum(((snapshot.created - start) // width).astype(np.int64), count - 1)
    kinds = len(CATEGORIES)
    stacked = np.bincount(snapshot.category[passing].astype(np.int64) * count + at[passing], minlength=kinds * count)
    return Bars(
        start + width * np.arange(count + 1), step, stacked.reshape(kinds, count), np.bincount(at, minlength=count)
    )


def confidences(snapshot: SpaceSnapshot, passing: Bool) -> Int64:
    """(3,) memories let through of each confidence."""
    return np.bincount(snapshot.confidence[passing], minlength=len(CONFIDENCES)).astype(np.int64)


def importances(snapshot: SpaceSnapshot, passing: Bool) -> Int64:
    """(5,) memories let through of each fifth of importance, the least first."""
    return np.bincount(fifths(snapshot)[passing], minlength=IMPORTANCE_BARS).astype(np.int64)


def fifths(snapshot: SpaceSnapshot) -> UInt8:
    """(n,) which fifth of importance each memory is in."""
    return np.clip(snapshot.importance * IMPORTANCE_BARS, 0, IMPORTANCE_BARS - 1).astype(np.uint8)
