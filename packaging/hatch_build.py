"""Build hook: a wheel carries `resources/` inside the package, where `tetrarium.paths.resources` looks.

An editable install reads the checkout's own folder and gets nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ResourcesHook(BuildHookInterface[Any]):
    """Called by hatchling for every target; acts for standard wheels only."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel" and version == "standard":
            build_data["force_include"][str(Path(self.root) / "resources")] = "tetrarium/_resources"
