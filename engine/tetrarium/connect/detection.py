"""Which IDEs are known, which are on this machine, and how they stand to an endpoint of ours. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tetrarium.connect import claude_code, claude_desktop, codex, cursor, files, gemini, opencode, vscode, windsurf, zed
from tetrarium.connect.ide import Command, Ide
from tetrarium.connect.places import Places
from tetrarium.connect.refusal import Broken, Refused
from tetrarium.errors import NotFound

IDES: tuple[Ide, ...] = tuple(
    module.IDE for module in (claude_code, claude_desktop, cursor, vscode, windsurf, codex, gemini, opencode, zed)
)


class Standing(StrEnum):
    """How an IDE and Tetrarium stand to each other."""

    ABSENT = "absent"
    OPEN = "not connected"
    OTHER = "connected otherwise"
    CONNECTED = "connected"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Found:
    """An IDE on this machine: by what it was found, its configuration and how it stands."""

    name: str
    title: str
    standing: Standing
    sign: str
    files: tuple[Path, ...]
    problem: str = ""
    hooks: bool = False


def ide_named(name: str) -> Ide:
    """The IDE of a name. Raises NotFound."""
    found = next((known for known in IDES if known.name == name.strip().lower()), None)
    if found is None:
        known = ", ".join(one.name for one in IDES)
        raise NotFound(
            f"'{name}' is no IDE that is known.", advice=f"Known are {known}; for any other: tetrarium connect print."
        )
    return found


def detect(places: Places, endpoint: Command) -> tuple[Found, ...]:
    """Every IDE that is known, with how it stands to this endpoint. Reads only; a broken file is told, not raised."""
    return tuple(_looked_at(one, places, endpoint) for one in IDES)


def _looked_at(one: Ide, places: Places, endpoint: Command) -> Found:
    targets = one.targets(places) or one.files(places)
    sign = next((str(sign) for sign in one.signs(places) if sign.exists()), "")
    sign = sign or next((found for program in one.programs if (found := places.finds(program))), "")
    standing, problem = (Standing.ABSENT, "") if not sign else _standing(one, targets, endpoint)
    return Found(one.name, one.title, standing, sign, targets, problem, one.hooks is not None)


def _standing(one: Ide, targets: Sequence[Path], endpoint: Command) -> tuple[Standing, str]:
    standings = []
    for path in targets:
        try:
            text = files.decoded(files.read(path)).text
            edit = one.entry(endpoint, text)
            same, ours = edit.apply(text) == text, edit.retract(text, "") != text
        except (Broken, Refused) as error:
            return Standing.BROKEN, f"{path}: {error.message}"
        standings.append(Standing.CONNECTED if same else Standing.OTHER if ours else Standing.OPEN)
    order = (Standing.OPEN, Standing.OTHER, Standing.CONNECTED)
    return min(standings, key=order.index), ""
