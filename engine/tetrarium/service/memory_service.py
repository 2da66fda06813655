"""The one door, put together; opening a space, and filling it with the sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tetrarium import paths, snapshots
from tetrarium.config import DEFAULTS, with_overrides
from tetrarium.errors import SpaceLocked
from tetrarium.lifecycle.sample import sample_memories
from tetrarium.lifecycle.trust import SAMPLE
from tetrarium.model import (
    SpaceSnapshot,
)
from tetrarium.service import locking
from tetrarium.service.arranging import Arranging
from tetrarium.service.asking import Asking
from tetrarium.service.auditing import Auditing
from tetrarium.service.auditor import noted
from tetrarium.service.editing import Editing
from tetrarium.service.exchange import Exchange
from tetrarium.service.guarding import Guarding
from tetrarium.service.healing import Healing
from tetrarium.service.looking import Looking
from tetrarium.service.reading import Reading
from tetrarium.service.rehearsing import Rehearsing
from tetrarium.service.relating import Relating
from tetrarium.service.repeating import Repeating
from tetrarium.service.storing import Storing
from tetrarium.service.undoing import Undoing


@noted
class MemoryService(
    Storing,
    Asking,
    Editing,
    Guarding,
    Relating,
    Looking,
    Arranging,
    Rehearsing,
    Undoing,
    Reading,
    Exchange,
    Healing,
    Auditing,
    Repeating,
):
    """The memories of one space. Opened by `open_space`; a context manager."""


def open_space(
    path: str | Path | None = None, *, passphrase: str | None = None, **settings: float | int | str
) -> MemoryService:
    """Open the space in a folder, making it if it is new; None opens the default one (paths.default_data_dir).

    passphrase: of an encrypted space, where neither the environment nor the keychain has its key. Further names
    override `Settings`. Raises InvalidInput for an unknown one, SpaceUnavailable when the folder cannot be used,
    SpaceLocked when the key is missing or wrong.
    """
    folder = paths.default_data_dir() if path is None else Path(path).expanduser()
    locking.unlock(folder, passphrase)
    return MemoryService(folder, with_overrides(DEFAULTS, dict(settings)))


def kept_snapshot(path: str | Path | None = None) -> SpaceSnapshot | None:
    """The picture that the space in a folder kept of itself at its last close, without opening it; None when there is
    none of its present state. 100,000 memories take about 0.1 s of CPU (measured)."""
    folder = paths.default_data_dir() if path is None else Path(path).expanduser()
    try:
        locking.unlock(folder)
    except SpaceLocked:
        return None
    return snapshots.kept(folder)


def fill_sample(service: MemoryService, *, stop: Callable[[], bool] = lambda: False) -> int:
    """Store the sample memories in a space; gives how many the space gained.

    Goes on where it was stopped, and two programs that fill at once store each memory once. `stop` is asked
    before each. A space that has memories of somebody's own is left as it is.
    """
    before = service.stats().memories
    if before and service.page(order="created", descending=False, limit=1)[0].source.client != SAMPLE:
        return 0
    ids: dict[str, str] = {}
    for memory in sample_memories():
        if stop():
            break
        stored = service.store(
            memory.content,
            keywords=memory.keywords,
            labels=memory.labels,
            category=memory.category,
            importance=memory.importance,
            author=memory.author,
            session=memory.session,
            client=SAMPLE,
            created_at=memory.created_at,
            supersedes=[ids[ref] for ref in memory.supersedes],
            idempotency_key=f"sample {memory.ref}",
            force=True,
        )
        assert stored.id is not None
        ids[memory.ref] = stored.id
    return service.stats().memories - before
