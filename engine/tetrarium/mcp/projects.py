"""The project of a client: one name for one place, however IDEs and agents spell its path. Standard library only."""

from __future__ import annotations

import os
import posixpath
import re

from tetrarium.mcp.arguments import from_system

_DRIVE = re.compile(r"/?[A-Za-z](?::|%3[Aa])(?=[/\\]|$)")
"""How Windows paths begin, also where an IDE has written them as part of an address."""


def project_of(named: str | None) -> str:
    """The project of this client: named on the command line, else the folder the IDE has open, else none (global)."""
    told = from_system(named if named is not None else os.environ.get("CLAUDE_PROJECT_DIR", ""))
    return project_name(told)


def project_name(told: str) -> str:
    """A project's name as it is; of a path, the name of the folder at its end: of the one that a link leads to, where
    the path is one of this machine. The top of a drive is no project."""
    name = told.strip()
    if name.lower().startswith("file://") or (_DRIVE.match(name) and "%" in name[:5]):
        from urllib.parse import unquote, urlsplit  # rare, and a relay counts its imports

        name = unquote(urlsplit(name).path)
    drive = _DRIVE.match(name)
    if not drive and not name.startswith(("/", "\\\\", "~")):
        return name
    if not drive and os.path.isdir(place := os.path.expanduser(name)):
        name = os.path.realpath(place)
    folder = posixpath.normpath(name[drive.end() if drive else 0 :].replace("\\", "/"))
    return folder.rsplit("/", 1)[-1].strip(".")
