"""Where things are: the data folder of a space, the resources that ship with the programs, and the programs.

Imports nothing but the standard library until the platform's data folder is asked for.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

STORE_FILE = "space.tetrarium"
"""Name of the one truth inside a data folder."""


SNAPSHOT_FILE = "space.picture"
"""Name of the packed picture of the space beside it; disposable."""

DATA_DIR_VARIABLES = ("TETRARIUM_DATA_DIR", "VOID_DATA_DIR")
"""Variables that name the folder of the space to open; the second for people who come from Void Memory."""

LOCK_FILE, ADDRESS_FILE, LOG_FILE = "space.lock", "space.host", "host.log"
"""Names of what the host of the space keeps beside it: the lock on being the host, where it listens, what went wrong."""

PROGRAMS = {"tetrarium": "tetrarium_gui", "tetrarium-mcp": "tetrarium.mcp"}
"""Our programs, each with the module that `python -m` runs for it."""

BACKUPS = "backups"
"""Folder of the copies of a space inside its data folder."""

RESERVE_FILE = "space.reserve"
"""Room that is given back when the disk is full, so that something can still be deleted."""


KEY_FILE = "space.key"
"""The wrapped key of an encrypted space; without it, and what unwraps it, nobody can read the space."""

AUDIT_FILE = "space.audit"
"""Name of the mirrored end of the audit beside it: a count and a hash."""


def default_data_dir() -> Path:
    """The folder of the space to open: the one that a variable names, else the per-user data folder of the platform."""
    for variable in DATA_DIR_VARIABLES:
        if named := os.environ.get(variable, "").strip():
            return Path(named).expanduser()
    return _user_data() / "default"


def sample_dir() -> Path:
    """The folder of the sample space: beside the one that is opened without being named, and never that one."""
    own = default_data_dir()
    return own.with_name("sample" if own.name != "sample" else "sample-space")


def _user_data() -> Path:
    """The platform's folder for what this user's Tetrarium keeps. On Linux without a library: the relay asks."""
    if not sys.platform.startswith("linux"):
        import platformdirs  # knows the other platforms, and takes its time

        return Path(platformdirs.user_data_dir("Tetrarium", appauthor=False))
    named = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".local/share") / "Tetrarium"


def files_in(space: Path, pattern: str = "*") -> Iterator[Path]:
    """Every file below the folder of a space whose name fits, those of its backups also where these lie elsewhere and
    only a link to them is here."""
    folders = [space, space / BACKUPS] if (space / BACKUPS).is_symlink() else [space]
    return (path for folder in folders for path in folder.rglob(pattern) if path.is_file())


def resources() -> Path:
    """The resources folder: beside a frozen program, inside an installed wheel, or in the checkout."""
    bundle = getattr(sys, "_MEIPASS", None)
    here = Path(__file__).resolve().parent
    places = [Path(bundle) / "resources"] if bundle else [here / "_resources", here.parents[1] / "resources"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"Tetrarium's resources are missing (looked in {', '.join(map(str, places))}).")


def program(name: str) -> list[str]:
    """The command that starts one of `PROGRAMS` from anywhere: absolute, to be followed by its arguments.

    Frozen: the executable beside this one, never this one, whose `sys.executable` is no Python. Installed: the
    script of this environment. Else this interpreter with `-P -m`, which looks for the module in no current folder.
    Raises KeyError for a name that is no program, FileNotFoundError when the bundle is not whole.
    """
    module = PROGRAMS[name]
    file = name + (".exe" if os.name == "nt" else "")
    if getattr(sys, "frozen", False):
        beside = Path(sys.executable).absolute().with_name(file)
        if not beside.is_file():
            raise FileNotFoundError(f"The bundle is not whole: {beside} is missing.")
        return [str(beside)]
    for folder in _script_folders():
        if (folder / file).is_file():
            return [str(folder / file)]
    return [os.path.abspath(sys.executable), "-P", "-m", module]


def _script_folders() -> list[Path]:
    """Where this environment keeps its scripts; the user's own scheme only outside a virtual environment."""
    schemes = [sysconfig.get_default_scheme()]
    if sys.prefix == sys.base_prefix:
        schemes.append(sysconfig.get_preferred_scheme("user"))
    return [Path(sysconfig.get_path("scripts", scheme)).absolute() for scheme in schemes]
