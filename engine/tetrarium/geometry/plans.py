"""Rearrangements of what stands: split, merge, attach, mend, settle – worked out, not done.

Each function gives a `Proposal`, whose steps are the smallest parts after which every invariant of the
geometry holds again, so that each can be a transaction of its own. Everything is tried out on the live
geometry inside a rehearsal and taken back. An insert never moves anything; these are the only movers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tetrarium.geometry import layout, settle
from tetrarium.geometry.lattice import (
    AROUND_VERTEX,
    CELL,
    WORLD_UNITS_PER_STEP,
    Voxel,
    cell,
    corner_keys,
    pack,
    pack_all,
    unpack,
)
from tetrarium.geometry.meaning import likeness, linkage, offset, rows_of
from tetrarium.geometry.placement import Geometry, cells_within
from tetrarium.geometry.places import Misfit, Standing, connected_components
from tetrarium.model import Bool, Float32, Float64, Int32, Int64

RelativesOf = Callable[[int], Sequence[tuple[int, float]]]
"""The nearest live memories of one: num and similarity, itself not among them."""

_ANCHOR_SAMPLE = 256
"""Members of a component among which a memory that is regrown onto it looks for its anchors."""

_SILHOUETTE_SAMPLE = 256
_PAIRED = 1_000
_MEANS_ROUNDS = 12
_PARTNERS = 8
"""Clusters nearest to one by vector that a merge looks at."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A memory that moves; `source` is None when it stands nowhere."""

    num: int
    source: Voxel | None
    source_component: int
    target: Voxel
    target_component: int


