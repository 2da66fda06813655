"""The sample space that ships with Tetrarium: the memories of a believable project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tetrarium import paths


@dataclass(frozen=True, slots=True)
class SampleMemory:
    """One line of resources/sample/memories.jsonl. `supersedes` names the `ref` of earlier lines."""

    ref: str
    content: str
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    category: str
    importance: float
    author: str
    session: str
    created_at: datetime
    supersedes: tuple[str, ...]


def sample_memories() -> Iterator[SampleMemory]:
    """The sample in order of time."""
    with (paths.resources() / "sample" / "memories.jsonl").open(encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            row = json.loads(line)
            yield SampleMemory(
                ref=row["ref"],
                content=row["content"],
                keywords=tuple(row["keywords"]),
                labels=tuple(row.get("labels", ())),
                category=row["category"],
                importance=row["importance"],
                author=row["author"],
                session=row["session"],
                created_at=datetime.fromisoformat(row["created_at"]),
                supersedes=tuple(row.get("supersedes", ())),
            )
