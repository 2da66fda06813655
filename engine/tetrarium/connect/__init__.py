"""Connecting IDEs: our entry in their configuration, shown first, made without touching anything else, taken back.

    found = detect(Places.here(), endpoint)             # which IDEs are here, and how they stand
    change = plan("cursor", places, Wish(endpoint=endpoint))
    as_diff(change)                                     # what would change; nothing has happened
    apply(change, places)                               # whole files, with backups
    try_out(endpoint)                                   # start it as the IDE will
    undo("cursor", places)                              # to the very bytes

One module for each IDE says where its files lie and how an endpoint is written in them. The window and the command
line both stand on this; it opens no space, and of the engine it knows errors, paths and how a project is named.
"""

from __future__ import annotations

from pathlib import Path

from tetrarium import paths
from tetrarium.connect.connecting import Applied, FileChange, Plan, Undone, Wish, apply, as_diff, plan, undo
from tetrarium.connect.detection import IDES, Found, Standing, detect, ide_named
from tetrarium.connect.ide import Command
from tetrarium.connect.places import Places
from tetrarium.connect.refusal import Broken, Refused
from tetrarium.connect.trial import Seen, try_out

__all__ = [
    "IDES",
    "Applied",
    "Broken",
    "Command",
    "FileChange",
    "Found",
    "Places",
    "Plan",
    "Refused",
    "Seen",
    "Standing",
    "Undone",
    "Wish",
    "apply",
    "as_diff",
    "detect",
    "endpoint",
    "ide_named",
    "plan",
    "program",
    "try_out",
    "undo",
]


def endpoint(data_dir: Path | None = None, project: str = "", passphrase_file: Path | None = None) -> Command:
    """The endpoint of this installation, for a space in `data_dir`, a project's name and the file that holds the
    passphrase of an encrypted space, where they are given.

    Raises Refused for a path that no configuration can hold.
    """
    where = ["--data-dir", str(data_dir.expanduser().absolute())] if data_dir else []
    where += ["--passphrase-file", str(passphrase_file.expanduser().absolute())] if passphrase_file else []
    return Command.of([*paths.program("tetrarium-mcp"), *where, *(["--project", project] if project else [])])


def program(data_dir: Path | None = None) -> Command:
    """The program of this installation that runs commands, on the space in `data_dir`. Raises Refused as `endpoint`."""
    where = ["--data-dir", str(data_dir.expanduser().absolute())] if data_dir else []
    return Command.of([*paths.program("tetrarium"), *where])
