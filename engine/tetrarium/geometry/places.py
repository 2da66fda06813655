"""What stands: voxels, vertices and components of one space, in integers alone.

Three invariants hold after every call: a voxel holds one memory, a vertex belongs to one component, and a
component is a connected set of tetrahedra – what a breadth-first search from scratch would find
(`connected_components`). Everything can be rebuilt from the store's (num, voxel, component).
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tetrarium.errors import Bug
from tetrarium.geometry.lattice import (
    AROUND_VERTEX,
    Voxel,
    cell,
    corner_keys,
    corners,
    pack,
    pack_all,
    unpack,
)
from tetrarium.model import Float64, Int32, Int64

Standing = Mapping[int, tuple[Voxel, int]]
"""Where memories stand: num → voxel and component."""


class Misfit(Exception):
    """A change would break an invariant; nothing was changed."""


@dataclass(slots=True)
class Component:
    """A connected set of tetrahedra. members: ascending nums, at least one; place_sum: (3,), of their voxels."""

    members: list[int] = field(default_factory=list)
    place_sum: Int64 = field(default_factory=lambda: np.zeros(3, np.int64))

    @property
    def centre(self) -> Float64:
        """(3,) float64, lattice units."""
        mean: Float64 = self.place_sum / len(self.members)
        return mean


class Places:
    """The places of one space. `num` is the store's row number of a memory; inhibited memories keep their place.

    The dicts are read by the room's own placement and written only here. key_of: packed voxel of a num;
    component_of: component id of a num; num_at: num of a packed voxel; owner_of: component id of a packed
    vertex; filled: number of taken voxels of each cell; components: by id, ids never used again; next_component: the next id.
    """

    def __init__(self) -> None:
        self.key_of: dict[int, int] = {}
        self.component_of: dict[int, int] = {}
        self.num_at: dict[int, int] = {}
        self.owner_of: dict[int, int] = {}
        self.filled: Counter[int] = Counter()
        self.components: dict[int, Component] = {}
        self.next_component = 1

    def __len__(self) -> int:
        return len(self.key_of)

    @property
    def vertex_count(self) -> int:
        """Distinct vertices of all tetrahedra."""
        return len(self.owner_of)

    def voxel_of(self, num: int) -> Voxel:
        return unpack(self.key_of[num])

    def members(self, component: int) -> tuple[int, ...]:
        """The nums of a component, ascending."""
        return tuple(self.components[component].members)

    def neighbours(self, num: int) -> tuple[int, ...]:
        """The nums whose tetrahedra share a vertex with that of `num`, ascending."""
        return tuple(sorted(self.num_at[key] for key in self._touching(self.key_of[num])))

    def shared_vertices(self, one: int, other: int) -> int:
        """How many of their four vertices two memories share: 0, 1 or 2."""
        return len(set(corner_keys(self.key_of[one])) & set(corner_keys(self.key_of[other])))

    def load(self, nums: Int64, voxels: Int32, components: Int64, next_component: int = 1) -> dict[int, int]:
        """Replace everything by places from the store.

        nums: (n,) int64; voxels: (n, 3) int32; components: (n,) int64, the stored component ids;
        next_component: the least id for a new component (ids seen raise it).
        Returns the nums whose stored component cannot be: two components met in one vertex (which only
        another program can bring about), and the smaller joined the larger. Empty for a sound store.
        """
        self.owner_of, self.filled, self.components = {}, Counter(), {}
        if not len(nums):
            self.key_of, self.component_of, self.num_at, self.next_component = {}, {}, {}, next_component
            return {}
        order = np.lexsort((nums, components))
        nums, voxels, components = nums[order], voxels[order], components[order]
        keys = pack_all(voxels).tolist()
        numbers: list[int] = components.tolist()
        self.key_of = dict(zip(nums.tolist(), keys, strict=True))
        self.component_of = dict(zip(self.key_of, numbers, strict=True))
        self.num_at = dict(zip(keys, self.key_of, strict=True))
        if not len(self.key_of) == len(self.num_at) == len(nums):
            raise Bug("Two memories have one place, or one memory has two.")
        self.filled = Counter(map(cell, keys))
        self.next_component = max(next_component, numbers[-1] + 1)

        starts = np.flatnonzero(np.diff(components, prepend=components[:1] - 1))
        ends = [*starts[1:].tolist(), len(nums)]
        for start, end in zip(starts.tolist(), ends, strict=True):
            place_sum = voxels[start:end].sum(axis=0, dtype=np.int64)
            self.components[numbers[start]] = Component(nums[start:end].tolist(), place_sum)

        moved: dict[int, int] = {}
        vertices = pack_all(corners(voxels)).ravel().tolist()
        for vertex, num in zip(vertices, np.repeat(nums, 4).tolist(), strict=True):
            mine = self.component_of[num]
            owner = self.owner_of.setdefault(vertex, mine)
            if owner != mine:
                moved |= self._join(owner, mine)
        return moved

    def add(self, num: int, voxel: Voxel, number: int) -> None:
        """Take a place for a component, which is new when its id is.

        Changes of another program may arrive in any order, so a place may touch its component only later.
        """
        try:
            self._attach(num, pack(voxel), number)
        except Misfit as misfit:
            raise Bug(str(misfit)) from None

    def remove(self, num: int) -> dict[int, int]:
        """Take a memory away. Only its component is looked at.

        Returns the new component id of every member that the memory alone held to the component: the
        largest part (of equal ones that with the lowest num) keeps the id.
        """
        key, number = self.key_of[num], self.component_of[num]
        self._detach(num)
        if number not in self.components:
            return {}
        parts = self._parts(list(self._touching(key)))
        parts.sort(key=lambda part: (-len(part), min(part)))
        return {n: new for part in parts[1:] for n, new in self._split_off(number, part).items()}

    def change(self, gone: Collection[int], standing: Standing, *, checked: bool = True) -> set[int]:
        """Take memories away and let others stand elsewhere or anew, as one change; gives the components touched.

        Raises Misfit, and nothing has changed, when a voxel would be taken twice, a vertex have two owners, or a
        touched component fall apart. Only the surroundings of the change are looked at. Not `checked`: components
        that fall apart are let through, for a state that is known to hold from elsewhere.
        """
        leaving = [num for num in dict.fromkeys((*gone, *standing)) if num in self.key_of]
        before = {num: (self.key_of[num], self.component_of[num]) for num in leaving}
        around: dict[int, set[int]] = {number: set() for _, number in before.values()}
        for key, number in before.values():
            around[number] |= self._touching(key)
        for num in leaving:
            self._detach(num)
        arrived: list[int] = []
        try:
            for num, (voxel, number) in standing.items():
                self._attach(num, pack(voxel), number)
                arrived.append(num)
                around.setdefault(number, set())
            if checked:
                self._expect_whole(around, standing)
        except Misfit:
            for num in arrived:
                self._detach(num)
            for num, (key, number) in before.items():
                self._attach(num, key, number)
            raise
        return set(around)

    # --- parts and wholes ---------------------------------------------------------------------

    def _detach(self, num: int) -> None:
        """Take one memory away and look at nothing else."""
        key, number = self.key_of.pop(num), self.component_of.pop(num)
        del self.num_at[key]
        self.filled[cell(key)] -= 1
        if not self.filled[cell(key)]:
            del self.filled[cell(key)]
        for vertex in corner_keys(key):
            if not any(vertex + step in self.num_at for step in AROUND_VERTEX):
                del self.owner_of[vertex]
        component = self.components[number]
        component.members.remove(num)
        component.place_sum -= np.array(unpack(key))
        if not component.members:
            del self.components[number]

    def _attach(self, num: int, key: int, number: int) -> None:
        """Let one memory stand; its component may be whole only later. Raises Misfit."""
        vertices = corner_keys(key)
        if num in self.key_of or key in self.num_at:
            raise Misfit(f"Memory {num} or its place {unpack(key)} is taken.")
        if any(self.owner_of.get(vertex, number) != number for vertex in vertices):
            raise Misfit(f"The place {unpack(key)} touches another component than {number}.")
        self.key_of[num], self.component_of[num], self.num_at[key] = key, number, num
        self.owner_of.update(dict.fromkeys(vertices, number))
        self.filled[cell(key)] += 1
        self.next_component = max(self.next_component, number + 1)
        component = self.components.setdefault(number, Component())
        insort(component.members, num)
        component.place_sum += np.array(unpack(key))

    def _expect_whole(self, around: Mapping[int, set[int]], standing: Standing) -> None:
        """Raise Misfit unless every touched component is connected, given that each was before the change.

        around: keys next to what left, by component. Newcomers must reach each other or those that stayed.
        """
        new: dict[int, set[int]] = {}
        for num, (_, number) in standing.items():
            new.setdefault(number, set()).add(self.key_of[num])
        for number in around:
            if number not in self.components:
                continue
            mine = new.get(number, set())
            ends = {key for key in around[number] if key in self.num_at} | mine
            ends.update(*(self._touching(key) for key in mine))
            members = self.components[number].members
            stayed = next((num for num in members if num not in standing), None)
            if stayed is not None:
                ends.add(self.key_of[stayed])
            ends = {key for key in ends if self.component_of[self.num_at[key]] == number}
            if ends and self._parts(list(ends)):
                raise Misfit(f"Component {number} would fall apart.")

    def _touching(self, key: int) -> set[int]:
        """Keys of the taken voxels that share a vertex with one."""
        around = {vertex + step for vertex in corner_keys(key) for step in AROUND_VERTEX}
        around.discard(key)
        return around & self.num_at.keys()

    def _parts(self, keys: Sequence[int]) -> list[set[int]]:
        """The connected sets, as nums, into which voxels that belonged together fall; one search when they still do."""
        parts: list[set[int]] = []
        left = set(keys)
        while left:
            seen = {left.pop()}
            for key in (edge := list(seen)):
                new = self._touching(key) - seen
                seen |= new
                edge.extend(new)
                left -= new
                if not left and not parts:
                    return []
            parts.append({self.num_at[key] for key in seen})
        return parts if len(parts) > 1 else []

    def parts_of(self, nums: Iterable[int]) -> list[list[int]]:
        """The connected sets, each ascending, into which some memories fall by themselves; largest first."""
        left = {self.key_of[num] for num in nums}
        parts: list[list[int]] = []
        while left:
            seen = {left.pop()}
            for key in (edge := list(seen)):
                new = self._touching(key) & left
                left -= new
                edge.extend(new)
                seen |= new
            parts.append(sorted(self.num_at[key] for key in seen))
        return sorted(parts, key=lambda part: (-len(part), part[0]))

    def leaves_first(self, nums: Iterable[int]) -> list[int]:
        """Connected memories in an order in which they can go one by one while the rest stays connected."""
        wanted = {self.key_of[num] for num in nums}
        heart = np.array([unpack(key) for key in sorted(wanted)], np.float64).mean(axis=0)
        first = min(wanted, key=lambda key: (float(np.linalg.norm(np.array(unpack(key)) - heart)), key))
        order, seen = [first], {first}
        for key in order:
            new = sorted((self._touching(key) & wanted) - seen)
            seen.update(new)
            order.extend(new)
        return [self.num_at[key] for key in reversed(order)]

    def _split_off(self, number: int, part: set[int]) -> dict[int, int]:
        new = self.next_component
        self.next_component += 1
        self._relabel(number, new, sorted(part))
        return dict.fromkeys(sorted(part), new)

    def _join(self, one: int, other: int) -> dict[int, int]:
        """Two components become one under the id of the larger (of equal ones the lower)."""
        keep, lose = sorted((one, other), key=lambda number: (-len(self.components[number].members), number))
        moved = self.members(lose)
        self._relabel(lose, keep, moved)
        return dict.fromkeys(moved, keep)

    def _relabel(self, old: int, new: int, nums: Iterable[int]) -> None:
        source = self.components[old]
        target = self.components.setdefault(new, Component())
        moving = set(nums)
        source.members = [num for num in source.members if num not in moving]
        target.members = sorted([*target.members, *moving])
        for num in moving:
            key = self.key_of[num]
            self.component_of[num] = new
            voxel = np.array(unpack(key))
            source.place_sum -= voxel
            target.place_sum += voxel
            self.owner_of.update({vertex: new for vertex in corner_keys(key) if vertex in self.owner_of})
        if not source.members:
            del self.components[old]


def connected_components(voxels: Int32) -> Int64:
    """Labels 0 … c − 1 by breadth-first search from scratch, (n,) int64. voxels: (n, 3) int32, lattice units.

    For tests and for the health check: what `Places` keeps must always equal this.
    """
    keys: list[int] = pack_all(voxels).tolist()
    row = {key: at for at, key in enumerate(keys)}
    labels = np.full(len(keys), -1, np.int64)
    for label, first in enumerate(_unlabelled(labels)):
        labels[first] = label
        queue = [keys[first]]
        for key in queue:
            for vertex in corner_keys(key):
                for step in AROUND_VERTEX:
                    at = row.get(vertex + step)
                    if at is not None and labels[at] < 0:
                        labels[at] = label
                        queue.append(keys[at])
    return labels


def _unlabelled(labels: Int64) -> Iterator[int]:
    for at in range(len(labels)):
        if labels[at] < 0:
            yield at
