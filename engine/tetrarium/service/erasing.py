"""Verbs that erase for good, and prove it: no byte of a memory is left in any file of the space."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from tetrarium.config import Settings
from tetrarium.errors import InvalidInput, SpaceUnavailable
from tetrarium.indexing.tokens import fold
from tetrarium.model import DeletionProof, Float32, Forgetting, Memory, PendingErasure
from tetrarium.privacy import erasure, overdue, residue
from tetrarium.recall.themes import without
from tetrarium.service.door import LET_THROUGH, check_trust
from tetrarium.service.keeping import Keeping
from tetrarium.service.screening import Screening
from tetrarium.storage import memories as rows
from tetrarium.storage.database import Connection

log = logging.getLogger(__name__)

TIDY_EVERY = 3_600.0
"""Seconds between two looks for what is overdue."""

CLOCK = "clock"
"""Under which the space keeps what it knows of the time, among its facts."""


class Erasing(Screening, Keeping):
    """Erases."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self._tidied = float("-inf")
        self._finish_erasures()

    def maintain(self, *, most: int = 16) -> bool:
        """Work for a quiet moment: what `Door.maintain` does, erasures that are not finished, and what is overdue."""
        more = super().maintain(most=most)
        if time.monotonic() - self._tidied >= TIDY_EVERY and self._space.database.writable:
            self._tidied = time.monotonic()
            self._finish_erasures(patient=True)
            self._erase_overdue()
        return more

    def erase(self, memory_ids: Sequence[str], *, client: str = "") -> Forgetting:
        """Erase these memories, in the trash or not, all or none: rows, versions, vectors, and every byte of them in
        every file of the space, backups too.

        Should another program or a full disk stand in the way, they are gone from every answer at once and their bytes
        later (`pending_erasures`). Raises NotFound, NotTrusted.
        """

        def plan() -> list[int]:
            nums = list(dict.fromkeys(self._number(memory_id, anywhere=True) for memory_id in memory_ids))
            for memory in self._space.reader.memories(nums):
                check_trust(client, memory)
            return nums

        def commit(connection: Connection, nums: list[int]) -> tuple[str, ...]:
            ids = tuple(self._space.reader.ids(nums))
            for num in nums:
                self._purge(connection, num)
            return ids

        ids = self._space.write(plan, commit, op="forget for good", client=client, frees=True)
        self._finish_erasures()
        return Forgetting(True, len(ids), {}, (), 0, "", ids)

    def erase_with_proof(self, memory_ids: Sequence[str], *, client: str = "") -> DeletionProof:
        """Erase, then search every file for what was erased: each text, earlier ones too, and each vector.

        Raises NotFound, NotTrusted.
        """
        self.catch_up()
        nums = [self._number(memory_id, anywhere=True) for memory_id in memory_ids]
        texts = [(memory.content, self._vector(num)) for num, memory in zip(nums, self._space.reader.memories(nums), strict=True)]  # fmt: skip
        texts += [(version.content, None) for num in nums for version in self._space.reader.versions(num)]
        self.erase(memory_ids, client=client)
        return self._proof(texts)

    def prove_deleted(self, text: str) -> DeletionProof:
        """Search every file of the space for a text, in every form it may have been kept in, and for its vector.

        Raises InvalidInput for an empty one.
        """
        if not text.strip():
            raise InvalidInput("There is no text to look for.", advice="Give a text that should be gone.")
        self.catch_up()
        (vector,) = self._space.embed_passages([text.strip()])
        return self._proof([(text.strip(), vector)])

    def pending_erasures(self) -> tuple[PendingErasure, ...]:
        """Memories that are gone from the store while files may still hold bytes of them."""
        return erasure.pending(self._space.database)

    def empty_trash(self, *, client: str = "") -> Forgetting:
        """Erase what is in the trash, but for pinned memories. Raises NotTrusted."""
        trashed = self._space.reader.memories(self._private.in_trash())
        return self.erase([memory.id for memory in trashed if not memory.pinned], client=client)

    def overdue(self) -> tuple[Memory, ...]:
        """Memories whose time in the trash or after their expiry is over; they are erased in a quiet moment."""
        now, settings = rows.now(), self.settings
        trashed = now - timedelta(days=settings.trash_days) if settings.trash_days else None
        expired = now - timedelta(days=settings.expired_days) if settings.expired_days else None
        nums = self._private.overdue(trashed_before=trashed, expired_before=expired)
        return tuple(self._space.reader.memories(nums))

    # --- private ------------------------------------------------------------------------------

    def _purge(self, connection: Connection, num: int) -> None:
        self._space.take_out(connection, num, lambda: rows.purge(connection, num, now=rows.now()))

    def _finish_erasures(self, *, patient: bool = False) -> None:
        """Go on with erasures; what stands in the way now is tried again later."""
        todo = self._private.erasures()
        if not todo:
            return
        # A copy under way is of a moment at which it was still there: it ends here, and begins anew later.
        self._copying = None
        self._accesses, self._questions = {}, {}
        self._asked.clear()
        self._forget_in_themes([pending.memory for pending, how in todo if how == "purge"])
        most = 2**62 if patient else self.settings.erased_at_once
        self._purge_again([pending.memory for pending, how in todo if how == "purge"])
        try:
            erasure.finish(self._space.database, at_once=most)
        except (SpaceUnavailable, OSError) as error:
            log.info("An erasure waits: %s", error)

    def _forget_in_themes(self, gone: Sequence[str]) -> None:
        """Themes that are let through keep no memory that is erased, and no word that no memory carries any more."""
        by_keyword, kept = self._space.indexes.table.by_keyword, self._themes()
        left = [theme for one in kept if (theme := without(one, gone, lambda word: bool(by_keyword.get(word))))]
        if left != list(kept):
            with self._space.database.write() as connection:
                rows.set_meta(connection, LET_THROUGH, [asdict(theme) for theme in left])

    def _purge_again(self, memory_ids: Sequence[str]) -> None:
        """A backup that was gone back to may have brought back what is being erased."""
        reader = self._space.reader
        found = [reader.number(one) or reader.number(one, in_trash=True) for one in memory_ids]
        if nums := [num for num in found if num is not None]:

            def commit(connection: Connection, _: None) -> None:
                for num in nums:
                    self._purge(connection, num)

            self._space.write(lambda: None, commit, op="forget for good")

    def _erase_overdue(self) -> None:
        if not self._is_clock_settled():
            return
        memories = self.overdue()
        if overdue.is_too_much(len(memories), self._private.count(), self.settings.overdue_share):
            log.warning(
                "%d memories are overdue, too many to erase without being asked: `tetrarium trash overdue` shows them.",
                len(memories),
            )
        elif memories:
            self.erase([memory.id for memory in memories])

    def _is_clock_settled(self) -> bool:
        """Look at the time and keep it; whether it has run as usual for long enough."""
        settling = self.settings.settling_days * overdue.DAY
        kept = self._space.reader.meta(CLOCK)
        now = time.time()
        clock = overdue.looked(overdue.Clock(**kept), now, settling) if kept else overdue.started(now, settling)
        with self._space.database.write(durable=False) as connection:
            rows.set_meta(connection, CLOCK, asdict(clock))
        return clock.is_settled

    def _vector(self, num: int) -> Float32 | None:
        return self._space.reader.vector_in_trash(num, self._space.model)

    def _proof(self, texts: Sequence[tuple[str, Float32 | None]]) -> DeletionProof:
        held: dict[int, list[str]] = {}
        ids: dict[int, str] = {}
        for num, memory_id, columns in self._private.texts():
            ids[num], held[num] = memory_id, ["\n".join(columns.values())]
        for num, _, columns in self._private.version_texts():
            held[num].append("\n".join(columns.values()))
        wanted = [fold(text) for text, _ in texts]
        still = {num for num, told in held.items() if any(text in fold("\n".join(told)) for text in wanted)}
        others = [text for num, told in held.items() if num not in still for text in told]
        is_kept = residue.kept_texts([*others, *self._private.structure()])
        needles: dict[residue.Needle, None] = {}
        skipped: dict[str, None] = {}
        for text, vector in texts:
            found, left_out = residue.needles_of(text, vector, is_kept)
            needles.update(dict.fromkeys(found))
            skipped.update(dict.fromkeys(left_out))
        done = residue.Search()
        residues = tuple(residue.search(self.path, tuple(needles), done))
        return DeletionProof(
            done.files,
            done.bytes,
            len(needles),
            done.compressed,
            tuple(skipped),
            tuple(ids[num] for num in still),
            residues,
        )
