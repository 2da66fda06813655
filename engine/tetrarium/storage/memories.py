"""Rows of the store: memories with their versions, vectors, places and inhibition edges, and the change log.

Functions that write take the connection of an open `Database.write()` and append to the change log; one
verb of the service is one transaction. Whatever reads gives records of `tetrarium.model`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
import numpy as np

from tetrarium.errors import DamagedSpace
from tetrarium.model import (
    CATEGORIES,
    MEMORY_TYPES,
    Category,
    Confidence,
    Contradiction,
    Draft,
    Float32,
    IndexRow,
    Inhibition,
    Int64,
    Memory,
    MemoryType,
    Source,
    Standing,
    Version,
)
from tetrarium.storage import effects, seals
from tetrarium.storage.checks import HELD
from tetrarium.storage.database import Database
from tetrarium.storage.identity import new_id

EXCERPT_LENGTH = 120
"""Characters of a memory that views show before it is opened."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SQL_VARIABLES = 30_000
_CATEGORY_CODE = {category: code for code, category in enumerate(CATEGORIES)}
_TYPE_CODE = {kind: code for code, kind in enumerate(MEMORY_TYPES)}

_INHIBITED = (
    "(EXISTS (SELECT 1 FROM inhibitions WHERE target = m.num AND lifted_at IS NULL) "
    f"OR EXISTS (SELECT 1 FROM temp.damaged WHERE kind = {HELD} AND num = m.num))"
)
_READABLE = "NOT EXISTS (SELECT 1 FROM temp.damaged d WHERE d.kind = {kind.code} AND d.num = {num})"
_PLACED = f"LEFT JOIN places p ON p.num = m.num AND {_READABLE.format(kind=seals.PLACE, num='p.num')}"
_MEMORY_READABLE = _READABLE.format(kind=seals.MEMORY, num="m.num")
_VECTOR_READABLE = _READABLE.format(kind=seals.VECTOR, num="v.num")
_MEMORY_COLUMNS = f"""
    m.num, m.id, m.content, m.keywords, m.labels, m.entities, m.category, m.memory_type, m.importance,
    {_INHIBITED}, m.created_at, m.updated_at, m.last_accessed_at, m.access_count, m.expires_at,
    m.client, m.author, m.session, m.project, m.file, m.position, m.revision, p.i, p.j, p.k, p.component,
    m.pinned, m.helped, m.misled, m.distinct_queries, m.stored_again, m.quarantined
"""
_INDEX_COLUMNS = f"""
    m.num, m.id, substr(m.content, 1, {EXCERPT_LENGTH}), m.tokens, m.keywords, m.labels, m.entities, m.author,
    m.session, m.position, m.project, m.language, m.category, m.memory_type, m.importance, m.created_at,
    m.last_accessed_at, m.access_count, m.expires_at, {_INHIBITED}, m.budget_tokens, p.i, p.j, p.k, p.component,
    m.pinned, m.helped, m.misled, m.distinct_queries, m.quarantined, m.client
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the change log."""

    seq: int
    num: int
    op: str


@dataclass(frozen=True, slots=True)
class Wording:
    """What a memory said at one revision. tokens: empty in versions that were kept before there was a history."""

    content: str
    keywords: tuple[str, ...]
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    tokens: tuple[str, ...]
    category: Category
    importance: float
    expires_at: datetime | None


def worded(draft: Draft, wording: Wording | None) -> Draft:
    """A draft with the very tokens and entities that a memory had at a revision, where they are known."""
    if wording is None or not wording.tokens:
        return draft
    return replace(draft, tokens=wording.tokens, entities=wording.entities)


FEEDBACK_WORTH = 3
"""Recalls that one piece of feedback weighs as much as: one "helped" confirms a memory, as three recalls do."""

IMPORTANCE_STEP, IMPORTANCE_REACH = 0.1, 0.3
"""How far one piece of feedback moves the effective importance, and how far all of it together may."""

SCRUBBED_WORD = 4
"""Letters from which a keyword of a purged memory is taken out of what other rows tell; shorter ones tell nothing."""

_KEPT_QUESTIONS = 1_000
"""Different questions remembered of one memory; whoever answers more is a hub anyway."""


def evidence_of(access_count: int, helped: int, misled: int) -> int:
    """Recalls that a memory was shown in, with feedback counted in; under 0 where it misled more."""
    return access_count + FEEDBACK_WORTH * (helped - misled)


def confidence_of(evidence: int) -> Confidence:
    """stored, accessed from the first recall, confirmed from the third (S2)."""
    if evidence >= 3:
        return Confidence.CONFIRMED
    return Confidence.ACCESSED if evidence > 0 else Confidence.STORED


def effective_importance(importance: float, helped: int, misled: int) -> float:
    """Importance moved by feedback, bounded. A function of the counts alone: withdrawn feedback leaves no trace."""
    moved = max(-IMPORTANCE_REACH, min(IMPORTANCE_REACH, IMPORTANCE_STEP * (helped - misled)))
    return max(0.0, min(1.0, importance + moved))


def now() -> datetime:
    """This instant, UTC."""
    return datetime.now(UTC)


def microseconds(moment: datetime) -> int:
    """Whole microseconds since the epoch; exact, also far from 1970."""
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


# --- writing -------------------------------------------------------------------------------------


