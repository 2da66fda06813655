"""`tetrarium connect`: list the IDEs of this machine, connect one, show what that changes, take it back."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomlkit

from tetrarium import connect
from tetrarium.cli.terminal import as_json, common, write
from tetrarium.connect import Applied, Command, Found, Places, Plan, Seen, Standing, Wish
from tetrarium.connect.session import PROMPT, SESSION_END, SESSION_START
from tetrarium.errors import InvalidInput, UserError
from tetrarium.mcp.projects import project_name
from tetrarium.paths import DATA_DIR_VARIABLES, default_data_dir

PRINT = "print"
"""In the place of an IDE: show what to put into the configuration of one that is not known."""


def add(commands: Any) -> None:
    """Its parser."""
    known = ", ".join(one.name for one in connect.IDES)
    parser = commands.add_parser(
        "connect",
        help="connect an IDE to this memory, or list those that are here",
        description=f"Connect an IDE: {known}; 'print' shows the entry for any other. Without one: which are here.",
    )
    common(parser)
    parser.add_argument("ide", nargs="?", metavar="IDE", help=f"one of {known}, or print")
    parser.add_argument(
        "--project",
        type=Path,
        metavar="FOLDER",
        help="write the project's own configuration instead of yours ('.': here)",
    )
    parser.add_argument(
        "--hooks", action="store_true", help="also recall when a session starts, keep what it learnt at its end"
    )
    parser.add_argument("--prompt-hook", action="store_true", help="with --hooks: also recall before each prompt")
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="also write working habits into the project's CLAUDE.md, AGENTS.md …",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--undo", action="store_true", help="take back what was changed for this IDE")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=_connect)


def _connect(options: argparse.Namespace) -> int:
    project = options.project.expanduser().absolute() if options.project else None
    if project and not project.is_dir():
        raise InvalidInput(f"{project} is no folder.", advice="Give the project's folder to --project.")
    options.data_dir = options.data_dir or _space_of_this_shell()
    places = Places.here(project)
    name = project_name(str(project)) if project else ""
    endpoint = connect.endpoint(options.data_dir, name, options.passphrase_file)
    if options.ide is None:
        return _list(connect.detect(places, endpoint), options)
    if options.ide == PRINT:
        return _print(endpoint, options)
    if options.undo:
        return _undo(options, places)
    return _make(options, places, _wish(options, project, endpoint))


def _space_of_this_shell() -> Path | None:
    """The space that the environment names: an IDE does not pass it on, so the entry must say it."""
    named = any(os.environ.get(variable, "").strip() for variable in DATA_DIR_VARIABLES)
    return default_data_dir() if named else None


def _wish(options: argparse.Namespace, project: Path | None, endpoint: Command) -> Wish:
    events = (SESSION_START, SESSION_END, *((PROMPT,) if options.prompt_hook else ()))
    return Wish(
        endpoint=endpoint,
        program=connect.program(options.data_dir),
        hooks=events if options.hooks or options.prompt_hook else (),
        instructions=(project or Path.cwd()) if options.instructions else None,
    )


# --- looking ----------------------------------------------------------------------------------------


def _list(found: tuple[Found, ...], options: argparse.Namespace) -> int:
    if options.json:
        write(as_json({"ides": [asdict(one) for one in found]}))
        return 0
    here = [one for one in found if one.standing is not Standing.ABSENT]
    for one in here:
        write(f"{one.name:15} {one.standing:20} {', '.join(map(str, one.files))}")
        if one.problem:
            write(f"{'':15} {one.problem}")
    if not here:
        write("No IDE was found that is known here; 'tetrarium connect print' shows the entry for any.")
    elif absent := [one.name for one in found if one.standing is Standing.ABSENT]:
        write(f"Not found: {', '.join(absent)}.")
    return 0


def _print(endpoint: Command, options: argparse.Namespace) -> int:
    entry = {"command": endpoint.program, "args": list(endpoint.arguments)}
    if options.json:
        write(as_json(entry))
        return 0
    write("Most clients take this in their MCP configuration:\n")
    write(json.dumps({"mcpServers": {"tetrarium": entry}}, indent=2, ensure_ascii=False))
    write("\nThose that are configured in TOML:\n")
    write(tomlkit.dumps({"mcp_servers": {"tetrarium": entry}}).strip())
    return 0


# --- connecting -------------------------------------------------------------------------------------


def _make(options: argparse.Namespace, places: Places, wish: Wish) -> int:
    plan = connect.plan(options.ide, places, wish)
    if options.dry_run:
        _show(plan, options, applied=(), seen=None)
        return 0
    if not options.json:
        write(connect.as_diff(plan).rstrip("\n") or f"{plan.title} is connected like this already.")
    if plan.changes and not options.yes:
        _ask(plan)
    applied = connect.apply(plan, places)
    try:
        seen = connect.try_out(wish.endpoint)
    except UserError as error:
        raise type(error)(
            f"{plan.title} is set up, but the test failed. {error.message}",
            advice=f"{error.advice} To take it back: {_undoing(plan.ide, options)}",
        ) from None
    if options.json:
        _show(plan, options, applied, seen)
    else:
        _tell(plan, applied, seen, _undoing(plan.ide, options))
    return 0


def _ask(plan: Plan) -> None:
    """Wait for a yes. Raises UserError without one."""
    if not sys.stdin.isatty():
        raise UserError("Nothing was changed.", advice="Say --yes to do this, or --dry-run only to look.")
    write(f"\nDo this for {plan.title}? A copy of each file is kept. [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UserError("Nothing was changed.")


def _show(plan: Plan, options: argparse.Namespace, applied: tuple[Applied, ...], seen: Seen | None) -> None:
    if options.json:
        record = {
            "ide": plan.ide,
            "diff": connect.as_diff(plan),
            "files": [str(change.path) for change in plan.changes],
            "applied": [asdict(one) for one in applied],
            "test": asdict(seen) if seen else None,
            "notes": plan.notes,
        }
        write(as_json(record))
        return
    write(connect.as_diff(plan).rstrip("\n") or f"{plan.title} is connected like this already.")


def _undoing(ide: str, options: argparse.Namespace) -> str:
    """The command that takes back what this one does, from any folder."""
    project = ("--project", str(options.project.expanduser().absolute())) if options.project else ()
    words = ["tetrarium", "connect", ide, *project, "--undo"]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _tell(plan: Plan, applied: tuple[Applied, ...], seen: Seen, undoing: str) -> None:
    for one in applied:
        write(f"wrote {one.path}" + (f" (as it was: {one.backup})" if one.backup else ""))
    write(
        f"Tested: {seen.server} {seen.version} answered in {seen.seconds:.1f} s with {len(seen.tools)} tools "
        f"(MCP {seen.protocol})."
    )
    for note in plan.notes:
        write(note)
    if applied:
        write(f"To take this back: {undoing}")


def _undo(options: argparse.Namespace, places: Places) -> int:
    undone = connect.undo(options.ide, places)
    if options.json:
        write(as_json(asdict(undone)))
        return 0
    for path in undone.restored:
        write(f"{path} is as it was.")
    for path in undone.cleaned:
        write(f"{path} was changed by others since; only what is ours was taken out.")
    return 0
