"""Themes that a person always lets through: what pass 2 may not void, also of memories that are stored later. Pure.

A theme is made of the memories of a void zone: they themselves, and the keywords that they have in common, weighed by how
many of them carry a keyword and how rare it is. Another memory is of the theme when the keywords it shares weigh at least
three tenths of the four that name the theme (decision 0079 has the measurement).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

NAMED = 4
"""Words that name a theme."""
KEPT = 12
"""Words of a theme that are kept."""
SHARE = 0.3
"""Of the weight of the naming words, what a memory has to share (`tests/bench/themes.py`)."""


@dataclass(frozen=True, slots=True)
class Theme:
    """weights: of the words, in their order, the heaviest first; members: ids that are let through whatever their words."""

    id: str
    at: float
    members: tuple[str, ...]
    words: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def name(self) -> tuple[str, ...]:
        return self.words[:NAMED]

    def holds(self, keywords: Collection[str]) -> bool:
        """Whether a memory with these keywords is of the theme."""
        shared = [weight for word, weight in zip(self.words, self.weights, strict=True) if word in keywords]
        return bool(shared) and sum(shared) >= SHARE * sum(self.weights[:NAMED])


def made(
    theme_id: str,
    at: float,
    members: Sequence[str],
    keywords: Sequence[tuple[str, ...]],
    rarity: Callable[[str], float],
) -> Theme:
    """The theme of some memories. keywords: of each of them; rarity: log(N/df) of a keyword."""
    counts: dict[str, int] = {}
    for words in keywords:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    weights = {word: count / len(keywords) * max(rarity(word), 0.0) for word, count in counts.items()}
    telling = sorted((word for word in weights if weights[word] > 0), key=lambda word: (-weights[word], word))[:KEPT]
    return Theme(theme_id, at, tuple(members), tuple(telling), tuple(round(weights[word], 4) for word in telling))


def without(theme: Theme, gone: Collection[str], is_carried: Callable[[str], bool]) -> Theme | None:
    """A theme after memories were deleted for good: without them, and without words that no memory carries any more. None
    where nothing of it is left."""
    kept = [(word, weight) for word, weight in zip(theme.words, theme.weights, strict=True) if is_carried(word)]
    members = tuple(member for member in theme.members if member not in gone)
    words, weights = tuple(word for word, _ in kept), tuple(weight for _, weight in kept)
    return replace(theme, members=members, words=words, weights=weights) if members or words else None


def read(kept: Sequence[Any]) -> tuple[Theme, ...]:
    """Themes as a space keeps them; ids alone are what earlier versions kept: one theme without words."""
    ids = tuple(one for one in kept if isinstance(one, str))
    themes = tuple(
        Theme(one["id"], one["at"], tuple(one["members"]), tuple(one["words"]), tuple(one["weights"]))
        for one in kept
        if isinstance(one, dict)
    )
    return (*((Theme("", 0.0, ids),) if ids else ()), *themes)
