"""Whatever is stored and removed in whatever order, the geometry keeps its invariants."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tetrarium.config import DEFAULTS
from tetrarium.geometry.lattice import are_apart, corner_keys, vertices
from tetrarium.geometry.placement import Geometry, Placement
from tetrarium.geometry.places import connected_components
from tetrarium.geometry.similarity import Calibration
from tetrarium.model import Float32, Int32, Int64

CALIBRATION = Calibration(cosine_mean=0.0, cosine_std=0.5, keyword_mean=0.0, keyword_std=0.5, tau=1.2)
TOPICS = 5

Steps = list[tuple[int, int] | float]

memory = st.tuples(st.integers(0, TOPICS - 1), st.integers(0, 10_000))
removal = st.floats(0, 1, exclude_max=True)
series = st.lists(st.one_of(memory, memory, removal), min_size=1, max_size=120)


def vector_of(topic: int, seed: int) -> Float32:
    """A unit vector near its topic's, rounded as the store does."""
    raw = np.eye(8)[topic] + np.random.default_rng(seed).normal(size=8) * 0.3
    vector: Float32 = (raw / np.linalg.norm(raw)).astype(np.float16).astype(np.float32)
    return vector


Arrays = tuple[Int64, Int32, Int64]
"""nums, voxels, components"""


def same(one: Arrays, other: Arrays) -> bool:
    return [a.tolist() for a in one] == [a.tolist() for a in other]


class Run:
    """Applies a series: a memory is (topic, seed) and is stored, a share between 0 and 1 removes the one at it."""

    def __init__(self, steps: Steps) -> None:
        self.vectors: dict[int, Float32] = {}
        self.topic: dict[int, int] = {}
        self.geometry = self.empty()
        for num, step in enumerate(steps):
            if isinstance(step, tuple):
                self.store(num, *step)
            elif self.vectors:
                self.remove(sorted(self.vectors)[int(step * len(self.vectors))])

    def empty(self) -> Geometry:
        return Geometry(
            DEFAULTS,
            CALIBRATION,
            lambda nums: np.array([self.vectors[n] for n in nums], np.float32),
            lambda nums: [(self.topic[n],) for n in nums],
        )

    def plan(self, vector: Float32, topic: int, geometry: Geometry | None = None) -> Placement:
        alike = [(n, float(v @ vector) + (self.topic[n] == topic)) for n, v in self.vectors.items()]
        nearest = sorted(alike, key=lambda r: (-r[1], r[0]))[:12]
        return (geometry or self.geometry).plan(vector, {topic: 1.0}, nearest)

    def store(self, num: int, topic: int, seed: int) -> None:
        vector = vector_of(topic, seed)
        placement = self.plan(vector, topic)
        standing = dict(self.geometry.places.key_of)
        self.vectors[num], self.topic[num] = vector, topic
        self.geometry.add(num, placement, vector, [topic])
        assert standing.items() <= self.geometry.places.key_of.items()

    def remove(self, num: int) -> None:
        before = dict(self.geometry.places.component_of)
        moved = self.geometry.remove(num)
        del self.vectors[num], self.topic[num], before[num]
        assert self.geometry.places.component_of == before | moved

    def arrays(self) -> Arrays:
        places = self.geometry.places
        nums = sorted(places.key_of)
        voxels = np.array([places.voxel_of(n) for n in nums], np.int32).reshape(-1, 3)
        return np.array(nums, np.int64), voxels, np.array([places.component_of[n] for n in nums], np.int64)


@settings(max_examples=60, deadline=None)
@given(series)
def test_no_two_tetrahedra_interpenetrate_and_no_two_vertices_nearly_meet(steps: Steps) -> None:
    _, voxels, _ = Run(steps).arrays()
    assert len(np.unique(voxels, axis=0)) == len(voxels)
    if len(voxels):
        assert are_apart(np.unique(vertices(voxels).reshape(-1, 3).round(4), axis=0))


@settings(max_examples=60, deadline=None)
@given(series)
def test_components_equal_a_search_from_scratch(steps: Steps) -> None:
    run = Run(steps)
    nums, voxels, components = run.arrays()
    pairs = set(zip(connected_components(voxels).tolist(), components.tolist(), strict=True))
    assert len(pairs) == len({label for label, _ in pairs}) == len({component for _, component in pairs})
    for number, component in run.geometry.places.components.items():
        mine = components == number
        assert component.members == nums[mine].tolist()
        assert component.place_sum.tolist() == voxels[mine].sum(axis=0).tolist()


@settings(max_examples=60, deadline=None)
@given(series)
def test_every_vertex_has_one_owner_and_a_user(steps: Steps) -> None:
    places = Run(steps).geometry.places
    used = {vertex: places.component_of[n] for n, key in places.key_of.items() for vertex in corner_keys(key)}
    assert places.owner_of == used


@settings(max_examples=40, deadline=None)
@given(series, memory)
def test_a_rebuilt_geometry_equals_the_live_one(steps: Steps, newcomer: tuple[int, int]) -> None:
    run = Run(steps)
    again = run.empty()
    assert again.load(*run.arrays(), next_component=run.geometry.places.next_component) == {}
    for name in ("key_of", "component_of", "num_at", "owner_of", "next_component"):
        assert getattr(again.places, name) == getattr(run.geometry.places, name)
    assert +again.places.filled == +run.geometry.places.filled
    for number in again.places.components:
        assert Counter(again.keyword_counts(number)) == Counter(run.geometry.keyword_counts(number))
    topic, seed = newcomer
    vector = vector_of(topic, seed)
    live, rebuilt = run.plan(vector, topic), run.plan(vector, topic, again)
    assert (live.component, live.is_new_component) == (rebuilt.component, rebuilt.is_new_component)
    if not live.is_new_component:
        assert live == rebuilt


@settings(max_examples=20, deadline=None)
@given(series)
def test_the_same_series_gives_the_same_places(steps: Steps) -> None:
    one, other = Run(steps).arrays(), Run(steps).arrays()
    assert same(one, other)
