"""Commands for scripts and terminals; one module for each group of them.

Where an agents' tool means the same (`mcp.tools`), the command has its arguments as options, its checks and
its record behind `--json`. Exit code 0: done; 1: not done, the reason on standard error in one line;
2: the command was not understood.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from tetrarium import __version__
from tetrarium.cli import (
    audit,
    backups,
    clusters,
    connecting,
    demo,
    doctor,
    encryption,
    exchange,
    guarding,
    history,
    hook,
    memories,
    relations,
)
from tetrarium.cli.terminal import common, complain, speak_utf8
from tetrarium.errors import InvalidInput, UserError

GROUPS = (
    memories,
    demo,
    clusters,
    relations,
    history,
    guarding,
    doctor,
    connecting,
    hook,
    exchange,
    audit,
    backups,
    encryption,
)
"""Modules of commands, in the order of the help; each adds its parsers with `add(commands)`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit code."""
    speak_utf8()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        options = _parser().parse_args(argv)
    except SystemExit as usage:  # argparse has said what is wrong
        return int(usage.code or 0)
    try:
        if options.passphrase_file is not None:
            os.environ["TETRARIUM_PASSPHRASE_FILE"] = str(options.passphrase_file)
        code: int = options.run(options)
        sys.stdout.flush()
    except InvalidInput as error:
        return complain(error, 2)
    except UserError as error:
        return complain(error, 1)
    except BrokenPipeError:  # the reader had enough, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # nowhere to write the answer to, a full disk for instance
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failed = f"{error.filename} could not be used" if error.filename else "The answer could not be written"
        return complain(UserError(f"{failed} ({error.strerror})."), 1)
    return code


def commands() -> tuple[tuple[str, str], ...]:
    """Every command and what it is for, in the order of the help."""
    listing = _Listing(argparse.ArgumentParser().add_subparsers())
    for group in GROUPS:
        group.add(listing)
    return tuple(listing.found)


class _Listing:
    """Takes parsers as the parser of commands does, and notes what each is for."""

    def __init__(self, commands: Any) -> None:
        self.found: list[tuple[str, str]] = []
        self._commands = commands

    def add_parser(self, name: str, **given: Any) -> Any:
        self.found.append((name, given["help"]))
        return self._commands.add_parser(name, **given)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tetrarium", description="Long-term memory for coding agents. Without a command: the window."
    )
    parser.add_argument("--version", action="version", version=f"tetrarium {__version__}")
    common(parser, first=True)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for group in GROUPS:
        group.add(commands)
    return parser
