"""`tetrarium backup` and `tetrarium restore`: copies of the space, and the way back, whole or one memory at a time."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tetrarium.cli.terminal import CLIENT, as_json, common, counted, first_line, space, write
from tetrarium.errors import DamagedSpace
from tetrarium.model import Backup, RestoreOnePreview, RestorePreview
from tetrarium.paths import default_data_dir

if TYPE_CHECKING:
    from tetrarium.service import MemoryService


def add(commands: Any) -> None:
    """Their parsers."""
    backup = commands.add_parser("backup", help="copy the space now, or list the copies")
    common(backup)
    backup.add_argument("--list", action="store_true", help="list the copies, newest first")
    backup.set_defaults(run=_backup)
    about = (
        "show what going back to a copy, whole or one memory, would change; with --apply go back: what is there now is "
        "copied first, and history can undo it"
    )
    restore = commands.add_parser(
        "restore", help="show what going back to a copy would change, and go", description=about
    )
    common(restore)
    restore.add_argument(
        "name",
        nargs="?",
        default="",
        help="the copy, as `backup --list` shows it (default: the newest, those aside that a way back has made)",
    )
    restore.add_argument("--memory", metavar="ID", help="only this memory")
    restore.add_argument("--apply", action="store_true", help="do it; without, only show what would change")
    restore.set_defaults(run=_restore)


def _backup(options: argparse.Namespace) -> int:
    with space(options.data_dir) as service:
        made = None if options.list else service.backup()
        found = service.backups()
    if options.json:
        write(as_json([asdict(b) for b in found] if made is None else asdict(made)))
    elif made:
        write(f"Copied and checked: {made.name}, {counted(made.memories)}, {made.bytes / 1e6:.1f} MB")
    else:
        _list(found)
    return 0


def _restore(options: argparse.Namespace) -> int:
    try:
        service = space(options.data_dir)
    except DamagedSpace:
        return _replace_damaged(options)
    with service:
        if options.memory:
            return _restore_one(service, options)
        preview = service.preview_restore(options.name)
        before = service.restore_backup(preview.backup.name, client=CLIENT) if options.apply else None
    if options.json:
        write(as_json({"restored": asdict(preview.backup), "before": asdict(before)} if before else asdict(preview)))
        return 0
    _tell(preview)
    if before:
        write(f"Restored. What was there before is kept as {before.name}; `tetrarium history undo` takes it back.")
    else:
        write("Nothing was changed; --apply goes back.")
    return 0


def _restore_one(service: MemoryService, options: argparse.Namespace) -> int:
    if options.apply:
        memory = service.restore_memory(options.name, options.memory, client=CLIENT)
        write(as_json(asdict(memory)) if options.json else f"Restored {memory.id}: {first_line(memory.content)}")
        return 0
    found = service.preview_restore_memory(options.name, options.memory)
    write(as_json(asdict(found) | {"changes": found.changes}) if options.json else _told_of_one(found))
    return 0


def _told_of_one(found: RestoreOnePreview) -> str:
    told = [f"{found.memory_id} in {found.backup.name}: {first_line(found.then)}"]
    if found.here == "gone":
        told.append("It is not here any more.")
    else:
        told.append(f"Here it is {found.here}" + (f": {first_line(found.now)}" if "text" in found.differing else "."))
        told.append(f"Differs: {', '.join(found.differing) or 'nothing'}.")
    told.append("Nothing was changed; --apply brings it back." if found.changes else "There is nothing to bring back.")
    return "\n".join(told)


def _replace_damaged(options: argparse.Namespace) -> int:
    """The store cannot be opened at all: keep its files aside, and put the copy in its place."""
    from tetrarium.service import backup_for_damaged, restore_damaged

    folder = options.data_dir or default_data_dir()
    if options.memory or not options.apply:
        backup = backup_for_damaged(folder, options.name)
        raise DamagedSpace(
            "The store cannot be read, so there is nothing to compare with; nothing was changed.",
            advice=f"`tetrarium restore --apply` puts {backup.name} ({counted(backup.memories)}) in its place and keeps "
            "the damaged files aside.",
        )
    backup, aside = restore_damaged(folder, options.name)
    if options.json:
        write(as_json({"restored": asdict(backup), "aside": str(aside)}))
    else:
        write(f"The store could not be read. {backup.name} stands in its place ({counted(backup.memories)});")
        write(f"the damaged files lie in {aside}.")
    return 0


def _list(found: Sequence[Backup]) -> None:
    for b in found:
        write(f"{b.name}  {b.at.astimezone():%Y-%m-%d %H:%M}  {b.cause}  {counted(b.memories)}  {b.bytes / 1e6:.1f} MB")
    if not found:
        write("There is no backup yet.")


def _tell(preview: RestorePreview) -> None:
    p = preview
    write(f"{p.backup.name}: {p.returning} come back, {p.leaving} go, {p.changing} read otherwise, {p.staying} stay")
    for what, memory_id, words in p.examples:
        write(f"  {what}  {memory_id}  {first_line(words) if words else '(inhibited)'}")
