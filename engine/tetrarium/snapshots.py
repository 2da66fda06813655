"""Pictures of a space: whole, as deltas, and packed into a file that opens faster than the store.

A window wants something to draw before the indexes are loaded. The packed file holds the arrays of a
`SpaceSnapshot` as they lie in memory, stamped with the state of the store that they show and with a hash; it is
written beside the store when the space closes. It is disposable: on any mismatch it is not used, and the next
close writes it anew. It holds the first words of memories, so a permanent deletion removes it.
"""

from __future__ import annotations

import io
import json
import logging
import os
import struct
from collections.abc import Sequence
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tetrarium import paths
from tetrarium.clusters import HUES
from tetrarium.errors import EngineError
from tetrarium.model import Cluster, Int64, SnapshotDelta, SpaceSnapshot, UInt8
from tetrarium.space import Space
from tetrarium.storage import cipher
from tetrarium.storage.database import Stamp, stamp_of

log = logging.getLogger(__name__)

MAGIC = b"TETRSNAP"
FORMAT = 2
"""Of the packed file; another one is not read."""

LONGEST_DELTA = 5_000
"""Changes after which a whole snapshot is cheaper than a delta."""

_Array = TypeVar("_Array", bound=NDArray[Any])
_HEAD = struct.Struct("<8sIIQ16s")  # magic, format, bytes of the description, bytes of the body, hash
_SEPARATOR = "\x1f"
_NO_ARRAYS = ("version", "ids", "excerpts", "clients", "clusters")
_ARRAYS = tuple(f.name for f in fields(SpaceSnapshot) if f.name not in _NO_ARRAYS)


def whole(space: Space) -> SpaceSnapshot:
    """Everything, one row a memory outside the trash, oldest first."""
    return _rows(space, space.indexes.table.numbers())


def since(space: Space, version: int) -> SnapshotDelta | None:
    """What changed after a version; None when that is too long ago (or not a version of this space)."""
    now = space.indexes.version
    if version < 0 or not 0 <= now - version <= LONGEST_DELTA:
        return None
    table = space.indexes.table
    changes = space.reader.changes_since(version)
    if any(change.op == "restore" and not change.num for change in changes):
        return None
    nums = sorted({change.num for change in changes if change.num})
    here = np.array([num for num in nums if num < table.capacity and table.present[num]], np.int64)
    gone = space.ids_of([num for num in nums if num >= table.capacity or not table.present[num]])
    named = any(change.num == 0 for change in changes)
    touched = space.clusters_changed_since(version)
    rows = _rows(space, here)
    if named or touched is None:
        clusters = _clusters(space, sorted(space.geometry.places.components))
    else:
        clusters = _clusters(space, sorted(touched | {cluster.id for cluster in rows.clusters}))
    return SnapshotDelta(version, now, rows, tuple(gone), clusters)


def keep(space: Space) -> None:
    """Write the packed file when the one that is there shows another state. Never fails: it can be made again."""
    if not space.database.writable or not space.is_loaded:
        return
    file = space.database.path.with_name(paths.SNAPSHOT_FILE)
    try:
        stamp = space.stamp()
        if len(space.indexes.table) >= space.settings.picture_size and _stamp_in(file) != stamp:
            save(whole(space), file, stamp)
    except (OSError, EngineError) as error:
        log.info("The picture of the space was not kept: %s", error)


def discard(folder: Path) -> None:
    """Remove the packed file."""
    (folder / paths.SNAPSHOT_FILE).unlink(missing_ok=True)


def is_damaged(folder: Path) -> bool:
    """Whether a packed file is there and cannot be used."""
    file = folder / paths.SNAPSHOT_FILE
    try:
        if file.exists():
            load(file)
    except (OSError, ValueError, KeyError):
        return True
    return False


def kept(folder: Path) -> SpaceSnapshot | None:
    """The picture of a space without opening it, when there is one that shows its present state; else None."""
    file = folder / paths.SNAPSHOT_FILE
    try:
        found = _stamp_in(file)
        if found is None or found != stamp_of(folder / paths.STORE_FILE):
            return None
        return load(file)
    except (OSError, EngineError, ValueError, KeyError) as error:
        log.info("The kept picture of the space is not used: %s", error)
        return None


