"""Plan what connecting changes, show it, do it, take it back. No word is printed here, nothing is asked."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tetrarium.connect import files, instructions, ledger
from tetrarium.connect.detection import IDES, ide_named
from tetrarium.connect.edits import Edit
from tetrarium.connect.ide import Command, Ide
from tetrarium.connect.places import Places
from tetrarium.connect.refusal import Broken, Refused
from tetrarium.errors import NotFound

CONTEXT = 2
"""Lines shown around a change."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before (None: there is none) and after."""

    path: Path
    before: bytes | None
    after: bytes
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that connecting an IDE changes; nothing has happened yet."""

    ide: str
    title: str
    project: str
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """A file that was changed, and where it lies as it was."""

    path: Path
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """Files that are as they were, byte for byte, and files that others changed since, from which only ours was taken."""

    restored: tuple[Path, ...] = ()
    cleaned: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be connected. `program` runs the hooks' commands; `instructions`: the project that is to tell habits."""

    endpoint: Command
    program: Command | None = None
    hooks: tuple[str, ...] = field(default=())
    instructions: Path | None = None


def plan(name: str, places: Places, wish: Wish) -> Plan:
    """What connecting would change. Reads only.

    Raises NotFound for an unknown IDE, Refused for what it does not have, Broken for a file that cannot be read as
    what it should be.
    """
    one = ide_named(name)
    targets = one.targets(places)
    if not targets:
        raise Refused(f"{one.title} has no configuration of a project.", advice="Connect it without --project.")
    changes = [_changed(path, lambda text: (one.entry(wish.endpoint, text),)) for path in targets]
    notes = [one.note] if one.note else []
    if wish.hooks:
        changes.append(_hook_change(one, places, wish))
        notes += [one.hooks.note] if one.hooks and one.hooks.note else []
    if wish.instructions:
        changes.append(_instruction_change(one, wish.instructions))
    if places.project and one.project_file:
        notes.append("The project's file names a program by its place on this machine; think before you share it.")
    real = tuple(change for change in changes if change.before != change.after)
    return Plan(one.name, one.title, str(places.project or ""), real, tuple(notes))


def as_diff(plan: Plan) -> str:
    """The plan as people read changes; "" when it changes nothing."""
    return "".join(_diff_of(change) for change in plan.changes)


def apply(plan: Plan, places: Places) -> tuple[Applied, ...]:
    """Make the changes of a plan, each file whole or not at all, each recorded with the file as it was first.

    Raises Refused when a file is not what the plan saw, or cannot be written; files before it are changed then and
    can be undone.
    """
    return tuple(_applied(change, plan, places.ledger) for change in plan.changes)


def undo(name: str, places: Places) -> Undone:
    """Take everything back that was changed for an IDE, the last change first: to the very bytes where nobody
    changed the file since, else only what is ours. Raises NotFound when nothing was changed."""
    one = ide_named(name)
    known = ledger.entries(places.ledger, ide=one.name, project=str(places.project or ""))
    if not known:
        where = f" in {places.project}" if places.project else ""
        raise NotFound(f"There is nothing to undo for {one.title}{where}.", advice="Nothing was changed.")
    restored: list[Path] = []
    cleaned: list[Path] = []
    for entry in known:
        (restored if _undone(entry) else cleaned).append(entry.path)
        ledger.forget(places.ledger, entry)
    return Undone(tuple(dict.fromkeys(restored)), tuple(dict.fromkeys(cleaned)))


# --- planning ---------------------------------------------------------------------------------------


def _changed(path: Path, edits_for: Callable[[str], tuple[Edit, ...]]) -> FileChange:
    before = files.read(path)
    try:
        old = files.decoded(before)
        edits = edits_for(old.text)
        text = old.text
        for edit in edits:
            text = edit.apply(text)
    except (Broken, Refused) as error:
        raise Refused(f"{path}: {error.message}", advice=error.advice) from None
    return FileChange(path, before, files.encoded(text, has_bom=old.has_bom), edits)


def _hook_change(one: Ide, places: Places, wish: Wish) -> FileChange:
    if one.hooks is None or wish.program is None:
        having = ", ".join(known.title for known in IDES if known.hooks)
        raise Refused(f"{one.title} has no session hooks.", advice=f"Leave --hooks out; {having} have them.")
    edits = one.hooks.edits(one.name, wish.program, places, wish.hooks)
    return _changed(one.hooks.file(places), lambda _: edits)


def _instruction_change(one: Ide, project: Path) -> FileChange:
    if one.instructions is None:
        raise Refused(f"{one.title} reads no instructions of a project.", advice="Leave --instructions out.")
    return _changed(project / one.instructions, lambda _: (instructions.block(one.instructions_head),))


def _diff_of(change: FileChange) -> str:
    before, after = (files.decoded(content).text.splitlines() for content in (change.before, change.after))
    old = str(change.path) if change.before is not None else "/dev/null"
    lines = difflib.unified_diff(before, after, old, str(change.path), n=CONTEXT, lineterm="")
    return "".join(f"{line}\n" for line in lines)


# --- doing ------------------------------------------------------------------------------------------


def _applied(change: FileChange, plan: Plan, folder: Path) -> Applied:
    backup = ledger.write(
        folder,
        ide=plan.ide,
        project=plan.project,
        path=change.path,
        before=change.before,
        after=change.after,
        edits=change.edits,
    )
    try:
        files.replace(change.path, change.after, expected=change.before)
    except Refused:
        for file in (backup, backup.with_suffix(".json")):
            file.unlink(missing_ok=True)
        raise
    return Applied(change.path, backup if change.before is not None else None)


def _undone(entry: ledger.Entry) -> bool:
    """Take one change back; True when the file is as it was, byte for byte."""
    now = files.read(entry.path)
    if now is None:
        return entry.before is None
    if ledger.fingerprint(now) == entry.after_hash:
        _restore(entry, now, entry.before)
        return True
    was, old = files.decoded(entry.before), files.decoded(now)
    text = old.text
    try:
        for edit in reversed(entry.edits):
            text = edit.retract(text, was.text)
    except Broken as error:
        raise Refused(f"{entry.path}: {error.message}", advice=error.advice) from None
    left = files.encoded(text, has_bom=old.has_bom)
    empty = entry.before is None and text.strip() in ("", "{}")
    _restore(entry, now, None if empty else left)
    return left == entry.before


def _restore(entry: ledger.Entry, now: bytes, content: bytes | None) -> None:
    if content is None:
        files.remove(entry.path, expected=now, down_to=entry.base)
    elif content != now:
        files.replace(entry.path, content, expected=now)
