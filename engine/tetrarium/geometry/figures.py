"""How good a landscape is, in figures: S1's for the whole space, and those of one cluster.

Nobody tells the space its topics, so purity is measured by the space's own similarity: a memory counts as pure when
it is more like its own cluster – itself aside – than like any other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tetrarium.geometry.lattice import WORLD_UNITS_PER_STEP, unpack
from tetrarium.geometry.meaning import rows_of
from tetrarium.geometry.placement import Geometry
from tetrarium.geometry.similarity import VECTOR_SHARE
from tetrarium.model import Bool, SpaceFigures

SAMPLE = 512
"""Memories of the space that its purity looks at, evenly over their numbers."""

_MEMBERS = 2_048
"""Members of one cluster that its figures look at."""


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    """Figures of `model.ClusterDetail`; medoid: num."""

    purity: float
    entropy: float
    radius: float
    medoid: int


def cluster_figures(geometry: Geometry, number: int) -> ClusterFigures:
    """Purity, entropy, radius and medoid of a component; over at most 2,048 members, evenly chosen."""
    members = geometry.places.members(number)
    some = members[:: max(1, len(members) // _MEMBERS)]
    rows = rows_of(geometry, some)
    spots = np.array([unpack(geometry.places.key_of[num]) for num in some], np.float64)
    away = np.linalg.norm(spots - geometry.places.components[number].centre, axis=1)
    return ClusterFigures(
        purity=float(_at_home(geometry, some[:: max(1, len(some) // SAMPLE)]).mean()),
        entropy=_entropy(geometry.keyword_counts(number)),
        radius=float(np.percentile(away, 95)) * WORLD_UNITS_PER_STEP,
        medoid=some[int((rows @ rows.sum(axis=0)).argmax())],
    )


def space_figures(geometry: Geometry) -> SpaceFigures:
    """S1's figures of what stands; zeros for an empty space."""
    places = geometry.places
    if not len(places):
        return SpaceFigures(0.0, 0.0, 0.0, 0.0, 0.0)
    sizes = {number: len(c.members) for number, c in places.components.items()}
    grouped = [size for size in sizes.values() if size > 1]
    clustered = [num for num in sorted(places.key_of) if sizes[places.component_of[num]] > 1]
    some = clustered[:: max(1, len(clustered) // SAMPLE)]
    touched = [len(places.neighbours(num)) / (sizes[places.component_of[num]] - 1) for num in some]
    return SpaceFigures(
        purity=float(_at_home(geometry, some).mean()) if some else 1.0,
        association_density=float(np.mean(touched)) if some else 0.0,
        orphan_rate=(len(places) - len(clustered)) / len(places),
        shared_vertices=4 - places.vertex_count / len(places),
        mean_size=float(np.mean(grouped)) if grouped else 0.0,
    )


def _at_home(geometry: Geometry, nums: Sequence[int]) -> Bool:
    """(n,) whether each memory is more like its own component, itself aside, than like any other of two or more."""
    components, scale = geometry.places.components, geometry.calibration
    numbers = [number for number, c in components.items() if len(c.members) > 1]
    if not numbers:
        return np.zeros(len(nums), np.bool_)
    column = {number: at for at, number in enumerate(numbers)}
    cores = [geometry.core_of(number) for number in numbers]
    sizes = np.array([len(components[number].members) for number in numbers], np.float64)
    holders: dict[int, list[tuple[int, int]]] = {}
    wanted = {word for ids in geometry.keywords_of(nums) for word in ids}
    for at, core in enumerate(cores):
        for word in core.keyword_counts.keys() & wanted:
            holders.setdefault(word, []).append((at, core.keyword_counts[word]))
    sums = np.array([core.vector_sum for core in cores], np.float32).reshape(len(cores), -1)
    vectors = geometry.vectors_of(nums)
    dots = vectors @ sums.T
    home = np.zeros(len(nums), np.bool_)
    for row, (num, ids) in enumerate(zip(nums, geometry.keywords_of(nums), strict=True)):
        shared = np.zeros(len(numbers))
        weights = {word: geometry.rarity_of(word) ** 2 for word in ids}
        for word, weight in weights.items():
            for at, count in holders.get(word, ()):
                shared[at] += weight * count
        whole = sum(weights.values()) or 1.0
        own = column.get(geometry.places.component_of[num], -1)
        cosines, others = dots[row].astype(np.float64), sizes.copy()
        if own >= 0:
            cosines[own] -= float(vectors[row] @ vectors[row])
            shared[own] -= sum(weights.values())
            others[own] -= 1
        by_vector = (cosines / others - scale.cosine_mean) / scale.cosine_std * vectors[row].any()
        by_keywords = (shared / (whole * others) - scale.keyword_mean) / scale.keyword_std
        alike = VECTOR_SHARE * by_vector + (1 - VECTOR_SHARE) * by_keywords
        # Small clusters are damped as they are in a placement: a pair that shares a project is no topic.
        alike = np.where(alike > 0, alike * sizes / (sizes + geometry.settings.component_prior), alike)
        home[row] = own >= 0 and alike[own] >= alike.max()
    return home


def _entropy(counts: Mapping[int, int]) -> float:
    total = sum(counts.values())
    if len(counts) < 2:
        return 0.0
    return -sum(n / total * math.log(n / total) for n in counts.values()) / math.log(len(counts))
