"""Zed: `context_servers` of its `settings.json`, a file with comments and trailing commas."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.ide import Ide, servers
from tetrarium.connect.places import Places


def _folder(places: Places) -> Path:
    return places.roaming / "Zed" if places.platform == "win32" else places.config / "zed"


IDE = Ide(
    name="zed",
    title="Zed",
    files=lambda places: (_folder(places) / "settings.json",),
    project_file=lambda project: project / ".zed" / "settings.json",
    entry=servers("context_servers"),
    signs=lambda places: (_folder(places),),
    programs=("zed", "zeditor"),
    instructions="AGENTS.md",
)
