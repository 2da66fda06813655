"""Where a memory's tetrahedron goes, and which memories form one component.

A component is a connected set of tetrahedra (through shared vertices), and that is a cluster, and that is
a topic: no table of associations is needed (S1). Nothing that stands is moved by an insert.

The component is chosen by average linkage – the mean similarity to all members – and not by the nearest
memory alone: on 10,000 developer notes of 60 topics the nearest memory's component mixed topics (adjusted
Rand 0.23), the same with a guard on its centroid shattered them (0.65), the best average linkage found
them (0.95, tests/bench/placement.py). Merging for its own sake would destroy meaning; see `merge_weight`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from tetrarium.config import Settings
from tetrarium.errors import Bug
from tetrarium.geometry.frames import LEAST, SAMPLE, Frame, fit
from tetrarium.geometry.lattice import (
    AROUND_VOXEL,
    CELL,
    REACH,
    WORLD_UNITS_PER_STEP,
    Voxel,
    block,
    cell,
    corner_keys,
    pack,
    shell,
    unpack,
)
from tetrarium.geometry.places import Places, Standing
from tetrarium.geometry.similarity import VECTOR_SHARE, Calibration
from tetrarium.model import Float32, Float64, Int32, Int64

VectorsOf = Callable[[Sequence[int]], Float32]
"""Vectors of memories, (m, d) float32, unit length."""

KeywordsOf = Callable[[Sequence[int]], Sequence[Iterable[int]]]
"""Keyword ids of memories, one collection a memory, no id twice in one."""

RarityOf = Callable[[int], float]
"""Weight of a keyword id."""

_CENTROID_SAMPLE = 8
"""Members that stand for a component on the map of components."""

_NEAREST_FIRST = 6
"""Power of the similarity with which an anchor pulls: the nearest one counts most (measured)."""

_PITCH = 1.1
"""Lattice steps between the members of a component: grown components leave some voxels free (measured)."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a memory goes. voxel: lattice units; merged_vertices: 0 … 4, shared with the component."""

    voxel: Voxel
    component: int
    merged_vertices: int
    is_new_component: bool


@dataclass(frozen=True, slots=True)
class Core:
    """What all members of a component mean together: the sum of their vectors, and how many have each keyword."""

    vector_sum: Float64
    keyword_counts: Counter[int]


