"""Placing memories: topics become components, and nothing that stands moves."""

import numpy as np
import pytest

from tetrarium.config import DEFAULTS
from tetrarium.errors import Bug
from tetrarium.geometry.lattice import WORLD_UNITS_PER_STEP, Voxel
from tetrarium.geometry.placement import Geometry, Placement
from tetrarium.geometry.places import connected_components
from tetrarium.geometry.similarity import Calibration
from tetrarium.model import Float32, Int32, Int64

CALIBRATION = Calibration(cosine_mean=0.0, cosine_std=0.25, keyword_mean=0.0, keyword_std=0.25, tau=1.5)


Arrays = tuple[Int64, Int32, Int64]
"""nums, voxels, components"""


def same(one: Arrays, other: Arrays) -> bool:
    return [a.tolist() for a in one] == [a.tolist() for a in other]


class Space:
    """A few topics, each a direction and a keyword; similarity is worked out exactly."""

    def __init__(self, topics: int = 4, seed: int = 5, spread: float = 0.5) -> None:
        self.rng = np.random.default_rng(seed)
        self.directions = np.eye(16)[:topics]
        self.spread = spread
        self.vectors: dict[int, Float32] = {}
        self.topic: dict[int, int] = {}
        self.geometry = self.empty()

    def empty(self) -> Geometry:
        return Geometry(
            DEFAULTS,
            CALIBRATION,
            lambda nums: np.array([self.vectors[n] for n in nums], np.float32),
            lambda nums: [(self.topic[n],) for n in nums],
        )

    def vector(self, topic: int) -> Float32:
        raw = self.directions[topic] + self.rng.normal(size=16) * self.spread / 4
        vector: Float32 = (raw / np.linalg.norm(raw)).astype(np.float16).astype(np.float32)
        return vector

    def plan(self, vector: Float32, topic: int, geometry: Geometry | None = None) -> Placement:
        nums = list(self.vectors)
        alike = [2 * float(self.vectors[n] @ vector) + 2 * (self.topic[n] == topic) for n in nums]
        relatives = sorted(zip(nums, alike, strict=True), key=lambda r: -r[1])[:16]
        return (geometry or self.geometry).plan(vector, {topic: 1.0}, relatives)

    def store(self, num: int, topic: int) -> Placement:
        vector = self.vector(topic)
        placement = self.plan(vector, topic)
        self.vectors[num], self.topic[num] = vector, topic
        self.geometry.add(num, placement, vector, [topic])
        return placement

    def arrays(self, geometry: Geometry | None = None) -> Arrays:
        places = (geometry or self.geometry).places
        nums = np.array(sorted(places.key_of), np.int64)
        voxels = np.array([places.voxel_of(n) for n in nums.tolist()], np.int32).reshape(-1, 3)
        return nums, voxels, np.array([places.component_of[n] for n in nums.tolist()], np.int64)


@pytest.fixture(scope="module")
def grown() -> Space:
    space = Space()
    for num in range(240):
        space.store(num, int(space.rng.integers(4)))
    return space


def test_the_first_memory_stands_at_the_origin() -> None:
    placement = Space().store(0, 0)
    assert placement == Placement((0, 0, 0), 1, 0, is_new_component=True)


def test_a_relative_shares_vertices_with_the_component() -> None:
    space = Space()
    space.store(0, 0)
    placement = space.store(1, 0)
    assert placement.component == 1
    assert placement.merged_vertices >= 1
    assert space.geometry.places.neighbours(0) == (1,)


def test_every_topic_becomes_one_component(grown: Space) -> None:
    topics_of = [{grown.topic[n] for n in grown.geometry.places.members(c)} for c in grown.geometry.places.components]
    assert sorted(map(sorted, topics_of)) == [[0], [1], [2], [3]]


def test_components_are_what_a_search_from_scratch_finds(grown: Space) -> None:
    _, voxels, components = grown.arrays()
    labels = connected_components(voxels)
    assert len(set(zip(labels.tolist(), components.tolist(), strict=True))) == len(set(components.tolist()))


def test_clusters_merge_most_of_their_vertices(grown: Space) -> None:
    assert grown.geometry.places.vertex_count < 0.5 * 4 * len(grown.geometry.places)


def test_new_components_start_far_from_those_that_stand(grown: Space) -> None:
    centres = [c.centre * WORLD_UNITS_PER_STEP for c in grown.geometry.places.components.values()]
    nearest = min(np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i])
    assert nearest > DEFAULTS.component_gap / 2


def test_near_in_meaning_is_near_in_space_within_a_component() -> None:
    space = Space(topics=1, spread=1.2)
    for num in range(200):
        space.store(num, 0)
    _, voxels, _ = space.arrays()
    vectors = np.array([space.vectors[n] for n in range(200)])
    one, other = np.triu_indices(200, 1)
    alike = (vectors @ vectors.T)[one, other]
    apart = np.linalg.norm(voxels[one] - voxels[other], axis=1)
    assert apart[alike >= np.quantile(alike, 0.9)].mean() < 0.85 * apart[alike <= np.quantile(alike, 0.1)].mean()


