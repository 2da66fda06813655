"""Where IDEs keep their configuration on this machine; everything that depends on machine and person is in here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LEDGER = "connections"
"""Folder of the records of what was changed, with the files as they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders that configurations are found from. `project` is the folder whose own files are meant, if any."""

    home: Path
    ledger: Path
    platform: str = "linux"
    environment: Mapping[str, str]
    project: Path | None = None

    @staticmethod
    def here(project: Path | None = None) -> Places:
        """Of this machine and this person."""
        import platformdirs

        return Places(
            home=Path.home(),
            ledger=Path(platformdirs.user_data_dir("Tetrarium", appauthor=False)) / LEDGER,
            platform=sys.platform,
            environment=os.environ,
            project=project.absolute() if project else None,
        )

    @property
    def config(self) -> Path:
        """Where Unix programs keep configuration."""
        return self._named("XDG_CONFIG_HOME", self.home / ".config")

    def application(self, name: str) -> Path:
        """The folder of a desktop application of that name."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        return (self.roaming if self.platform == "win32" else self.config) / name

    @property
    def roaming(self) -> Path:
        return self._named("APPDATA", self.home / "AppData" / "Roaming")

    @property
    def local(self) -> Path:
        return self._named("LOCALAPPDATA", self.home / "AppData" / "Local")

    def named(self, variable: str, otherwise: Path) -> Path:
        """The folder that a variable of the IDE names."""
        return self._named(variable, otherwise)

    def finds(self, program: str) -> str | None:
        """Where a program is on the search path."""
        return shutil.which(program, path=self.environment.get("PATH", ""))

    def _named(self, variable: str, otherwise: Path) -> Path:
        value = self.environment.get(variable, "").strip()
        return Path(value).expanduser() if value else otherwise
