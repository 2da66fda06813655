"""Verbs that keep the space: copies of it, made by themselves or asked for, and the way back to one.

A copy is made before anything large is done; the way back is previewed, keeps a copy of what was there, is one
transaction under everybody who has the space open, and is an entry of history that can be undone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tetrarium import paths, snapshots
from tetrarium.errors import DamagedSpace, InvalidInput, NotFound, NotTrusted, SpaceBusy, UserError
from tetrarium.lifecycle import ingest
from tetrarium.lifecycle.trust import Trust, trust_of
from tetrarium.model import Backup, Draft, Float32, Memory, RestoreOnePreview, RestorePreview, Standing
from tetrarium.service.door import Door
from tetrarium.storage import backups, reserve, restoring
from tetrarium.storage import memories as rows
from tetrarium.storage.backups import Copy
from tetrarium.storage.database import APPLICATION_ID, Connection, Database
from tetrarium.storage.erasure import erase_in
from tetrarium.storage.privacy import PrivacyReader

EXAMPLES = 5
"""Memories of each kind that a preview names."""

_WORDS = ("text", "keywords", "labels", "category", "importance")
"""What of a memory comes back from a backup, in the order of `_words`."""

_ATTEMPTS = 5
"""How often a restore begins anew because somebody stored meanwhile."""


class Keeping(Door):
    """Keeps."""

    def maintain(self, *, most: int = 16) -> bool:
        """Work for a quiet moment: count accesses, embed what has no vector yet, check the store once, copy it daily.

        True while there is more to do.
        """
        return super().maintain(most=most) or self._copy_a_slice()

    def backups(self) -> tuple[Backup, ...]:
        """The copies that there are, newest first."""
        return tuple(_told(copy) for copy in backups.copies(self.path))

    def backup(self, *, cause: str = "asked") -> Backup:
        """Copy the space now; when this returns, the copy is on disk and was opened and checked.

        Copies that were asked for stay until they are deleted by hand. Raises DiskFull, ReadOnlySpace, DamagedSpace.
        """
        copy = backups.made(self._store, cause, rows.now())
        self._rotate(copy)
        return _told(copy)

    def preview_restore(self, name: str = "") -> RestorePreview:
        """What going back to a backup would change; "": the newest that no way back has made. Changes nothing.

        Raises NotFound, DamagedSpace.
        """
        self.catch_up()
        copy = self._sound(name)
        with self._open_copy(copy) as reader:
            then = {m.id: m for m in reader.memories(reader.numbers())}
        now = {m.id: m for m in self._space.reader.memories(self._space.indexes.table.numbers().tolist())}
        returning = [then[memory_id] for memory_id in then.keys() - now.keys()]
        leaving = [now[memory_id] for memory_id in now.keys() - then.keys()]
        both = then.keys() & now.keys()
        changing = [then[memory_id] for memory_id in both if _says(then[memory_id]) != _says(now[memory_id])]
        kinds = (("returning", returning), ("leaving", leaving), ("changing", changing))
        examples = tuple(
            (kind, m.id, " ".join(m.content[:80].split()) if m.standing is Standing.LIVE else "")
            for kind, found in kinds
            for m in sorted(found, key=lambda m: m.id)[:EXAMPLES]
        )
        staying = len(both) - len(changing)
        return RestorePreview(_told(copy), len(returning), len(leaving), len(changing), staying, examples)

    def restore_backup(self, name: str = "", *, client: str = "", undoes: int | None = None) -> Backup:
        """Go back to a backup, whole; gives the copy of what was there before, made first. `undo` takes it back.

        History stays as it is. undoes: the entry that this takes back. Raises NotFound, DamagedSpace, NewerSpace,
        NotTrusted (an agent), SpaceBusy, DiskFull; then nothing changed.
        """
        if trust_of(client) is not Trust.PERSON:
            raise NotTrusted("Only a person goes back to a backup; nothing changed.")
        self.catch_up()
        copy = self._sound(name)
        for _ in range(_ATTEMPTS):
            before = backups.made(self._store, "restore", rows.now())
            if self._overwrite(copy, before, client, undoes):
                self.catch_up()
                self._forget_answers()
                self._rotate(copy, before)
                return _told(before)
            backups.remove(before)
        raise SpaceBusy(
            "Other programs wrote to this space without a pause; nothing was restored.", advice="Try again."
        )

    def preview_restore_memory(self, name: str, memory_id: str) -> RestoreOnePreview:
        """What bringing one memory back would change. Changes nothing. Raises NotFound, DamagedSpace."""
        self.catch_up()
        copy = self._sound(name)
        wanted, then, _ = self._kept_in(copy, memory_id)
        live, trashed = self._numbers_of(wanted)
        num = live or trashed
        if num is None:
            return RestoreOnePreview(_told(copy), wanted, "gone", (), then.content, "")
        now = self._memory(num)
        pairs = zip(_WORDS, _words(then), _words(now), strict=True)
        differing = tuple(what for what, a, b in pairs if a != b)
        here = "in the trash" if trashed else "live"
        return RestoreOnePreview(_told(copy), wanted, here, differing, then.content, now.content)

    def restore_memory(self, name: str, memory_id: str, *, client: str = "") -> Memory:
        """Bring one memory back as a backup has it: from the trash, with its words, or wholly where it is gone.

        An operation like any other: undone from history. Raises NotFound, DamagedSpace, NotTrusted.
        """
        if trust_of(client) is not Trust.PERSON:
            raise NotTrusted("Only a person brings memories back from a backup; nothing changed.")
        wanted, kept, wording = self._kept_in(self._sound(name), memory_id)
        draft = self._as_it_was(kept, wording)
        (vector,) = self._space.embed_passages([ingest.spoken(kept.content, kept.source)])
        self._space.write(
            lambda: self._numbers_of(wanted),
            lambda connection, found: self._bring_back(connection, found, kept, draft, vector),
            op="restore memory",
            client=client,
        )
        return self._memory(self._number(wanted))

    # --- private ------------------------------------------------------------------------------

    @property
    def _store(self) -> Path:
        return self._space.database.path

    def _copy_first(self, cause: str, count: int, least: int) -> None:
        """Copy the space before something large is done, unless the newest copy is of this very state."""
        if count < least or not self._space.database.writable:
            return
        found = backups.copies(self.path)
        if not found or found[0].seq != self._space.reader.last_change():
            self._rotate(backups.made(self._store, cause, rows.now()))

    def _copy_a_slice(self) -> bool:
        """A slice of the daily copy, when it is due; True while there is more."""
        if self._copying is None:
            reserve.keep(self.path, self.settings.reserve_bytes if self._space.database.writable else 0)
            if not self._is_copy_due():
                return False
            self._copying = backups.make(self._store, "daily", rows.now())
        try:
            done = next(self._copying, self)
            if isinstance(done, Copy):
                self._rotate(done)
            elif done is self:
                self._copying = None
        except UserError:
            self._copying = None
            self._copy_again = rows.now() + timedelta(hours=1)
            raise
        return self._copying is not None

    def _is_copy_due(self) -> bool:
        now = rows.now()
        if not self._space.database.writable or (self._copy_again and now < self._copy_again):
            return False
        last = self._space.reader.last_change()
        # One that holds more than the space is of another one, or of before a damaged store was replaced.
        found = [copy for copy in backups.copies(self.path) if copy.seq <= last]
        if not found:
            return bool(len(self._space.indexes.table))
        # A copy from the future was made while the clock was wrong: as good a day ago as any. It is not the first of them
        # for ever: they stand in the order of what they hold.
        aged = abs(now - found[0].at) >= timedelta(hours=self.settings.backup_hours)
        return aged and found[0].seq != last

    def _rotate(self, *but: Copy) -> None:
        """Let copies go that are not kept any longer, but for those that somebody stands on now."""
        s = self.settings
        found = backups.copies(self.path)
        for copy in backups.rotate(found, days=s.backup_days, weeks=s.backup_weeks, others=s.backup_others):
            if copy.name not in {kept.name for kept in but}:
                backups.remove(copy)

    def _copy_named(self, name: str) -> Copy:
        found = backups.copies(self.path)
        wanted = name.strip()
        for copy in found:
            if _is_meant(copy, wanted):
                return copy
        what = f"There is no backup '{name}'." if found else "There is no backup yet."
        raise NotFound(what, advice="`tetrarium backup --list` shows those there are; `tetrarium backup` makes one.")

    def _kept_in(self, copy: Copy, memory_id: str) -> tuple[str, Memory, rows.Wording | None]:
        """A memory of a backup: its id, itself, its words as they were given. Raises NotFound."""
        wanted = memory_id.strip().upper()
        with self._open_copy(copy) as reader:
            num = reader.number(wanted)
            if num is None:
                raise NotFound(f"Backup {copy.name} has no memory '{memory_id}'; nothing changed.")
            (kept,) = reader.memories([num])
            return wanted, kept, reader.wording(num, kept.revision)

    def _numbers_of(self, memory_id: str) -> tuple[int | None, int | None]:
        """The number of a memory among those that live, and in the trash."""
        reader = self._space.reader
        return reader.number(memory_id), reader.number(memory_id, in_trash=True)

    def _sound(self, name: str) -> Copy:
        copy = self._copy_named(name)
        if not backups.is_unchanged(copy) and backups.damage_of(copy):
            raise DamagedSpace(
                f"Backup {copy.name} is damaged; nothing was restored.",
                advice="Choose another: `tetrarium backup --list`.",
            )
        if backups.is_foreign(copy, self._store):
            raise InvalidInput(
                f"Backup {copy.name} is of another space; nothing was restored.",
                advice="Open it as a space of its own, in a folder where it is called space.tetrarium, and export what is wanted.",
            )
        return copy

    @contextmanager
    def _open_copy(self, copy: Copy) -> Iterator[rows.MemoryReader]:
        """A copy for reading; one of an older schema is brought up to date in a copy of its own."""
        with self._prepared(copy) as prepared:
            database = Database.view(prepared)
            try:
                yield rows.MemoryReader(database)
            finally:
                database.close()

    @contextmanager
    def _prepared(self, copy: Copy) -> Iterator[Path]:
        prepared = self.path / paths.BACKUPS / f"{copy.name}.{os.getpid()}.part"
        try:
            restoring.prepare(copy.file, prepared, application_id=APPLICATION_ID)
            # What is being deleted for good never comes back, also where the copies are not gone through yet.
            gone = PrivacyReader(self._space.database).erasures()
            ids = {how: [erasure.memory for erasure, kind in gone if kind == how] for how in ("purge", "mask")}
            if gone:
                erase_in(prepared, ids["purge"], ids["mask"], self._space.database)
            yield prepared
        finally:
            prepared.unlink(missing_ok=True)

    def _overwrite(self, copy: Copy, before: Copy, client: str, undoes: int | None) -> bool:
        with backups.explained(self.path), self._prepared(copy) as prepared:
            entry = restoring.Entry(client, copy.name, before.name, undoes, rows.now())
            return restoring.overwrite(
                self._store, prepared, before.seq, entry, busy_timeout=self.settings.busy_timeout
            )

    def _forget_answers(self) -> None:
        """What was answered before speaks of another state."""
        self._accesses, self._questions, self._recalls = {}, {}, []
        self._asked.clear()
        snapshots.discard(self.path)

    def _as_it_was(self, kept: Memory, wording: rows.Wording | None) -> Draft:
        draft = ingest.make_draft(
            kept.content,
            keywords=kept.keywords,
            labels=kept.labels,
            entities=kept.entities,
            category=kept.category,
            importance=kept.importance,
            source=kept.source,
            created_at=kept.created_at,
            expires_at=kept.expires_at,
            rarity=self._space.indexes.keywords.rarity,
            settings=self.settings,
        )
        return replace(rows.worded(draft, wording), quarantined=kept.quarantined)

    def _bring_back(
        self,
        connection: Connection,
        found: tuple[int | None, int | None],
        kept: Memory,
        draft: Draft,
        vector: Float32 | None,
    ) -> None:
        live, trashed = found
        num = live or trashed
        if num is None:
            num, _ = rows.insert(connection, draft, now=rows.now(), memory_id=kept.id)
            self._space.give_vector(connection, num, vector)
            self._space.settle(connection, num, self._space.place(vector, kept.keywords))
        else:
            if trashed:
                self._space.bring_in(connection, num, kept.keywords)
            if _words(self._memory(num)) != _words(kept):
                rows.rewrite(connection, num, draft, cause="restored from a backup", now=rows.now())
                self._space.give_vector(connection, num, vector)
            elif not trashed:
                raise InvalidInput(f"Memory {kept.id} is as the backup has it; nothing changed.")
        if kept.pinned != self._memory(num).pinned:
            rows.set_standing(connection, num, pinned=kept.pinned, expires_at=kept.expires_at, now=rows.now())


def backup_for_damaged(folder: Path, name: str = "") -> Backup:
    """The backup that `restore_damaged` would put in place. Changes nothing. Raises NotFound."""
    return _told(_soundest(folder, name))


def restore_damaged(folder: Path, name: str = "") -> tuple[Backup, Path]:
    """For a space that cannot be opened any more: put a backup in the place of its store, whose files are kept aside.

    Gives the backup and the folder with what was there. Raises NotFound, DamagedSpace.
    """
    sound = _soundest(folder, name)
    aside = folder / f"damaged-{rows.now():%Y%m%dT%H%M%SZ}"
    last = max(copy.seq for copy in backups.copies(folder))
    restoring.put_in_place(folder / paths.STORE_FILE, sound.file, aside, last=last)
    snapshots.discard(folder)
    return _told(sound), aside


def _soundest(folder: Path, name: str) -> Copy:
    """The backup of that name, or the newest, if it is sound. What a way back has made comes last: it was left on purpose."""
    found = backups.copies(folder)
    wanted = name.strip()
    meant = [copy for copy in found if _is_meant(copy, wanted)]
    if not wanted:
        meant += [copy for copy in found if copy not in meant]
    for copy in meant:
        if backups.is_unchanged(copy) or not backups.damage_of(copy):
            return copy
    raise NotFound(f"There is no sound backup '{name}'." if wanted else "There is no sound backup of this space.")


def _is_meant(copy: Copy, name: str) -> bool:
    """Whether a name means a copy; "" any but those that a way back has made, or a second one would undo the first."""
    return name in (copy.name, copy.name.removesuffix(".db")) if name else copy.cause != "restore"


def _told(copy: Copy) -> Backup:
    return Backup(copy.name, copy.at, copy.cause, copy.bytes, copy.memories)


def _words(memory: Memory) -> tuple[object, ...]:
    m = memory
    return m.content, m.keywords, m.labels, m.category, m.importance


def _says(memory: Memory) -> tuple[object, ...]:
    return (*_words(memory), memory.standing, memory.pinned, memory.expires_at, memory.superseded_by)