Step = tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Why, in figures: `component` is what it is about, `other` what it joins or 0, `score` how clear the case is."""

    component: int
    other: int
    score: float
    steps: tuple[Step, ...]


def standing_of(step: Step) -> dict[int, tuple[Voxel, int]]:
    """Where the memories of a step stand after it."""
    return {shift.num: (shift.target, shift.target_component) for shift in step}


def fits(geometry: Geometry, step: Step) -> bool:
    """Whether a step could be taken now: everything stands where it says, and every invariant would hold."""
    places = geometry.places
    for shift in step:
        now = (places.voxel_of(shift.num), places.component_of[shift.num]) if shift.num in places.key_of else (None, 0)
        if now != (shift.source, shift.source_component if shift.source else 0):
            return False
    following = places.next_component
    before = {s.num: (s.source, s.source_component) for s in step if s.source is not None}
    try:
        geometry.change((), standing_of(step))
    except Misfit:
        return False
    geometry.change([shift.num for shift in step], before, checked=False)
    places.next_component = following
    return True


# --- fission -------------------------------------------------------------------------------------


def fissions(geometry: Geometry, components: Iterable[int]) -> tuple[Proposal, ...]:
    """The splits of those components that hold two topics."""
    return _in_turn(geometry, [partial(fission, geometry, number) for number in components])


def fission(geometry: Geometry, number: int) -> Proposal | None:
    """Split a component in two when its members fall into two kinds; the larger part stays."""
    places, settings = geometry.places, geometry.settings
    members = places.members(number) if number in places.components else ()
    if len(members) < settings.fission_size:
        return None
    rows = rows_of(geometry, members)
    second = _two_means(rows)
    if second.sum() > len(members) / 2:
        second = ~second
    if second.sum() < settings.fission_part:
        return None
    clarity = _silhouette(rows, second)
    across = float(np.median(_some(rows[second]) @ _some(rows[~second]).T)) - offset(geometry)
    if clarity < settings.fission_silhouette or across >= geometry.calibration.tau:
        return None
    leaving = [num for num, goes in zip(members, second.tolist(), strict=True) if goes]
    with geometry.rehearsal():
        step = _split(geometry, number, leaving)
    return Proposal(number, geometry.places.next_component, clarity, (step,)) if step else None


def _split(geometry: Geometry, number: int, leaving: Sequence[int]) -> Step:
    """One step: it has no valid state half-way. Inside a rehearsal."""
    places = geometry.places
    new = places.next_component
    before = _where(geometry, places.members(number))
    heart = places.components[number].centre
    geometry.change(leaving, {}, checked=False)
    for fragment in places.parts_of(places.members(number))[1:]:
        geometry.change(fragment, {}, checked=False)
        for num in fragment:
            if not _grow(geometry, num, number):
                return ()
    voxels = np.array([before[num][0] for num in leaving], np.int32)
    whole = len(_pieces(voxels)) == 1
    away = voxels.mean(axis=0) - places.components[number].centre
    if not away.any():
        away = voxels.mean(axis=0) - heart
    if whole:
        move = _free_shift(geometry, voxels, away)
        for num, voxel in zip(leaving, (voxels + move).tolist(), strict=True):
            geometry.change((), {num: ((voxel[0], voxel[1], voxel[2]), new)}, checked=False)
    else:
        rows = rows_of(geometry, leaving)
        medoid = int((rows @ rows.sum(axis=0)).argmax())
        order = np.argsort(-(rows @ rows[medoid]), kind="stable").tolist()
        order = [medoid, *(at for at in order if at != medoid)]
        seed = voxels[[medoid]]
        start = (seed + _free_shift(geometry, seed, away, room=(len(leaving) ** (1 / 3)) / 2))[0].tolist()
        geometry.change((), {leaving[medoid]: ((start[0], start[1], start[2]), new)})
        for at in order[1:]:
            if not _grow(geometry, leaving[at], new):
                return ()
    return _step(geometry, before)


def _some(rows: Float32) -> Float32:
    """At most about a thousand rows, evenly chosen: a median over their pairs is as good as over all."""
    return rows[:: max(1, len(rows) // _PAIRED)]


def _two_means(rows: Float32) -> Bool:
    """Which rows belong to the second of two means; deterministic (the two ends of the widest spread start)."""
    centred = rows - rows.mean(axis=0)
    far = centred[int(np.einsum("nd,nd->n", centred, centred).argmax())]
    one, other = far, centred[int((centred @ far).argmin())]
    second = np.zeros(len(rows), np.bool_)
    for _ in range(_MEANS_ROUNDS):
        second = centred @ (other - one) > (other @ other - one @ one) / 2
        if second.all() or not second.any():
            break
        one, other = centred[~second].mean(axis=0), centred[second].mean(axis=0)
    return second


def _silhouette(rows: Float32, second: Bool) -> float:
    """Mean silhouette of two parts over a sample, by Euclidean distance, −1 … 1."""
    take = np.arange(0, len(rows), max(1, len(rows) // _SILHOUETTE_SAMPLE))
    rows, second = rows[take], second[take]
    if second.sum() < 2 or (~second).sum() < 2:
        return 0.0
    squares = np.einsum("nd,nd->n", rows, rows)
    apart = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * rows @ rows.T, 0))
    same = second[:, None] == second[None]
    own = np.where(same, apart, 0).sum(axis=1) / (same.sum(axis=1) - 1)
    other = np.where(same, 0, apart).sum(axis=1) / (~same).sum(axis=1)
    return float(((other - own) / np.maximum(np.maximum(own, other), 1e-9)).mean())


def _pieces(voxels: Int32) -> list[Int64]:
    labels = connected_components(voxels)
    return [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]


def _free_shift(geometry: Geometry, voxels: Int32, away: Float64, room: float = 0.0) -> Int32:
    """The shortest even lattice vector along `away` that takes voxels to where nothing is within the gap."""
    gap = geometry.settings.component_gap + room
    length = float(np.linalg.norm(away))
    unit = away / length if length > 1e-6 else np.array([0.6, 0.64, 0.48])
    distance = 0
    while True:
        distance += CELL // 2
        move: Int32 = np.rint(distance * unit).astype(np.int32)
        move[2] += int(move.sum()) & 1
        cells = {cell(key) for key in pack_all(voxels + move).tolist()}
        if all(at + step not in geometry.places.filled for at in cells for step in cells_within(gap)):
            return move


# --- merge ---------------------------------------------------------------------------------------


def merges(geometry: Geometry, one: int | None = None, other: int | None = None) -> tuple[Proposal, ...]:
    """Components that mean the same become one: the smaller is regrown onto the larger, which never moves.

    With both named, these are merged whatever they mean; with one, its best partner is. One merge a component.
    """
    if one is not None and other is not None:
        pairs = [(linkage(geometry, one, other), one, other)]
    else:
        least = geometry.calibration.tau + geometry.settings.merge_margin
        pairs = [pair for pair in _alike(geometry, one) if pair[0] >= least]
    taken: set[int] = set()
    chosen = []
    for score, a, b in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if a not in taken and b not in taken:
            taken |= {a, b}
            chosen.append(partial(merge, geometry, a, b, score))
    return _in_turn(geometry, chosen)


def merge(geometry: Geometry, one: int, other: int, score: float) -> Proposal | None:
    """Regrow the smaller of two components onto the larger (of equal ones the later onto the earlier)."""
    places = geometry.places
    larger, smaller = sorted((one, other), key=lambda number: (-len(places.components[number].members), number))
    steps = regrow(geometry, smaller, larger)
    return Proposal(smaller, larger, score, steps) if steps else None


def regrow(geometry: Geometry, number: int, onto: int) -> tuple[Step, ...]:
    """Every member of a component finds a place at another one, the outermost first; nothing when one finds none."""
    order = geometry.places.leaves_first(geometry.places.members(number))
    shifts: list[Shift] = []
    with geometry.rehearsal():
        for num in order:
            before = _where(geometry, [num])
            if not _grow(geometry, num, onto):
                return ()
            shifts.extend(_step(geometry, before))
    return _cut(shifts, geometry.settings.plan_step)


def _alike(geometry: Geometry, only: int | None) -> list[tuple[float, int, int]]:
    """(mean similarity, one, other) of the pairs of components that could mean the same."""
    components = geometry.places.components
    numbers = sorted(number for number, c in components.items() if len(c.members) > 1 or number == only)
    if len(numbers) < 2:
        return []
    means = np.array([geometry.core_of(n).vector_sum / len(components[n].members) for n in numbers], np.float32)
    pairs: set[tuple[int, int]] = set()
    near = settle.nearest(means, min(_PARTNERS, len(numbers) - 1))
    for at, row in enumerate(near.tolist()):
        pairs.update((min(at, to), max(at, to)) for to in row)
    holders: dict[int, list[int]] = {}
    for at, number in enumerate(numbers):
        for word, count in geometry.core_of(number).keyword_counts.items():
            if 2 * count >= len(components[number].members):  # a word of most members
                holders.setdefault(word, []).append(at)
    for sharing in holders.values():
        if len(sharing) <= 4 * _PARTNERS:
            pairs.update((a, b) for i, a in enumerate(sharing) for b in sharing[i + 1 :])
    named = [(numbers[a], numbers[b]) for a, b in pairs]
    return [(linkage(geometry, a, b), a, b) for a, b in named if only is None or only in (a, b)]


# --- attach and mend -----------------------------------------------------------------------------


def attachments(geometry: Geometry, relatives_of: RelativesOf, only: int | None = None) -> tuple[Proposal, ...]:
    """Lone memories and small components join the cluster that would take them if they came now."""
    places, most = geometry.places, geometry.settings.attach_size

    def attach(number: int) -> Proposal | None:
        onto = _home_of(geometry, number, relatives_of) if number in places.components else None
        return None if onto is None else merge_onto(geometry, number, onto)

    small = [n for n, c in places.components.items() if len(c.members) < most] if only is None else [only]
    small.sort(key=lambda n: (len(places.components[n].members), n))
    return _in_turn(geometry, [partial(attach, number) for number in small])


def mends(geometry: Geometry, origins: Mapping[int, int]) -> tuple[Proposal, ...]:
    """What a deletion cut off goes back to the component that it was a part of. origins: fragment → component."""
    components = geometry.places.components

    def mend(fragment: int, origin: int) -> Proposal | None:
        if not {fragment, origin} <= components.keys():
            return None
        if len(components[fragment].members) > len(components[origin].members):
            return None
        return merge_onto(geometry, fragment, origin)

    return _in_turn(geometry, [partial(mend, fragment, origin) for fragment, origin in sorted(origins.items())])


def merge_onto(geometry: Geometry, number: int, onto: int) -> Proposal | None:
    """All members of one component find places at another, however large it is."""
    steps = regrow(geometry, number, onto)
    return Proposal(number, onto, linkage(geometry, number, onto), steps) if steps else None


def _home_of(geometry: Geometry, number: int, relatives_of: RelativesOf) -> int | None:
    """The component that takes most members of a small one, and no smaller than it."""
    places = geometry.places
    members = places.members(number)
    votes: dict[int, int] = {}
    for num in members:
        outside = [r for r in relatives_of(num) if places.component_of.get(r[0], number) != number]
        outside = [r for r in outside if len(places.components[places.component_of[r[0]]].members) >= len(members)]
        (ids,) = geometry.keywords_of([num])
        weights = {word: geometry.rarity_of(word) for word in ids}
        vector = geometry.vectors_of([num])[0].astype(np.float64)
        onto = geometry.component_for(vector, weights, sorted(outside, key=lambda r: (-r[1], r[0])))
        if onto is not None:
            votes[onto] = votes.get(onto, 0) + 1
    best = max(sorted(votes), key=lambda n: votes[n], default=None)
    return best if best is not None and 2 * votes[best] > len(members) else None


# --- settle --------------------------------------------------------------------------------------


def settlements(geometry: Geometry, components: Iterable[int]) -> tuple[Proposal, ...]:
    """The voxels of components given out anew, where that brings relatives together; score: share that moves."""
    found = []
    for number in components:
        members = geometry.places.members(number)
        if not max(geometry.settings.settle_size, settle.NEAREST + 1) <= len(members) <= settle.MOST:
            continue
        voxels = np.array([geometry.places.voxel_of(num) for num in members], np.int32)
        at = settle.settled(rows_of(geometry, members), voxels)
        steps = _rotations(members, voxels, at, number, geometry.settings.plan_step)
        if steps:
            found.append(Proposal(number, 0, float((at != np.arange(len(at))).mean()), steps))
    return tuple(found)


def _rotations(members: Sequence[int], voxels: Int32, at: Int64, number: int, most: int) -> tuple[Step, ...]:
    """A permutation as steps of at most `most` moves, each itself a permutation; long cycles in several turns."""
    stands = voxels.tolist()
    goal = at.tolist()
    steps: list[Step] = []
    waiting: list[Shift] = []
    done = [False] * len(goal)
    for first in range(len(goal)):
        cycle: list[int] = []
        here = first
        while not done[here]:
            done[here] = True
            cycle.append(here)
            here = goal[here]
        if len(cycle) < 2:
            continue
        # The memory at cycle[x] goes to the voxel of cycle[x + 1]; each turn parks its last one at the start.
        parked = cycle[0]
        for start in range(0, len(cycle) - 1, most - 1):
            turn = [parked, *cycle[start + 1 : start + most]]
            spots = [cycle[0], *cycle[start + 1 : start + most]]
            moves = [
                Shift(
                    members[who], _voxel(stands[spots[x]]), number, _voxel(stands[spots[(x + 1) % len(spots)]]), number
                )
                for x, who in enumerate(turn)
            ]
            parked = turn[-1]
            if len(waiting) + len(moves) > most:
                steps.append(tuple(waiting))
                waiting = []
            if {move.num for move in moves} & {move.num for move in waiting}:
                steps.append(tuple(waiting))
                waiting = []
            waiting.extend(moves)
    if waiting:
        steps.append(tuple(waiting))
    return tuple(step for step in steps if step)


# --- layout --------------------------------------------------------------------------------------


def layouts(geometry: Geometry) -> tuple[Proposal, ...]:
    """Every component moves as it is to where a map of all of them has it; beside the old map, so that each one's
    move is a step of its own. A later layout may come back to where the first one was."""
    places, settings = geometry.places, geometry.settings
    numbers = sorted(places.components)
    if len(numbers) < layout.LEAST:
        return ()
    members = [places.members(number) for number in numbers]
    voxels = [np.array([unpack(places.key_of[num]) for num in nums], np.int32) for nums in members]
    sizes = np.array([len(nums) for nums in members], np.float64)
    centres = np.array([places.components[number].centre for number in numbers])
    reach = np.array([np.linalg.norm(v - c, axis=1).max() for v, c in zip(voxels, centres, strict=True)])
    gap = settings.component_gap / WORLD_UNITS_PER_STEP
    some = [nums[:: max(1, len(nums) // layout.SAMPLE)][: layout.SAMPLE] for nums in members]
    rows = rows_of(geometry, [num for nums in some for num in nums], words=layout.WORDS)
    starts = np.cumsum([0, *(len(nums) for nums in some)])[:-1]
    meanings = np.add.reduceat(rows, starts, axis=0) / np.array([[len(nums)] for nums in some], np.float32)
    spots = layout.spread(meanings, sizes, 1.5 * reach + gap / 2, centres)
    vectors = layout.snapped(spots, voxels, cells_within(settings.component_gap))
    beside = _beside(voxels, [v + move for v, move in zip(voxels, vectors, strict=True)], gap)
    found = []
    for number, nums, stand, vector in zip(numbers, members, voxels, vectors, strict=True):
        goal = (stand + vector + beside).tolist()
        step = tuple(
            Shift(num, _voxel(here), number, _voxel(there), number)
            for num, here, there in zip(nums, stand.tolist(), goal, strict=True)
        )
        found.append(Proposal(number, 0, 0.0, (step,)))
    return tuple(found)


def _beside(old: Sequence[Int32], new: Sequence[Int32], gap: float) -> Int32:
    """An even vector that brings a new map, round the origin, to where it touches nothing of the old one."""
    before, after = np.concatenate(old), np.concatenate(new)
    middle = (before.min(axis=0) + before.max(axis=0)) / 2
    room = float(np.linalg.norm(before - middle, axis=1).max() + np.linalg.norm(after, axis=1).max() + 2 * gap)
    if np.linalg.norm(middle) >= room:
        return np.zeros(3, np.int32)
    vector: Int32 = np.rint(middle + np.array([room, 0, 0])).astype(np.int32)
    vector[2] += int(vector.sum()) & 1
    return vector


# --- taking back ---------------------------------------------------------------------------------


def undoing(geometry: Geometry, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that take applied steps back, to the last place, as far as memories still exist.

    Where something has come to stand in the way meanwhile, it is placed anew at its component, and so is what would
    hang in the air; that is then one step.
    """
    places = geometry.places
    back: list[Step] = []
    with geometry.rehearsal():
        for step in reversed(steps):
            standing = {s.num: (s.source, s.source_component) for s in step if s.source and s.num in places.key_of}
            before = _where(geometry, standing)
            try:
                geometry.change((), standing)
            except Misfit:
                break
            back.append(_step(geometry, before))
        else:
            return tuple(step for step in back if step)
    first: dict[int, tuple[Voxel, int]] = {}
    for step in steps:
        for shift in step:
            if shift.source and shift.num in places.key_of:
                first.setdefault(shift.num, (shift.source, shift.source_component))
    with geometry.rehearsal():
        return (_forced(geometry, first),)


