"""Claude Code: `~/.claude.json` and a project's `.mcp.json`; hooks in `settings.json`, habits in `CLAUDE.md`."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.ide import Hooks, Ide, servers
from tetrarium.connect.places import Places

HOOK_SECONDS = 5
"""After this the IDE gives up on a hook; ours is done or silent long before."""
STARTS = "startup|clear|compact"
"""A resumed session still has what it was told."""


def grouped(event: str, line: str) -> dict[str, object]:
    """A group of one command hook, as Claude Code and Codex write it."""
    matcher = {"matcher": STARTS} if event == "SessionStart" else {}
    return {**matcher, "hooks": [{"type": "command", "command": line, "timeout": HOOK_SECONDS}]}


EVENTS = {"session-start": "SessionStart", "session-end": "SessionEnd", "prompt": "UserPromptSubmit"}


def _files(places: Places) -> tuple[Path, ...]:
    return (places.named("CLAUDE_CONFIG_DIR", places.home) / ".claude.json",)


def _settings(places: Places) -> Path:
    # A project's settings.json belongs to everybody who works on it, an absolute path does not.
    if places.project:
        return places.project / ".claude" / "settings.local.json"
    return places.named("CLAUDE_CONFIG_DIR", places.home / ".claude") / "settings.json"


IDE = Ide(
    name="claude-code",
    title="Claude Code",
    files=_files,
    project_file=lambda project: project / ".mcp.json",
    entry=servers("mcpServers", type="stdio"),
    signs=lambda places: (*_files(places), places.named("CLAUDE_CONFIG_DIR", places.home / ".claude")),
    programs=("claude",),
    instructions="CLAUDE.md",
    hooks=Hooks(_settings, EVENTS, grouped),
    note="Running sessions keep what they read; start a new one.",
)