def _text_columns(draft: Draft) -> tuple[str | int | float | bytes, ...]:
    """What a memory says and what is derived of it, in the order content … budget_tokens of both statements below."""
    return (
        draft.content,
        draft.content_hash,
        _json(draft.keywords),
        _json(draft.labels),
        _json(draft.entities),
        draft.category,
        draft.memory_type,
        draft.importance,
        draft.language,
        " ".join(draft.tokens),
        draft.budget_tokens,
    )


def insert(connection: apsw.Connection, draft: Draft, *, now: datetime, memory_id: str = "") -> tuple[int, str]:
    """A new memory; gives its number and id. Its position in the session is the next one. memory_id: of one that was
    here before, else a new one."""
    memory_id = memory_id or new_id()
    source = draft.source
    row = (
        memory_id,
        *_text_columns(draft),
        source.client,
        source.author,
        source.session,
        source.session,
        source.project,
        source.project,
        source.file,
        microseconds(draft.created_at),
        microseconds(now),
        microseconds(draft.expires_at) if draft.expires_at else None,
        draft.quarantined,
    )
    connection.execute(
        """
        INSERT INTO memories (id, content, content_hash, keywords, labels, entities, category, memory_type,
            importance, language, tokens, budget_tokens, client, author, session, position, project, file,
            created_at, updated_at, expires_at, quarantined)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT coalesce(max(position), 0) + 1 FROM memories WHERE session = ? AND session <> '' AND project = ?),
            ?, ?, ?, ?, ?, ?)
        """,
        row,
    )
    num = connection.last_insert_rowid()
    # One that comes back is no longer to be erased.
    connection.execute("DELETE FROM erasures WHERE memory = ?", (memory_id,))
    connection.execute("INSERT INTO fulltext (rowid, tokens) VALUES (?, ?)", (num, " ".join(draft.tokens)))
    effects.note(connection, num, "presence", "", effects.NONE, effects.LIVE)
    log_change(connection, num, "store", now)
    return num, memory_id


def replace_text(connection: apsw.Connection, num: int, draft: Draft, *, now: datetime) -> None:
    """Give a memory another text and leave nothing of the one before: no version is kept."""
    trashed = connection.execute("SELECT trashed_at FROM memories WHERE num = ?", (num,)).fetchall()[0][0]
    if trashed is None:
        _unindex(connection, num)
    source = draft.source
    connection.execute(
        """
        UPDATE memories SET content = ?, content_hash = ?, keywords = ?, labels = ?, entities = ?, category = ?,
            memory_type = ?, importance = ?, language = ?, tokens = ?, budget_tokens = ?,
            author = ?, session = ?, file = ?, project = ?, client = ?
        WHERE num = ?
        """,
        (*_text_columns(draft), source.author, source.session, source.file, source.project, source.client, num),
    )
    if trashed is None:
        connection.execute("INSERT INTO fulltext (rowid, tokens) VALUES (?, ?)", (num, " ".join(draft.tokens)))
    log_change(connection, num, "mask", now)


def rewrite(connection: apsw.Connection, num: int, draft: Draft, *, cause: str, now: datetime) -> None:
    """Give a memory a new text, in the trash too; the one before stays as a version. Counters, id and creation stay."""
    revision, live = _first(connection, "SELECT revision, trashed_at IS NULL FROM memories WHERE num = ?", num)
    _keep_version(connection, num, cause, now)
    if live:
        _unindex(connection, num)
    connection.execute(
        """
        UPDATE memories SET content = ?, content_hash = ?, keywords = ?, labels = ?, entities = ?, category = ?,
            memory_type = ?, importance = ?, language = ?, tokens = ?, budget_tokens = ?, expires_at = ?,
            updated_at = ?, revision = revision + 1
        WHERE num = ?
        """,
        (
            *_text_columns(draft),
            microseconds(draft.expires_at) if draft.expires_at else None,
            microseconds(now),
            num,
        ),
    )
    if live:
        connection.execute("INSERT INTO fulltext (rowid, tokens) VALUES (?, ?)", (num, " ".join(draft.tokens)))
    connection.execute("DELETE FROM passages WHERE num = ?", (num,))
    effects.note(connection, num, "text", "", revision, revision + 1)
    log_change(connection, num, "edit", now)


def set_vector(connection: apsw.Connection, num: int, model: str, vector: Float32) -> None:
    """The embedding of a memory, kept as float16 (half the file, same ranking: measured)."""
    connection.execute(
        "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (num, model, vector.astype(np.float16).tobytes())
    )


def set_passages(connection: apsw.Connection, num: int, model: str, matrix: Float32) -> None:
    """The embeddings of the parts of a long memory, (parts, d), in order; those of before go."""
    connection.execute("DELETE FROM passages WHERE num = ?", (num,))
    connection.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?)",
        ((num, part, model, vector.astype(np.float16).tobytes()) for part, vector in enumerate(matrix)),
    )


def drop_vectors(connection: apsw.Connection, nums: Iterable[int], *, now: datetime) -> None:
    """Take embeddings away that are of no use; the memories are embedded anew in a quiet moment."""
    for num in nums:
        connection.execute("DELETE FROM vectors WHERE num = ?", (num,))
        connection.execute("DELETE FROM passages WHERE num = ?", (num,))
        log_change(connection, num, "edit", now)


def set_place(connection: apsw.Connection, num: int, voxel: tuple[int, int, int], component: int) -> None:
    """The voxel of a memory. UNIQUE (i, j, k) makes the store itself refuse an overlap."""
    connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)", (num, *voxel, component))


