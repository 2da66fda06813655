"""The audit: every verb of the door is noted here, in one place, whoever calls it.

A read is put into a queue in memory: it writes nothing. The queue goes to the store before the next commit of
anything, in `maintain` and at close, so that the chain tells the order in which things happened. A write is noted in
the transaction that does it, by the change log: what was changed is what the store says was changed.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tetrarium import paths
from tetrarium.config import Settings
from tetrarium.errors import UserError
from tetrarium.lifecycle.trust import SAMPLE, WINDOW
from tetrarium.model import (
    AuditFlag,
    ExportReport,
    Hit,
    Memory,
    SpaceSnapshot,
)
from tetrarium.privacy.secrets import mask
from tetrarium.storage import audit
from tetrarium.storage import memories as rows
from tetrarium.storage.audit import Act, Anchor
from tetrarium.storage.database import Connection
from tetrarium.storage.identity import is_id

READS = frozenset(
    [
        "search", "recall", "gather", "explain", "trace", "traces", "get", "versions", "inhibitions", "contradictions",
        "page", "snapshot", "snapshot_since", "cluster", "neighbours", "path_between", "relations", "history",
        "known", "members", "overview", "briefing", "lately", "review", "export", "quarantined", "overdue",
        "try_exclusion", "corrections", "rehearse", "trash", "trashed", "preview_restore_memory",
    ]
)  # fmt: skip
WRITES = frozenset(
    [
        "store", "record_decision", "learn_pattern", "update", "revert", "inhibit", "release", "feedback",
        "dismiss_contradiction", "forget", "forget_all", "forget_matching", "restore", "restore_all", "relate",
        "unrelate", "name_cluster", "apply_plan", "undo_plan", "repair", "undo", "redo", "undo_client", "import_file",
        "undo_import", "restore_backup", "restore_memory", "heal", "erase", "erase_with_proof", "empty_trash",
        "mask_stored", "release_from_quarantine", "exclude", "include_again", "set_secret_policy",
        "amend_inhibition", "inhibit_all", "label_all", "let_through", "void_again", "tune",
    ]
)  # fmt: skip
BESIDE = frozenset(["restore_backup"])
"""Writes that go past the transactions of this connection: noted with the next commit."""

UNNOTED = frozenset(
    [
        "catch_up", "warm_up", "maintain", "close", "stats", "plan_clusters", "plans", "plan_moves", "examine", "names", "weigh",
        "ids_like", "clusters_like", "changed_clusters", "anonymity", "preview_import", "imports", "audit",
        "verify_audit", "audit_flags", "acting_as", "backups", "backup", "preview_restore", "health", "once",
        "secret_policy", "masked", "scan_secrets", "exclusions", "prove_deleted", "pending_erasures",
        "let_through_always", "questions_since", "named_in", "adopt",
    ]
)  # fmt: skip
"""Verbs that give nobody a memory's words and change none."""

Service = TypeVar("Service")

LOOKS = ("snapshot", "snapshot_since", "page")
"""Reads of whole screens: no sign of anybody who collects."""

_DELETING, _INHIBITING = frozenset(["trash", "purge"]), frozenset(["inhibit"])


