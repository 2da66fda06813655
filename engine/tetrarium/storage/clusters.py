"""Rows about clusters: names that people gave, what became of old ids, and the log of every move.

Functions that write take the connection of an open `Database.write()`, like those of `memories`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import apsw

from tetrarium.model import Cause, ClusterPlan, PlanRecord
from tetrarium.storage import effects, seals
from tetrarium.storage.database import Database
from tetrarium.storage.memories import log_change, microseconds

Voxel = tuple[int, int, int]

SPACE = 0
"""The number under which a change that concerns no single memory stands in the change log."""


@dataclass(frozen=True, slots=True)
class LoggedMove:
    """A move as the log has it; `source` is None for a memory that had no place that could be used."""

    step: int
    num: int
    source: Voxel | None
    source_cluster: int
    target: Voxel
    target_cluster: int


# --- writing -------------------------------------------------------------------------------------


def begin_plan(connection: apsw.Connection, plan: ClusterPlan, *, now: datetime) -> None:
    """Note a plan before its first move; a second call changes nothing."""
    connection.execute(
        "INSERT OR IGNORE INTO plans VALUES (?, ?, ?, ?, ?)",
        (plan.id, plan.cause, "\n".join(plan.why), plan.undoes, microseconds(now)),
    )
    if connection.changes():
        effects.note(connection, SPACE, "plan", plan.id, 0, 1)
        if plan.undoes:
            effects.link_plan(connection, plan.undoes)


def move(connection: apsw.Connection, plan: str, moves: Sequence[LoggedMove], *, now: datetime) -> None:
    """Give memories their new places, all at once, and log each move."""
    connection.executemany("DELETE FROM places WHERE num = ?", [(m.num,) for m in moves])
    connection.executemany(
        "INSERT INTO places VALUES (?, ?, ?, ?, ?)", [(m.num, *m.target, m.target_cluster) for m in moves]
    )
    at = microseconds(now)
    connection.executemany(
        "INSERT INTO moves (plan, step, num, from_i, from_j, from_k, from_component, to_i, to_j, to_k, to_component, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (plan, m.step, m.num, *(m.source or (None, None, None)), m.source_cluster, *m.target, m.target_cluster, at)
            for m in moves
        ],
    )
    for m in moves:
        log_change(connection, m.num, "move", now)


def set_alias(connection: apsw.Connection, alias: int, cluster: int) -> None:
    """The id of a cluster that is no more leads to the one that took its members."""
    connection.execute("INSERT OR REPLACE INTO cluster_aliases VALUES (?, ?)", (alias, cluster))


def drop_aliases(connection: apsw.Connection, clusters: Iterable[int]) -> None:
    """These ids name clusters of their own (again)."""
    connection.executemany("DELETE FROM cluster_aliases WHERE alias = ?", [(cluster,) for cluster in clusters])


def set_origin(connection: apsw.Connection, cluster: int, origin: int, cause: str) -> None:
    """A cluster was a part of another one; cause: `deletion` or `fission`."""
    connection.execute("INSERT OR REPLACE INTO cluster_origins VALUES (?, ?, ?)", (cluster, origin, cause))


def name_cluster(connection: apsw.Connection, cluster: int, name: str, *, author: str, now: datetime) -> None:
    """A name that a person gave; "" takes it back, and the cluster's words name it again."""
    before: list[Any] = connection.execute("SELECT name FROM cluster_names WHERE cluster = ?", (cluster,)).fetchall()
    effects.note(connection, SPACE, "name", cluster, before[0][0] if before else "", name)
    hand_name_on(connection, cluster, name, author=author, now=now)


def hand_name_on(connection: apsw.Connection, cluster: int, name: str, *, author: str, now: datetime) -> None:
    """A name goes with the members of a cluster, as a part of the plan that moves them."""
    if name:
        connection.execute(
            "INSERT OR REPLACE INTO cluster_names VALUES (?, ?, ?, ?)", (cluster, name, author, microseconds(now))
        )
    else:
        connection.execute("DELETE FROM cluster_names WHERE cluster = ?", (cluster,))
    log_change(connection, SPACE, "name", now)


def drop_places(connection: apsw.Connection, nums: Iterable[int]) -> None:
    """Free the voxels of memories that are not in the space."""
    connection.executemany("DELETE FROM places WHERE num = ?", [(num,) for num in nums])


def forbid_overlap(connection: apsw.Connection) -> None:
    """Make the store refuse an overlap again, where the rule is gone."""
    if not _forbids_overlap(connection):
        connection.execute("CREATE UNIQUE INDEX places_by_voxel ON places (i, j, k)")