class Geometry:
    """Finds the places of one space; `places` is what stands.

    vectors_of, keywords_of: must know every num that was added and not removed; rarity_of: weight of a keyword
    id, log(1 + N / df), needed where whole components are compared. What components mean
    (`_cores`, `_frames`) is worked out from them when first needed, and is the same after a rebuild.
    """

    def __init__(
        self,
        settings: Settings,
        calibration: Calibration,
        vectors_of: VectorsOf,
        keywords_of: KeywordsOf,
        rarity_of: RarityOf = lambda _: 1.0,
    ) -> None:
        self.calibration = calibration
        self.places = Places()
        self.settings = settings
        self.vectors_of = vectors_of
        self.keywords_of = keywords_of
        self.rarity_of = rarity_of
        self._before: dict[int, tuple[Voxel, int] | None] | None = None
        self._forget_meanings()

    def _forget_meanings(self) -> None:
        self._cores: dict[int, Core] = {}
        self._frames: dict[int, tuple[int, Frame]] = {}
        self._map: tuple[int, Frame] | None = None

    def load(self, nums: Int64, voxels: Int32, components: Int64, next_component: int = 1) -> dict[int, int]:
        """Replace everything by places from the store; arguments and result as of `Places.load`."""
        self._forget_meanings()
        return self.places.load(nums, voxels, components, next_component)

    def plan(self, vector: Float32, keywords: Mapping[int, float], relatives: Sequence[tuple[int, float]]) -> Placement:
        """Where a memory would go. Deterministic; changes nothing that stands.

        vector: (d,) float32, unit length; keywords: weight of each keyword id, log(1 + N / df);
        relatives: num and similarity of the nearest live memories, in any order (8 to 32 are useful).
        """
        wide = vector.astype(np.float64)
        known = sorted((r for r in relatives if r[0] in self.places.key_of), key=lambda r: (-r[1], r[0]))
        number = self.component_for(wide, keywords, known)
        if number is not None:
            key = self.free_voxel_in(number, vector, known)
            if key is not None:
                return Placement(unpack(key), number, self._merged(key, number), is_new_component=False)
        return Placement(unpack(self._start(vector, known)), self.places.next_component, 0, is_new_component=True)

    def returning(self, voxel: Voxel, component: int) -> Placement | None:
        """The place of a memory that comes back to where it stood; None when that is taken or at another component."""
        key, places = pack(voxel), self.places
        if key in places.num_at or not 0 < component < places.next_component:
            return None
        owners = {places.owner_of[vertex] for vertex in corner_keys(key) if vertex in places.owner_of}
        if owners != ({component} if component in places.components else set()):
            return None
        return Placement(voxel, component, self._merged(key, component), is_new_component=False)

    def add(self, num: int, placement: Placement, vector: Float32, keywords: Iterable[int]) -> None:
        """Take over a placement that was committed. keywords: ids; weights are not needed."""
        number = placement.component
        self.places.add(num, placement.voxel, number)
        if number in self._cores:
            core = self._cores[number]
            np.add(core.vector_sum, vector, out=core.vector_sum)
            core.keyword_counts.update(tuple(keywords))
        if (
            number in self._frames
            and bisect_left(self.places.components[number].members, num) < self._frames[number][0]
        ):
            del self._frames[number]

    def remove(self, num: int) -> dict[int, int]:
        """Take a memory away; result as of `Places.remove`."""
        self._forget_meaning_of(self.places.component_of[num])
        return self.places.remove(num)

    def refresh(self, num: int) -> None:
        """A memory's vector or keywords changed. It keeps its place; its component's meaning is worked out anew."""
        self._forget_meaning_of(self.places.component_of[num])

    def change(
        self, gone: Collection[int], standing: Standing, *, checked: bool = True, keeps_frames: bool = False
    ) -> None:
        """Several memories go, come or move as one change; arguments and errors as of `Places.change`.

        keeps_frames: components keep their directions as they are, while many move one by one in a rehearsal.
        """
        places = self.places
        before = {
            n: (places.voxel_of(n), places.component_of[n]) if n in places.key_of else None for n in (*gone, *standing)
        }
        for number in places.change(gone, standing, checked=checked):
            frame = self._frames.get(number) if keeps_frames else None
            self._forget_meaning_of(number)
            if frame is not None and number in places.components:
                self._frames[number] = frame
        if self._before is not None:
            self._before = before | self._before

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Whatever `change` does inside is taken back at the end, to the last place and id. Rehearsals may nest."""
        outer, self._before = self._before, {}
        following = self.places.next_component
        try:
            yield
        finally:
            before, self._before = self._before, None
            self.change(list(before), {num: where for num, where in before.items() if where}, checked=False)
            self.places.next_component = following
            self._before = outer

    def keyword_counts(self, component: int) -> Mapping[int, int]:
        """How many members of a component have each keyword."""
        return self.core_of(component).keyword_counts

    def _forget_meaning_of(self, number: int) -> None:
        self._cores.pop(number, None)
        self._frames.pop(number, None)

    # --- which component ----------------------------------------------------------------------

    def component_for(
        self, vector: Float64, keywords: Mapping[int, float], known: Sequence[tuple[int, float]]
    ) -> int | None:
        """The component of best average linkage among those of the relatives, if there is one that is near enough.

        Small components are damped while several could take the memory: two members that also share a
        project look closer than a whole topic does, and the topic would break into such pairs.
        """
        if not known or known[0][1] < self.calibration.tau:
            return None
        nearest: dict[int, float] = {}
        for num, similarity in known:
            nearest.setdefault(self.places.component_of[num], similarity)
        least = self.calibration.tau - self.settings.centroid_slack
        best, choice = -math.inf, None
        for number in sorted(nearest):
            size = len(self.places.components[number].members)
            linkage = nearest[number] if size == 1 else self._linkage(number, vector, keywords)
            damped = linkage * size / (size + self.settings.component_prior)
            if linkage >= least and damped > best:
                best, choice = damped, number
        return choice

    def _linkage(self, number: int, vector: Float64, keywords: Mapping[int, float]) -> float:
        """Mean similarity to all members; members count as having as much keyword weight as the newcomer."""
        core, scale = self.core_of(number), self.calibration
        size = len(self.places.components[number].members)
        shared = sum(w * w * core.keyword_counts[k] for k, w in keywords.items() if k in core.keyword_counts)
        whole = sum(w * w for w in keywords.values()) or 1.0
        cosine = float(core.vector_sum @ vector) / size if vector.any() else scale.cosine_mean
        by_vector = (cosine - scale.cosine_mean) / scale.cosine_std
        by_keywords = (shared / (whole * size) - scale.keyword_mean) / scale.keyword_std
        return VECTOR_SHARE * by_vector + (1 - VECTOR_SHARE) * by_keywords

    def core_of(self, number: int) -> Core:
        if number not in self._cores:
            members = self.places.components[number].members
            counts = Counter(keyword for ids in self.keywords_of(members) for keyword in ids)
            self._cores[number] = Core(self.vectors_of(members).sum(axis=0, dtype=np.float64), counts)
        return self._cores[number]

    # --- which voxel --------------------------------------------------------------------------

    def free_voxel_in(self, number: int, vector: Float32, known: Sequence[tuple[int, float]]) -> int | None:
        """The best free voxel of a component: round the anchors, else round the target or the surface beyond it,
        else anywhere at it. None when other components wall it in."""
        key_of = self.places.key_of
        anchors = [(num, s) for num, s in known if self.places.component_of[num] == number][: self.settings.anchors]
        target = self._target_in(number, vector, anchors)
        best = self._best({key_of[num] + step for num, _ in anchors for step in AROUND_VOXEL}, number, target)
        if best is None:
            best = self._in_shells(target, number, target)
        if best is None:
            centre = self.places.components[number].centre
            surface = self._walk(target, target - centre, lambda key: key not in self.places.num_at)
            best = self._in_shells(np.array(unpack(surface), np.float64), number, target)
        if best is None:
            members = self.places.components[number].members
            best = self._best({key_of[num] + step for num in members for step in AROUND_VOXEL}, number, target)
        return best

    def _in_shells(self, heart: Float64, number: int, target: Float64) -> int | None:
        """The best free voxel of a component in the first shell round a point that has one."""
        for radius in range(self.settings.shell_reach + 1):
            best = self._best({_rounded(heart) + step for step in _shell(radius)}, number, target)
            if best is not None:
                return best
        return None

    def _target_in(self, number: int, vector: Float32, anchors: Sequence[tuple[int, float]]) -> Float64:
        """The point that a memory of this meaning would like to have in a component, (3,) lattice units."""
        size = len(self.places.components[number].members)
        if size >= LEAST and not anchors:
            return self._frame_of(number).target(vector, size, _PITCH)
        weights = np.array([max(similarity, 0.01) ** _NEAREST_FIRST for _, similarity in anchors])
        voxels = np.array([unpack(self.places.key_of[num]) for num, _ in anchors], np.float64)
        beside: Float64 = weights @ voxels / weights.sum()
        if size < LEAST:
            return beside
        share = self.settings.anchor_share
        return share * beside + (1 - share) * self._frame_of(number).target(vector, size, _PITCH)

    def _best(self, keys: set[int], number: int, target: Float64) -> int | None:
        """The key of the highest score, of equal ones the lowest; None when no voxel is free for the component."""
        weight = self.settings.merge_weight
        goal = tuple(target.tolist())
        best, choice = -math.inf, None
        for key in keys.difference(self.places.num_at):
            merged = self._merged(key, number)
            if merged:
                score = weight * merged - math.dist(unpack(key), goal)
                if score > best or (score == best and choice is not None and key < choice):
                    best, choice = score, key
        return choice

    def _merged(self, key: int, number: int) -> int:
        """Vertices that a free voxel shares with a component; 0 when it touches another component."""
        merged = 0
        for vertex in corner_keys(key):
            owner = self.places.owner_of.get(vertex)
            if owner == number:
                merged += 1
            elif owner is not None:
                return 0
        return merged

    def _frame_of(self, number: int) -> Frame:
        """The frame of the first 2^k members: refitted when the count doubles, the same after a rebuild."""
        members = self.places.components[number].members
        wanted = _power_of_two_within(len(members))
        fitted, frame = self._frames.get(number, (0, None))
        if frame is None or (fitted != wanted and self._before is None):
            first = members[: wanted : max(1, wanted // SAMPLE)]
            sites = np.array([unpack(self.places.key_of[num]) for num in first], np.float64)
            frame = fit(self.vectors_of(first), sites)
            self._frames[number] = wanted, frame
        return frame

    # --- a new component ----------------------------------------------------------------------

    def _start(self, vector: Float32, known: Sequence[tuple[int, float]]) -> int:
        """A free place for a new component: close to a cluster that it nearly belongs to, else where the map has it."""
        components = self.places.components
        if not components:
            return pack((0, 0, 0))
        nearest, similarity = known[0] if known else (None, -math.inf)
        number = next(reversed(components)) if nearest is None else self.places.component_of[nearest]
        beside = components[number]
        size = len(beside.members)
        if size >= max(self.settings.satellite_size, LEAST) and similarity >= self.calibration.tau / 2:
            inside = self._frame_of(number).target(vector, size, _PITCH)
            return self._walk(beside.centre, inside - beside.centre, self._has_empty_block)
        gap = self.settings.component_gap / WORLD_UNITS_PER_STEP
        if len(components) >= LEAST:
            frame = self._map_of_components()
            target = frame.target(vector, len(components), gap)
            return self._walk(target, target - frame.centre, self._is_far_from_all, stride=CELL // 2)
        away = _direction(self.places.next_component)
        return self._walk(beside.centre + away * gap, away, self._is_far_from_all, stride=CELL // 2)

    def _walk(self, start: Float64, direction: Float64, suits: Callable[[int], bool], stride: int = 1) -> int:
        """The first voxel from `start` on in a direction (none: one drawn from the component's id) that suits."""
        length = float(np.linalg.norm(direction))
        unit = direction / length if length > 1e-6 else _direction(self.places.next_component)
        for distance in range(0, 2 * REACH, stride):
            key = _rounded(start + distance * unit)
            if suits(key):
                return key
        raise Bug("The lattice has no empty block left in one direction.")

    def _has_empty_block(self, key: int) -> bool:
        taken = self.places.num_at
        return all(key + step not in taken for step in _block(self.settings.component_block // 2))

    def _is_far_from_all(self, key: int) -> bool:
        """Whether the cells round a voxel are empty as far as the gap between two surfaces reaches."""
        return all(cell(key) + step not in self.places.filled for step in cells_within(self.settings.component_gap))

    def _map_of_components(self) -> Frame:
        """The frame of the components' meanings; a few members stand for each, refitted when their number doubles."""
        components = self.places.components.values()
        wanted = _power_of_two_within(len(components))
        if self._map is None or self._map[0] != wanted:
            chosen = list(islice(components, 0, wanted, max(1, wanted // SAMPLE)))
            means = np.array([self.vectors_of(c.members[:_CENTROID_SAMPLE]).mean(axis=0) for c in chosen])
            self._map = wanted, fit(means, np.array([c.centre for c in chosen]))
        return self._map[1]


_shell = cache(shell)
_block = cache(block)


@cache
def cells_within(gap: float) -> tuple[int, ...]:
    """Steps to the cells round one whose emptiness keeps about `gap` edges free on every side."""
    return tuple(CELL * step for step in block(round(gap / WORLD_UNITS_PER_STEP / CELL)))


def _rounded(point: Float64) -> int:
    """The key of the voxel that holds a point, kept inside the lattice."""
    i, j, k = (min(max(math.floor(x), -REACH), REACH) for x in point.tolist())
    return pack((i, j, k))


def _power_of_two_within(count: int) -> int:
    """The largest power of two that is not above a count."""
    return 1 << (count.bit_length() - 1)


def _direction(number: int) -> Float64:
    """A direction for a number, (3,) of length 1; consecutive numbers point far apart (golden spiral)."""
    height = 1 - 2 * (number * 0.6180339887498949 % 1)
    angle = number * 2.399963229728653
    flat = math.sqrt(1 - height * height)
    return np.array([flat * math.cos(angle), flat * math.sin(angle), height])
