"""When something may be erased by itself: time in the trash or past its expiry, measured on a clock that may lie.

A clock that leaps ten years ahead makes everything overdue at once. So a space keeps count of the ordinary time that it
has seen pass; after a leap, forward or back, nothing is erased before another day of that has passed, and never more
than a share of the space in one go. A holiday looks like a leap and only costs that day.
"""

from __future__ import annotations

from dataclasses import dataclass

DAY = 86_400.0

LEAP = 2 * DAY
"""Seconds between two looks at the clock from which they are not ordinary time."""

FEW = 50
"""Memories that are never too many to erase in one go."""


@dataclass(frozen=True, slots=True)
class Clock:
    """last: wall clock at the last look; lived: ordinary seconds seen; settled: `lived` from which the clock is trusted."""

    last: float
    lived: float
    settled: float

    @property
    def is_settled(self) -> bool:
        return self.lived >= self.settled


def started(now: float, settling: float) -> Clock:
    """The clock of a space that never looked; settling: seconds."""
    return Clock(now, 0.0, settling)


def looked(clock: Clock, now: float, settling: float) -> Clock:
    """The clock after a look at the time."""
    step = now - clock.last
    if 0.0 <= step <= LEAP:
        return Clock(now, clock.lived + step, clock.settled)
    return Clock(now, clock.lived, clock.lived + settling)


def is_too_much(overdue: int, of: int, share: float) -> bool:
    """Whether a person is asked before so many of so many are erased."""
    return overdue > max(FEW, share * of)