class Auditor:
    """What happens now, and what was read and is not in the store yet. One thread only (the lane is the lock)."""

    def __init__(self, space: Any) -> None:
        self._space = space
        self._queue: list[Act] = []
        self._sent = 0
        self._key = self._made = b""  # of this space; `_made` may go with a transaction that fails
        self._verb, self._client, self._session = "", "", ""
        self.acting = ""
        self._head: Anchor | None = None  # of what this program wrote last
        self._safe: Anchor | None = None  # of what it knows to be on disk
        self._mirror = audit.Mirror(space.database.path.with_name(paths.AUDIT_FILE))
        self.reader = audit.AuditReader(space.database, self._mirror)
        space.database.witness = self

    def run(self, verb: str, client: str, session: str, args: tuple[Any, ...], method: Callable[[], Any]) -> Any:
        """Run a verb and note it; one that another verb calls is part of that one."""
        if self._verb:
            return method()
        self._verb, self._client, self._session = verb, client, session
        try:
            result = method()
            if verb in READS or verb in BESIDE:
                count, ids = _named(result, args)
                kind = "write" if verb in BESIDE else "read"
                self._queue.append(Act(time.time_ns() // 1_000, verb, kind, client, session, count, ids))
            return result
        except UserError:
            if verb in WRITES:
                self._queue.append(Act(time.time_ns() // 1_000, verb, "refused", client, session, 0, ()))
            raise
        finally:
            self._verb = ""

    def before_commit(self, connection: Connection) -> None:
        """Note what was read until now, then what this transaction changed."""
        acts = self._queue.copy()
        self._sent = len(acts)
        if self._verb in WRITES and (act := self._written(connection)):
            acts.append(act)
        if acts:
            self._made = self._key or audit.key_of(connection)
            self._head = audit.append(connection, self._made, acts)

    def after_commit(self, *, durable: bool) -> None:
        """What was read stands in the store now. A commit that is on disk has every earlier one there."""
        del self._queue[: self._sent]
        self._key = self._made
        if durable:
            self._safe = self._head

    def flush(self) -> None:
        """Write what is queued, in a transaction of its own that needs no sync."""
        if self._queue and self._space.database.writable:
            with self._space.database.write(durable=False):
                pass  # `before_commit` does it
        self._mirror.keep(self._safe)

    def closed(self, *, folded: bool) -> None:
        """The store is closed. folded: all of it is in its file, and on disk."""
        self._mirror.keep(self._head if folded else self._safe)

    def _written(self, connection: Connection) -> Act | None:
        """The row of what the open transaction changed, by its change log; None when it changed nothing."""
        changed = audit.changed_since(connection, self._space.indexes.version)
        if not changed:
            return None
        if len(changed) == 1 and changed[0][0] == "store" and changed[0][2]:  # what is written most: nothing to sort
            return Act(time.time_ns() // 1_000, self._verb, "write", self._client, self._session, 1, (changed[0][2],))
        nums = {num: memory_id for _, num, memory_id in changed if num}
        ids = self._space.indexes.table.ids
        known = tuple(memory_id or ids[num] for num, memory_id in nums.items())[: audit.MOST_IDS]
        ops = {op for op, _, _ in changed}
        kind, counted = "write", set(nums)
        for name, meant in (("inhibit", _INHIBITING), ("delete", _DELETING)):
            if not ops.isdisjoint(meant):
                kind, counted = name, {num for op, num, _ in changed if op in meant}
        return Act(time.time_ns() // 1_000, self._verb, kind, self._client, self._session, len(counted), known)


def flags_of(reader: audit.AuditReader, settings: Settings) -> tuple[AuditFlag, ...]:
    """Clients that did unusually much within `audit_window`, in the last day: the worst of each kind, newest first."""
    limits = {"read": settings.audit_reads, "delete": settings.audit_deletions, "inhibit": settings.audit_inhibitions}
    day_ago = rows.microseconds(rows.now() - timedelta(days=1))
    half = round(settings.audit_window * 5e5)
    worst: dict[tuple[str, str], AuditFlag] = {}
    for kind, most in limits.items():
        for (client, step), count in _bursts(reader.sums(kind, day_ago, half, LOOKS)).items():
            known = worst.get((kind, client))
            if count > most and client not in (WINDOW, SAMPLE) and (known is None or count > known.count):
                worst[kind, client] = AuditFlag(kind, client, count, datetime.fromtimestamp(step * half / 1e6, UTC))
    return tuple(sorted(worst.values(), key=lambda flag: flag.since, reverse=True))


def _bursts(sums: Sequence[tuple[str, int, int]]) -> dict[tuple[str, int], int]:
    """Memories of each client within two neighbouring steps of time: no burst hides behind a border."""
    counts = {(client, step): count for client, step, count in sums}
    return {(client, step): count + counts.get((client, step + 1), 0) for (client, step), count in counts.items()}


def noted(service: type[Service]) -> type[Service]:
    """Note every verb of the service, and mask what its client is called: the one place where that happens."""
    for name in sorted(READS | WRITES):
        method = getattr(service, name, None)
        if method is not None:
            setattr(service, name, _noted(name, method))
    return service


def _noted(verb: str, method: Callable[..., Any]) -> Callable[..., Any]:
    who = "by" if verb == "undo_client" else "client"

    @functools.wraps(method)
    def noting(self: Any, *args: Any, **given: Any) -> Any:
        auditor: Auditor = self._auditor
        for name in ("client", "by"):
            if isinstance(told := given.get(name), str):
                given[name], _ = mask(told)
        client = str(given.get(who) or auditor.acting)
        session, _ = mask(str(given.get("session", "")))
        return auditor.run(verb, client, session, args, lambda: method(self, *args, **given))

    return noting


_HOLDING = (
    "hits",
    "blocks",
    "trace",
    "neighbours",
    "memory",
    "memories",
    "sections",
    "contradictions",
    "inhibited",
    "rows",
)
"""Fields of results that hold memories, or records that name them."""

_NAMING = ("memory_id", "medoid", "source", "target", "newer", "older")
"""Fields that name one memory."""


def _named(result: Any, args: tuple[Any, ...]) -> tuple[int, tuple[str, ...]]:
    """How many memories a verb gave, and which, as far as a row names them."""
    if isinstance(result, SpaceSnapshot):
        return len(result), ()
    if isinstance(result, ExportReport):
        return result.memories, ()
    asked = [args[0]] if args and is_id(args[0]) else []
    ids = tuple(dict.fromkeys([*asked, *_ids(result)]))
    return len(ids), ids[: audit.MOST_IDS]


def _ids(result: Any) -> Iterator[str]:
    """Ids of the memories in what a verb gave."""
    if isinstance(result, Memory | Hit):
        yield result.id
    elif isinstance(result, tuple | list):
        for one in result:
            yield from _ids(one)
    elif isinstance(result, dict):
        yield from _ids(tuple(result.values()))
    elif isinstance(result, SpaceSnapshot):
        yield from result.ids
    else:
        for name in _NAMING:
            if is_id(value := getattr(result, name, None)):
                yield value
        for name in _HOLDING:
            if (value := getattr(result, name, None)) is not None:
                yield from _ids(value)
