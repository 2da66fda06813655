"""What a cluster is called: by the keywords that tell it from the rest of the space."""

from __future__ import annotations

import math
from collections.abc import Mapping

SEPARATOR = " · "

_WORDS = 3
_WEAKEST = 0.25
"""Least worth of a further word, as a share of the best one's: a name may have one word only."""


def cluster_name(counts: Mapping[str, int], frequencies: Mapping[str, int], memories: int) -> str:
    """Up to three words, most telling first; empty when no member has a keyword.

    counts: members of the cluster that have each keyword; frequencies: memories of the space that do;
    memories: size of the space. A word's worth is its count times its rarity, log(1 + N / df). A word
    that contains one chosen before, or lies in it ("index", "indexes", "索引", "索引重建"), adds nothing.
    """
    worth = {w: n * math.log1p(memories / max(frequencies.get(w, n), 1)) for w, n in counts.items() if n > 0}
    chosen: list[str] = []
    for word in sorted(worth, key=lambda w: (-worth[w], w)):
        if len(chosen) == _WORDS or (chosen and worth[word] < _WEAKEST * worth[chosen[0]]):
            break
        folded = word.casefold()
        if not any(folded in other.casefold() or other.casefold() in folded for other in chosen):
            chosen.append(word)
    return SEPARATOR.join(chosen)
