"""Verbs of a person who guards a space: secrets, what is never stored, what waits in quarantine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace

from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import Trust, trust_of
from tetrarium.model import Exclusion, ExclusionTrial, MaskedSecret, Memory, SecretPolicy, SecretScan
from tetrarium.privacy import exclusions
from tetrarium.privacy.masking import ACTIONS, by_kind, masked_texts
from tetrarium.service.erasing import Erasing
from tetrarium.service.screening import POLICY
from tetrarium.storage import memories as rows
from tetrarium.storage import privacy as privacy_rows
from tetrarium.storage.database import Connection

EXAMPLES = 8
"""Memories that a trial names."""

_LISTS = frozenset({"keywords", "labels", "entities"})


class Guarding(Erasing):
    """Guards."""

    # --- secrets ------------------------------------------------------------------------------

    def set_secret_policy(self, action: str, *, mail: bool = False, client: str = "") -> SecretPolicy:
        """Mask secrets, refuse what holds one, or allow them, from now on. Raises InvalidInput, NotTrusted."""
        _need_person(client)
        if action not in ACTIONS:
            raise InvalidInput(f"Secrets cannot be handled by '{action}'.", advice=f"Use one of: {', '.join(ACTIONS)}.")
        policy = SecretPolicy(action, mail)
        with self._space.database.write() as connection:
            rows.set_meta(connection, POLICY, asdict(policy))
        return policy

    def masked(self, *, limit: int = 100) -> tuple[MaskedSecret, ...]:
        """What was masked, newest first: kind, field, memory, client, time. Never what it was."""
        return self._private.masked(limit)

    def scan_secrets(self) -> SecretScan:
        """What the rules find in what is stored now, the trash and earlier versions included. Changes nothing."""
        held, kinds = self._secrets_stored()
        return SecretScan(by_kind(kinds), tuple(held), self._private.count())

    def mask_stored(self, *, client: str = "") -> SecretScan:
        """Mask the secrets that are stored now, in the texts, in earlier versions and in the backups, and erase what they
        were. Gives what was found. Raises NotTrusted.

        A memory keeps its id, place, counters and history; its text, keywords and embedding are made anew.
        """
        _need_person(client)
        self.catch_up()
        held, kinds = self._secrets_stored()
        for memory_id in held:
            self._mask_memory(memory_id, client)
        if held:
            self._finish_erasures()
        return SecretScan(by_kind(kinds), tuple(held), self._private.count())

    # --- exclusions ---------------------------------------------------------------------------

    def exclusions(self) -> tuple[Exclusion, ...]:
        """What is never stored, oldest first."""
        return self._private.exclusions()

    def exclude(self, kind: str, pattern: str, *, client: str = "") -> Exclusion:
        """Never store what matches from now on; what is stored stays. Raises InvalidInput, NotTrusted."""
        _need_person(client)
        checked = exclusions.checked(kind, pattern)
        with self._space.database.write() as connection:
            number = privacy_rows.add_exclusion(connection, kind, checked, now=rows.now())
        return next(exclusion for exclusion in self.exclusions() if exclusion.id == number)

    def include_again(self, number: int, *, client: str = "") -> None:
        """Take an exclusion back. Raises NotFound, NotTrusted."""
        _need_person(client)
        with self._space.database.write() as connection:
            if not privacy_rows.remove_exclusion(connection, number):
                raise NotFound(f"There is no exclusion {number}; nothing changed.")

    def try_exclusion(self, kind: str, pattern: str) -> ExclusionTrial:
        """What an exclusion would have kept out of what is stored now. Changes nothing. Raises InvalidInput."""
        checked = exclusions.checked(kind, pattern)
        self.catch_up()
        table = self._space.indexes.table
        nums = table.numbers().tolist()
        caught = [
            memory
            for num, memory in zip(nums, self._space.reader.memories(nums), strict=True)
            if exclusions.matches(kind, checked, _subject(memory, table.tokens[num].split()))
        ]
        examples = tuple((memory.id, table.excerpts[table.by_id[memory.id]]) for memory in caught[:EXAMPLES])
        return ExclusionTrial(len(caught), len(nums), examples)

    # --- quarantine ---------------------------------------------------------------------------

    def quarantined(self, *, client: str = "") -> tuple[Memory, ...]:
        """Memories that wait for a person, newest first; each says why. Raises NotTrusted for an agent."""
        _need_person(client)
        self.catch_up()
        return tuple(self._space.reader.memories(self._private.quarantined()))

    def release_from_quarantine(self, memory_id: str, *, client: str = "") -> Memory:
        """A person has read it and finds it harmless: it is answered like any other from now on.

        Raises NotFound, InvalidInput when it is not in quarantine, NotTrusted for an agent.
        """
        _need_person(client)

        def commit(connection: Connection, num: int) -> int:
            if not self._memory(num).quarantined:
                raise InvalidInput(f"Memory {memory_id} is not in quarantine; nothing changed.")
            privacy_rows.set_quarantined(connection, num, "", now=rows.now())
            return num

        return self._memory(self._space.write(lambda: self._number(memory_id), commit, op="let through", client=client))

    # --- private ------------------------------------------------------------------------------

    def _secrets_stored(self) -> tuple[dict[str, None], list[tuple[str, str]]]:
        """Ids of the memories that hold secrets, and (kind, column) of every find."""
        mail = self.secret_policy().mail
        held: dict[str, None] = {}
        kinds: list[tuple[str, str]] = []
        ids: dict[int, str] = {}

        def look(num: int, texts: dict[str, str]) -> None:
            changed, found = masked_texts(_spelled(texts), mail=mail)
            kinds.extend(found)
            if changed:
                held[ids[num]] = None

        for num, memory_id, texts in self._private.texts():
            ids[num] = memory_id
            look(num, texts)
        for num, _, texts in self._private.version_texts():
            look(num, texts)
        return held, kinds

    def _mask_memory(self, memory_id: str, client: str) -> None:
        """Mask one memory and its versions in one transaction; what they were is to be erased."""
        mail = self.secret_policy().mail

        def plan() -> int:
            return self._number(memory_id, anywhere=True)

        def commit(connection: Connection, num: int) -> None:
            now = rows.now()
            rows.scrub(connection, num)
            found = self._mask_present(connection, num, mail=mail)
            for number, revision, texts in self._private.version_texts(num):
                changed, more = masked_texts(_spelled(texts), mail=mail)
                privacy_rows.set_version_texts(connection, number, revision, _packed(changed))
                found += more
            privacy_rows.drop_request(connection, num)
            rows.drop_contradictions(connection, num)
            rows.note_erasure(connection, num, "mask", now=now)
            privacy_rows.note_masked(connection, memory_id, found, client=client, now=now)

        self._space.write(plan, commit, op="mask secrets", client=client)

    def _mask_present(self, connection: Connection, num: int, *, mail: bool) -> list[tuple[str, str]]:
        """Mask the text that a memory has now: made anew as by a store, without a version of what it was."""
        memory = self._memory(num)
        texts = {
            "content": memory.content,
            "author": memory.source.author,
            "session": memory.source.session,
            "file": memory.source.file,
            "project": memory.source.project,
            "client": memory.source.client,
        }
        words = {"keywords": memory.keywords, "labels": memory.labels, "entities": memory.entities}
        changed, found = masked_texts(texts, mail=mail)
        for name, value in words.items():
            new, more = masked_texts({name: "\n".join(value)}, mail=mail)
            found += more
            words[name] = tuple(new[name].split("\n")) if new else value
        if not found:
            return found
        now = texts | changed
        source = replace(memory.source, **{name: now[name] for name in texts if name != "content"})
        draft = ingest.make_draft(
            now["content"],
            keywords=words["keywords"],
            labels=words["labels"],
            entities=() if "content" in changed else words["entities"],
            category=memory.category,
            importance=memory.importance,
            source=source,
            created_at=memory.created_at,
            expires_at=memory.expires_at,
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        (vector,) = self._space.embed_passages([ingest.spoken(draft.content, draft.source)])
        rows.replace_text(connection, num, draft, now=rows.now())
        rows.drop_vectors(connection, [num], now=rows.now())  # and those of its parts
        self._space.give_vector(connection, num, vector)
        return found


def _need_person(client: str) -> None:
    if trust_of(client) is not Trust.PERSON:
        raise NotTrusted(
            f"'{client}' may not decide that; nothing changed.",
            advice="The person can do it in the window or with the command tetrarium.",
        )


def _subject(memory: Memory, words: Iterable[str]) -> exclusions.Subject:
    text = " ".join((memory.content, *memory.keywords, *memory.labels))
    source = memory.source
    return exclusions.Subject(text, frozenset(words), source.file, source.project, source.client)


def _spelled(texts: dict[str, str]) -> dict[str, str]:
    """Columns as people wrote them: lists one word a line, without JSON's escapes."""
    return {name: "\n".join(json.loads(text)) if name in _LISTS else text for name, text in texts.items()}


def _packed(texts: dict[str, str]) -> dict[str, str]:
    """The same back as columns."""
    return {
        name: json.dumps(text.split("\n"), ensure_ascii=False) if name in _LISTS else text
        for name, text in texts.items()
    }
