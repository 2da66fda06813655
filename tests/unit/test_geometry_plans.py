"""Rearranging places: what changes is valid or nothing changes, rehearsals leave no trace, maps mean something."""

from __future__ import annotations

import numpy as np
import pytest

from tetrarium.geometry import layout, plans, settle
from tetrarium.geometry.health import examine, usable
from tetrarium.geometry.lattice import CELL, block, cell, pack_all
from tetrarium.geometry.paths import shortest_path
from tetrarium.geometry.places import Misfit, Places, connected_components
from tetrarium.model import Int32


def row_of(count: int, component: int = 1, start: int = 0) -> Places:
    """Memories 1 … count in a row along i, each sharing vertices with the next."""
    places = Places()
    for num in range(1, count + 1):
        places.add(num, (start + num, 0, 0), component)
    return places


def everything(places: Places) -> tuple[object, ...]:
    members = {number: (tuple(c.members), tuple(c.place_sum)) for number, c in places.components.items()}
    return dict(places.key_of), dict(places.component_of), dict(places.owner_of), dict(+places.filled), members


@pytest.mark.parametrize(
    "standing",
    [
        {3: ((5, 0, 0), 1)},  # taken
        {3: ((50, 0, 0), 1)},  # hangs in the air, and the row is cut
        {3: ((6, 0, 0), 1)},  # the row is cut where it stood
        {5: ((2, 1, 0), 7)},  # touches another component
        {9: ((5, 1, 0), 1), 10: ((5, 1, 0), 1)},  # two in one
    ],
)
def test_a_change_that_would_break_an_invariant_changes_nothing(
    standing: dict[int, tuple[tuple[int, int, int], int]],
) -> None:
    places = row_of(5)
    before = everything(places)
    with pytest.raises(Misfit):
        places.change((), standing)
    assert everything(places) == before


def test_a_change_moves_comes_and_goes_at_once() -> None:
    places = row_of(5)
    touched = places.change([5], {1: ((2, 1, 0), 1), 9: ((40, 0, 0), 4)})
    assert touched == {1, 4}
    assert 5 not in places.key_of
    assert places.voxel_of(1) == (2, 1, 0)
    assert places.members(4) == (9,)
    assert places.next_component == 5
    voxels = np.array([places.voxel_of(n) for n in sorted(places.key_of)], np.int32)
    assert len(np.unique(connected_components(voxels))) == 2


def test_two_memories_swap_their_places() -> None:
    places = row_of(5)
    places.change((), {1: ((3, 0, 0), 1), 3: ((1, 0, 0), 1)})
    assert (places.voxel_of(1), places.voxel_of(3)) == ((3, 0, 0), (1, 0, 0))


def test_leaving_in_order_keeps_the_rest_connected() -> None:
    places = row_of(9)
    for num in places.leaves_first(places.members(1)):
        assert places.remove(num) == {}


def test_parts_are_the_connected_sets_of_some_memories() -> None:
    assert row_of(7).parts_of([1, 2, 4, 6, 7]) == [[1, 2], [6, 7], [4]]


def test_a_shortest_path_walks_the_row_and_ends_at_a_gap() -> None:
    places = row_of(6)
    places.add(9, (40, 0, 0), 2)
    assert shortest_path(places, 1, 6) == [1, 2, 3, 4, 5, 6]
    assert shortest_path(places, 4, 4) == [4]
    assert shortest_path(places, 1, 9) == []
    assert shortest_path(places, 1, 77) == []


def test_settling_brings_relatives_together_in_the_same_voxels() -> None:
    rng = np.random.default_rng(4)
    angle = rng.permutation(60) / 60 * 2 * np.pi
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    voxels = np.array([(i, j, 0) for i in range(10) for j in range(6)], np.int32)
    at = settle.settled(rows, voxels)
    assert sorted(at.tolist()) == list(range(60))
    assert (at == settle.settled(rows, voxels)).all()
    near = settle.nearest(rows)

    def length(spots: Int32) -> float:
        return float(np.linalg.norm(spots[near] - spots[:, None], axis=2).mean())

    assert length(voxels[at]) < 0.7 * length(voxels)


