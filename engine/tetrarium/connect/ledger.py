"""The record of every file that was changed, with the file as it was: what undo stands on."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tetrarium.connect import files
from tetrarium.connect.edits import Edit, as_record, from_record


@dataclass(frozen=True, slots=True)
class Entry:
    """One changed file. `before` None: there was none. `base`: the folder above which nothing was made."""

    name: str
    ide: str
    project: str
    path: Path
    base: Path
    before: bytes | None
    after_hash: str
    edits: tuple[Edit, ...]


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(
    folder: Path, *, ide: str, project: str, path: Path, before: bytes | None, after: bytes, edits: Sequence[Edit]
) -> Path:
    """Record a change that is about to be made; gives the backup's place. Raises Refused."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # configurations hold keys
    name = f"{time.time_ns():020d}-{ide}-{secrets.token_hex(3)}"
    backup = folder / f"{name}.before"
    files.replace(backup, before or b"", expected=None)
    record = {
        "ide": ide,
        "project": project,
        "path": str(path),
        "base": str(_lowest_folder(path)),
        "existed": before is not None,
        "after": fingerprint(after),
        "edits": [as_record(edit) for edit in edits],
    }
    files.replace(folder / f"{name}.json", json.dumps(record, indent=2).encode(), expected=None)
    return backup


def entries(folder: Path, *, ide: str, project: str) -> list[Entry]:
    """What was changed for an IDE (in a project, or "" for the person's own files), newest first."""
    found = [_entry(file) for file in sorted(folder.glob("*.json"), reverse=True)]
    return [entry for entry in found if entry and (entry.ide, entry.project) == (ide, project)]


def forget(folder: Path, entry: Entry) -> None:
    """The change was taken back."""
    for suffix in (".json", ".before"):
        (folder / f"{entry.name}{suffix}").unlink(missing_ok=True)


def _entry(file: Path) -> Entry | None:
    """The entry of a record; None for a file that is none of ours."""
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
        before = file.with_suffix(".before").read_bytes()
        return Entry(
            name=file.stem,
            ide=told["ide"],
            project=told["project"],
            path=Path(told["path"]),
            base=Path(told["base"]),
            before=before if told["existed"] else None,
            after_hash=told["after"],
            edits=tuple(from_record(edit) for edit in told["edits"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lowest_folder(path: Path) -> Path:
    """The folder nearest to a path that exists: folders below it are made for the file and go with it."""
    return next(folder for folder in path.resolve().parents if folder.is_dir())
