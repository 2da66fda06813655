"""What a colour means: the palette index of every memory, and the legend that explains and filters it. No Qt.

Classes (kind, type, confidence, source) have a hue and a lightness each; amounts (age, importance) a ramp of one hue from dim to bright, which
reads the same for people who see few colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tetrarium.model import CATEGORIES, CONFIDENCES, MEMORY_TYPES, Bool, SpaceSnapshot, UInt8
from tetrarium_gui.space.scene import Scene
from tetrarium_gui.state import ColorBy
from tetrarium_gui.style import (
    CATEGORY_PALETTE_START,
    CONFIDENCE_PALETTE_START,
    RAMP_PALETTE_START,
    RAMP_STEPS,
    SOURCE_PALETTE,
    TYPE_PALETTE_START,
)
from tetrarium_gui.words import t

AGES = (1.0, 24.0, 168.0, 720.0, 8_760.0)
"""Hours up to which a memory counts as of the hour, day, week, month, year; older is older."""
SHARES = (0.2, 0.4, 0.6, 0.8)
"""Bounds between the five steps of importance."""
BRIGHTEST = RAMP_PALETTE_START + RAMP_STEPS - 1


OTHERS = RAMP_PALETTE_START + 3
"""Colour of all programs after the first few, in the order in which they first stored."""
INHIBITED, QUARANTINED = 254, 255
"""What stands for the two in the legend's filters: they have no palette index, since they look as they do in any colour."""


@dataclass(frozen=True, slots=True)
class LegendRow:
    """One line of the legend: the palette index it stands for, and its words."""

    index: int
    text: str


def palette_indices(snapshot: SpaceSnapshot, scene: Scene, color_by: ColorBy, now: float) -> UInt8:
    """(n,) index into the palette. now: seconds since the epoch."""
    match color_by:
        case ColorBy.CLUSTER:
            return scene.cluster_palette
        case ColorBy.CATEGORY:
            return scene.category_palette
        case ColorBy.TYPE:
            return (snapshot.memory_type + TYPE_PALETTE_START).astype(np.uint8)
        case ColorBy.CONFIDENCE:
            return (snapshot.confidence + CONFIDENCE_PALETTE_START).astype(np.uint8)
        case ColorBy.SOURCE:
            palette = np.full(max(1, len(snapshot.clients)), OTHERS, np.uint8)
            palette[: len(SOURCE_PALETTE)] = SOURCE_PALETTE[: len(palette)]
            return palette[snapshot.client]
        case ColorBy.IMPORTANCE:
            steps = np.searchsorted(SHARES, snapshot.importance, side="right")
            return _on_ramp(steps, len(SHARES))
        case ColorBy.AGE:
            hours = np.maximum(now - snapshot.created, 0.0) / 3_600
            steps = len(AGES) - np.searchsorted(AGES, hours, side="left")
            return _on_ramp(steps, len(AGES))


def legend_rows(color_by: ColorBy, clients: Sequence[str] = ()) -> tuple[LegendRow, ...]:
    """The classes of a colouring in their order, the most first; none for clusters, whose names stand in the space.

    clients: the programs that stored memories; what they call themselves is not to be trusted.
    """
    match color_by:
        case ColorBy.CLUSTER:
            return ()
        case ColorBy.SOURCE:
            named = zip(SOURCE_PALETTE, clients, strict=False)
            rows = [LegendRow(index, client or t("space.no_client")) for index, client in named]
            others = [LegendRow(OTHERS, t("space.other_clients"))] if len(clients) > len(SOURCE_PALETTE) else []
            return (*rows, *others)
        case ColorBy.CATEGORY:
            return _rows(CATEGORY_PALETTE_START, [f"category.{category.value}" for category in CATEGORIES])
        case ColorBy.TYPE:
            return _rows(TYPE_PALETTE_START, [f"type.{kind.value}" for kind in MEMORY_TYPES])
        case ColorBy.CONFIDENCE:
            return _rows(CONFIDENCE_PALETTE_START, [f"confidence.{word.value}" for word in CONFIDENCES])[::-1]
        case ColorBy.IMPORTANCE:
            indices = _on_ramp(np.arange(len(SHARES), -1, -1), len(SHARES)).tolist()
            return tuple(LegendRow(index, t(f"importance.{4 - at}")) for at, index in enumerate(indices))
        case ColorBy.AGE:
            indices = _on_ramp(np.arange(len(AGES), -1, -1), len(AGES)).tolist()
            return tuple(LegendRow(index, t(f"age.{at}")) for at, index in enumerate(indices))


def _rows(start: int, words: Sequence[str]) -> tuple[LegendRow, ...]:
    return tuple(LegendRow(start + at, t(word)) for at, word in enumerate(words))


class Visibility:
    """Which memories are shown: all but those hidden, or those isolated alone, without the classes filtered away."""

    def __init__(self) -> None:
        self.hidden: frozenset[str] = frozenset()
        self.isolated: frozenset[str] | None = None
        self.filtered: frozenset[int] = frozenset()

    @property
    def is_whole(self) -> bool:
        return not self.hidden and self.isolated is None and not self.filtered

    def show_all(self) -> None:
        self.__init__()  # type: ignore[misc]  # the state of a fresh one

    def toggle(self, index: int) -> None:
        """Filter a class of the legend away, or show it again."""
        self.filtered ^= {index}

    def mask(self, scene: Scene, indices: UInt8) -> Bool:
        """(n,) which memories are not shown."""
        away: Bool = np.zeros(len(scene), np.bool_)
        if self.isolated is not None:
            away[:] = True
            away[[scene.rows[i] for i in self.isolated if i in scene.rows]] = False
        if self.hidden:
            away[[scene.rows[i] for i in self.hidden if i in scene.rows]] = True
        if self.filtered:
            away |= np.isin(indices, list(self.filtered))
            if INHIBITED in self.filtered:
                away |= scene.inhibited & ~scene.quarantined
            if QUARANTINED in self.filtered:
                away |= scene.quarantined
        return away


def _on_ramp(steps: np.ndarray, most: int) -> UInt8:
    """Steps 0 … most spread over the ramp."""
    return (RAMP_PALETTE_START + np.round(steps * (RAMP_STEPS - 1) / most)).astype(np.uint8)
