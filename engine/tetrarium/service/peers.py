"""Notes of other programs as records of an export of ours, so that they come in by the one path there is: looked at,
masked, screened for orders, undone as a batch.

Nobody in such a file counts as a person here: whoever wrote it, it was read in and not said. A note keeps its id from
one import to the next, since the id is made of its words; one that says what a memory of the space says is that memory.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from tetrarium.config import Settings
from tetrarium.errors import InvalidInput
from tetrarium.indexing.tokens import tokenize
from tetrarium.lifecycle import ingest
from tetrarium.model import Draft, Float32, Source
from tetrarium.privacy import archive, peers, validation
from tetrarium.privacy.incoming import IMPORTED
from tetrarium.privacy.peers import Note, Tie, Unreadable
from tetrarium.privacy.reading import Line
from tetrarium.privacy.secrets import mask
from tetrarium.storage.exchange import Field, Record, told
from tetrarium.storage.identity import id_of


@dataclass(frozen=True, slots=True)
class Notes:
    """A file of somebody's notes. same: id of the memory that says this already, by the hash of its text and its
    project; unwanted: why a person never wants it stored, or ""; rarity: of a word, for keywords; model: of the
    embeddings."""

    path: Path
    form: str
    project: str
    caps: archive.Caps
    fields: Mapping[str, tuple[Field, ...]]
    settings: Settings
    same: Callable[[bytes, str], str | None]
    unwanted: Callable[[Draft], str]
    rarity: Callable[[str], float]
    model: str = ""

    def lines(self, vectors: Mapping[str, Float32]) -> Iterator[Line]:
        """Every note and relation as a line of an export, those that cannot be one with the reason. vectors: embeddings
        that come along, by id."""
        at = told(round(os.stat(self.path).st_mtime * 1e6))
        known: dict[str, str] = {}  # entity → its first memory
        seen: set[str] = set()
        ties: set[Tie] = set()
        for found in peers.notes(self.path, self.form, self.caps):
            if isinstance(found, Unreadable):
                yield Line(found.line, {}, found.why)
            elif isinstance(found, Tie):
                if replace(found, line=0) not in ties:
                    yield self._relation(found, known, at)
                ties.add(replace(found, line=0))
            else:
                yield from self._memory(found, known, seen, at, vectors)

    def _memory(
        self, note: Note, known: dict[str, str], seen: set[str], at: str, vectors: Mapping[str, Float32]
    ) -> Iterator[Line]:
        try:
            draft = self._draft(note, at)
        except InvalidInput as error:
            yield Line(note.line, {}, str(error).split(";")[0].rstrip("."))
            return
        memory_id = self.same(draft.content_hash, self.project)
        memory_id = memory_id or id_of(blake2b(draft.content_hash + self.project.encode(), digest_size=10).digest())
        if note.name:
            known.setdefault(note.name, memory_id)
        if memory_id in seen:
            return
        seen.add(memory_id)
        if why := self.unwanted(draft):
            yield Line(note.line, {}, why)
            return
        record = _record(memory_id, draft, at)
        yield Line(note.line, record, validation.problem(record, self.fields["memory"]))
        if memory_id in vectors:
            data = base64.b64encode(vectors[memory_id].astype(np.float16).tobytes()).decode()
            yield Line(note.line, {"kind": "vector", "memory": memory_id, "model": self.model, "vector": data})

    def _draft(self, note: Note, at: str) -> Draft:
        return ingest.make_draft(
            ingest.clean_content(note.text, self.settings),
            keywords=(),
            labels=ingest.clean_words(note.labels[-ingest.MAX_WORDS :], "labels"),
            entities=ingest.clean_words([note.name] if note.name else [], "entities"),
            category=None,
            importance=None,
            source=Source(client=IMPORTED, project=self.project, file=self.path.name),
            created_at=ingest.parse_moment(at, "created_at"),
            expires_at=None,
            rarity=self.rarity,
            settings=self.settings,
        )

    def _relation(self, tie: Tie, known: Mapping[str, str], at: str) -> Line:
        unknown = [name for name in (tie.source, tie.target) if name not in known]
        if unknown:
            return Line(tie.line, {}, f"the relation names '{mask(unknown[0])[0]:.60}', which is no entity before it")
        source, target = known[tie.source], known[tie.target]
        record = {
            "kind": "relation", "source": source, "target": target, "relation": tie.kind, "note": "", "author": IMPORTED,
            "created_at": at, "removed_at": None,
        }  # fmt: skip
        return Line(tie.line, record, validation.problem(record, self.fields["relation"]))


def _record(memory_id: str, draft: Draft, at: str) -> Record:
    own = len(tokenize(draft.content))
    return {
        "kind": "memory", "id": memory_id, "content": draft.content, "keywords": list(draft.keywords),
        "labels": list(draft.labels), "entities": list(draft.entities), "category": str(draft.category),
        "memory_type": str(draft.memory_type), "importance": draft.importance, "client": draft.source.client,
        "author": draft.source.author, "session": "", "position": 0, "project": draft.source.project,
        "file": draft.source.file, "created_at": at, "updated_at": at, "expires_at": None, "last_accessed_at": None,
        "access_count": 0, "revision": 1, "trashed_at": None, "pinned": False, "helped": 0, "misled": 0,
        "distinct_queries": 0, "stored_again": 0, "quarantined": "", "place": None, "cluster": None, "asked": [],
        "found_by": " ".join(draft.tokens[own:]),
    }  # fmt: skip