def test_a_memory_that_nearly_belongs_stands_close_without_touching(grown: Space) -> None:
    vector = grown.vector(0)
    relatives = [(n, 1.0) for n in grown.geometry.places.members(grown.geometry.places.component_of[0])[:8]]
    placement = grown.geometry.plan(vector, {99: 1.0}, relatives)
    assert placement.is_new_component
    steps = [
        np.abs(np.array(placement.voxel) - grown.geometry.places.voxel_of(n)).max()
        for n in grown.geometry.places.members(grown.geometry.places.component_of[0])
    ]
    assert DEFAULTS.component_block // 2 < min(steps) <= DEFAULTS.component_gap


def test_one_close_memory_does_not_open_a_component_that_means_something_else(grown: Space) -> None:
    stranger = np.zeros(16, np.float32)
    stranger[9] = 1.0
    assert grown.geometry.plan(stranger, {99: 1.0}, [(0, 5.0)]).is_new_component


def test_planning_changes_nothing_and_gives_the_same_place_again(grown: Space) -> None:
    before = grown.arrays()
    vector = grown.vector(2)
    assert grown.plan(vector, 2) == grown.plan(vector, 2)
    assert same(before, grown.arrays())


def test_the_same_memories_in_the_same_order_get_the_same_places() -> None:
    spaces = [Space(seed=8), Space(seed=8)]
    placements = [[space.store(num, num % 4) for num in range(60)] for space in spaces]
    assert placements[0] == placements[1]


def test_a_space_rebuilt_from_its_integers_is_identical_and_plans_the_same(grown: Space) -> None:
    nums, voxels, components = grown.arrays()
    again = grown.empty()
    assert again.load(nums[::-1], voxels[::-1], components[::-1], grown.geometry.places.next_component) == {}
    places = grown.geometry.places
    assert again.places.owner_of == places.owner_of
    assert again.places.filled == places.filled
    assert again.places.next_component == places.next_component
    assert {c: again.places.members(c) for c in again.places.components} == {
        c: places.members(c) for c in places.components
    }
    for topic in (0, 1, 2, 3):
        vector = grown.vector(topic)
        assert grown.plan(vector, topic, again) == grown.plan(vector, topic)


def test_an_empty_space_loads() -> None:
    geometry = Space().empty()
    assert geometry.load(np.zeros(0, np.int64), np.zeros((0, 3), np.int32), np.zeros(0, np.int64), 7) == {}
    assert geometry.places.next_component == 7


def test_removing_the_last_user_of_a_vertex_removes_the_vertex() -> None:
    space = Space()
    space.store(0, 0)
    space.store(1, 0)
    merged = 8 - space.geometry.places.vertex_count
    assert merged >= 1
    assert space.geometry.remove(1) == {}
    assert space.geometry.places.vertex_count == 4
    assert space.geometry.remove(0) == {}
    assert space.geometry.places.vertex_count == len(space.geometry.places.components) == 0


def test_a_memory_that_held_two_parts_together_leaves_two_components() -> None:
    geometry = Space().empty()
    line = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], np.int32)
    geometry.load(np.arange(4), line, np.full(4, 6))
    assert geometry.remove(1) == {0: 7}
    assert geometry.places.component_of == {0: 7, 2: 6, 3: 6}
    assert geometry.places.next_component == 8


def test_a_component_id_is_never_used_again() -> None:
    space = Space()
    gone = space.store(0, 0).component
    space.geometry.remove(0)
    del space.vectors[0], space.topic[0]
    assert space.store(1, 1).component == gone + 1


def test_two_components_that_met_in_the_store_load_as_one() -> None:
    geometry = Space().empty()
    line = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], np.int32)
    assert geometry.load(np.arange(3), line, np.array([4, 4, 9])) == {2: 4}
    assert set(geometry.places.owner_of.values()) == {4}
    assert geometry.places.next_component == 10


@pytest.mark.parametrize(
    ("num", "voxel", "component"), [(5, (0, 0, 0), 1), (0, (9, 9, 9), 5), (5, (1, 0, 0), 5)], ids=str
)
def test_a_place_that_breaks_an_invariant_is_refused(num: int, voxel: Voxel, component: int) -> None:
    space = Space()
    space.store(0, 0)
    with pytest.raises(Bug):
        space.geometry.add(num, Placement(voxel, component, 0, is_new_component=False), space.vector(0), [0])


def test_an_edited_memory_keeps_its_place_and_changes_what_its_component_means(grown: Space) -> None:
    space = Space(topics=2)
    for num in range(6):
        space.store(num, 0)
    before = space.arrays()
    for num in range(6):
        space.vectors[num], space.topic[num] = space.vector(1), 1
        space.geometry.refresh(num)
    assert same(before, space.arrays())
    assert space.geometry.keyword_counts(1) == {1: 6}
    assert space.store(6, 1).component == 1


def test_a_component_that_is_walled_in_on_all_sides_still_takes_its_memory_somewhere() -> None:
    space = Space()
    space.store(0, 0)
    block = [(i, j, k) for i in range(-2, 3) for j in range(-2, 3) for k in range(-2, 3) if (i, j, k) != (0, 0, 0)]
    shares = [v for v in block if max(map(abs, v)) == 2]
    wall = space.empty()
    nums = np.arange(len(shares) + 1)
    wall.load(nums, np.array([(0, 0, 0), *shares], np.int32), np.array([1] + [2] * len(shares)))
    placement = space.plan(space.vector(0), 0, wall)
    assert placement.is_new_component or placement.component == 1
    assert placement.voxel not in [(0, 0, 0), *shares]
