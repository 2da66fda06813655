"""`tetrarium backup` and `tetrarium restore`: copies of the space, and the way back, whole or one memory at a time."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tetrarium.cli.terminal import CLIENT, as_json, common, first_line, space, write
from tetrarium.errors import DamagedSpace
from tetrarium.model import Backup, RestorePreview
from tetrarium.paths import default_data_dir


def add(commands: Any) -> None:
    """Their parsers."""
    backup = commands.add_parser("backup", help="copy the space now, or list the copies")
    common(backup)
    backup.add_argument("--list", action="store_true", help="list the copies, newest first")
    backup.set_defaults(run=_backup)
    about = "go back to a copy, whole or one memory; what is there now is copied first, and history can undo it"
    restore = commands.add_parser("restore", help=about, description=about)
    common(restore)
    restore.add_argument(
        "name", nargs="?", default="", help="the copy, as `backup --list` shows it (default: the newest)"
    )
    restore.add_argument("--memory", metavar="ID", help="only this memory")
    restore.add_argument("--dry-run", action="store_true", help="only show what would change")
    restore.set_defaults(run=_restore)


def _backup(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        made = None if options.list else service.backup()
        found = service.backups()
    if options.json:
        write(as_json([asdict(b) for b in found] if made is None else asdict(made)))
    elif made:
        write(f"Copied and checked: {made.name}, {made.memories} memories, {made.bytes / 1e6:.1f} MB")
    else:
        _list(found)
    return 0


def _restore(options: argparse.Namespace) -> int:
    try:
        service = space(options.data_dir)
    except DamagedSpace:
        return _replace_damaged(options)
    with service:
        if options.memory and not options.dry_run:
            memory = service.restore_memory(options.name, options.memory, client=CLIENT)
            write(as_json(asdict(memory)) if options.json else f"Restored {memory.id}: {first_line(memory.content)}")
            return 0
        preview = service.preview_restore(options.name)
        if options.dry_run:
            _tell(preview, options.json)
            return 0
        before = service.restore_backup(preview.backup.name, client=CLIENT)
    if options.json:
        write(as_json({"restored": asdict(preview.backup), "before": asdict(before)}))
    else:
        _tell(preview, False)
        write(f"Restored. What was there before is kept as {before.name}; `tetrarium history` undoes it.")
    return 0


def _replace_damaged(options: argparse.Namespace) -> int:
    """The store cannot be opened at all: keep its files aside, and put the copy in its place."""
    from tetrarium.service import restore_damaged

    if options.dry_run or options.memory:
        raise DamagedSpace(
            "The store cannot be read, so there is nothing to compare with.",
            advice="`tetrarium restore` puts the newest sound backup in its place and keeps the damaged files aside.",
        )
    backup, aside = restore_damaged(options.data_dir or default_data_dir(), options.name)
    if options.json:
        write(as_json({"restored": asdict(backup), "aside": str(aside)}))
    else:
        write(f"The store could not be read. {backup.name} stands in its place ({backup.memories} memories);")
        write(f"the damaged files lie in {aside}.")
    return 0


def _list(found: Sequence[Backup]) -> None:
    for b in found:
        write(f"{b.name}  {b.at.astimezone():%Y-%m-%d %H:%M}  {b.cause}  {b.memories} memories  {b.bytes / 1e6:.1f} MB")
    if not found:
        write("There is no backup yet.")


def _tell(preview: RestorePreview, json: bool) -> None:
    if json:
        write(as_json(asdict(preview)))
        return
    p = preview
    write(f"{p.backup.name}: {p.returning} come back, {p.leaving} go, {p.changing} read otherwise, {p.staying} stay")
    for what, memory_id, words in p.examples:
        write(f"  {what}  {memory_id}  {first_line(words) if words else '(inhibited)'}")
