"""Secrets in what is imported: masked line by line, before a line is written."""

from __future__ import annotations

from tetrarium.model import SecretPolicy
from tetrarium.privacy.masking import Masking
from tetrarium.storage.exchange import Record

_TEXTS = ("content", "author", "session", "file", "project", "client", "found_by", "reason", "note", "name")
_WORDS = ("keywords", "labels", "entities")


class ImportScreen:
    """Masks the records of one file. found: id of the memory → (kind, field) of what was masked in it."""

    def __init__(self, policy: SecretPolicy) -> None:
        self._policy = policy
        self.found: dict[str, list[tuple[str, str]]] = {}

    def masked(self, record: Record) -> Record:
        """The record without its secrets; the very record when it holds none."""
        hide = Masking(self._policy)
        told: Record = {}
        for name, value in record.items():
            if name in _TEXTS:
                told[name] = hide.text(value, name)
            elif name in _WORDS and isinstance(value, list):
                told[name] = list(hide.words(value, name))
            else:
                told[name] = value
        if not hide.found:
            return record
        if "tokens" in told:
            told["tokens"] = ""
        self.found.setdefault(str(record.get("id") or record.get("memory") or ""), []).extend(hide.found)
        return told

    def drops(self, record: Record) -> bool:
        """Whether a record must not come in: the embedding of a text that was masked."""
        return record["kind"] == "vector" and record["memory"] in self.found