def test_a_permutation_in_small_steps_ends_where_it_should() -> None:
    rng = np.random.default_rng(2)
    for count, most in ((12, 3), (40, 8), (7, 64)):
        at = rng.permutation(count)
        voxels = np.array([(i, 0, 0) for i in range(count)], np.int32)
        stands = {num: (num - 100, 0, 0) for num in range(100, 100 + count)}
        for step in plans._rotations(tuple(stands), voxels, at, 1, most):
            assert len(step) <= most
            assert {shift.source for shift in step} == {shift.target for shift in step}
            for shift in step:
                assert stands[shift.num] == shift.source
            stands.update({shift.num: shift.target for shift in step})
        assert [stands[100 + i][0] for i in range(count)] == at.tolist()


def test_a_layout_puts_like_near_like_and_keeps_clusters_apart() -> None:
    rng = np.random.default_rng(6)
    meanings = rng.normal(size=(40, 3)).astype(np.float32)
    radii = rng.uniform(5, 15, 40)
    spots = layout.spread(meanings, np.ones(40), radii, rng.normal(size=(40, 3)) * 100)
    one, other = np.triu_indices(40, 1)
    apart = np.linalg.norm(spots[one] - spots[other], axis=1)
    alike = np.einsum("nd,nd->n", meanings[one], meanings[other])
    assert apart[alike >= np.quantile(alike, 0.9)].mean() < 0.7 * apart[alike <= np.quantile(alike, 0.1)].mean()
    clusters = [np.array([(i, 0, 0) for i in range(int(r))], np.int32) for r in radii]
    gap = tuple(CELL * step for step in block(1))
    vectors = layout.snapped(spots, clusters, gap)
    assert all(int(vector.sum()) % 2 == 0 for vector in vectors)
    cells = [{cell(key) for key in pack_all(c + v).tolist()} for c, v in zip(clusters, vectors, strict=True)]
    for at, mine in enumerate(cells):
        around = {one + step for one in mine for step in gap}
        assert all(not around & theirs for theirs in cells[:at])


def test_sound_places_show_no_damage() -> None:
    nums = np.arange(1, 6)
    voxels = np.array([(i, 0, 0) for i in range(5)], np.int32)
    damage = examine(nums, voxels, np.ones(5, np.int64), 2)
    assert (damage.unplaced, damage.labels, damage.met, damage.torn) == ((), {}, (), ())
    assert examine(nums[:0], voxels[:0], nums[:0], 1).unplaced == ()


def test_the_first_of_two_in_one_voxel_keeps_it() -> None:
    voxels = np.array([(0, 0, 0), (1, 0, 0), (0, 0, 0), (2**21, 0, 0)], np.int32)
    assert usable(np.arange(1, 5), voxels, np.array([1, 1, 1, 1])).tolist() == [True, True, False, False]


def test_a_torn_component_keeps_its_id_on_the_larger_part() -> None:
    voxels = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (80, 0, 0), (81, 0, 0)], np.int32)
    damage = examine(np.arange(1, 6), voxels, np.full(5, 3), 9)
    assert damage.labels == {4: 9, 5: 9}
    assert damage.torn == (3,)


def test_of_two_components_that_met_the_larger_takes_both() -> None:
    voxels = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0)], np.int32)
    damage = examine(np.arange(1, 4), voxels, np.array([5, 5, 2]), 9)
    assert damage.labels == {3: 5}
    assert damage.met == (2, 5)


def test_a_layout_of_few_or_equal_clusters_still_keeps_them_apart() -> None:
    for count in (2, 3, 9):
        spots = layout.spread(
            np.ones((count, 4), np.float32), np.ones(count), np.full(count, 6.0), np.zeros((count, 3))
        )
        assert np.isfinite(spots).all()
        clusters = [np.array([(0, 0, 0), (1, 0, 0)], np.int32)] * count
        vectors = layout.snapped(spots, clusters, tuple(CELL * step for step in block(1)))
        assert len({tuple(vector.tolist()) for vector in vectors}) == count
