"""A believable space for tests of the window: clusters grown on the octet lattice, as records."""

from __future__ import annotations

import numpy as np

from tetrarium.model import Cluster, SpaceSnapshot

TOPICS = (
    "refresh token · rotation · jwt",
    "seat map · canvas · hit area",
    "payment webhook · retry · idempotency",
    "离线同步 · 冲突 · 队列",
    "timetable search · index",
    "kiosk · watchdog · reboot",
    "postgres · migration · lock",
    "deploy · canary · rollback",
    "screen reader · focus order",
    "数据库 · 连接池 · 超时",
    "incident · E1045 · pager",
    "release · changelog · tag",
)
CLIENTS = ("claude-code", "cursor", "tetrarium")
WORDS = [
    "the",
    "boarding",
    "service",
    "retries",
    "a",
    "failed",
    "webhook",
    "after",
    "forty",
    "seconds",
    "and",
    "keeps",
    "the",
    "key",
    "so",
    "that",
    "nothing",
    "is",
    "sold",
    "twice",
]


def grown_snapshot(count: int = 300, *, clusters: int = 12, seed: int = 5, version: int = 1) -> SpaceSnapshot:
    """A snapshot of `count` memories; the same seed gives the same first rows for a greater count."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(clusters ** (1 / 3)))
    starts = rng.permutation(np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3))[:clusters]
    gap = 20 + 2 * round((count / clusters) ** (1 / 3))
    starts = starts * gap + rng.integers(-4, 5, starts.shape)
    taken: list[dict[tuple[int, int, int], None]] = [{tuple(int(v) for v in start): None} for start in starts]
    places, owner = [next(iter(t)) for t in taken], list(range(clusters))
    weights = rng.dirichlet(np.full(clusters, 3.0))
    while len(places) < count:
        at = int(rng.choice(clusters, p=weights))
        members = list(taken[at])
        anchor = np.array(members[int(rng.integers(len(members)) ** 0.97)])
        offset = rng.integers(-1, 2, 3)
        voxel = tuple(int(v) for v in anchor + offset)
        if voxel not in taken[at] and int(np.abs(offset).sum()) >= 2:
            taken[at][voxel] = None
            places.append(voxel)
            owner.append(at)
    n = count
    places, owner = places[:n], owner[:n]
    cluster = np.array(owner, np.int32)
    field = [np.random.default_rng(seed + at) for at in range(1, 9)]  # one stream a field: more rows, same first rows
    excerpts = tuple(" ".join(field[0].permutation(WORDS)[:12]) + f" ({row})" for row in range(n))
    return SpaceSnapshot(
        version=version,
        ids=tuple(f"{row:026d}" for row in range(n)),
        excerpts=excerpts,
        places=np.array(places, np.int32),
        cluster=cluster,
        category=field[1].integers(0, 9, n).astype(np.uint8),
        memory_type=field[2].integers(0, 5, n).astype(np.uint8),
        confidence=field[3].integers(0, 3, n).astype(np.uint8),
        inhibited=field[4].random(n) < 0.06,
        quarantined=np.zeros(n, np.bool_),
        importance=field[5].random(n).astype(np.float32),
        created=1.77e9 + np.arange(n) * 60_000.0,
        accessed=np.zeros(n),
        access_count=field[6].integers(0, 9, n).astype(np.int32),
        client=field[7].integers(0, len(CLIENTS), n).astype(np.int32),
        clients=CLIENTS,
        clusters=tuple(
            Cluster(id=at + 1, name=TOPICS[at % len(TOPICS)], size=int((cluster == at).sum()), hue=at % 12)
            for at in range(clusters)
        ),
    )
