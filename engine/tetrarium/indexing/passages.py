"""The parts of long memories: a memory that says many things is found by each of them.

A model reads the head of a text, and what it makes of a long one is a mean of everything in it. A long text is
therefore embedded once more in overlapping windows; a question takes the nearest of them. Windows end where
sentences do, and are measured in the tokens of the budget, so that Chinese and code get as much room as prose.
"""

from __future__ import annotations

import re

import numpy as np

from tetrarium.indexing.tokens import budget_tokens
from tetrarium.model import Bool, Float32, Int64

LONG = 700
"""Budget tokens from which a memory is read in windows: about what the default model reads at once (512 of its own)."""

WINDOW = 300
"""Budget tokens of a window: some ten sentences. Shorter ones cost more, longer ones blur (T)."""

OVERLAP = 75
"""Budget tokens that a window shares with the one before: a fact told in two sentences stands whole in one of them."""

MOST_WINDOWS = 128
"""Windows of one memory; what follows (after some 20,000 words) is found by its words only."""

_SENTENCE = re.compile(r".+?(?:[.!?;:。!?;]+[\s\"'”’)\]]*|\n+|$)", re.DOTALL)
_PIECE = 400
"""Characters at which a text without sentences is cut."""


def windows(text: str) -> list[str]:
    """Overlapping parts of a long text, in order; [] for one that the model reads whole."""
    found: list[str] = []
    held: list[tuple[str, int]] = []
    size = 0
    fresh = False
    for sentence in _sentences(text):
        cost = budget_tokens(sentence)
        if held and size + cost > WINDOW:
            found.append("".join(part for part, _ in held).strip())
            fresh = False
            if len(found) == MOST_WINDOWS:
                return found
            while held and (size > OVERLAP or size + cost > WINDOW):
                size -= held.pop(0)[1]
        held.append((sentence, cost))
        size += cost
        fresh = True
    if fresh and found:
        found.append("".join(part for part, _ in held).strip())
    return found


def _sentences(text: str) -> list[str]:
    return [
        sentence[at : at + _PIECE] for sentence in _SENTENCE.findall(text) for at in range(0, len(sentence), _PIECE)
    ]


class PassageIndex:
    """Vectors of the parts of memories, searched exactly. Memory: 4·d bytes a part. One thread at a time."""

    def __init__(self, dimension: int) -> None:
        self._parts: dict[int, Float32] = {}
        self._matrix: Float32 = np.zeros((0, dimension), np.float32)
        self._starts: Int64 = np.zeros(0, np.int64)
        self._owners: Int64 = np.zeros(0, np.int64)
        self._stale = False

    def __len__(self) -> int:
        """Parts of all memories."""
        return sum(map(len, self._parts.values()))

    def __contains__(self, num: object) -> bool:
        return num in self._parts

    def put(self, num: int, matrix: Float32) -> None:
        """The parts of one memory, (parts, d) unit rows; those of before go."""
        self._parts[num] = matrix
        self._stale = True

    def of(self, num: int) -> Float32:
        """The parts of one memory, (parts, d)."""
        return self._parts[num]

    def drop(self, num: int) -> None:
        """A memory is gone, or has no parts any more."""
        self._stale |= self._parts.pop(num, None) is not None

    def best(self, query: Float32) -> tuple[Int64, Float32]:
        """Every memory that has parts, ascending, and the cosine of its nearest one. (n,), (n,)."""
        if self._stale:
            self._line_up()
        if not len(self._owners):
            return self._owners, np.zeros(0, np.float32)
        return self._owners, np.maximum.reduceat(self._matrix @ query, self._starts)

    def search(self, query: Float32, k: int, allowed: Bool) -> Int64:
        """(≤ k,) the memories with the nearest parts, best first. allowed: (m,) indexed by num."""
        nums, cosines = self.best(query)
        passing = allowed[nums]
        nums, cosines = nums[passing], cosines[passing]
        return nums[np.lexsort((nums, -cosines))[:k]]

    def _line_up(self) -> None:
        held = sorted(self._parts.items())
        lengths = [len(matrix) for _, matrix in held]
        self._owners = np.array([num for num, _ in held], np.int64)
        self._starts = np.cumsum([0, *lengths[:-1]], dtype=np.int64) if held else np.zeros(0, np.int64)
        self._matrix = np.concatenate([matrix for _, matrix in held]) if held else self._matrix[:0]
        self._stale = False
