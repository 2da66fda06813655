"""Codex: the table `mcp_servers.tetrarium` of `config.toml`; hooks in `hooks.json` beside it, habits in `AGENTS.md`."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.claude_code import EVENTS, grouped
from tetrarium.connect.edits import Edit, TomlTable
from tetrarium.connect.ide import SERVER, Command, Hooks, Ide
from tetrarium.connect.places import Places


def _folder(places: Places) -> Path:
    return places.named("CODEX_HOME", places.home / ".codex")


def _entry(command: Command, _: str) -> Edit:
    return TomlTable(("mcp_servers", SERVER), {"command": command.program, "args": list(command.arguments)})


IDE = Ide(
    name="codex",
    title="Codex",
    files=lambda places: (_folder(places) / "config.toml",),
    project_file=lambda project: project / ".codex" / "config.toml",
    entry=_entry,
    signs=lambda places: (_folder(places),),
    programs=("codex",),
    instructions="AGENTS.md",
    hooks=Hooks(
        lambda places: (places.project / ".codex" if places.project else _folder(places)) / "hooks.json",
        EVENTS,
        grouped,
        note="Codex asks once whether you trust these hooks; the end of a session is told from version 0.145 on.",
    ),
)
