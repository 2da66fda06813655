"""Verbs on clusters and places: walk, name, rearrange by plans, examine, repair."""

from __future__ import annotations

from tetrarium.errors import InvalidInput
from tetrarium.lifecycle import ingest
from tetrarium.model import (
    Cause,
    ClusterDetail,
    ClusterPlan,
    HealthReport,
    Memory,
    Move,
    Neighbour,
    PlanRecord,
)
from tetrarium.service.door import page_bounds
from tetrarium.service.keeping import Keeping
from tetrarium.service.screening import Screening

_PLANNED = ("fission", "merge", "attach", "mend", "settle", "layout")


class Arranging(Screening, Keeping):
    """Arranges."""

    def cluster(self, cluster: int) -> ClusterDetail:
        """One cluster closely, by its id or one that it had before it merged. Raises NotFound."""
        self.catch_up()
        return self._clusters.detail(cluster)

    def name_cluster(self, cluster: int, name: str, *, client: str = "") -> ClusterDetail:
        """Give a cluster a name that sticks; "" lets its words name it again. Raises NotFound, InvalidInput."""
        name = self._masking().text(name, "name")
        self._clusters.rename(cluster, ingest.clean_name(name, "name"), ingest.clean_name(client, "client"))
        return self.cluster(cluster)

    def neighbours(self, memory_id: str) -> tuple[Neighbour, ...]:
        """The memories whose tetrahedra share vertices with one, most shared and most alike first. Raises NotFound."""
        self.catch_up()
        found = self._clusters.neighbours(self._number(memory_id))
        memories = self._space.reader.memories([num for num, _, _ in found])
        return tuple(
            Neighbour(memory, shared, alike) for memory, (_, shared, alike) in zip(memories, found, strict=True)
        )

    def path_between(self, memory_id: str, other_id: str) -> tuple[Memory, ...]:
        """A shortest way between two memories through shared vertices, both included; empty when they stand in
        different clusters. Raises NotFound."""
        self.catch_up()
        return tuple(self._space.reader.memories(self._clusters.path(self._number(memory_id), self._number(other_id))))

    def plan_clusters(self, cause: str, cluster: int | None = None, *, onto: int | None = None) -> ClusterPlan:
        """What a rearrangement would do, to look at; changes nothing.

        cause: fission (split what holds two topics), merge (join what means the same; `onto` names the second),
        attach (lone memories and small clusters), mend (what deletions cut off), settle (better places inside
        clusters), layout (whole clusters near what is like them); cluster: only this one. Raises NotFound, InvalidInput.
        """
        if cause not in list(Cause):
            raise InvalidInput(f"There is no plan '{cause}'.", advice=f"Use one of: {', '.join(_PLANNED)}.")
        self.catch_up()
        return self._clusters.plan(Cause(cause), cluster, onto)

    def apply_plan(self, plan: ClusterPlan, *, client: str = "") -> PlanRecord:
        """Do what a plan says, in small transactions, each move logged. Steps that no longer fit are left out."""
        self._copy_first("plan", len(plan), self.settings.backup_moves)
        return self._clusters.apply(plan, client)

    def undo_plan(self, plan_id: str, *, client: str = "") -> PlanRecord:
        """Take an applied plan back, to the last place. Raises NotFound, and InvalidInput when a later plan builds on it."""
        self.catch_up()
        return self._clusters.apply(self._clusters.undoing(plan_id.strip().upper()), client)

    def plans(self, *, limit: int = 50) -> tuple[PlanRecord, ...]:
        """The plans that were applied, newest first."""
        return tuple(self._space.clusters.plans(page_bounds(0, limit)[1]))

    def plan_moves(self, plan_id: str) -> tuple[Move, ...]:
        """The logged moves of an applied plan, in order, of memories that still exist; for a replay."""
        self.catch_up()
        table = self._space.indexes.table
        return tuple(
            Move(table.ids[m.num], m.source, m.source_cluster, m.target, m.target_cluster)
            for m in self._space.clusters.moves(plan_id.strip().upper())
            if m.num < table.capacity and table.present[m.num]
        )

    def examine(self) -> HealthReport:
        """Compare what the store holds of places and embeddings with what it should hold. Reads only; O(n)."""
        self.catch_up()
        return self._clusters.examine()

    def repair(self) -> PlanRecord:
        """Put right what `examine` finds, from what is left; no memory loses its text."""
        return self._clusters.repair()
