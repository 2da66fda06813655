"""Verbs that show the whole space: pages, pictures, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarium import snapshots
from tetrarium.config import Settings
from tetrarium.errors import InvalidInput
from tetrarium.model import (
    CATEGORIES,
    CONFIDENCES,
    MEMORY_TYPES,
    Memory,
    SnapshotDelta,
    SpaceSnapshot,
    SpaceStats,
)
from tetrarium.service.auditor import flags_of
from tetrarium.service.door import Door, page_bounds
from tetrarium.storage.migrations import SCHEMA_VERSION

_ORDERS = ("created", "accessed", "importance", "access_count", "category", "cluster", "content")


class Looking(Door):
    """Shows."""

    def page(
        self, *, offset: int = 0, limit: int = 100, order: str = "created", descending: bool = True
    ) -> tuple[Memory, ...]:
        """Memories in order, for a list; inhibited ones too. Raises InvalidInput for an unknown order."""
        if order not in _ORDERS:
            raise InvalidInput(f"There is no order '{order}'.", advice=f"Use one of: {', '.join(_ORDERS)}.")
        first, count = page_bounds(offset, limit)
        self.catch_up()
        nums = self._space.in_order(order, descending=descending)
        return tuple(self._space.reader.memories(nums[first : first + count]))

    def snapshot(self) -> SpaceSnapshot:
        """Everything the space view draws, as read-only arrays."""
        self.catch_up()
        return snapshots.whole(self._space)

    def snapshot_since(self, version: int) -> SnapshotDelta | None:
        """What changed since a snapshot of that version; None when it is too long ago and a whole one is cheaper."""
        self.catch_up()
        return snapshots.since(self._space, version)

    def stats(self) -> SpaceStats:
        """Health of the space (S2)."""
        self.catch_up()
        table, indexes = self._space.indexes.table, self._space.indexes
        nums = table.numbers()
        quarantined = int(table.quarantined[nums].sum())
        inhibited = int((table.inhibited & ~table.quarantined)[nums].sum())
        sizes = np.unique(table.component[nums], return_counts=True)[1]
        confidence = np.searchsorted([1, 3], table.evidence[nums], side="right")
        recalls = self._space.reader.meta("recalls", {"count": 0, "void_fraction_sum": 0.0})
        count = recalls["count"] + len(self._recalls)
        return SpaceStats(
            space=str(self.path),
            version=indexes.version,
            memories=len(nums),
            live=len(nums) - inhibited - quarantined,
            inhibited=inhibited,
            in_trash=self._space.reader.trash_count(),
            by_category=_counted(table.category[nums], CATEGORIES),
            by_confidence=_counted(confidence, CONFIDENCES),
            by_type=_counted(table.memory_type[nums], MEMORY_TYPES),
            clusters=len(sizes),
            clustered_share=float(sizes[sizes > 1].sum() / max(1, len(nums))),
            recalls=count,
            void_fraction_mean=(recalls["void_fraction_sum"] + sum(self._recalls)) / max(1, count),
            index=indexes.vectors.kind,
            index_note=indexes.vectors.note,
            keyword_terms=indexes.keywords.terms,
            model=self._space.model,
            model_note=self._space.model_note,
            writable=self._space.database.writable,
            store_bytes=self._space.database.size(),
            schema=SCHEMA_VERSION,
            figures=self._clusters.figures(),
            settings={f.name: getattr(self.settings, f.name) for f in fields(Settings)},
            relations=self._space.relations.count(),
            contradictions=len(self._space.reader.contradictions()),
            pinned=int(table.pinned[nums].sum()),
            quarantined=quarantined,
            audit_flags=flags_of(self._auditor.reader, self.settings),
            trouble="; ".join(filter(None, (self._space.database.trouble, self._space.damage_note))),
        )


def _counted(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(codes, minlength=len(names))
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}
