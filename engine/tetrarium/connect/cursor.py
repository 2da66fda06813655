"""Cursor: `~/.cursor/mcp.json` and a project's `.cursor/mcp.json`; hooks in `hooks.json`, habits as a rule."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.ide import Hooks, Ide, servers
from tetrarium.connect.places import Places

RULE_HEAD = "---\ndescription: How to use the project's long-term memory\nalwaysApply: true\n---\n\n"


def _folder(places: Places) -> Path:
    return (places.project or places.home) / ".cursor"


def _entry(_: str, line: str) -> dict[str, object]:
    return {"command": line}


IDE = Ide(
    name="cursor",
    title="Cursor",
    files=lambda places: (places.home / ".cursor" / "mcp.json",),
    project_file=lambda project: project / ".cursor" / "mcp.json",
    entry=servers("mcpServers"),
    signs=lambda places: (places.home / ".cursor", places.application("Cursor")),
    programs=("cursor", "cursor-agent"),
    instructions=".cursor/rules/tetrarium.mdc",
    instructions_head=RULE_HEAD,
    hooks=Hooks(
        lambda places: _folder(places) / "hooks.json",
        # A prompt hook of Cursor may stop a prompt but adds nothing to it.
        {"session-start": "sessionStart", "session-end": "sessionEnd"},
        _entry,
        base=(("version", 1),),
        note="Cursor's window may drop what a start hook says (its command line takes it); the tools work in both.",
    ),
    note="Switch the server on in Cursor's settings if it asks.",
)