def set_components(connection: apsw.Connection, components: dict[int, int]) -> None:
    """New cluster ids of memories whose component fell apart."""
    connection.executemany(
        "UPDATE places SET component = ? WHERE num = ?", [(component, num) for num, component in components.items()]
    )


def inhibit(
    connection: apsw.Connection, target: int, *, successor: int | None, reason: str, author: str, now: datetime
) -> None:
    """A reversible edge: `target` is out of every answer until the edge is lifted (S2). Twice the same is one edge."""
    same = "SELECT 1 FROM inhibitions WHERE target = ? AND successor IS ? AND lifted_at IS NULL"
    if connection.execute(same, (target, successor)).fetchone():
        return
    connection.execute(
        "INSERT INTO inhibitions (target, successor, reason, author, created_at) VALUES (?, ?, ?, ?, ?)",
        (target, successor, reason, author, microseconds(now)),
    )
    effects.note(connection, target, "edge", connection.last_insert_rowid(), 0, 1)
    log_change(connection, target, "inhibit", now)


def lift_inhibitions(connection: apsw.Connection, target: int, *, now: datetime) -> int:
    """Lift every edge on a memory; gives how many there were. The edges stay as history."""
    edges = connection.execute("SELECT edge FROM inhibitions WHERE target = ? AND lifted_at IS NULL", (target,)).fetchall()  # fmt: skip
    for (edge,) in edges:
        effects.note(connection, target, "edge", edge, 1, 0)
    connection.execute(
        "UPDATE inhibitions SET lifted_at = ? WHERE target = ? AND lifted_at IS NULL", (microseconds(now), target)
    )
    lifted = connection.changes()
    if lifted:
        log_change(connection, target, "release", now)
    return lifted


def set_standing(
    connection: apsw.Connection, num: int, *, pinned: bool, expires_at: datetime | None, now: datetime
) -> None:
    """Pin and expiry of a memory. No new version: the text stays as it is."""
    before = _first(connection, "SELECT pinned, expires_at FROM memories WHERE num = ?", num)
    until = microseconds(expires_at) if expires_at else None
    connection.execute("UPDATE memories SET pinned = ?, expires_at = ? WHERE num = ?", (pinned, until, num))
    states = effects.standing_state(*before), effects.standing_state(pinned, until)
    effects.note(connection, num, "standing", "", *states)
    log_change(connection, num, "standing", now)


def set_standing_state(connection: apsw.Connection, num: int, state: str, *, now: datetime) -> None:
    """Pin and expiry as history noted them (`effects.standing_state`)."""
    pinned, until = json.loads(state)
    set_standing(connection, num, pinned=bool(pinned), expires_at=_moment(until) if until else None, now=now)


def set_feedback(
    connection: apsw.Connection, num: int, *, recall: str, client: str, helped: bool | None, now: datetime
) -> None:
    """One client's word on one memory in one recall: it replaces the word before; None takes it back."""
    words: list[Any] = connection.execute("SELECT helped FROM feedback WHERE num = ? AND recall = ? AND client = ?", (num, recall, client)).fetchall()  # fmt: skip
    after = None if helped is None else int(helped)
    effects.note(connection, num, "feedback", f"{recall}\n{client}", words[0][0] if words else None, after)
    if helped is None:
        connection.execute("DELETE FROM feedback WHERE num = ? AND recall = ? AND client = ?", (num, recall, client))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?)", (num, recall, client, helped, microseconds(now))
        )
    connection.execute(
        "UPDATE memories SET helped = (SELECT count(*) FROM feedback f WHERE f.num = memories.num AND f.helped), "
        "misled = (SELECT count(*) FROM feedback f WHERE f.num = memories.num AND NOT f.helped) WHERE num = ?",
        (num,),
    )
    log_change(connection, num, "standing", now)


def count_repetition(connection: apsw.Connection, num: int) -> None:
    """The same was stored once more."""
    connection.execute("UPDATE memories SET stored_again = stored_again + 1 WHERE num = ?", (num,))


def count_questions(connection: apsw.Connection, asked: dict[int, set[bytes]]) -> dict[int, int]:
    """Add questions that memories were shown for; gives num → how many different ones there are now."""
    counts: dict[int, int] = {}
    for num, questions in asked.items():
        if _questions_of(connection, num) < _KEPT_QUESTIONS:
            connection.executemany(
                "INSERT OR IGNORE INTO asked SELECT num, ? FROM memories WHERE num = ?",
                [(question, num) for question in questions],
            )
            counts[num] = _questions_of(connection, num)
    connection.executemany(
        "UPDATE memories SET distinct_queries = ? WHERE num = ?", [(count, num) for num, count in counts.items()]
    )
    return counts


def propose_contradiction(connection: apsw.Connection, newer: int, older: int, why: str, *, now: datetime) -> None:
    """Note that two memories may not both be true. Changes neither."""
    connection.execute(
        "INSERT OR IGNORE INTO contradictions (newer, older, why, found_at) VALUES (?, ?, ?, ?)",
        (newer, older, why, microseconds(now)),
    )


def dismiss_contradiction(connection: apsw.Connection, one: int, other: int, *, now: datetime) -> int:
    """Both are true after all; gives how many proposals that settled."""
    settled = 0
    for newer, older in ((one, other), (other, one)):
        connection.execute(
            "UPDATE contradictions SET dismissed_at = ? WHERE dismissed_at IS NULL AND newer = ? AND older = ?",
            (microseconds(now), newer, older),
        )
        if connection.changes():
            settled += 1
            effects.note(connection, newer, "contradiction", older, 0, 1)
    return settled


