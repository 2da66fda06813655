"""Stored words as quoted data: fenced, with what hides or acts on a terminal written out, and headed by their source.

What a memory says may be hostile. It stands between fences that are longer than any fence inside it, so that no
memory can close its own quotation; inside a sentence of ours it is one short line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tetrarium.mcp.arguments import visible

if TYPE_CHECKING:
    from tetrarium.model import Memory

_TILDES = re.compile("~{3,}")


def fence_for(texts: Iterable[str]) -> str:
    """A fence that none of these texts can close."""
    longest = max((len(run) for text in texts for run in _TILDES.findall(text)), default=2)
    return "~" * (max(longest, 2) + 1)


def quotation(fence: str, head: str, text: str) -> str:
    """One text between fences, its head behind the first one."""
    return f"{fence} {head}\n{visible(text)}\n{fence}"


def heading(memory: Memory, *more: str) -> str:
    """What stands before a quoted memory: id, kind, day, source, project, then `more`, then whether it is superseded."""
    source = source_of(memory)
    project = f"project {line(memory.source.project)}" if memory.source.project else ""
    state = {"inhibited": "superseded", "live": ""}.get(str(memory.standing), str(memory.standing))
    about = (
        memory.id,
        str(memory.category),
        f"{memory.created_at:%Y-%m-%d}",
        source and f"from {source}",
        project,
        *more,
        state,
    )
    return ", ".join(filter(None, about))


def source_of(memory: Memory) -> str:
    """Who stored it and who said it."""
    return " / ".join(filter(None, (line(memory.source.client), line(memory.source.author))))


def line(text: str, most: int = 80) -> str:
    """Untrusted words inside a sentence of ours: one line, nothing hidden, not long."""
    words = visible(" ".join(text.split())).replace("~", "-")
    return words if len(words) <= most else words[: most - 1] + "…"


def iso(moment: datetime) -> str:
    """To the minute, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
