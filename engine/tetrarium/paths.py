"""Where things are: the data folder of a space, and the resources that ship with the program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

STORE_FILE = "space.tetrarium"
"""Name of the one truth inside a data folder."""


SNAPSHOT_FILE = "space.picture"
"""Name of the packed picture of the space beside it; disposable."""


AUDIT_FILE = "space.audit"
"""Name of the mirrored end of the audit beside it: a count and a hash."""


def default_data_dir() -> Path:
    """The folder of the space to open: TETRARIUM_DATA_DIR, else VOID_DATA_DIR (for people who come
    from Void Memory), else the per-user data folder of the platform."""
    for variable in ("TETRARIUM_DATA_DIR", "VOID_DATA_DIR"):
        if named := os.environ.get(variable, "").strip():
            return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("Tetrarium", appauthor=False)) / "default"


def resources() -> Path:
    """The resources folder: beside a frozen program, inside an installed wheel, or in the checkout."""
    bundle = getattr(sys, "_MEIPASS", None)
    here = Path(__file__).resolve().parent
    places = [Path(bundle) / "resources"] if bundle else [here / "_resources", here.parents[1] / "resources"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"Tetrarium's resources are missing (looked in {', '.join(map(str, places))}).")
