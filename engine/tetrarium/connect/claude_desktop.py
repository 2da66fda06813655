"""Claude Desktop: `claude_desktop_config.json`, on Windows once for each way it can be installed."""

from __future__ import annotations

from pathlib import Path

from tetrarium.connect.ide import Ide, servers
from tetrarium.connect.places import Places

FILE = "claude_desktop_config.json"


def _folders(places: Places) -> tuple[Path, ...]:
    """On Windows the Store's editions read folders of their own, and only those; the plain one where there is none."""
    if places.platform == "win32":
        packages, data = places.local / "Packages", places.local / "Claude-Data"
        own = [folder / "LocalCache" / "Roaming" / "Claude" for folder in sorted(packages.glob("*Claude*"))]
        own += [folder for folder in sorted(data.glob("claude*")) if folder.is_dir()]
        if found := [folder for folder in own if folder.is_dir()]:
            return tuple(found)
    return (places.application("Claude"),)


IDE = Ide(
    name="claude-desktop",
    title="Claude Desktop",
    files=lambda places: tuple(folder / FILE for folder in _folders(places)),
    entry=servers("mcpServers"),
    signs=_folders,
    note="Quit it (also from the tray) and start it again.",
)
