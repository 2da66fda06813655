"""What was done, and taking it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One operation that changed memories or clusters.

    op: the verb; ids: memories it changed, those deleted for good too; summary: one line, plain text
    undone: it is taken back, and not done again since; undoes: the entry that it took back itself, of several the newest
    reversible: there is a way back; whether it is still open, `undo` says
    """

    id: int
    at: datetime
    client: str
    op: str
    ids: tuple[str, ...]
    summary: str
    undone: bool
    undoes: int | None
    reversible: bool = True


@dataclass(frozen=True, slots=True)
class BulkUndo:
    """What taking back everything of one client does, or did.

    done: it is done; entries, memories: how many are taken back and touched; by_op: entries by verb
    spared: entries that cannot be taken back, and why, at most a few; spared_total: how many there are
    confirm: the token that makes it so, valid while the same entries would be taken back; entry: the history entry of it
    """

    done: bool
    client: str
    entries: int
    memories: int
    by_op: dict[str, int]
    spared: tuple[tuple[int, str], ...]
    spared_total: int
    confirm: str
    entry: int | None = None
