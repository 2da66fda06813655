"""Names replaced by pseudonyms that mean nothing outside one export.

Whoever wrote, the programs, sessions, files and projects become "person-1", "client-2" … in the order in which they
first appear, everywhere they stand: in their own fields, in words and entities, and in every text that names them
as whole words. Ids are drawn anew from a key that lives as long as the export does.

What this cannot see: a person who is only spoken of and never wrote anything is no name that it knows.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from tetrarium.storage.exchange import KINDS as EVERY_KIND
from tetrarium.storage.exchange import Record

ROLES = {"author": "person", "client": "client", "session": "session", "project": "project", "file": "file"}
"""Columns that hold names, and what their names become."""

KINDS = frozenset({"space", "memory", "version", "inhibition", "relation", "contradiction", "feedback"})
"""Kinds of line that a pseudonymised export holds; vectors can be read back into text, plans quote words."""

KEPT = frozenset(
    {"kind", "place", "cluster", "asked", "found_by", *(f.name for kind in EVERY_KIND for f in kind.fields)}
)
"""Fields that may go: those that the format names. A column that it does not know stays at home."""

LEAST = 2
"""Characters from which on a name is looked for in texts."""

_TEXTS = ("content", "reason", "why", "cause", "note", "relation")
_LISTS = ("keywords", "labels", "entities")
_IDS = ("id", "memory", "source", "target", "successor", "newer", "older")
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
"""A name may begin at any character of a run of CJK, elsewhere at a word."""

_FILE = re.compile(r"(?:[\w.-]+/)+[\w.-]+|[\w-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|swift|c|h|cpp|cs|rb|php|sql|sh|toml|ya?ml|json|md|css|html|proto|tf)")  # fmt: skip
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Pseudonyms:
    """The pseudonyms of one export. names: by column of ROLES, the names that the export holds, in order."""

    def __init__(self, names: Mapping[str, Iterable[str]], entities: Iterable[str] = ()) -> None:
        self._key = secrets.token_bytes(32)
        self._by_role: dict[str, dict[str, str]] = {}
        self._by_word: dict[str, list[tuple[str, str]]] = {}
        files = (entity for entity in entities if _FILE.fullmatch(entity))
        for column, role in ROLES.items():
            found = dict.fromkeys([*names.get(column, ()), *(files if column == "file" else ())])
            given = {name: f"{role}-{n}" for n, name in enumerate(found, start=1)}
            self._by_role[column] = given
            for name, pseudonym in given.items():
                self._learn(name, pseudonym)
        for candidates in self._by_word.values():
            candidates.sort(key=lambda pair: -len(pair[0]))

    def __len__(self) -> int:
        return sum(map(len, self._by_role.values()))

    def applied(self, record: Record) -> Record:
        """The record under pseudonyms."""
        kind = record["kind"]
        changed = {name: value for name, value in record.items() if name in KEPT}
        for column, given in self._by_role.items():
            if changed.get(column):
                changed[column] = given.get(changed[column]) or self._stranger(column, changed[column])
        for name in _TEXTS:
            if isinstance(changed.get(name), str):
                changed[name] = self.in_text(changed[name])
        if kind == "version":
            changed["entities"] = changed["tokens"] = ""
        for name in _LISTS:
            if isinstance(changed.get(name), list):
                changed[name] = list(dict.fromkeys(map(self.in_text, changed[name])))
        for name in _IDS:
            if changed.get(name):
                changed[name] = self.id_of(changed[name])
        if kind == "memory":
            changed["asked"] = []  # hashes of questions, which can be guessed
            changed["found_by"] = ""
        if changed.get("recall"):
            changed["recall"] = self.id_of(changed["recall"])
        return changed

    def in_text(self, text: str) -> str:
        """A text with every name that it holds as whole words replaced, whatever their case."""
        folded = text.casefold()
        if len(folded) != len(text):  # positions would differ (İ, ß): look at the text as it is
            folded = text.lower() if len(text.lower()) == len(text) else text
        parts: list[str] = []
        done = 0
        for word in _WORD.finditer(folded):
            if word.start() < done:
                continue
            for name, pseudonym in self._by_word.get(word.group(), ()):
                end = word.start() + len(name)
                if folded.startswith(name, word.start()) and not _goes_on(folded, end):
                    parts += [text[done : word.start()], pseudonym]
                    done = end
                    break
        return "".join([*parts, text[done:]]) if parts else text

    def id_of(self, memory_id: str) -> str:
        """Another id of the same form, the same for the same memory throughout the export."""
        value = int.from_bytes(blake2b(memory_id.encode(), key=self._key, digest_size=16).digest()) >> 3
        return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))

    def _learn(self, given: str, pseudonym: str) -> None:
        """Look for a name in texts; for a file also without its folders."""
        for form in {given, given.replace("\\", "/").rsplit("/", 1)[-1]}:
            first = _WORD.search(form.casefold())
            name = form.casefold()[first.start() :] if first else ""
            if first and len(name) >= LEAST:
                self._by_word.setdefault(first.group(), []).append((name, pseudonym))

    def _stranger(self, column: str, name: str) -> str:
        """A name that no memory holds, as of who inhibited one."""
        given = self._by_role[column]
        given[name] = f"{ROLES[column]}-{len(given) + 1}"
        return given[name]


def _goes_on(text: str, end: int) -> bool:
    """Whether a word goes on after a name: CJK has no spaces between words, so it never does there."""
    if end >= len(text) or not (text[end].isalnum() or text[end] == "_"):
        return False
    return text[end] < "\u2e80" and text[end - 1] < "\u2e80"
