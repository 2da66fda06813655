"""What every command shares: the options that all know, the space, and words in and out as UTF-8."""

from __future__ import annotations

import argparse
import getpass
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tetrarium import __version__
from tetrarium.errors import InvalidInput, SpaceLocked, UserError
from tetrarium.lifecycle.trust import COMMAND_LINE
from tetrarium.mcp.arguments import visible
from tetrarium.mcp.projects import project_of
from tetrarium.mcp.tools import Caller
from tetrarium.paths import STORE_FILE, default_data_dir

if TYPE_CHECKING:
    from tetrarium.service import MemoryService

CLIENT = f"{COMMAND_LINE} {__version__}"
"""Who asks and edits from here: a person (lifecycle.trust)."""


def common(command: argparse.ArgumentParser, *, first: bool = False) -> None:
    """Options that may stand before the command or after it; after it they say nothing unless they are given."""
    command.add_argument(
        "--data-dir",
        type=Path,
        default=None if first else argparse.SUPPRESS,
        metavar="DIR",
        help="folder of the space (default: TETRARIUM_DATA_DIR, else the user's)",
    )
    command.add_argument(
        "--passphrase-file",
        type=Path,
        default=None if first else argparse.SUPPRESS,
        metavar="FILE",
        help="holds the passphrase of an encrypted space (else TETRARIUM_PASSPHRASE, else asked for)",
    )
    command.add_argument(
        "--json", action="store_true", default=False if first else argparse.SUPPRESS, help="answer in JSON"
    )


def space(data_dir: Path | None, *, makes: bool = False, whole: bool = True) -> MemoryService:
    """The space of `--data-dir`, else the user's. makes: a new one is what the command is for; else it is said that
    there was none, for a mistyped folder looks like lost memories. Without whole, indexes are read when a verb needs
    them. Raises SpaceUnavailable and its kinds."""
    from tetrarium.service import open_space  # the engine takes a second to import; `--help` and mistakes need not wait

    folder = (data_dir or default_data_dir()).expanduser()
    was_there = (folder / STORE_FILE).exists()
    try:
        service = open_space(folder, load_at_open=int(whole))
    except SpaceLocked:
        if not sys.stdin.isatty():
            raise
        service = open_space(folder, passphrase=asked("Passphrase: "), load_at_open=int(whole))
    if not was_there and not makes:
        say_aside(f"There was no space in {folder}; a new, empty one was made.")
    return service


def asked(prompt: str, otherwise: str = "") -> str:
    """A passphrase that a person types, unseen. Raises InvalidInput where nobody can be asked: what to do `otherwise`."""
    if not sys.stdin.isatty():
        raise InvalidInput(
            "There is no passphrase, and nobody to ask.",
            advice=otherwise or "Give --passphrase-file, or set TETRARIUM_PASSPHRASE.",
        )
    return getpass.getpass(prompt)


def caller() -> Caller:
    """Who asks: this program, for the project of the folder that an IDE names."""
    return Caller(client=CLIENT, project=project_of(None))


def standard_input() -> str:
    """Standard input as UTF-8, whatever the locale says."""
    if not isinstance(sys.stdin, io.TextIOWrapper):
        return str(sys.stdin.read())
    try:
        return str(sys.stdin.buffer.read(), "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is not UTF-8 (byte {error.start}).", advice="Convert it first.") from None


def write(text: str) -> None:
    """Print text for people; characters that would move the cursor are made visible."""
    print(visible(text))


def counted(number: int, one: str = "memory") -> str:
    """A number of things: 1 memory, 2 memories."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{number} {one if number == 1 else many}"


def as_json(record: Any) -> str:
    """A record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, default=str)


def first_line(content: str) -> str:
    """The first line of a text, at most 100 characters."""
    line = content.splitlines()[0]
    return line if len(line) <= 100 else f"{line[:99]}…"


def complain(error: UserError, code: int) -> int:
    """Say on standard error in one line what went wrong; gives the exit code back."""
    say_aside(str(error))
    return code


def say_aside(text: str) -> None:
    """One line on standard error."""
    print(f"tetrarium: {visible(' '.join(text.split()))}", file=sys.stderr)


def speak_utf8() -> None:
    """Both outputs in UTF-8, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
