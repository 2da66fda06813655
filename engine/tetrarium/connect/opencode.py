"""OpenCode: `opencode.json(c)`. Version 2 keeps servers below `mcp.servers`, version 1 directly below `mcp`."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect import jsonc
from tetrarium.connect.edits import Edit, JsonObject
from tetrarium.connect.ide import SERVER, Command, Ide
from tetrarium.connect.places import Places


def _file(folder: Path) -> Path:
    return next(
        (folder / name for name in ("opencode.jsonc", "opencode.json") if (folder / name).exists()),
        folder / "opencode.json",
    )


def _folder(places: Places) -> Path:
    return places.config / "opencode"


def _entry(command: Command, text: str) -> Edit:
    """In the form the file has already; that of version 2 where nothing tells."""
    found = jsonc.find(jsonc.parse(text), ("mcp",))
    members = found.value if found and isinstance(found.value, dict) else {}
    if members and "servers" not in members:
        return JsonObject(("mcp", SERVER), {"type": "local", "command": command.line, "enabled": True})
    return JsonObject(("mcp", "servers", SERVER), {"type": "local", "command": command.line})


IDE = Ide(
    name="opencode",
    title="OpenCode",
    files=lambda places: (_file(_folder(places)),),
    project_file=_file,
    entry=_entry,
    signs=lambda places: (_folder(places),),
    programs=("opencode",),
    instructions="AGENTS.md",
)
