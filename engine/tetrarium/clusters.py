"""The landscape of one open space: its clusters, ways through it, plans that rearrange it, its health.

`geometry.plans` works out what could move; here a proposal becomes a `ClusterPlan` that people can look at, is
applied in small transactions, logged move by move, and taken back. What a plan says is checked again inside each
transaction: a step that no longer fits, because somebody stored or deleted meanwhile, is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tetrarium.errors import InvalidInput, NotFound
from tetrarium.geometry import plans
from tetrarium.geometry.figures import ClusterFigures, cluster_figures, space_figures
from tetrarium.geometry.health import Damage, examine
from tetrarium.geometry.meaning import likeness
from tetrarium.geometry.paths import shortest_path
from tetrarium.geometry.plans import Proposal, Shift, Step
from tetrarium.model import (
    Cause,
    ClusterDetail,
    ClusterPlan,
    Finding,
    HealthReport,
    Int32,
    Int64,
    Move,
    PlanRecord,
    SpaceFigures,
)
from tetrarium.space import Space, is_sound
from tetrarium.storage import clusters as cluster_rows
from tetrarium.storage import memories as rows
from tetrarium.storage.clusters import LoggedMove, resolve
from tetrarium.storage.database import Connection
from tetrarium.storage.identity import new_id

HUES = 24
"""Colours that clusters take in turn, by their ids: a cluster keeps its colour for life."""

MAX_NAME = 80
"""Characters of a name that a person gives."""

_EXAMPLES = 5
_WORDS = 8


class Clusters:
    """What the service answers about clusters. One thread only."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._figures: tuple[int, SpaceFigures] | None = None

    # --- looking ------------------------------------------------------------------------------

    def detail(self, cluster: int) -> ClusterDetail:
        """One cluster, by its id or one that it had before. Raises NotFound."""
        number = self.number(cluster)
        space, table = self._space, self._space.indexes.table
        members = space.geometry.places.members(number)
        figures: ClusterFigures = cluster_figures(space.geometry, number)
        counts = space.keyword_counts(number)
        words = sorted(counts, key=lambda code: (-counts[code] * space.geometry.rarity_of(code), code))[:_WORDS]
        aliases = space.clusters.aliases()
        return ClusterDetail(
            id=number,
            name=space.cluster_name(number),
            is_named=space.is_named(number),
            size=len(members),
            hue=number % HUES,
            aliases=tuple(sorted(old for old in aliases if resolve(old, aliases) == number)),
            words=tuple(space.indexes.keyword_codes.names[code] for code in words),
            purity=figures.purity,
            entropy=figures.entropy,
            radius=figures.radius,
            medoid=table.ids[figures.medoid],
            members=tuple(table.ids[num] for num in members),
        )

    def neighbours(self, num: int) -> list[tuple[int, int, float]]:
        """(num, shared vertices, similarity) of the memories that touch one, most shared and most alike first."""
        geometry = self._space.geometry
        if num not in geometry.places.key_of:
            return []
        touching = geometry.places.neighbours(num)
        alike = likeness(geometry, num, touching) if touching else np.empty(0)
        shared = [geometry.places.shared_vertices(num, other) for other in touching]
        found = list(zip(touching, shared, alike.tolist(), strict=True))
        return sorted(found, key=lambda row: (-row[1], -row[2], row[0]))

    def path(self, one: int, other: int) -> list[int]:
        """Numbers of the memories on a shortest way from one to another through shared vertices, both included;
        of equally short ways the one over the lowest numbers. Empty when they stand in different clusters."""
        return shortest_path(self._space.geometry.places, one, other)

    def figures(self) -> SpaceFigures:
        """S1's figures; worked out anew when a hundredth of the space has changed, since they cost 30 ms at 5,000."""
        version = self._space.indexes.version
        if self._figures is None or version - self._figures[0] > len(self._space.indexes.table) // 100:
            self._figures = version, space_figures(self._space.geometry)
        return self._figures[1]

    def number(self, cluster: int) -> int:
        """The cluster that an id leads to. Raises NotFound."""
        components = self._space.geometry.places.components
        number = cluster if cluster in components else resolve(cluster, self._space.clusters.aliases())
        if number not in components:
            raise NotFound(f"There is no cluster {cluster}.", advice="`tetrarium clusters list` shows those there are.")
        return number

    # --- naming -------------------------------------------------------------------------------

    def rename(self, cluster: int, name: str, author: str) -> None:
        """Give a cluster a name that sticks; "" lets its words name it again. Raises NotFound, InvalidInput."""
        if len(name) > MAX_NAME:
            raise InvalidInput(f"The name has {len(name)} characters, at most {MAX_NAME}.", advice="Shorten it.")
        self._space.write(
            lambda: self.number(cluster),
            lambda connection, number: cluster_rows.name_cluster(
                connection, number, name, author=author, now=rows.now()
            ),
            op="name",
            client=author,
        )

    # --- plans --------------------------------------------------------------------------------

    def plan(self, cause: Cause, cluster: int | None = None, onto: int | None = None) -> ClusterPlan:
        """What a rearrangement would do; changes nothing. Raises NotFound, InvalidInput."""
        geometry, space = self._space.geometry, self._space
        one = None if cluster is None else self.number(cluster)
        other = None if onto is None else self.number(onto)
        if other is not None and (cause is not Cause.MERGE or one in (None, other)):
            raise InvalidInput("Only a merge has a second cluster.", advice="Name two different clusters to merge.")
        every = sorted(geometry.places.components) if one is None else [one]
        make: dict[Cause, Callable[[], Sequence[Proposal]]] = {
            Cause.FISSION: lambda: plans.fissions(geometry, every),
            Cause.MERGE: lambda: plans.merges(geometry, one, other),
            Cause.ATTACH: lambda: plans.attachments(geometry, space.relatives_of, one),
            Cause.MEND: lambda: plans.mends(geometry, self._fragments(one)),
            Cause.SETTLE: lambda: plans.settlements(geometry, every),
            Cause.LAYOUT: lambda: plans.layouts(geometry),
        }
        if cause not in make:
            raise InvalidInput(f"'{cause}' cannot be planned.", advice=f"Use one of: {', '.join(make)}.")
        proposals = make[cause]()
        steps = [step for proposal in proposals for step in proposal.steps]
        if cause is Cause.LAYOUT:
            why = [f"{len(proposals)} clusters are moved as they are, so that like stands near like."] if steps else []
        else:
            why = [self._why(cause, proposal) for proposal in proposals]
        return self._as_plan(cause, why, steps)

    def apply(self, plan: ClusterPlan, client: str = "") -> PlanRecord:
        """Do what a plan says, each step one transaction. Steps that no longer fit are left out, and counted."""
        skipped = 0
        for number, step in enumerate(plan.steps):
            done = self._space.write(
                lambda step=step: self._checked(step),  # type: ignore[misc]
                lambda connection, shifts, number=number: self._take(connection, plan, number, shifts),  # type: ignore[misc]
                op="undo" if plan.undoes else str(plan.cause),
                client=client,
            )
            skipped += not done
        record = self._space.clusters.plan(plan.id)
        if record is None:
            return PlanRecord(plan.id, plan.cause, plan.why, rows.now(), 0, plan.undoes, "", skipped)
        return PlanRecord(
            record.id,
            record.cause,
            record.why,
            record.started_at,
            record.moves,
            record.undoes,
            record.undone_by,
            skipped,
        )

    def undoing(self, plan: str) -> ClusterPlan:
        """The plan that takes an applied one back. Raises NotFound, InvalidInput."""
        record = self._space.clusters.plan(plan)
        if record is not None and record.cause is Cause.UNDO:
            raise InvalidInput(
                f"A plan of the kind '{record.cause}' cannot be undone.", advice="Make a new plan instead."
            )
        return self._back(plan, record)

    def take_back(self, connection: Connection, plan: str) -> None:
        """Take an applied plan back inside a transaction, whole; an undo too. Raises NotFound, InvalidInput."""
        back = self._back(plan, self._space.clusters.plan(plan))
        shifts: dict[int, Shift] = {}
        for move in back.moves:
            num = self._space.indexes.table.by_id[move.id]
            first = shifts.get(num)
            source, cluster = (first.source, first.source_component) if first else (move.source, move.source_cluster)
            shifts[num] = Shift(num, source, cluster, move.target, move.target_cluster)
        self._take(connection, back, 0, tuple(shifts.values()))

    def _back(self, plan: str, record: PlanRecord | None) -> ClusterPlan:
        if record is None:
            raise NotFound(
                f"There is no plan '{plan}'.", advice="`tetrarium clusters log` shows those that were applied."
            )
        if record.cause is Cause.REPAIR:
            raise InvalidInput("A repair cannot be undone: what it repaired was no state to go back to.")
        if record.undone_by:
            raise InvalidInput(f"Plan {plan} is undone already.")
        if later := self._space.clusters.later_plan(plan):
            raise InvalidInput(f"Plan {later} has moved the same memories since.", advice="Undo that one first.")
        steps: dict[int, list[Shift]] = {}
        for m in self._space.clusters.moves(plan):
            shift = Shift(m.num, m.source, m.source_cluster, m.target, m.target_cluster)
            steps.setdefault(m.step, []).append(shift)
        back = plans.undoing(self._space.geometry, [tuple(step) for step in steps.values()])
        return self._as_plan(Cause.UNDO, [f"takes back: {why}" for why in record.why], back, undoes=plan)

    # --- health -------------------------------------------------------------------------------

    def examine(self) -> HealthReport:
        """Compare what the store holds of places and vectors with what it should hold. Reads only."""
        table = self._space.indexes.table
        damage = self._damage()
        strays, vectors = self._strays(), self._unsound_vectors()
        found = [
            ("place", "memories without a usable place of their own", self._ids(damage.unplaced)),
            ("vertex", "clusters that share a vertex with another one", tuple(map(str, damage.met))),
            ("torn", "clusters whose parts touch nowhere", tuple(map(str, damage.torn))),
            ("label", "memories that stand in another cluster than the store says", self._ids(damage.labels)),
            ("stray", "places of memories that are in the trash or gone", tuple(map(str, strays))),
            ("vector", "embeddings that have no direction (zeros, NaN)", self._ids(vectors)),
        ]
        if not self._space.clusters.forbids_overlap():
            found.append(("rule", "rule missing that forbids two memories in one place", ("places",)))
        findings = tuple(Finding(kind, about, len(who), who[:_EXAMPLES]) for kind, about, who in found if who)
        return HealthReport(self._space.indexes.version, len(table), findings)

    def repair(self) -> PlanRecord:
        """Put right what `examine` finds, in one transaction, from what is left; every memory keeps its text.

        Memories that stand keep their places; those that do not are placed anew.
        """
        plan_id = new_id()
        if self.examine().is_healthy:
            return PlanRecord(plan_id, Cause.REPAIR, (), rows.now(), 0)

        def planned() -> tuple[ClusterPlan, Step, list[int], list[int]]:
            step = self._repair_step()
            why = [f"{finding.count} {finding.about}" for finding in self.examine().findings]
            plan = ClusterPlan(plan_id, Cause.REPAIR, self._space.indexes.version, tuple(why), ())
            return plan, step, self._strays(), self._unsound_vectors()

        def commit(connection: Connection, work: tuple[ClusterPlan, Step, list[int], list[int]]) -> ClusterPlan:
            plan, step, strays, vectors = work
            cluster_rows.drop_places(connection, strays)
            rows.drop_vectors(connection, vectors, now=rows.now())
            self._log(connection, plan, 0, step)
            following = max((shift.target_component + 1 for shift in step), default=0)
            rows.set_meta(connection, "next_component", max(following, self._space.reader.meta("next_component", 1)))
            cluster_rows.forbid_overlap(connection)
            return plan

        plan = self._space.write(planned, commit, op="repair")
        self._space.reload_geometry()
        return PlanRecord(plan.id, plan.cause, plan.why, rows.now(), len(self._space.clusters.moves(plan.id)))

    # --- private ------------------------------------------------------------------------------

    def _as_plan(self, cause: Cause, why: Sequence[str], steps: Iterable[Step], undoes: str = "") -> ClusterPlan:
        ids = self._space.indexes.table.ids
        moves = tuple(
            tuple(Move(ids[s.num], s.source, s.source_component, s.target, s.target_component) for s in step)
            for step in steps
        )
        return ClusterPlan(new_id(), cause, self._space.indexes.version, tuple(why), moves, undoes)

    def _why(self, cause: Cause, proposal: Proposal) -> str:
        space, members = self._space, self._space.geometry.places.components
        one = f"cluster {proposal.component} “{space.cluster_name(proposal.component)}”"
        other = f"cluster {proposal.other} “{space.cluster_name(proposal.other)}”" if proposal.other in members else ""
        moves = sum(map(len, proposal.steps))
        if cause is Cause.FISSION:
            return f"{one} holds two topics (silhouette {proposal.score:.2f}): {moves} memories become a cluster of their own."
        if cause is Cause.SETTLE:
            return f"{one}: {proposal.score:.0%} of its places are given out anew, so that relatives stand together."
        if cause is Cause.MEND:
            return f"{one}, cut off by a deletion, goes back to {other}: {moves} moves."
        return f"{one} joins {other} (similarity {proposal.score:.2f}): {moves} moves."

    def _fragments(self, only: int | None) -> dict[int, int]:
        aliases = self._space.clusters.aliases()
        origins = {cluster: resolve(origin, aliases) for cluster, origin in self._space.clusters.fragments().items()}
        return {cluster: origin for cluster, origin in origins.items() if only in (None, cluster)}

    def _checked(self, step: Sequence[Move]) -> Step:
        """The step on the state as it is now; empty when it no longer fits."""
        by_id = self._space.indexes.table.by_id
        if not all(move.id in by_id for move in step):
            return ()
        shifts = tuple(Shift(by_id[m.id], m.source, m.source_cluster, m.target, m.target_cluster) for m in step)
        return shifts if plans.fits(self._space.geometry, shifts) else ()

    def _take(self, connection: Connection, plan: ClusterPlan, number: int, step: Step) -> bool:
        if not step:
            return False
        self._log(connection, plan, number, step)
        components = self._space.geometry.places.components
        leaving: dict[int, Counter[int]] = {}
        for shift in step:
            leaving.setdefault(shift.source_component, Counter())[shift.target_component] += 1
        for old, targets in leaving.items():
            staying = len(components[old].members) - targets.total() + targets[old] if old in components else 1
            if not staying:
                self._become(connection, old, targets.most_common(1)[0][0])
        arrived = {shift.target_component for shift in step} - components.keys()
        self._return(connection, arrived)
        if arrived:
            following = max(self._space.geometry.places.next_component, max(arrived) + 1)
            rows.set_meta(connection, "next_component", following)
        if plan.cause is Cause.FISSION:
            for shift in step:
                if shift.target_component in arrived:
                    cluster_rows.set_origin(connection, shift.target_component, shift.source_component, "fission")
        return True

    def _become(self, connection: Connection, old: int, cluster: int) -> None:
        """A cluster has given all its members to another: its id leads there, and so does a person's name for it."""
        cluster_rows.set_alias(connection, old, cluster)
        names = self._space.clusters.names()
        if old in names and cluster not in names:
            cluster_rows.hand_name_on(connection, cluster, names[old], author="", now=rows.now())

    def _return(self, connection: Connection, arrived: Iterable[int]) -> None:
        """Clusters exist (again): their ids are their own, and so are names that another took over from them."""
        aliases, names = self._space.clusters.aliases(), self._space.clusters.names()
        for cluster in arrived:
            other = aliases.get(cluster, cluster)
            if other != cluster and cluster in names and names.get(other) == names[cluster]:
                cluster_rows.hand_name_on(connection, other, "", author="", now=rows.now())
        cluster_rows.drop_aliases(connection, arrived)

    def _log(self, connection: Connection, plan: ClusterPlan, number: int, step: Step) -> None:
        now = rows.now()
        cluster_rows.begin_plan(connection, plan, now=now)
        moves = [LoggedMove(number, s.num, s.source, s.source_component, s.target, s.target_component) for s in step]
        cluster_rows.move(connection, plan.id, moves, now=now)

    def _stored(self) -> tuple[Int64, Int32, Int64]:
        """What the store holds: nums of every memory, voxels, components (0 where it holds no place)."""
        found = list(self._space.reader.index_rows())
        nums = np.array([row.num for row in found], np.int64)
        voxels = np.array([row.place for row in found], np.int32).reshape(-1, 3)
        return nums, voxels, np.array([row.component for row in found], np.int64)

    def _damage(self) -> Damage:
        nums, voxels, components = self._stored()
        return examine(nums, voxels, components, self._space.reader.meta("next_component", 1))

    def _strays(self) -> list[int]:
        """Numbers of places whose memory is not in the space. One that is damaged and left out may come back to its place."""
        present = self._space.indexes.table.present
        left_out = self._space.damage.left_out
        nums = (row[0] for row in self._space.clusters.places())
        return [num for num in nums if num not in left_out and (not 0 < num < len(present) or not present[num])]

    def _unsound_vectors(self) -> list[int]:
        present = self._space.indexes.table.present
        return [
            num
            for num, stored in self._space.clusters.vectors()
            if num < len(present)
            and present[num]
            and not is_sound(np.frombuffer(stored, np.float16).astype(np.float32))
        ]

    def _repair_step(self) -> Step:
        """Relabel what stands, and place anew what does not; worked out on a geometry of the stored places."""
        space = self._space
        nums, voxels, components = self._stored()
        next_component = space.reader.meta("next_component", 1)
        damage = examine(nums, voxels, components, next_component)
        stored = {n: (tuple(v), c) for n, v, c in zip(nums.tolist(), voxels.tolist(), components.tolist(), strict=True)}
        labels = {num: label for num, (_, label) in stored.items()} | damage.labels
        geometry = space.empty_geometry()
        standing = [num for num in stored if num not in set(damage.unplaced)]
        geometry.load(
            np.array(standing, np.int64),
            np.array([stored[num][0] for num in standing], np.int32).reshape(-1, 3),
            np.array([labels[num] for num in standing], np.int64),
            next_component,
        )
        shifts = [
            Shift(num, stored[num][0], stored[num][1], stored[num][0], label) for num, label in damage.labels.items()
        ]
        for num in damage.unplaced:
            placement = space.place_again(geometry, num)
            geometry.change((), {num: (placement.voxel, placement.component)})
            shifts.append(Shift(num, None, 0, placement.voxel, placement.component))
        return tuple(shifts)

    def _ids(self, nums: Iterable[int]) -> tuple[str, ...]:
        ids = self._space.indexes.table.ids
        return tuple(ids[num] for num in nums)
