"""Identifiers that a question nearly names: one letter missing, doubled, wrong, or two changed places.

Only identifiers (files, symbols, codes): words of prose are caught by their meaning. Digits never slip – E1045 and
E1046 are two errors, v2.3 and v2.4 two versions. A slip leaves the first or the second half of a name whole: names stand in
buckets by length and half, so that a look-up compares some of fifty thousand, not all.
"""

from __future__ import annotations

from collections import defaultdict

SHORTEST = 5
"""Letters of a name in which a slip can be told from another name."""


class Spellings:
    """The names of a space, by form."""

    def __init__(self) -> None:
        self._buckets: defaultdict[tuple[int, str], set[str]] = defaultdict(set)

    def add(self, name: str) -> None:
        for key in _keys(name):
            self._buckets[key].add(name)

    def drop(self, name: str) -> None:
        for key in _keys(name):
            self._buckets[key].discard(name)
            if not self._buckets[key]:
                del self._buckets[key]

    def near(self, name: str) -> str:
        """The one name that differs from this folded one by a single slip; "" where none or several do."""
        if len(name) < SHORTEST:
            return ""
        found = set[str]()
        for length in (len(name) - 1, len(name), len(name) + 1):
            for key in _keys(name, length):
                found.update(other for other in self._buckets.get(key, ()) if one_slip(name, other))
        return found.pop() if len(found) == 1 else ""


def one_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter missing, added or wrong, or by two neighbours that changed places."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    a, b = one[start : len(one) - end], other[start : len(other) - end]
    if any(map(str.isdigit, a + b)):
        return False
    return max(len(a), len(b)) <= 1 or (len(a) == 2 and a == b[::-1])


def _keys(name: str, length: int = 0) -> tuple[tuple[int, str], ...]:
    """The buckets of a name, or those in which a name of another length stands that shares a half with it."""
    length = length or len(name)
    half = (length - 1) // 2
    return ((length, name[:half]), (length, f"{name[-half:]}$")) if length >= SHORTEST - 1 else ()
