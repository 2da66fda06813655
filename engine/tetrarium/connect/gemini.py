"""Gemini CLI: `mcpServers` of `~/.gemini/settings.json` and of a project's `.gemini/settings.json`."""

from __future__ import annotations

from tetrarium.connect.ide import Ide, servers

IDE = Ide(
    name="gemini",
    title="Gemini CLI",
    files=lambda places: (places.home / ".gemini" / "settings.json",),
    project_file=lambda project: project / ".gemini" / "settings.json",
    entry=servers("mcpServers"),
    signs=lambda places: (places.home / ".gemini",),
    programs=("gemini",),
    instructions="GEMINI.md",
)
