"""What can be wrong with stored places, and which of them can still be used.

The store forbids an overlap, and nothing in the program breaks the other invariants; a file edited by hand or
written by another program may. A space with such damage still opens: what cannot stand is left out, named here,
and placed anew by a repair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tetrarium.geometry.lattice import REACH, corners, pack_all
from tetrarium.geometry.places import connected_components
from tetrarium.model import Bool, Int32, Int64


@dataclass(frozen=True, slots=True)
class Damage:
    """What an examination of places found; all empty for a sound store.

    unplaced: memories without a voxel of their own (missing, outside the lattice, or taken by an earlier one)
    labels: the component that memories must have, where the stored one cannot be: two components met in a vertex,
    or one fell into parts that touch nowhere (new ids from `next_component` on)
    met, torn: the components concerned
    """

    unplaced: tuple[int, ...]
    labels: dict[int, int]
    met: tuple[int, ...]
    torn: tuple[int, ...]


def usable(nums: Int64, voxels: Int32, components: Int64) -> Bool:
    """(n,) which stored places can stand: inside the lattice, in a component, no earlier num in the same voxel.

    nums: (n,) ascending; voxels: (n, 3) lattice units; components: (n,), 0 for a memory without a place.
    """
    sound: Bool = (components > 0) & (np.abs(voxels.astype(np.int64)).max(axis=1, initial=0) <= REACH)
    standing = np.flatnonzero(sound)
    if len(standing):
        first = np.unique(pack_all(voxels[standing]), return_index=True)[1]
        sound[:] = False
        sound[standing[first]] = True
    return sound


def examine(nums: Int64, voxels: Int32, components: Int64, next_component: int) -> Damage:
    """Compare stored places with what their integers say. Arguments as of `usable`; O(n)."""
    sound = usable(nums, voxels, components)
    unplaced = tuple(nums[~sound].tolist())
    nums, voxels, components = nums[sound], voxels[sound], components[sound]
    if not len(nums):
        return Damage(unplaced, {}, (), ())
    parts = connected_components(voxels)
    pairs, sizes = np.unique(np.stack([parts, components]), axis=1, return_counts=True)
    right = _label_of_each(pairs, sizes, max(next_component, int(components.max()) + 1))
    wanted = right[parts]
    wrong = wanted != components
    met = np.unique(pairs[1][np.bincount(pairs[0])[pairs[0]] > 1])
    torn = np.flatnonzero(np.bincount(pairs[1]) > 1)
    labels = dict(zip(nums[wrong].tolist(), wanted[wrong].tolist(), strict=True))
    return Damage(unplaced, labels, tuple(met.tolist()), tuple(torn.tolist()))


def vertex_count(voxels: Int32) -> int:
    """Distinct vertices of tetrahedra. voxels: (n, 3) int32, lattice units."""
    return len(np.unique(pack_all(corners(voxels)))) if len(voxels) else 0


def _label_of_each(pairs: Int64, sizes: Int64, new: int) -> Int64:
    """The component of each connected part: the stored one that most of it has, unless a larger part has it."""
    right = np.zeros(int(pairs[0].max()) + 1, np.int64)
    taken: set[int] = set()
    for at in np.lexsort((pairs[0], pairs[1], -sizes)).tolist():
        part, component = pairs[:, at].tolist()
        if not right[part] and component not in taken:
            right[part] = component
            taken.add(component)
    for part in np.flatnonzero(right == 0).tolist():
        right[part] = new
        new += 1
    return right
