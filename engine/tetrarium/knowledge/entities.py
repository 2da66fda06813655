"""Entities named in a text, found by form; no model, any language around them.

Files and paths (`utils/dateFormatter.js`), code symbols (`getUserName`, `JWT_SECRET`, `space.store()`), codes
and versions (`E1045`, `v2.3.1`), quoted `code`, and the speaker of a turn ("Ana: we moved the cache").
"""

from __future__ import annotations

import re

from tetrarium.indexing.tokens import fold

MAX_ENTITIES = 24
"""Entities kept of one memory."""

_ENTITY = re.compile(
    r"`([^`\n]{2,60})`"
    r"|\b((?:[\w-]+/)+[\w.-]*\w)"  # path
    r"|\b([\w-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|swift|c|h|cpp|cs|rb|php|sql|sh|toml|ya?ml|json|md|css|html|proto|tf))\b"
    r"|\b([a-z]+[0-9]*(?:[A-Z][a-z0-9]+)+)\b"  # camelCase
    r"|\b([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b"  # PascalCase
    r"|\b([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)\b"  # snake_case
    r"|\b([A-Z]{1,6}-?[0-9]{2,6})\b"  # E1045, JIRA-123
    r"|\b(v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][\w.]+)?)\b",  # 2.3.1
    re.ASCII,
)
_SPEAKER = re.compile(r"^\s*([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})\s*[:：]\s*\S")
_NO_SPEAKER = frozenset(
    [
        "note",
        "notes",
        "fix",
        "fixed",
        "bug",
        "todo",
        "fixme",
        "warning",
        "error",
        "errors",
        "info",
        "debug",
        "decision",
        "pattern",
        "context",
        "summary",
        "question",
        "answer",
        "example",
        "update",
        "updated",
        "correction",
        "corrected",
        "reminder",
        "rule",
        "rules",
        "why",
        "how",
        "what",
        "when",
        "problem",
        "cause",
        "root",
        "result",
        "results",
        "status",
        "goal",
        "task",
        "tasks",
        "idea",
        "plan",
        "step",
        "steps",
        "tip",
        "remember",
        "important",
        "preference",
        "fact",
        "skill",
        "session",
        "episode",
        "style",
        "user",
        "assistant",
        "agent",
        "system",
        "http",
        "https",
        "file",
        "path",
        "symptom",
        "symptoms",
        "workaround",
        "lesson",
        "incident",
        "conclusion",
        "备忘",
        "注意",
        "决定",
        "修复",
        "更正",
        "说明",
        "原因",
        "结论",
        "问题",
        "总结",
        "用户",
        "助手",
        "规则",
        "约定",
        "教训",
        "背景",
        "提醒",
        "经验",
        "偏好",
        "更新",
    ]
)


def entities_in(text: str) -> tuple[str, ...]:
    """Entities of a text in order of appearance, folded, without repetition."""
    found: dict[str, None] = {}
    for match in _ENTITY.finditer(text):
        name = fold(next(group for group in match.groups() if group)).strip("()[]{} .")
        if len(name) > 1:
            found[name] = None
        if len(found) >= MAX_ENTITIES:
            break
    return tuple(found)


def speaker_of(text: str) -> str:
    """The name before the colon of a turn of talk, as written, or "" when the text is not one."""
    match = _SPEAKER.match(text[:80])
    if not match:
        return ""
    name = match.group(1)
    words = name.split()
    if any(fold(word) in _NO_SPEAKER for word in words) or not all(
        word[0].isupper() or not word[0].isascii() for word in words
    ):
        return ""
    return name