def _forbids_overlap(connection: apsw.Connection) -> bool:
    indexes = connection.execute("SELECT name FROM pragma_index_list('places') WHERE \"unique\"").fetchall()
    columns = [connection.execute("SELECT name FROM pragma_index_info(?)", name).fetchall() for name in indexes]
    return [("i",), ("j",), ("k",)] in columns


# --- reading -------------------------------------------------------------------------------------


class ClusterReader:
    """Reads of these tables, with the driver's errors explained."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> dict[int, str]:
        """Names that people gave, by cluster."""
        return dict(self._all(f"SELECT cluster, name FROM cluster_names n WHERE {seals.NAME.is_sound('n')} IS NOT 0"))

    def aliases(self) -> dict[int, int]:
        """Old id → the id that it leads to, one step."""
        return dict(self._all("SELECT alias, cluster FROM cluster_aliases"))

    def fragments(self) -> dict[int, int]:
        """Cluster → the cluster from which a deletion cut it off."""
        return dict(self._all("SELECT cluster, origin FROM cluster_origins WHERE cause = 'deletion'"))

    def plans(self, limit: int) -> list[PlanRecord]:
        """Applied plans, newest first."""
        return [
            _record(row)
            for row in self._all(f"SELECT {_PLAN_COLUMNS} FROM plans p ORDER BY p.id DESC LIMIT ?", (limit,))
        ]

    def plan(self, plan: str) -> PlanRecord | None:
        rows = self._all(f"SELECT {_PLAN_COLUMNS} FROM plans p WHERE p.id = ?", (plan,))
        return _record(rows[0]) if rows else None

    def moves(self, plan: str) -> list[LoggedMove]:
        """The moves of an applied plan, in the order in which they were made."""
        rows = self._all(
            "SELECT step, num, from_i, from_j, from_k, from_component, to_i, to_j, to_k, to_component "
            "FROM moves WHERE plan = ? ORDER BY seq",
            (plan,),
        )
        return [
            LoggedMove(step, num, None if i is None else (i, j, k), component or 0, (x, y, z), target)
            for step, num, i, j, k, component, x, y, z, target in rows
        ]

    def later_plan(self, plan: str) -> str:
        """The newest plan in force that moved a memory of this one after it, or ""."""
        rows = self._all(
            """
            SELECT later.plan FROM moves mine JOIN moves later ON later.num = mine.num AND later.seq > mine.seq
            JOIN plans p ON p.id = later.plan
            WHERE mine.plan = ?1 AND later.plan <> ?1 AND p.undoes = ''
                AND NOT EXISTS (SELECT 1 FROM plans u WHERE u.undoes = later.plan AND NOT EXISTS (SELECT 1 FROM plans r WHERE r.undoes = u.id))
            ORDER BY later.seq DESC LIMIT 1
            """,
            (plan,),
        )
        return str(rows[0][0]) if rows else ""

    def places(self) -> list[tuple[Any, ...]]:
        """(num, i, j, k, component) of every place, whatever stands in it, in order of num."""
        return self._all("SELECT num, i, j, k, component FROM places ORDER BY num")

    def forbids_overlap(self) -> bool:
        """Whether the store itself refuses two memories in one voxel."""
        with self._database.read() as connection:
            return _forbids_overlap(connection)

    def vectors(self) -> list[tuple[int, bytes]]:
        """(num, float16 bytes) of every vector."""
        return self._all("SELECT num, vector FROM vectors ORDER BY num")

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._database.read() as connection:
            return connection.execute(query, values).fetchall()


_PLAN_COLUMNS = """
    p.id, p.cause, p.why, p.started_at, (SELECT count(*) FROM moves m WHERE m.plan = p.id), p.undoes,
    coalesce((SELECT u.id FROM plans u WHERE u.undoes = p.id
        AND NOT EXISTS (SELECT 1 FROM plans r WHERE r.undoes = u.id) ORDER BY u.id DESC LIMIT 1), '')
"""


def _record(row: tuple[Any, ...]) -> PlanRecord:
    plan, cause, why, started, moves, undoes, undone_by = row
    return PlanRecord(
        plan,
        Cause(cause),
        tuple(why.splitlines()),
        datetime.fromtimestamp(started / 1e6, UTC),
        moves,
        undoes,
        undone_by,
    )


def resolve(cluster: int, aliases: Mapping[int, int]) -> int:
    """Where an id leads, over any number of aliases."""
    seen: set[int] = set()
    while cluster in aliases and cluster not in seen:
        seen.add(cluster)
        cluster = aliases[cluster]
    return cluster
