"""What there is to know of an IDE: where its configuration lies, how an endpoint is written there, what else it can."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tetrarium.connect.edits import Edit, JsonElement, JsonObject
from tetrarium.connect.places import Places
from tetrarium.connect.refusal import Refused
from tetrarium.mcp.projects import project_name

SERVER = "tetrarium"
"""Our name in every configuration."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program by its absolute path, with its arguments."""

    program: str
    arguments: tuple[str, ...] = ()

    @staticmethod
    def of(words: Sequence[str]) -> Command:
        """The command of words as the system gave them, read as UTF-8 whatever the locale says. Raises Refused."""
        try:
            first, *rest = (os.fsencode(word).decode("utf-8") for word in words)
        except UnicodeDecodeError:
            raise Refused(
                "A path is not UTF-8, and configurations are.", advice="Give the folder another name."
            ) from None
        except UnicodeEncodeError:  # a name that was read as UTF-8 already
            first, *rest = words
        return Command(first, tuple(rest))

    @property
    def line(self) -> list[str]:
        return [self.program, *self.arguments]

    @property
    def call(self) -> list[str] | list[bytes]:
        """As the system starts it, whatever the locale says."""
        return self.line if os.name == "nt" else [word.encode("utf-8") for word in self.line]

    def shell(self, platform: str) -> str:
        """As one line for a shell; on Windows with forward slashes, which Git's Bash and cmd both take in quotes."""
        if platform == "win32":
            return subprocess.list2cmdline([self.program.replace("\\", "/"), *self.arguments])
        return shlex.join(self.line)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Session hooks of an IDE: the file, what makes it valid, and the entry for an event of ours."""

    file: Callable[[Places], Path]
    events: dict[str, str]
    entry: Callable[[str, str], dict[str, object]]
    """(event of the IDE, shell line) → the array element."""
    base: tuple[tuple[str, object], ...] = ()
    note: str = ""

    def edits(self, ide: str, command: Command, places: Places, wanted: tuple[str, ...]) -> tuple[Edit, ...]:
        """The edits that install the wanted events of ours, where the IDE has them."""
        project = ("--project", project_name(str(places.project))) if places.project else ()
        edits: list[Edit] = [JsonObject((), dict(self.base))] if self.base else []
        for ours in wanted:
            if theirs := self.events.get(ours):
                told = ("hook", ours, "--ide", ide)
                line = Command(command.program, (*command.arguments, *told, *project)).shell(places.platform)
                edits.append(JsonElement(("hooks", theirs), self.entry(theirs, line), f" {' '.join(told)}"))
        return tuple(edits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ide:
    """One IDE."""

    name: str
    title: str
    files: Callable[[Places], tuple[Path, ...]]
    """The person's configuration; several where several editions read their own."""
    project_file: Callable[[Path], Path] | None = None
    """The project's own configuration, from the project's folder."""
    entry: Callable[[Command, str], Edit]
    """(endpoint, text of the file now) → the edit."""
    signs: Callable[[Places], tuple[Path, ...]]
    """Folders or files that are there when it is installed."""
    programs: tuple[str, ...] = ()
    instructions: str | None = None
    """The project's file that it reads habits from."""
    instructions_head: str = ""
    hooks: Hooks | None = None
    note: str = ""

    def targets(self, places: Places) -> tuple[Path, ...]:
        """The files to write: the project's if one is meant and the IDE has such, else the person's; () if none."""
        if places.project is None:
            return self.files(places)
        return (self.project_file(places.project),) if self.project_file else ()


def servers(*path: str, **more: object) -> Callable[[Command, str], Edit]:
    """The common form: `{path: {"tetrarium": {…, "command": program, "args": [arguments]}}}`."""

    def entry(command: Command, _: str) -> Edit:
        values = {**more, "command": command.program, "args": list(command.arguments)}
        return JsonObject((*path, SERVER), values)

    return entry
