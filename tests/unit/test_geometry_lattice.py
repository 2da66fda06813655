"""The octet lattice keeps what S1 promises of tetrahedra."""

import itertools

import numpy as np
import pytest

from tetrarium.errors import InvalidInput
from tetrarium.geometry import lattice
from tetrarium.model import Float64

BOX = np.array(list(itertools.product(range(-2, 3), repeat=3)), np.int32)


def test_every_tetrahedron_is_regular_with_edge_one() -> None:
    for corners in lattice.vertices(BOX):
        edges = [np.linalg.norm(a - b) for a, b in itertools.combinations(corners, 2)]
        assert edges == pytest.approx([1.0] * 6, abs=1e-6)


def test_vertices_are_even_integer_points_and_the_centre_is_their_mean() -> None:
    assert (lattice.corners(BOX).sum(axis=2) % 2 == 0).all()
    assert lattice.vertices(BOX).mean(axis=1) == pytest.approx(lattice.centres(BOX), abs=1e-6)


def test_orientation_is_the_parity_of_the_place() -> None:
    assert lattice.parity(np.array([[0, 0, 0], [1, 0, 0], [-1, -1, 1], [-3, 2, 2]], np.int32)).tolist() == [0, 1, 1, 1]


def test_six_neighbours_share_an_edge_sixteen_a_vertex_and_four_nothing() -> None:
    mine = set(lattice.corner_keys(lattice.pack((0, 0, 0))))
    shared = [len(mine & set(lattice.corner_keys(lattice.pack((0, 0, 0)) + step))) for step in lattice.AROUND_VOXEL]
    assert [shared.count(n) for n in (2, 1, 0)] == [6, 16, 4]


def test_keys_and_arrays_tell_the_same_vertices() -> None:
    for voxel, corners in zip(BOX.tolist(), lattice.corners(BOX), strict=True):
        key = lattice.pack(tuple(voxel))
        assert lattice.unpack(key) == tuple(voxel)
        assert sorted(lattice.corner_keys(key)) == sorted(lattice.pack_all(corners).tolist())
        assert all(key in {v + step for step in lattice.AROUND_VERTEX} for v in lattice.corner_keys(key))


def test_keys_order_like_places() -> None:
    voxels = [(-3, 5, 0), (-3, 5, 1), (-3, 6, -9), (0, 0, 0), (2, -7, 4)]
    assert [lattice.unpack(k) for k in sorted(map(lattice.pack, reversed(voxels)))] == voxels


def test_a_cell_holds_its_voxels() -> None:
    assert lattice.unpack(lattice.cell(lattice.pack((9, -1, 7)))) == (8, -8, 0)


def test_tetrahedra_of_different_voxels_touch_but_do_not_interpenetrate() -> None:
    home = lattice.vertices(np.array([[2, 2, 2]], np.int32))[0].astype(float)
    for voxel in BOX + 2:
        if (voxel == 2).all():
            continue
        assert _penetration(home, lattice.vertices(voxel[None])[0].astype(float)) < 1e-6


def test_the_same_tetrahedron_twice_would_be_found_to_interpenetrate() -> None:
    home = lattice.vertices(np.zeros((1, 3), np.int32))[0].astype(float)
    assert _penetration(home, home) > 0.5


def test_distinct_vertices_are_never_nearer_than_epsilon() -> None:
    points = np.unique(lattice.vertices(BOX).reshape(-1, 3).round(4), axis=0)
    assert lattice.are_apart(points)
    assert lattice.are_apart(points, 0.99)


@pytest.mark.parametrize("shift", [(0.04, 0, 0), (-0.02, 0.03, 0.03), (0, 0, 0)])
def test_two_points_nearer_than_epsilon_are_found(shift: tuple[float, float, float]) -> None:
    points = lattice.vertices(BOX).reshape(-1, 3).astype(float)
    points = np.unique(points.round(4), axis=0)
    assert not lattice.are_apart(np.vstack([points, points[17] + shift]))


def test_foreign_vertices_within_epsilon_are_snapped() -> None:
    exact = lattice.corners(BOX).reshape(-1, 3)
    foreign = exact * lattice.WORLD_UNITS_PER_STEP + 0.028
    assert (lattice.snap(foreign) == exact).all()


@pytest.mark.parametrize("point", [(0.06, 0.0, 0.0), (lattice.WORLD_UNITS_PER_STEP, 0.0, 0.0)])
def test_foreign_vertices_beyond_epsilon_or_on_odd_points_are_refused(point: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidInput, match="no vertices of the lattice"):
        lattice.snap(np.array([point]))


def test_a_place_outside_the_lattice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="outside the lattice"):
        lattice.pack_all(np.array([[0, lattice.REACH + 1, 0]]))


def _penetration(one: Float64, other: Float64) -> float:
    """Least overlap over the 44 separating axes of two tetrahedra, (4, 3) each; ≤ 0 when they only touch."""

    def edges(t: Float64) -> list[Float64]:
        return [t[j] - t[i] for i, j in itertools.combinations(range(4), 2)]

    def normals(t: Float64) -> list[Float64]:
        return [np.cross(t[b] - t[a], t[c] - t[a]) for a, b, c in itertools.combinations(range(4), 3)]

    axes = [*normals(one), *normals(other), *(np.cross(a, b) for a in edges(one) for b in edges(other))]
    overlaps: list[float] = []
    for axis in axes:
        length = np.linalg.norm(axis)
        if length > 1e-6:
            a, b = one @ axis / length, other @ axis / length
            overlaps.append(float(min(a.max(), b.max()) - max(a.min(), b.min())))
    return min(overlaps)