def propose_again(connection: apsw.Connection, newer: int, older: int) -> None:
    """Take the dismissal of a proposal back."""
    connection.execute("UPDATE contradictions SET dismissed_at = NULL WHERE newer = ? AND older = ?", (newer, older))
    effects.note(connection, newer, "contradiction", older, 1, 0)


def set_edge(connection: apsw.Connection, target: int, edge: int, *, in_force: bool, now: datetime) -> None:
    """Lift one inhibition edge, or put it in force again."""
    lifted = None if in_force else microseconds(now)
    connection.execute("UPDATE inhibitions SET lifted_at = ? WHERE edge = ?", (lifted, edge))
    effects.note(connection, target, "edge", edge, int(not in_force), int(in_force))
    log_change(connection, target, "inhibit" if in_force else "release", now)


def drop_contradictions(connection: apsw.Connection, num: int) -> None:
    """The text of a memory is another one now: what was proposed about it no longer counts."""
    connection.execute("DELETE FROM contradictions WHERE newer = ? OR older = ?", (num, num))


def move_to_trash(connection: apsw.Connection, num: int, *, now: datetime) -> None:
    """Out of every index and view; `take_from_trash` brings it back."""
    _unindex(connection, num)
    connection.execute("UPDATE memories SET trashed_at = ? WHERE num = ?", (microseconds(now), num))
    _note_place(connection, num)
    connection.execute("DELETE FROM places WHERE num = ?", (num,))
    effects.note(connection, num, "presence", "", effects.LIVE, effects.TRASHED)
    log_change(connection, num, "trash", now)


def take_from_trash(connection: apsw.Connection, num: int, *, now: datetime) -> None:
    """Back into the indexes. The caller gives it a place."""
    connection.execute("UPDATE memories SET trashed_at = NULL WHERE num = ?", (num,))
    connection.execute("INSERT INTO fulltext (rowid, tokens) SELECT num, tokens FROM memories WHERE num = ?", (num,))
    effects.note(connection, num, "presence", "", effects.TRASHED, effects.LIVE)
    log_change(connection, num, "restore", now)


def purge(connection: apsw.Connection, num: int, *, now: datetime) -> None:
    """Delete a memory with its versions, vector, place and edges, and what others tell of it.

    The store's rows are gone with the transaction. Their bytes are not yet: the id stands in `erasures` until
    `privacy.erasure.finish` has found none left in any file.
    """
    note_erasure(connection, num, "purge", now=now)
    scrub(connection, num)
    live = connection.execute("SELECT 1 FROM memories WHERE num = ? AND trashed_at IS NULL", (num,)).fetchone()
    if live:
        _unindex(connection, num)
    (memory_id,) = _first(connection, "SELECT id FROM memories WHERE num = ?", num)
    effects.note(connection, num, "presence", memory_id, effects.LIVE if live else effects.TRASHED, effects.GONE)
    connection.execute("DELETE FROM memories WHERE num = ?", (num,))
    connection.execute("DELETE FROM retries")  # answers may quote it
    log_change(connection, num, "purge", now)


def note_erasure(connection: apsw.Connection, num: int, how: str, *, now: datetime) -> None:
    """Write down that bytes of a memory are to go from every file: all of them ("purge"), or its former text ("mask")."""
    connection.execute(
        "INSERT INTO erasures SELECT id, ?, ? FROM memories WHERE num = ? "
        "ON CONFLICT (memory) DO UPDATE SET how = CASE WHEN excluded.how = 'purge' THEN 'purge' ELSE how END",
        (how, microseconds(now), num),
    )


def scrub(connection: apsw.Connection, num: int) -> None:
    """Take out what other rows tell of a memory's text: kept answers, reasons of corrections, names in old plans."""
    row: Any = connection.execute("SELECT id, keywords FROM memories WHERE num = ?", (num,)).fetchone()
    memory_id, keywords = row
    words = [word for word in json.loads(keywords) if len(word) >= SCRUBBED_WORD]
    telling = " OR ".join(["instr(result, ?)", *["instr(lower(result), ?)"] * len(words)])
    for table, key in (("requests", "key"), ("retries", "key || char(10) || step")):
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchall():
            continue  # in a copy of an older schema
        query = f"SELECT {key}, result FROM {table} WHERE {telling}"
        answers: list[Any] = connection.execute(query, (memory_id, *words)).fetchall()
        for number, told in answers:
            result = json.dumps(_scrubbed(json.loads(told), memory_id, words), ensure_ascii=False)
            connection.execute(f"UPDATE {table} SET result = ? WHERE {key} = ?", (result, number))
    connection.execute("UPDATE inhibitions SET reason = '' WHERE successor = ?", (num,))
    plans: list[Any] = connection.execute("SELECT id, why FROM plans WHERE why <> ''").fetchall()
    for plan, why in plans:
        if any(word in why.casefold() for word in words):
            connection.execute("UPDATE plans SET why = ? WHERE id = ?", (_without(why, words), plan))


def count_accesses(connection: apsw.Connection, accesses: dict[int, tuple[int, datetime]]) -> None:
    """Add recalls to the counters: num → (how many, when last). Not a change that indexes replay."""
    connection.executemany(
        "UPDATE memories SET access_count = access_count + ?, last_accessed_at = max(coalesce(last_accessed_at, 0), ?) "
        "WHERE num = ?",
        [(count, microseconds(when), num) for num, (count, when) in accesses.items()],
    )