def _forced(geometry: Geometry, standing: Standing) -> Step:
    """One step that makes memories stand where they are told to, and places anew what that leaves in the way."""
    places = geometry.places
    touched = {number for _, number in standing.values()} | {places.component_of[num] for num in standing}
    in_the_way = {
        places.num_at[around]
        for voxel, number in standing.values()
        for around in _sharing(pack(voxel))
        if around in places.num_at
        and places.num_at[around] not in standing
        and (around == pack(voxel) or places.component_of[places.num_at[around]] != number)
    }
    touched |= {places.component_of[num] for num in in_the_way}
    before = _where(
        geometry,
        {num for number in touched if number in places.components for num in places.members(number)} | standing.keys(),
    )
    homeless = {num: places.component_of[num] for num in sorted(in_the_way)}
    geometry.change(in_the_way, standing, checked=False)
    for number in sorted(touched & places.components.keys()):
        for fragment in places.parts_of(places.members(number))[1:]:
            homeless.update(dict.fromkeys(fragment, number))
    geometry.change([num for num in homeless if num in places.key_of], {}, checked=False)
    for num, number in homeless.items():
        if number not in places.components or not _grow(geometry, num, number):
            vector = geometry.vectors_of([num])[0]
            placement = geometry.plan(vector, {}, [])
            geometry.change((), {num: (placement.voxel, placement.component)})
    return _step(geometry, before)