def save(snapshot: SpaceSnapshot, file: Path, stamp: Stamp) -> None:
    """Pack a snapshot into a file: written beside, synced, then renamed. Raises OSError."""
    parts: list[tuple[str, str, tuple[int, ...], bytes]] = []
    for name in _ARRAYS:
        array: NDArray[Any] = getattr(snapshot, name)
        parts.append((name, array.dtype.str, array.shape, array.tobytes()))
    for name in ("ids", "excerpts"):
        text = _SEPARATOR.join(x.replace(_SEPARATOR, " ") for x in getattr(snapshot, name)).encode("utf-8", "replace")
        parts.append((name, "", (len(snapshot),), text))
    description = json.dumps(
        {
            "stamp": stamp,
            "version": snapshot.version,
            "clients": snapshot.clients,
            "clusters": [[c.id, c.name, c.size, c.hue] for c in snapshot.clusters],
            "parts": [(name, dtype, shape, len(body)) for name, dtype, shape, body in parts],
        },
        ensure_ascii=False,
    ).encode()
    digest = blake2b(description, digest_size=16)
    for *_, body in parts:
        digest.update(body)
    beside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        cipher.make_private(beside)
        with beside.open("wb") as stream:
            size = sum(len(body) for *_, body in parts)
            head = _HEAD.pack(MAGIC, FORMAT, len(description), size, digest.digest())
            if cipher.key_of(file) is None:
                stream.writelines([head, description, *(body for *_, body in parts)])
            else:
                stream.write(cipher.sealed(file, b"".join([head, description, *(body for *_, body in parts)])))
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def load(file: Path) -> SpaceSnapshot:
    """Unpack a file. Raises OSError, and ValueError when it is cut, changed or of another format."""
    data = memoryview(cipher.unsealed(file, file.read_bytes()))
    description, body = _opened(data)
    arrays: dict[str, Any] = {}
    start = 0
    for name, dtype, shape, size in description["parts"]:
        part = body[start : start + size]
        start += size
        if dtype:
            arrays[name] = _frozen(np.frombuffer(part, np.dtype(dtype)).reshape(shape))
        else:
            words = tuple(str(part, "utf-8").split(_SEPARATOR)) if shape[0] else ()
            if len(words) != shape[0]:
                raise ValueError(f"{name} has {len(words)} entries, not {shape[0]}")
            arrays[name] = words
    clusters = tuple(Cluster(*cluster) for cluster in description["clusters"])
    clients = tuple(map(str, description["clients"]))
    return SpaceSnapshot(version=description["version"], clients=clients, clusters=clusters, **arrays)


# --- private -------------------------------------------------------------------------------------


def _opened(data: memoryview) -> tuple[dict[str, Any], memoryview]:
    if len(data) < _HEAD.size:
        raise ValueError("the file is cut")
    magic, version, described, size, digest = _HEAD.unpack(data[: _HEAD.size])
    if magic != MAGIC or version != FORMAT:
        raise ValueError("another format")
    content = data[_HEAD.size :]
    if len(content) != described + size or blake2b(content, digest_size=16).digest() != digest:
        raise ValueError("the file is cut or changed")
    description: dict[str, Any] = json.loads(bytes(content[:described]))
    return description, content[described:]


def _stamp_in(file: Path) -> Stamp | None:
    """The stamp of a packed file, without reading its body; None when there is none."""
    try:
        with _readable(file) as stream:
            magic, version, described, *_ = _HEAD.unpack(stream.read(_HEAD.size))
            if magic != MAGIC or version != FORMAT:
                return None
            seq, recalls = json.loads(stream.read(described))["stamp"]
            return int(seq), int(recalls)
    except (OSError, struct.error, ValueError, KeyError, TypeError):
        return None


def _readable(file: Path) -> IO[bytes]:
    """A packed file to read from: itself, or what is sealed in it. Raises OSError, ValueError."""
    if cipher.key_of(file) is None:
        return file.open("rb")
    return io.BytesIO(cipher.unsealed(file, file.read_bytes()))


def _rows(space: Space, nums: Int64) -> SpaceSnapshot:
    table = space.indexes.table
    components, cluster = np.unique(table.component[nums], return_inverse=True)
    clients, client = np.unique(table.client[nums], return_inverse=True)
    chosen = nums.tolist()
    return SpaceSnapshot(
        version=space.indexes.version,
        ids=tuple([table.ids[num] for num in chosen]),
        excerpts=tuple([table.excerpts[num] for num in chosen]),
        places=_frozen(table.place[nums]),
        cluster=_frozen(cluster.astype(np.int32)),
        category=_frozen(table.category[nums]),
        memory_type=_frozen(table.memory_type[nums]),
        confidence=_frozen(confidence(table.evidence[nums])),
        inhibited=_frozen(table.silent[nums]),
        quarantined=_frozen(table.quarantined[nums]),
        importance=_frozen(table.importance[nums]),
        created=_frozen(table.created[nums]),
        accessed=_frozen(table.accessed[nums]),
        access_count=_frozen(table.access_count[nums]),
        client=_frozen(client.astype(np.int32)),
        clients=tuple([table.clients.names[code] for code in clients.tolist()]),
        clusters=_clusters(space, components.tolist()),
    )


def _clusters(space: Space, numbers: Sequence[int]) -> tuple[Cluster, ...]:
    components = space.geometry.places.components
    return tuple(
        Cluster(n, space.cluster_name(n), len(components[n].members), n % HUES)
        if n in components
        else Cluster(n, "", 0, n % HUES)
        for n in numbers
    )


def confidence(evidence: NDArray[np.int32]) -> UInt8:
    """(n,) index into CONFIDENCES: accessed from the first recall, confirmed from the third (S2)."""
    found: UInt8 = np.searchsorted([1, 3], evidence, side="right").astype(np.uint8)
    return found


def _frozen(array: _Array) -> _Array:
    array.setflags(write=False)
    return array
