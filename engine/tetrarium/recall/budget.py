"""Pass 3: fill by score up to a budget of tokens. A memory is never cut; smaller ones after a large one may still fit (S2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BLOCK_OVERHEAD = 80
"""Tokens of a block beside its content: id, category, source, date, score (counted on the answers of the tool)."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Positions that fit, positions that did not, and the tokens used."""

    kept: tuple[int, ...]
    left_out: tuple[int, ...]
    used: int


def cost(content_tokens: int) -> int:
    """Tokens that one memory takes from the budget."""
    return content_tokens + BLOCK_OVERHEAD


def fit(costs: Sequence[int], budget: int) -> Fit:
    """Take whole memories in the given order as long as they fit; the sum never exceeds the budget."""
    kept: list[int] = []
    left_out: list[int] = []
    used = 0
    for position, tokens in enumerate(costs):
        if used + tokens <= budget:
            kept.append(position)
            used += tokens
        else:
            left_out.append(position)
    return Fit(tuple(kept), tuple(left_out), used)