def remember_request(connection: apsw.Connection, key: str, draft: Draft, num: int, result: dict[str, Any]) -> None:
    """Keep the first answer to an idempotency key of a project."""
    told = json.dumps(result, ensure_ascii=False)
    connection.execute(
        "INSERT INTO requests VALUES (?, ?, ?, ?)", (_request(draft.source.project, key), draft.content_hash, num, told)
    )


def log_change(connection: apsw.Connection, num: int, op: str, now: datetime) -> None:
    connection.execute("INSERT INTO changes (num, op, at) VALUES (?, ?, ?)", (num, op, microseconds(now)))


def set_meta(connection: apsw.Connection, key: str, value: Any) -> None:
    """A fact about the space, as JSON."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))


def _scrubbed(answer: Any, memory_id: str, words: Sequence[str]) -> Any:
    """An answer that is kept for a retry, without words of a memory: its own lose their keywords, others what they quote."""
    if not isinstance(answer, dict):
        return answer
    kept = dict(answer)
    for name in ("contradicts", "candidates", "examples"):
        kept[name] = [found for found in answer.get(name, ()) if memory_id not in json.dumps(found)]
    if any(word in str(answer.get("cluster_name", "")).casefold() for word in words):
        kept["cluster_name"] = ""
    if answer.get("id") == memory_id:
        kept |= {"keywords": [], "reason": ""}
    return {name: value for name, value in kept.items() if name in answer}


def _without(text: str, words: Sequence[str]) -> str:
    """A text with words blanked out, whatever their case."""
    return re.sub("|".join(map(re.escape, words)), "…", text, flags=re.IGNORECASE)


def drop_meta(connection: apsw.Connection, key: str) -> None:
    """The space has no such fact (any more)."""
    connection.execute("DELETE FROM meta WHERE key = ?", (key,))


def _note_place(connection: apsw.Connection, num: int) -> None:
    """Where a memory stood that goes: it may come back to there."""
    for place in connection.execute("SELECT i, j, k, component FROM places WHERE num = ?", (num,)).fetchall():
        effects.note(connection, num, "place", "", json.dumps(place), None)


def _first(connection: apsw.Connection, query: str, num: int) -> tuple[Any, ...]:
    row: tuple[Any, ...] = connection.execute(query, (num,)).fetchall()[0]
    return row


def _questions_of(connection: apsw.Connection, num: int) -> int:
    rows: list[Any] = connection.execute("SELECT count(*) FROM asked WHERE num = ?", (num,)).fetchall()
    return int(rows[0][0])


def _keep_version(connection: apsw.Connection, num: int, cause: str, now: datetime) -> None:
    columns = "num, revision, content, keywords, labels, category, importance, entities, tokens, expires_at"
    connection.execute(
        f"INSERT INTO versions ({columns}, replaced_at, cause) SELECT {columns}, ?, ? FROM memories WHERE num = ?",
        (microseconds(now), cause, num),
    )


def _unindex(connection: apsw.Connection, num: int) -> None:
    connection.execute(
        "INSERT INTO fulltext (fulltext, rowid, tokens) SELECT 'delete', num, tokens FROM memories WHERE num = ?",
        (num,),
    )


# --- reading -------------------------------------------------------------------------------------


class MemoryReader:
    """Reads of the store, each with the driver's errors explained."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def number(self, memory_id: str, *, in_trash: bool = False) -> int | None:
        """The row number of an id, or None when there is none (in or out of the trash, as asked)."""
        state = "NOT NULL" if in_trash else "NULL"
        row = self._one(f"SELECT num FROM memories WHERE id = ? AND trashed_at IS {state}", (memory_id,))
        return row[0] if row else None

    def memories(self, nums: Sequence[int]) -> list[Memory]:
        """The memories of these numbers, in the same order; those in the trash too."""
        found: dict[int, Memory] = {}
        for part in _parts(nums):
            marks = ",".join("?" * len(part))
            rows = self._all(
                f"SELECT {_MEMORY_COLUMNS} FROM memories m {_PLACED} "
                f"WHERE m.num IN ({marks}) AND {seals.MEMORY.is_sound('m')} IS NOT 0",
                part,
            )
            edges = self._edges(part, marks)
            found.update((row[0], _memory(row, *edges.get(row[0], (None, ())))) for row in rows)
        if len(found) < len(set(nums)):
            self._refuse_damaged([num for num in nums if num not in found])
        return [found[num] for num in nums if num in found]

    def _refuse_damaged(self, nums: Sequence[int]) -> None:
        """Raise DamagedSpace when one of these memories is there and does not read as it was written."""
        for part in _parts(nums):
            marks = ",".join("?" * len(part))
            if self._all(f"SELECT num FROM memories WHERE num IN ({marks})", part):
                raise DamagedSpace(
                    "A memory does not read as it was written: the file was damaged, or changed by another program.",
                    advice="`tetrarium doctor` says which, and what can be done.",
                )

    def numbers(self) -> list[int]:
        """Numbers of all memories outside the trash."""
        return [num for (num,) in self._all("SELECT num FROM memories WHERE trashed_at IS NULL ORDER BY num", ())]

    def ids(self, nums: Sequence[int]) -> list[str]:
        """Ids of memories that the store still has, the trash included."""
        found: list[str] = []
        for part in _parts(nums):
            marks = ",".join("?" * len(part))
            found += [row[0] for row in self._all(f"SELECT id FROM memories WHERE num IN ({marks})", part)]
        return found

    def versions(self, num: int) -> tuple[Version, ...]:
        rows = self._all(
            "SELECT revision, content, keywords, category, replaced_at, cause, labels, importance FROM versions v "
            f"WHERE num = ? AND {seals.VERSION.is_sound('v')} IS NOT 0 ORDER BY revision DESC",
            (num,),
        )
        return tuple(
            Version(revision, content, _tuple(keywords), Category(category), _moment(at), cause, _tuple(labels), weight)
            for revision, content, keywords, category, at, cause, labels, weight in rows
        )

    def wording(self, num: int, revision: int) -> Wording | None:
        """What a memory said at a revision, as it was; None when that is not kept."""
        columns = "content, keywords, labels, entities, tokens, category, importance, expires_at"
        row = self._one(
            f"SELECT {columns} FROM versions v WHERE num = ?1 AND revision = ?2 AND {seals.VERSION.is_sound('v')} IS NOT 0 "
            f"UNION ALL SELECT {columns} FROM memories WHERE num = ?1 AND revision = ?2",
            (num, revision),
        )
        if row is None:
            return None
        content, keywords, labels, entities, tokens, category, importance, expires = row
        return Wording(
            content,
            _tuple(keywords),
            _tuple(labels),
            _tuple(entities) if entities else (),
            tuple(tokens.split(" ")) if tokens else (),
            Category(category),
            importance,
            _moment(expires) if expires else None,
        )

    def same_content(self, content_hash: bytes, project: str) -> list[tuple[int, bool]]:
        """(num, inhibited) of the memories outside the trash with this very text, in this project."""
        return [
            (num, bool(inhibited))
            for num, inhibited in self._all(
                f"SELECT m.num, {_INHIBITED} FROM memories m "
                "WHERE content_hash = ? AND project = ? AND trashed_at IS NULL ORDER BY m.num",
                (content_hash, project),
            )
        ]

    def inhibitions(self, num: int) -> tuple[Inhibition, ...]:
        """Every edge of the chain that a memory belongs to, oldest first, lifted ones too."""
        rows = self._all(
            """
            WITH RECURSIVE chain (num) AS (
                VALUES (?)
                UNION SELECT e.successor FROM inhibitions e JOIN chain ON e.target = chain.num WHERE e.successor IS NOT NULL
                UNION SELECT e.target FROM inhibitions e JOIN chain ON e.successor = chain.num
            )
            SELECT t.id, s.id, e.reason, e.author, e.created_at, e.lifted_at
            FROM inhibitions e JOIN memories t ON t.num = e.target LEFT JOIN memories s ON s.num = e.successor
            WHERE e.target IN (SELECT num FROM chain) ORDER BY e.edge
            """,
            (num,),
        )
        return tuple(
            Inhibition(target, successor, reason, author, _moment(at), _moment(lifted) if lifted else None)
            for target, successor, reason, author, at, lifted in rows
        )

    def latest_inhibitions(self) -> tuple[tuple[int, Inhibition], ...]:
        """Edges in force on memories outside the trash, with the number of the memory, newest first."""
        found = self._all(
            """
            SELECT e.target, t.id, s.id, e.reason, e.author, e.created_at
            FROM inhibitions e JOIN memories t ON t.num = e.target LEFT JOIN memories s ON s.num = e.successor
            WHERE e.lifted_at IS NULL AND t.trashed_at IS NULL ORDER BY e.edge DESC
            """,
            (),
        )
        return tuple(
            (num, Inhibition(target, successor, reason, author, _moment(at), None))
            for num, target, successor, reason, author, at in found
        )

    def inhibitors(self, num: int) -> tuple[str, ...]:
        """Who set the edges in force on a memory: client names."""
        rows = self._all("SELECT author FROM inhibitions WHERE target = ? AND lifted_at IS NULL", (num,))
        return tuple(author for (author,) in rows)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Proposals that are open: both memories live, neither in the trash, not dismissed; newest first."""
        rows = self._all(
            f"""
            SELECT m.id, o.id, c.why, substr(o.content, 1, {EXCERPT_LENGTH})
            FROM contradictions c JOIN memories m ON m.num = c.newer JOIN memories o ON o.num = c.older
            WHERE c.dismissed_at IS NULL AND m.trashed_at IS NULL AND o.trashed_at IS NULL AND NOT {_INHIBITED}
              AND m.quarantined = '' AND o.quarantined = ''
              AND NOT EXISTS (SELECT 1 FROM inhibitions WHERE target = o.num AND lifted_at IS NULL)
            ORDER BY c.found_at DESC
            """,
            (),
        )
        return tuple(Contradiction(*row) for row in rows)

    def contents(self, nums: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for part in _parts(nums):
            marks = ",".join("?" * len(part))
            found.update(self._all(f"SELECT num, content FROM memories WHERE num IN ({marks})", part))
        return found

    def request(self, project: str, key: str) -> tuple[bytes, dict[str, Any]] | None:
        """The text (its hash) that came with an idempotency key of a project, and the first answer to it."""
        row = self._one("SELECT content_hash, result FROM requests WHERE key = ?", (_request(project, key),))
        return (row[0], json.loads(row[1])) if row else None

    def last_change(self) -> int:
        return int(self._one("SELECT coalesce(max(seq), 0) FROM changes", ())[0])

    def changes_since(self, seq: int) -> list[Change]:
        return [
            Change(*row) for row in self._all("SELECT seq, num, op FROM changes WHERE seq > ? ORDER BY seq", (seq,))
        ]

    def index_rows(self, nums: Sequence[int] | None = None) -> Iterator[IndexRow]:
        """Rows for the indexes: of these numbers, or of every memory outside the trash in order of number."""
        query = f"SELECT {_INDEX_COLUMNS} FROM memories m {_PLACED} WHERE m.trashed_at IS NULL AND {_MEMORY_READABLE}"
        if nums is None:
            yield from map(_index_row, self._all(f"{query} ORDER BY m.num", ()))
            return
        for part in _parts(nums):
            marks = ",".join("?" * len(part))
            yield from map(_index_row, self._all(f"{query} AND m.num IN ({marks}) ORDER BY m.num", part))

    def vectors(self, model: str, dimension: int, nums: Sequence[int] | None = None) -> tuple[Int64, Float32]:
        """(n,) numbers and (n, dimension) float32 vectors of this model, of memories outside the trash."""
        query = (
            "SELECT v.num, v.vector FROM vectors v JOIN memories m USING (num) "
            f"WHERE v.model = ? AND length(v.vector) = ? AND m.trashed_at IS NULL AND {_VECTOR_READABLE}"
        )
        values: tuple[Any, ...] = (model, 2 * dimension)
        rows: list[tuple[int, bytes]] = []
        if nums is None:
            rows = self._all(f"{query} ORDER BY v.num", values)
        else:
            for part in _parts(nums):
                marks = ",".join("?" * len(part))
                rows += self._all(f"{query} AND v.num IN ({marks}) ORDER BY v.num", (*values, *part))
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), np.float16).reshape(len(rows), dimension)
        return np.fromiter((num for num, _ in rows), np.int64, len(rows)), matrix.astype(np.float32)

    def passages(self, model: str, dimension: int, nums: Sequence[int] | None = None) -> tuple[Int64, Float32]:
        """(n,) numbers, ascending, each as often as its memory has parts, and the (n, dimension) vectors of the parts."""
        query = (
            "SELECT p.num, p.vector FROM passages p JOIN memories m USING (num) "
            "WHERE p.model = ? AND length(p.vector) = ? AND m.trashed_at IS NULL"
        )
        values: tuple[Any, ...] = (model, 2 * dimension)
        rows: list[tuple[int, bytes]] = []
        if nums is None:
            rows = self._all(f"{query} ORDER BY p.num, p.part", values)
        else:
            for part in _parts(nums):
                marks = ",".join("?" * len(part))
                rows += self._all(f"{query} AND p.num IN ({marks}) ORDER BY p.num, p.part", (*values, *part))
        matrix = np.frombuffer(b"".join(vector for _, vector in rows), np.float16).reshape(len(rows), dimension)
        return np.fromiter((num for num, _ in rows), np.int64, len(rows)), matrix.astype(np.float32)

    def vector_in_trash(self, num: int, model: str) -> Float32 | None:
        """The embedding of one memory, wherever it is; None when it has none of this model."""
        row = self._one("SELECT vector FROM vectors WHERE num = ? AND model = ?", (num, model))
        return np.frombuffer(row[0], np.float16).astype(np.float32) if row else None

    def without_vector(self, model: str) -> list[int]:
        """Numbers of memories outside the trash that have no embedding of this model."""
        rows = self._all(
            f"SELECT m.num FROM memories m LEFT JOIN vectors v ON v.num = m.num AND v.model = ? AND {_VECTOR_READABLE} "
            f"WHERE m.trashed_at IS NULL AND v.num IS NULL AND {_MEMORY_READABLE} ORDER BY m.num",
            (model,),
        )
        return [num for (num,) in rows]

    def match(self, terms: Sequence[str], limit: int) -> list[int]:
        """Numbers of the memories that hold any of the terms, best first by FTS5's own rank; limit −1 = all.

        MATCH stands in a query of its own: joined or filtered, it is up to 1,000 times slower (measured).
        """
        if not terms:
            return []
        query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        if limit < 0:
            return [num for (num,) in self._all("SELECT rowid FROM fulltext WHERE fulltext MATCH ?", (query,))]
        return [
            num
            for (num,) in self._all(
                "SELECT rowid FROM fulltext WHERE fulltext MATCH ? ORDER BY rank LIMIT ?", (query, limit)
            )
        ]

    def document_frequencies(self) -> dict[str, int]:
        """Term → number of memories that hold it, from the full-text index itself."""
        return dict(self._all("SELECT term, doc FROM vocabulary", ()))

    def corrections(self, limit: int) -> tuple[Inhibition, ...]:
        """Edges between memories outside the trash, newest first, lifted ones too."""
        rows = self._all(
            """
            SELECT t.id, s.id, e.reason, e.author, e.created_at, e.lifted_at
            FROM inhibitions e JOIN memories t ON t.num = e.target LEFT JOIN memories s ON s.num = e.successor
            WHERE t.trashed_at IS NULL ORDER BY e.edge DESC LIMIT ?
            """,
            (limit,),
        )
        return tuple(
            Inhibition(target, successor, reason, author, _moment(at), _moment(lifted) if lifted else None)
            for target, successor, reason, author, at, lifted in rows
        )

    def trashed(self, first: int, count: int) -> list[tuple[int, datetime]]:
        """(num, since when) of what is in the trash, the last first."""
        rows = self._all(
            "SELECT num, trashed_at FROM memories WHERE trashed_at IS NOT NULL ORDER BY trashed_at DESC, num DESC "
            "LIMIT ? OFFSET ?",
            (count, first),
        )
        return [(num, _moment(at)) for num, at in rows]

    def trash_count(self) -> int:
        return int(self._one("SELECT count(*) FROM memories WHERE trashed_at IS NOT NULL", ())[0])

    def meta(self, key: str, default: Any = None) -> Any:
        row = self._one(f"SELECT value FROM meta t WHERE key = ? AND {seals.META.is_sound('t')} IS NOT 0", (key,))
        return json.loads(row[0]) if row else default

    def _edges(self, nums: Sequence[int], marks: str) -> dict[int, tuple[str | None, tuple[str, ...]]]:
        """num → (id of its successor, ids of what it supersedes), edges in force only."""
        edges: dict[int, tuple[str | None, tuple[str, ...]]] = {}
        for target, successor in self._all(
            f"SELECT e.target, s.id FROM inhibitions e JOIN memories s ON s.num = e.successor "
            f"WHERE e.lifted_at IS NULL AND e.target IN ({marks}) ORDER BY e.edge",
            nums,
        ):
            edges[target] = (successor, ())
        for successor, target in self._all(
            f"SELECT e.successor, t.id FROM inhibitions e JOIN memories t ON t.num = e.target "
            f"WHERE e.lifted_at IS NULL AND e.successor IN ({marks}) ORDER BY e.edge",
            nums,
        ):
            before, supersedes = edges.get(successor, (None, ()))
            edges[successor] = (before, (*supersedes, target))
        return edges

    def _all(self, query: str, values: Iterable[Any]) -> list[Any]:
        with self._database.read() as connection:
            return connection.execute(query, tuple(values)).fetchall()

    def _one(self, query: str, values: Iterable[Any]) -> Any:
        with self._database.read() as connection:
            return connection.execute(query, tuple(values)).fetchone()


def _parts(nums: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(nums), _SQL_VARIABLES):
        yield [int(num) for num in nums[start : start + _SQL_VARIABLES]]


def _memory(row: tuple[Any, ...], superseded_by: str | None, supersedes: tuple[str, ...]) -> Memory:
    (_, memory_id, content, keywords, labels, entities, category, kind, importance, inhibited, created, updated) = row[
        :12
    ]
    (
        accessed,
        access_count,
        expires,
        client,
        author,
        session,
        project,
        file,
        position,
        revision,
    ) = row[12:22]
    place, component = _place(*row[22:26])
    pinned, helped, misled, distinct_queries, stored_again, quarantined = row[26:]
    return Memory(
        id=memory_id,
        content=content,
        keywords=_tuple(keywords),
        labels=_tuple(labels),
        entities=_tuple(entities),
        category=Category(category),
        memory_type=MemoryType(kind),
        importance=importance,
        confidence=confidence_of(evidence_of(access_count, helped, misled)),
        standing=Standing.QUARANTINED if quarantined else Standing.INHIBITED if inhibited else Standing.LIVE,
        superseded_by=superseded_by,
        supersedes=supersedes,
        created_at=_moment(created),
        updated_at=_moment(updated),
        last_accessed_at=_moment(accessed) if accessed else None,
        access_count=access_count,
        expires_at=_moment(expires) if expires else None,
        source=Source(client=client, author=author, session=session, project=project, file=file),
        position=position,
        revision=revision,
        place=place,
        cluster=component,
        pinned=bool(pinned),
        helped=helped,
        misled=misled,
        distinct_queries=distinct_queries,
        stored_again=stored_again,
        quarantined=quarantined,
    )


def _index_row(row: tuple[Any, ...]) -> IndexRow:
    (num, memory_id, excerpt, tokens, keywords, labels, entities, author, session, position, project, language) = row[
        :12
    ]
    category, kind, importance, created, accessed, access_count, expires, inhibited, budget = row[12:21]
    place, component = _place(*row[21:25])
    pinned, helped, misled, distinct_queries, quarantined, client = row[25:]
    return IndexRow(
        num=num,
        id=memory_id,
        excerpt=excerpt,
        tokens=tokens,
        keywords=_tuple(keywords),
        labels=_tuple(labels),
        entities=_tuple(entities),
        author=author,
        session=session,
        position=position,
        project=project,
        language=language,
        category=_CATEGORY_CODE[Category(category)],
        memory_type=_TYPE_CODE[MemoryType(kind)],
        importance=effective_importance(importance, helped, misled),
        created=created / 1e6,
        accessed=(accessed or 0) / 1e6,
        access_count=access_count,
        expires=expires / 1e6 if expires else float("inf"),
        inhibited=bool(inhibited),
        budget_tokens=budget,
        place=place,
        component=component,
        pinned=bool(pinned),
        evidence=evidence_of(access_count, helped, misled),
        distinct_queries=distinct_queries,
        quarantined=bool(quarantined),
        client=client,
    )


def _request(project: str, key: str) -> str:
    return f"{project}\n{key}"


def _place(i: Any, j: Any, k: Any, component: Any) -> tuple[tuple[int, int, int], int]:
    """A voxel and its cluster; cluster 0 when the row is missing or holds what is no place (edited by hand)."""
    if all(isinstance(x, int) and abs(x) < 2**31 for x in (i, j, k, component)) and component > 0:
        return (i, j, k), component
    return (0, 0, 0), 0


def _json(words: tuple[str, ...]) -> str:
    return json.dumps(words, ensure_ascii=False)


def _tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def _moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)
