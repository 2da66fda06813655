"""Verbs on the health of a space: look at every part of it; put right what can be put right, after a copy.

A part is ok, or needs a look (warn), or is damaged (bad); the words say what was found, the remedy what to do. Looking
changes nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta

from tetrarium import paths, snapshots
from tetrarium.errors import DamagedSpace, EngineError
from tetrarium.model import CheckState, Health, HealthCheck
from tetrarium.service.auditing import Auditing
from tetrarium.service.keeping import Keeping
from tetrarium.storage import backups, mending, reserve, seals
from tetrarium.storage import memories as rows
from tetrarium.storage.backups import Copy
from tetrarium.storage.checks import Damage, rebuild_indexes
from tetrarium.storage.database import Connection
from tetrarium.storage.seals import Sealed

EXAMPLES = 5
"""Ids or names that a check names."""

_RESTORE = "`tetrarium restore` previews the way back to a backup; --apply goes it."
_UNUSUAL = (
    "`tetrarium audit list --client NAME` shows it, `tetrarium history undo --client NAME` takes back what was written."
)
_NO_BACKUP = "There is no backup to take it from; it stays left out, and everything else goes on."
_FIX = "`tetrarium doctor --fix` puts it right, after a copy."

_RECORDS: tuple[tuple[str, tuple[Sealed, ...], str], ...] = (
    ("versions", (seals.VERSION,), "earlier texts"),
    ("corrections", (seals.INHIBITION,), "records of corrections"),
    ("relations", (seals.RELATION,), "relations"),
    ("records", (seals.META, seals.NAME, seals.REQUEST), "settings, cluster names and answers to retries"),
    ("quarantine", (seals.QUARANTINE,), "memories of which it is not certain whether they wait for a person"),
    ("history", seals.APPEND_ONLY, "entries of history"),
)


class Healing(Keeping, Auditing):
    """Heals."""

    def health(self) -> Health:
        """Look at every part of the space and its backups; O(n). Changes nothing in the space."""
        self.catch_up()
        self._space.look_now()
        return Health(self._space.indexes.version, rows.now(), tuple(self._looked_at(self._space.damage)))

    def heal(self) -> Health:
        """Put right what can be put right, after a copy of what is there; gives the health after it.

        Damaged rows come back from backups that hold the very same row, corrections also from history; embeddings,
        indexes and places are made again. What cannot be put right stays left out of every answer, and is said.
        """
        before = self.health()
        if not any(check.repairable for check in before.checks):
            return before
        kept = self._copy_of_damage()
        damage = self._space.damage
        self._space.database.trouble = ""
        if damage:
            with self._space.database.write() as connection:
                self._mend_rows(connection, damage)
            if damage.structure:
                self._space.database.rebuild()
            with self._space.database.write() as connection:
                rebuild_indexes(connection)
            self._space.check_now()
            self._space.reload()
        if not self._clusters.examine().is_healthy:
            self._clusters.repair()
        while self._space.complete_vectors(64):
            pass
        if self._picture_is_damaged():
            snapshots.discard(self.path)
        reserve.keep(self.path, self.settings.reserve_bytes)
        after = self.health()
        return Health(after.version, after.at, after.checks, kept)

    # --- looking -------------------------------------------------------------------------------

    def _looked_at(self, damage: Damage) -> Iterator[HealthCheck]:
        yield self._store_check(damage)
        yield self._memory_check(damage)
        for name, kinds, what in _RECORDS:
            count = sum(len(damage.keys(kind)) for kind in kinds)
            yield _check(name, count, f"{count} {what} damaged", repairable=name != "history")
        yield _check(
            "full text",
            damage.fulltext + len(damage.indexes),
            "indexes of the store do not fit its rows",
            repairable=True,
        )
        yield from self._place_checks(damage)
        yield self._audit_check()
        yield self._backup_check()
        yield self._room_check()
        yield self._clock_check()
        yield _check("picture", int(self._picture_is_damaged()), "the packed picture is damaged", repairable=True)

    def _remedy(self) -> str:
        """What to do about damage in the store itself."""
        return f"{_FIX} Else: {_RESTORE}" if backups.exist(self.path) else _FIX

    def _store_check(self, damage: Damage) -> HealthCheck:
        database = self._space.database
        if damage.structure:
            words = f"the pages of {database.path.name} are damaged: {damage.structure[0]}"
            return HealthCheck("store", CheckState.BAD, words, self._remedy(), True, len(damage.structure))
        if database.trouble:
            remedy = "Check the disk, then start Tetrarium again."
            return HealthCheck("store", CheckState.BAD, f"{database.trouble}; it is only read", remedy)
        if not database.writable:
            return HealthCheck("store", CheckState.WARN, "can only be read", "Make the folder writable.")
        return HealthCheck("store", CheckState.OK, f"{database.size() / 1e6:.1f} MB, every page as it should be")

    def _memory_check(self, damage: Damage) -> HealthCheck:
        keys = damage.keys(seals.MEMORY)
        if not keys:
            return HealthCheck("memories", CheckState.OK, f"{len(self._space.indexes.table)}, each as it was written")
        ids = tuple(memory_id for memory_id, _ in self._space.history.ids([num for num, _ in keys]).values())
        words = f"{len(keys)} damaged, left out of every answer"
        return HealthCheck(
            "memories",
            CheckState.BAD,
            words,
            self._remedy() if backups.exist(self.path) else _NO_BACKUP,
            True,
            len(keys),
            ids[:EXAMPLES],
        )

    def _place_checks(self, damage: Damage) -> Iterator[HealthCheck]:
        report = self._clusters.examine()
        vectors = [f for f in report.findings if f.kind == "vector"]
        count = len(damage.keys(seals.VECTOR)) + sum(f.count for f in vectors)
        yield _check("embeddings", count, f"{count} embeddings that cannot be used", repairable=True)
        places = [f for f in report.findings if f.kind != "vector"]
        words = "; ".join(f"{f.count} {f.about}" for f in places)
        examples = tuple(example for f in places for example in f.examples)
        yield _check("places", sum(f.count for f in places), words, repairable=True, examples=examples)

    def _audit_check(self) -> HealthCheck:
        proof = self.verify_audit()
        if proof.is_sound and (flags := self.audit_flags()):
            unusual = "; ".join(flag.words for flag in flags)
            return HealthCheck("audit", CheckState.WARN, f"unusual in the last day: {unusual}", _UNUSUAL)
        if proof.is_sound:
            return HealthCheck("audit", CheckState.OK, f"{proof.rows} rows, each bound to the one before")
        words = f"row {proof.first_bad} was {proof.kind}: {proof.why}"
        return HealthCheck(
            "audit", CheckState.BAD, words, "Whoever can write the file may have done it; it stays as it is."
        )

    def _backup_check(self) -> HealthCheck:
        try:
            os.listdir(self.path / paths.BACKUPS)
            found = backups.copies(self.path)
        except FileNotFoundError:
            found = []
        except OSError as error:
            words = f"the folder {self.path / paths.BACKUPS} cannot be read ({error.strerror})"
            return HealthCheck("backups", CheckState.BAD, words, "Make it a folder that you can read and write.")
        damaged = [c.name for c in found if not backups.is_unchanged(c) and backups.damage_of(c)]
        if damaged:
            words = f"{len(damaged)} of {len(found)} backups are damaged"
            return HealthCheck(
                "backups", CheckState.BAD, words, "Delete those; `tetrarium backup` makes a new one.", False,
                len(damaged), tuple(damaged[:EXAMPLES]),
            )  # fmt: skip
        if not found and len(self._space.indexes.table):
            return HealthCheck("backups", CheckState.WARN, "there is none yet", "`tetrarium backup` makes one.")
        newest = f", newest of {found[0].at:%Y-%m-%d %H:%M} UTC" if found else ""
        return HealthCheck("backups", CheckState.OK, f"{len(found)}, each opened and checked{newest}")

    def _room_check(self) -> HealthCheck:
        free = shutil.disk_usage(self.path).free
        wanted = 2 * self._space.database.size() + self.settings.reserve_bytes
        if free < wanted:
            return HealthCheck("room", CheckState.WARN, f"{free / 1e6:.0f} MB free on this disk", "Free some space.")
        return HealthCheck("room", CheckState.OK, f"{free / 1e9:.1f} GB free")

    def _clock_check(self) -> HealthCheck:
        table = self._space.indexes.table
        ahead = (table.created[table.numbers()] > (rows.now() + timedelta(days=1)).timestamp()).sum()
        words = f"{ahead} memories are from the future: the clock was or is wrong"
        return HealthCheck("clock", CheckState.WARN, words, "Check the date of this computer.", count=int(ahead)) if ahead else HealthCheck("clock", CheckState.OK, "no memory is from the future")  # fmt: skip

    def _picture_is_damaged(self) -> bool:
        return snapshots.is_damaged(self.path)

    # --- mending -------------------------------------------------------------------------------

    def _copy_of_damage(self) -> str:
        """A copy of what is there, damage and all."""
        try:
            return backups.made(self._store, "repair", rows.now()).name
        except DamagedSpace:
            self._space.database.fold_log()
            aside = self.path / f"damaged-{rows.now():%Y%m%dT%H%M%SZ}"
            aside.mkdir(mode=0o700, exist_ok=True)
            shutil.copyfile(self._store, aside / self._store.name)
            return aside.name

    def _mend_rows(self, connection: Connection, damage: Damage) -> None:
        for take in (mending.take_from, mending.take_words_from):
            for copy in self._usable_copies():
                with closing(backups.opened(copy.file)) as source:
                    take(connection, source, damage)
        mending.let_go(connection, damage)

    def _usable_copies(self) -> Sequence[Copy]:
        """Copies whose rows can be read, newest first."""
        found = []
        for copy in backups.copies(self.path):
            try:
                with closing(backups.opened(copy.file)) as connection:
                    if connection.table_exists("main", "seals"):
                        found.append(copy)
            except (EngineError, OSError, ValueError):
                continue
        return found


def _check(name: str, count: int, words: str, *, repairable: bool, examples: tuple[str, ...] = ()) -> HealthCheck:
    if not count:
        return HealthCheck(name, CheckState.OK, "as it should be")
    remedy = _FIX if repairable else "Left out; nothing else is touched by it."
    return HealthCheck(name, CheckState.BAD, words, remedy, repairable, count, examples[:EXAMPLES])
