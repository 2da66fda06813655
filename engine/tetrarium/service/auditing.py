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
from tetrarium.storage.audit import Anchor


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
    ) -> tuple[AuditEntry, ...]:
        """Who read and wrote what, newest first. memory_id: only what named this memory (a row names 1,000 at most).

        Raises InvalidInput.
        """
        self._auditor.flush()
        start = 0 if since is None else rows.microseconds(ingest.parse_moment(since, "since"))
        found = self._auditor.reader.rows(
            page_bounds(0, limit)[1], client=client, verb=verb, since=start, memory_id=memory_id.strip().upper()
        )
        return tuple(
            AuditEntry(row.seq, _moment(row.at), row.verb, row.kind, row.client, row.session, row.count)
            for row in found
        )

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


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1e6, UTC)
