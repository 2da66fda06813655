"""VS Code with Copilot: `mcp.json` of the profile and a workspace's `.vscode/mcp.json`; the key is `servers`."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.ide import Ide, servers
from tetrarium.connect.places import Places

EDITIONS = ("Code", "Code - Insiders")


def _files(places: Places) -> tuple[Path, ...]:
    """Of every edition that is there; the plain one where there is none."""
    folders = [places.application(edition) for edition in EDITIONS]
    there = [folder for folder in folders if folder.is_dir()]
    return tuple(folder / "User" / "mcp.json" for folder in there or folders[:1])


IDE = Ide(
    name="vscode",
    title="VS Code (Copilot)",
    files=_files,
    project_file=lambda project: project / ".vscode" / "mcp.json",
    entry=servers("servers", type="stdio"),
    signs=lambda places: tuple(places.application(edition) for edition in EDITIONS),
    programs=("code", "code-insiders"),
    instructions="AGENTS.md",
    note="VS Code asks once whether you trust the server.",
)
