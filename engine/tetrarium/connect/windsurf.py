"""Windsurf: `~/.codeium/windsurf/mcp_config.json`; it has no file of a project."""

from __future__ import annotations

from tetrarium.connect.ide import Ide, servers

IDE = Ide(
    name="windsurf",
    title="Windsurf",
    files=lambda places: (places.home / ".codeium" / "windsurf" / "mcp_config.json",),
    entry=servers("mcpServers"),
    signs=lambda places: (places.home / ".codeium" / "windsurf", places.application("Windsurf")),
    programs=("windsurf",),
    instructions="AGENTS.md",
    note="Press refresh in Cascade's list of servers.",
)
