"""What stands: voxels, vertices and components of one space, in integers alone.

Three invariants hold after every call: a voxel holds one memory, a vertex belongs to one component, and a
component is a connected set of tetrahedra – what a breadth-first search from scratch would find
(`connected_components`). Everything can be rebuilt from the store's (num, voxel, component).
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
        key = pack(voxel)
        vertices = corner_keys(key)
        if num in self.key_of or key in self.num_at:
            raise Bug(f"Memory {num} or its place {voxel} is taken.")
        if any(self.owner_of.get(vertex, number) != number for vertex in vertices):
            raise Bug(f"The place {voxel} touches another component than {number}.")
        self.key_of[num], self.component_of[num], self.num_at[key] = key, number, num
        self.owner_of.update(dict.fromkeys(vertices, number))
        self.filled[cell(key)] += 1
        self.next_component = max(self.next_component, number + 1)
        component = self.components.setdefault(number, Component())
        insort(component.members, num)
        component.place_sum += voxel

    def remove(self, num: int) -> dict[int, int]:
        """Take a memory away. Only its component is looked at.

        Returns the new component id of every member that the memory alone held to the component: the
        largest part (of equal ones that with the lowest num) keeps the id.
        """
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
        if not component.members:
            del self.components[number]
            return {}
        component.place_sum -= np.array(unpack(key))
        parts = self._parts(list(self._touching(key)))
        parts.sort(key=lambda part: (-len(part), min(part)))
        return {n: new for part in parts[1:] for n, new in self._split_off(number, part).items()}

    # --- parts and wholes ---------------------------------------------------------------------

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
