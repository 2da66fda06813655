"""Verbs on history: what was done, and taking it back – one operation, or everything that one client did.

Taking back is a change like any other: one transaction, noted as an entry of its own, which can be taken back too
(that is a redo). It is planned on states: each effect of an entry, newest first, must still stand as the entry left
it, or be as it was before already; what somebody changed since is refused by name, and nothing is done. Only what
the plan ends with is written, so that ten edits of one memory come back as one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tetrarium.errors import InvalidInput, NotFound, NotTrusted, StaleEdit, UserError
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import may_change
from tetrarium.model import BulkUndo, Draft, Float32, HistoryEntry, Memory
from tetrarium.privacy.secrets import mask
from tetrarium.service.door import check_trust, named, page_bounds
from tetrarium.service.keeping import Keeping
from tetrarium.storage import clusters as cluster_rows
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows
from tetrarium.storage import relations as relation_rows
from tetrarium.storage.database import Connection
from tetrarium.storage.effects import GONE, LIVE, NONE, TRASHED, Effect, State, link
from tetrarium.storage.history import Entry

SPARED_SHOWN = 8
"""Entries that a bulk undo names because they cannot be taken back."""

_DONE = {
    "presence": {
        (NONE, LIVE): "stored",
        (LIVE, TRASHED): "moved to the trash",
        (TRASHED, LIVE): "brought back",
        (TRASHED, GONE): "deleted for good",
        (LIVE, GONE): "deleted for good",
    },
    "edge": {(0, 1): "inhibited", (1, 0): "released"},
    "quarantine": {(0, 1): "quarantined", (1, 0): "released from quarantine"},
    "relation": {(0, 1): "related", (1, 0): "relation taken back"},
}
_TOUCHED = {"text": "edited", "standing": "pin or expiry set", "feedback": "judged", "contradiction": "settled"}
_TOUCHED |= {"name": "cluster named", "plan": "clusters rearranged", "space": "space restored"}

Place = tuple[int, str, str]
"""Where an effect took place: number of the memory, aspect, key."""


class Undoing(Keeping):
    """Takes back."""

    def history(
        self, *, limit: int = 50, client: str = "", since: datetime | str | None = None
    ) -> tuple[HistoryEntry, ...]:
        """Operations that changed something, newest first; of one client if named, from a moment on if given."""
        self.catch_up()
        start = 0 if since is None else rows.microseconds(ingest.parse_moment(since, "since"))
        entries = self._space.history.entries(page_bounds(0, limit)[1], client=client, since=start)
        return self._told(entries)

    def undo(self, entry_id: int | None = None, *, client: str = "") -> HistoryEntry:
        """Take an operation back, whole; None: the last one of this client that is not taken back yet.

        Gives the entry of the undo. Raises NotFound, InvalidInput (taken back already, or no way back), StaleEdit when
        what it changed was changed again since, and NotTrusted; then nothing changed.
        """
        self.catch_up()
        return self._take_back(self._named(entry_id) if entry_id is not None else self._last(client), client)

    def redo(self, entry_id: int | None = None, *, client: str = "") -> HistoryEntry:
        """Do again what was taken back; None: what this client took back last, unless it has done something else since.

        entry_id: of the operation or of its undo. Errors as of `undo`.
        """
        self.catch_up()
        entry = self._last_undo(client) if entry_id is None else self._undo_of(self._named(entry_id))
        return self._take_back(entry, client)

    def undo_client(
        self, client: str, since: datetime | str | None = None, *, confirm: str = "", by: str = ""
    ) -> BulkUndo:
        """Preview what taking back everything that one client did (since a moment) would do; with `confirm`, do it.

        All of it is one transaction and one entry of history. What others changed since, or what has no way back, is
        spared and named. by: who asks. Raises InvalidInput, NotTrusted.
        """
        start = 0 if since is None else rows.microseconds(ingest.parse_moment(since, "since"))
        client, _ = mask(client)  # as it stands in history
        if not may_change(by, client):
            raise NotTrusted(f"{named(by)} may not take back what {named(client)} did; nothing changed.")

        def plan() -> tuple[BulkUndo, _Reversal]:
            undone = self._space.history.undone()
            found = (entry for entry in self._space.history.of_client(client) if rows.microseconds(entry.at) >= start)
            return self._bulk(client, [entry for entry in found if entry.id not in undone and not entry.undoes], by)

        def commit(connection: Connection, planned: tuple[BulkUndo, _Reversal]) -> BulkUndo:
            preview, reversal = planned
            if confirm != preview.confirm:
                return preview
            self._write(connection, reversal)
            return replace(preview, done=True, confirm="")

        if not confirm:
            self.catch_up()
            return plan()[0]
        self._copy_first("deletion", plan()[0].memories, self.settings.backup_deletion)
        done = self._space.write(plan, commit, op="undo", client=by)
        return replace(done, entry=self._space.last_entry)

    # --- which ---------------------------------------------------------------------------------

    def _named(self, number: int) -> Entry:
        entry = self._space.history.entry(number) if isinstance(number, int) else None
        if entry is None:
            raise NotFound(f"History has no entry {number}; nothing changed.", advice="`tetrarium history list` shows them.")  # fmt: skip
        return entry

    def _last(self, client: str) -> Entry:
        undone = self._space.history.undone()
        for entry in self._space.history.of_client(client):
            if not entry.undoes and entry.id not in undone:
                return entry
        raise NotFound(f"There is nothing of {named(client)} to undo.")

    def _last_undo(self, client: str) -> Entry:
        """The last undo of a client that stands, if it has done nothing else since."""
        undone = self._space.history.undone()
        for entry in self._space.history.of_client(client):
            if not entry.undoes:
                break
            if entry.op == "undo" and entry.id not in undone:
                return entry
        raise NotFound(f"There is nothing of {named(client)} to do again.")

    def _undo_of(self, entry: Entry) -> Entry:
        """The undo that stands of an entry; the entry itself when it is one."""
        if entry.undoes and entry.op != "redo":
            return entry
        undo = self._space.history.undo_of(entry.id)
        if undo is None:
            raise InvalidInput(f"Entry {entry.id} is not taken back; nothing changed.")
        return undo

    # --- planning ------------------------------------------------------------------------------

    def _take_back(self, entry: Entry, client: str) -> HistoryEntry:
        entry = self._root(entry)
        op = "redo" if entry.undoes else "undo"

        def plan() -> _Reversal:
            self._refuse_undone(entry)
            reversal = _Reversal()
            self._add(reversal, entry, self._space.history.effects([entry.id])[entry.id], client)
            return reversal

        for effect in self._space.history.effects([entry.id])[entry.id]:
            if effect.aspect == "space":
                self._refuse_undone(entry)
                self.restore_backup(str(effect.before), client=client, undoes=entry.id)
                return self.history(limit=1)[0]
        self._space.write(plan, self._write, op=op, client=client)
        if self._space.last_entry is None:
            raise InvalidInput(f"Entry {entry.id} changed nothing that could be taken back.")
        return self._told([self._named(self._space.last_entry)])[0]

    def _refuse_undone(self, entry: Entry) -> None:
        if entry.id in self._space.history.undone():
            raise InvalidInput(f"Entry {entry.id} is taken back already; nothing changed.")

    def _root(self, entry: Entry) -> Entry:
        """What a redo did is what the operation did that it repeats."""
        while entry.op == "redo" and len(entry.undoes) == 1:
            entry = self._named(self._named(entry.undoes[0]).undoes[0])
        return entry

    def _bulk(self, client: str, entries: Sequence[Entry], by: str) -> tuple[BulkUndo, _Reversal]:
        effects = self._space.history.effects([entry.id for entry in entries])
        reversal = _Reversal()
        spared: list[tuple[int, str]] = []
        for entry in entries:
            try:
                self._add(reversal, entry, effects[entry.id], by, alone=False)
            except UserError as error:
                spared.append((entry.id, error.message))
        taken = [entry for entry in entries if entry.id in reversal.entries]
        token = hashlib.blake2b(repr(reversal.entries).encode(), digest_size=6).hexdigest() if taken else ""
        counts = dict(Counter(entry.op for entry in taken).most_common())
        memories = len({num for num, _, _ in reversal.states if num})
        shown = tuple(spared[:SPARED_SHOWN])
        return BulkUndo(False, client, len(taken), memories, counts, shown, len(spared), token), reversal

    def _add(self, reversal: _Reversal, entry: Entry, effects: Sequence[Effect], client: str, *, alone: bool = True) -> None:  # fmt: skip
        """Let a reversal take one more entry back, whole. Raises UserError when that cannot be, and adds nothing."""
        if not may_change(client, entry.client):
            raise NotTrusted(f"{named(entry.client).capitalize()} did what entry {entry.id} tells; nothing changed.")
        planned = reversal.copy()
        for effect in reversed(effects):
            self._reverse(planned, entry, effect, alone=alone)
        nums = {effect.num for effect in effects if effect.num}
        for memory in self._space.reader.memories(sorted(nums)):
            check_trust(client, memory)
        planned.entries.append(entry.id)
        reversal.take(planned)

    def _reverse(self, reversal: _Reversal, entry: Entry, effect: Effect, *, alone: bool) -> None:
        place = (effect.num, effect.aspect, effect.key)
        if effect.aspect == "place":
            return
        if effect.aspect == "plan":
            if not alone:
                raise InvalidInput("A rearrangement of clusters is taken back by itself.")
            reversal.plans.append(effect.key)
            return
        if not _is_reversible(effect):
            raise InvalidInput(f"Entry {entry.id} cannot be taken back: {_why_not(effect)}; nothing changed.")
        if effect.num and self._state(reversal, (effect.num, "presence", "")) == GONE:
            raise InvalidInput(f"A memory of entry {entry.id} was deleted for good since; nothing changed.")
        wanted = TRASHED if effect.aspect == "presence" and effect.before == NONE else effect.before
        now = self._state(reversal, place)
        if self._same(place, now, wanted):
            return
        if not self._same(place, now, effect.after):
            raise self._stale(entry, effect)
        reversal.states[place] = wanted

    def _state(self, reversal: _Reversal, place: Place) -> State:
        if place not in reversal.states:
            return self._space.history.state(*place)
        return reversal.states[place]

    def _same(self, place: Place, one: State, other: State) -> bool:
        if place[1] == "text":
            return self._space.history.says_the_same(place[0], one, other)
        return one == other

    def _stale(self, entry: Entry, effect: Effect) -> UserError:
        undone = self._space.history.undone()
        later = self._space.history.later(effect, undone)
        what = f"entry {later.id} ({later.op})" if later else "something else"
        advice = f"Take entry {later.id} back first." if later else "Look at what is there now."
        message = f"What entry {entry.id} changed was changed again by {what}; nothing changed."
        if effect.aspect != "text":
            return StaleEdit(message, stored="", offered="", advice=advice)
        (memory,) = self._space.reader.memories([effect.num])
        before = self._space.reader.wording(effect.num, int(effect.before or 0))
        return StaleEdit(message, stored=memory.content, offered=before.content if before else "", advice=advice)

    # --- writing -------------------------------------------------------------------------------

    def _write(self, connection: Connection, reversal: _Reversal) -> None:
        """Bring every place to the state that the reversal ends with."""
        for plan in reversal.plans:
            self._clusters.take_back(connection, plan)
        coming = [num for (num, aspect, _), state in reversal.states.items() if aspect == "presence" and state == LIVE]
        for memory, num in self._with_memories(coming):
            if self._space.history.state(num, "presence", "") == TRASHED:
                self._space.bring_in(connection, num, memory.keywords)
        for (num, aspect, key), state in reversal.states.items():
            if not self._same((num, aspect, key), self._space.history.state(num, aspect, key), state):
                self._set(connection, (num, aspect, key), state)
        link(connection, reversal.entries)

    def _with_memories(self, nums: Sequence[int]) -> Iterator[tuple[Memory, int]]:
        return zip(self._space.reader.memories(nums), nums, strict=True)

    def _set(self, connection: Connection, place: Place, state: State) -> None:
        num, aspect, key = place
        now = rows.now()
        if aspect == "text":
            self._reword(connection, num, int(state or 0))
        elif aspect == "presence":
            if state == TRASHED:
                self._space.take_out(connection, num, lambda: rows.move_to_trash(connection, num, now=now))
        elif aspect == "standing":
            rows.set_standing_state(connection, num, str(state), now=now)
        elif aspect == "edge":
            rows.set_edge(connection, num, int(key), in_force=bool(state), now=now)
        elif aspect == "quarantine":
            privacy_rows.set_quarantined(connection, num, "put back by an undo" if state else "", now=now)
        elif aspect == "relation":
            relation_rows.set_relation(connection, num, int(key), in_force=bool(state), now=now)
        elif aspect == "feedback":
            recall, client = key.split("\n", 1)
            helped = None if state is None else bool(state)
            rows.set_feedback(connection, num, recall=recall, client=client, helped=helped, now=now)
        elif aspect == "contradiction":
            if state:
                rows.dismiss_contradiction(connection, num, int(key), now=now)
            else:
                rows.propose_again(connection, num, int(key))
        elif aspect == "name":
            cluster_rows.name_cluster(connection, int(key), str(state), author="", now=now)

    def _reword(self, connection: Connection, num: int, revision: int) -> None:
        """Give a memory the words of an earlier revision, as a new version."""
        draft = self._draft_of(num, revision)
        same_text = self._memory(num).content == draft.content
        rows.rewrite(connection, num, draft, cause="taken back", now=rows.now())
        if same_text:
            return
        rows.drop_contradictions(connection, num)
        vector: Float32 | None = self._space.embed_passages([ingest.spoken(draft.content, draft.source)])[0]
        self._space.give_vector(connection, num, vector)

    def _draft_of(self, num: int, revision: int) -> Draft:
        wording = self._space.reader.wording(num, revision)
        if wording is None:
            raise InvalidInput("The text before is not kept any more; nothing changed.")
        memory = self._memory(num)
        draft = ingest.make_draft(
            wording.content,
            keywords=wording.keywords,
            labels=wording.labels,
            entities=wording.entities,
            category=wording.category,
            importance=wording.importance,
            source=memory.source,
            created_at=memory.created_at,
            expires_at=memory.expires_at if wording.tokens == () else wording.expires_at,
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        return rows.worded(draft, wording)

    # --- telling -------------------------------------------------------------------------------

    def _told(self, entries: Sequence[Entry]) -> tuple[HistoryEntry, ...]:
        undone = self._space.history.undone()
        effects = self._space.history.effects([entry.id for entry in entries])
        known = self._space.history.ids({e.num for of_entry in effects.values() for e in of_entry if e.num})
        return tuple(
            HistoryEntry(
                id=entry.id,
                at=entry.at,
                client=entry.client,
                op=entry.op,
                ids=_ids(effects[entry.id], known),
                summary=_summary(entry, effects[entry.id], known),
                undone=entry.id in undone,
                undoes=entry.undoes[0] if entry.undoes else None,
                reversible=all(e.aspect in ("plan", "place", "space") or _is_reversible(e) for e in effects[entry.id]),
            )
            for entry in entries
        )


@dataclass(slots=True)
class _Reversal:
    """What will be once some entries are taken back: the state of each place, and the plans of clusters to take back."""

    entries: list[int] = field(default_factory=list)
    states: dict[Place, State] = field(default_factory=dict)
    plans: list[str] = field(default_factory=list)

    def copy(self) -> _Reversal:
        return _Reversal(list(self.entries), dict(self.states), list(self.plans))

    def take(self, other: _Reversal) -> None:
        self.entries, self.states, self.plans = other.entries, other.states, other.plans


_REVERSIBLE = frozenset(
    {"presence", "text", "standing", "edge", "feedback", "contradiction", "name", "relation", "quarantine"}
)


def _is_reversible(effect: Effect) -> bool:
    return effect.aspect in _REVERSIBLE and not _is_deletion(effect)


def _is_deletion(effect: Effect) -> bool:
    return effect.aspect == "presence" and effect.after == GONE


def _why_not(effect: Effect) -> str:
    return "a memory was deleted for good" if effect.aspect == "presence" else f"it changed {effect.aspect}"


def _ids(effects: Iterable[Effect], known: dict[int, tuple[str, str]]) -> tuple[str, ...]:
    """Ids of the memories that effects touch, in their order; of those deleted for good as the deletion kept them."""
    gone = {effect.num: effect.key for effect in effects if _is_deletion(effect)}
    nums = dict.fromkeys(effect.num for effect in effects if effect.num)
    found = (known[num][0] if num in known else gone.get(num, "") for num in nums)
    return tuple(filter(None, found))


def _summary(entry: Entry, effects: Sequence[Effect], known: dict[int, tuple[str, str]]) -> str:
    """What was done and to which memory, one part for all to which the same was done; what is deleted for good has no
    words any more."""
    done: dict[int, dict[str, None]] = {}
    besides: Counter[str] = Counter()
    for effect in effects:
        if effect.aspect == "place":
            continue
        if effect.num:
            done.setdefault(effect.num, {})[_what(effect)] = None
        else:
            besides[_what(effect)] += 1
    alike: dict[str, list[int]] = {}
    for num, whats in done.items():
        alike.setdefault(", ".join(whats), []).append(num)
    parts = [_part(what, len(nums), _first_words(nums, known)) for what, nums in alike.items()]
    parts += [_part(what, count, "") for what, count in besides.items()]
    if not entry.undoes:
        return "; ".join(parts)
    back = f"{entry.undoes[0]}" if len(entry.undoes) == 1 else f"{len(entry.undoes)} entries"
    return f"{entry.op} of {back}: {'; '.join(parts)}"


def _what(effect: Effect) -> str:
    """What an effect did, in a word or a few."""
    told = _DONE.get(effect.aspect, {}).get((effect.before, effect.after))  # type: ignore[arg-type]
    return told or _TOUCHED.get(effect.aspect) or "changed"


def _first_words(nums: Iterable[int], known: dict[int, tuple[str, str]]) -> str:
    """Of the first of these memories that has words."""
    words = next((known[num][1] for num in nums if num in known and known[num][1]), "")
    return " ".join(words.split())


def _part(what: str, count: int, words: str) -> str:
    head = what if count == 1 else f"{count} {what}"
    quoted = f" “{words}”" if words else ""
    return f"{head}{quoted}{' …' if quoted and count > 1 else ''}"
