"""`tetrarium`: with a subcommand the command line, without one the window."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from tetrarium import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code. Anything that is not an option opens the command line, without importing Qt."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and not _is_for_the_window(arguments):
        from tetrarium.cli import main as command_line

        return command_line(arguments)
    options = _parser(with_commands=not {"-h", "--help"}.isdisjoint(arguments)).parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    from tetrarium_gui.app import run

    return run(options.data_dir, sample=options.sample)


def _is_for_the_window(arguments: list[str]) -> bool:
    """True when only the window's own options were given (and the values they take)."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--data-dir":
            next(rest, None)
        elif not argument.startswith("-"):
            return False
    return True


def _parser(*, with_commands: bool = False) -> argparse.ArgumentParser:
    """with_commands: list them in the help; reading them takes longer than the window can wait at its start."""
    parser = argparse.ArgumentParser(
        prog="tetrarium",
        usage="%(prog)s [options]\n       %(prog)s COMMAND …",
        description="Open the window on a space of memories. With a command work in the shell instead; "
        "'tetrarium COMMAND --help' tells more.",
        epilog=_commands() if with_commands else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tetrarium {__version__}")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of the space to open")
    parser.add_argument("--sample", action="store_true", help="open a sample space, filled at the first use")
    return parser


def _commands() -> str:
    from tetrarium.cli import commands

    return "commands:\n" + "\n".join(f"  {name:14} {about}" for name, about in commands())


if __name__ == "__main__":
    sys.exit(main())
