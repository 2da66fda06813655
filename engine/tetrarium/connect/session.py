"""What an IDE's session hook is given and what it wants back; finding what a session says it learnt. No engine in here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tetrarium.mcp.projects import project_name

SESSION_START, SESSION_END, PROMPT = "session-start", "session-end", "prompt"

TAIL = 8_000_000
"""Bytes of a session's record that are read, from its end."""
MOST_LEARNT = 20
"""Statements taken from one session."""
LONGEST = 500
"""Characters of a statement; a longer one is a report. All together fit into a pipe (64 kB) however they are escaped."""
DEPTH = 12
"""How deep the text of a message may lie in its record."""

_LEARNT = re.compile(
    r"^[ \t>*\-]*(?:\*\*|__)?(?:learn(?:t|ed)|lesson|学到|记住)(?:\*\*|__)?[ \t]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*(\S.*?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_EVENT_NAMES = {SESSION_START: "SessionStart", PROMPT: "UserPromptSubmit"}


@dataclass(frozen=True, slots=True)
class Occasion:
    """What the IDE told: the project that is open, the session, the prompt, and where the session is recorded."""

    project: str = ""
    session: str = ""
    prompt: str = ""
    record: Path | None = None
    last_words: str = ""


def occasion(given: bytes, *, project: str = "") -> Occasion:
    """What a hook reads on its standard input; what cannot be read is missing. The project is the one that is named,
    else bears the name of the open folder, however its path is spelt."""
    try:
        told = json.loads(given.decode("utf-8-sig", "replace") or "{}")
    except ValueError:
        told = {}
    if not isinstance(told, dict):
        told = {}
    roots = told.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots else None
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or _word(told.get("cwd")) or _word(root)
    record = _word(told.get("transcript_path"))
    return Occasion(
        project=project_name(project or folder),
        session=_word(told.get("session_id")) or _word(told.get("conversation_id")),
        prompt=_word(told.get("prompt")),
        record=Path(record).expanduser() if record else None,
        last_words=_word(told.get("last_assistant_message")),
    )


def learnt(occasion: Occasion) -> tuple[str, ...]:
    """What the session says it learnt: lines of the agent that begin with "Learnt:", each once, the last ones first cut.

    Only what is said outright; nothing is guessed from a conversation.
    """
    texts = [*(_agents_words(occasion.record) if occasion.record else ()), occasion.last_words]
    found = (match.strip() for text in texts for match in _LEARNT.findall(text))
    return tuple(dict.fromkeys(statement for statement in found if len(statement) <= LONGEST))[:MOST_LEARNT]


def told(ide: str, event: str, text: str) -> str:
    """What the hook prints so that the IDE adds `text` to the session; "" when it can add nothing there."""
    if ide == "cursor":
        return json.dumps({"additional_context": text}) if event == SESSION_START else ""
    name = _EVENT_NAMES.get(event)
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) if name else ""


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _agents_words(record: Path) -> Iterator[str]:
    """Every text of the agent in a session's record, one JSON message a line; unreadable lines are left out."""
    try:
        with record.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read(TAIL).split(b"\n")
    except OSError:
        return
    for line in lines:
        if b"assistant" not in line:
            continue
        try:
            message = json.loads(line)
        except ValueError:
            continue
        yield from _texts(message, said=False, depth=0)


def _texts(part: Any, *, said: bool, depth: int) -> Iterator[str]:
    """The texts in a message, wherever its IDE nests them, once something says that the agent speaks."""
    if depth > DEPTH:
        return
    if isinstance(part, dict):
        said = said or "assistant" in (part.get("role"), part.get("type"))
        for key, value in part.items():
            if isinstance(value, str):
                if said and key in ("text", "content"):
                    yield value
            elif key not in ("input", "arguments"):  # of tools: what they were given is not what was said
                yield from _texts(value, said=said, depth=depth + 1)
    elif isinstance(part, list):
        for one in part:
            yield from _texts(one, said=said, depth=depth + 1)
