"""Verbs that show who read and wrote what, prove that nothing of it is missing, and flag what is unusual."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from tetrarium.errors import InvalidInput
from tetrarium.lifecycle import ingest
from tetrarium.model import AuditEntry, AuditFlag, AuditProof
from tetrarium.privacy.secrets import mask
from tetrarium.service.auditor import flags_of
from tetrarium.service.door import Door, page_bounds
from tetrarium.storage import memories as rows
from tetrarium.storage.audit import Anchor, Row

QUESTIONS = ("recall", "gather", "search")
"""Verbs that answer a question."""

MOST_QUESTIONS = 200
"""Rows that one look gives; the next look gives more."""


class Auditing(Door):
    """Notes, and shows what was noted."""

    @contextmanager
    def acting_as(self, client: str) -> Iterator[None]:
        """Verbs inside that name no client are noted under this one."""
        before, self._auditor.acting = self._auditor.acting, mask(client)[0]
        try:
            yield
        finally:
            self._auditor.acting = before

    def audit(
        self,
        *,
        limit: int = 100,
        client: str = "",
        since: datetime | str | None = None,
        verb: str = "",
        memory_id: str = "",
        unread_by: str = "",
    ) -> tuple[AuditEntry, ...]:
        """Who read and wrote what, newest first. memory_id: only what named this memory (a row names 1,000 at most);
        unread_by: leave out what this client only read.

        Raises InvalidInput.
        """
        self._auditor.flush()
        start = 0 if since is None else rows.microseconds(ingest.parse_moment(since, "since"))
        found = self._auditor.reader.rows(
            page_bounds(0, limit)[1],
            client=client,
            verb=verb,
            since=start,
            memory_id=memory_id.strip().upper(),
            unread_by=unread_by,
        )
        return tuple(_entry(row) for row in found)

    def questions_since(self, seq: int | None = None) -> tuple[int, tuple[AuditEntry, ...]]:
        """What any program recalled or searched after a row of the audit, oldest first, and the row to go on from.

        None: nothing yet, only the row to start from. A program notes what it read when it next writes or has a quiet moment.
        Costs 3 µs when no other program has written since the last time.
        """
        version = self._space.database.data_version()
        if seq is not None and version == self._questions_at:
            return seq, ()
        self._questions_at = version
        if seq is None:
            return self._auditor.reader.head().count, ()
        found = self._auditor.reader.after(seq, QUESTIONS, MOST_QUESTIONS)
        if len(found) == MOST_QUESTIONS:
            self._questions_at = -1  # there may be more
        end = found[-1].seq if found else self._auditor.reader.head().count
        return max(seq, end), tuple(_entry(row) for row in found)

    def named_in(self, seq: int) -> tuple[str, ...]:
        """The memories that a row of the audit names and that are still there; 0.1 s of 100,000 (the row keeps marks, not ids)."""
        return self._auditor.reader.named(seq, self._space.indexes.table.by_id)

    def verify_audit(self, anchor: str = "") -> AuditProof:
        """Follow the chain from its start: sound, or the first row that was altered, dropped, reordered or cut off.

        anchor: one that an earlier proof told and somebody kept elsewhere. Raises InvalidInput.
        """
        self._auditor.flush()
        reader = self._auditor.reader
        found = reader.verify(_anchor(anchor))
        head = reader.head()
        if found is None:
            return AuditProof(head.count, str(head))
        return AuditProof(head.count, str(head), found.seq, found.kind, found.why)

    def audit_flags(self) -> tuple[AuditFlag, ...]:
        """Clients that read, deleted or inhibited unusually much within `audit_window`, in the last day; newest first."""
        self._auditor.flush()
        return flags_of(self._auditor.reader, self.settings)


def _anchor(told: str) -> Anchor | None:
    if not told:
        return None
    count, _, digest = told.strip().partition(":")
    if not count.isdigit() or len(digest) != 40:
        raise InvalidInput(f"'{told}' is no anchor.", advice="Give the COUNT:HASH that an earlier `audit verify` told.")
    return Anchor(int(count), digest)


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(row.seq, _moment(row.at), row.verb, row.kind, row.client, row.session, row.count)


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1e6, UTC)