def _sharing(key: int) -> set[int]:
    return {vertex + step for vertex in corner_keys(key) for step in AROUND_VERTEX}


# --- shared --------------------------------------------------------------------------------------


def _in_turn(geometry: Geometry, makers: Iterable[Callable[[], Proposal | None]]) -> tuple[Proposal, ...]:
    """Each proposal is made on the state that those before it leave."""
    found = []
    with geometry.rehearsal():
        for make in makers:
            if (proposal := make()) is not None:
                found.append(proposal)
                for step in proposal.steps:
                    geometry.change((), standing_of(step))
    return tuple(found)


def _grow(geometry: Geometry, num: int, number: int) -> bool:
    """Let a memory stand at a component, beside its nearest members; False when nothing is free there."""
    members = geometry.places.components[number].members
    some = members[:: max(1, len(members) // _ANCHOR_SAMPLE)]
    alike = likeness(geometry, num, some)
    best = np.argsort(-alike, kind="stable")[: geometry.settings.anchors]
    known = [(some[at], float(alike[at])) for at in best.tolist()]
    key = geometry.free_voxel_in(number, geometry.vectors_of([num])[0], known)
    if key is None:
        return False
    try:
        geometry.change((), {num: (unpack(key), number)}, keeps_frames=True)
    except Misfit:
        return False
    return True


Where = dict[int, tuple[Voxel | None, int]]


def _where(geometry: Geometry, nums: Iterable[int]) -> Where:
    places = geometry.places
    return {n: (places.voxel_of(n), places.component_of[n]) if n in places.key_of else (None, 0) for n in nums}


def _step(geometry: Geometry, before: Where) -> Step:
    """What has moved since `before`."""
    after = _where(geometry, before)
    return tuple(
        Shift(num, *before[num], voxel, number)
        for num, (voxel, number) in after.items()
        if voxel is not None and (voxel, number) != before[num]
    )


def _cut(shifts: Sequence[Shift], most: int) -> tuple[Step, ...]:
    return tuple(tuple(shifts[start : start + most]) for start in range(0, len(shifts), most))


def _voxel(point: Sequence[int]) -> Voxel:
    return point[0], point[1], point[2]
