"""Pass 2: whole clusters go, the best stay, and nothing goes when all is on topic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tetrarium.config import Settings
from tetrarium.recall.voids import Carving, average_linkage, carve, jaccard

ON_TOPIC = ("payments", "refund", "webhook")
OFF_TOPIC = ("kubernetes", "ingress", "probe")


def carved(keywords: list[tuple[str, ...]], *, guarded: list[int] | None = None, target: float = 0.3) -> Carving:
    guard = np.zeros(len(keywords), np.bool_)
    guard[guarded or []] = True
    return carve(keywords, guarded=guard, rarity=lambda _: 2.0, void_target=target, settings=Settings())


def test_an_off_topic_cluster_is_carved_as_one_zone_with_its_theme() -> None:
    result = carved([ON_TOPIC] * 8 + [OFF_TOPIC] * 4)
    assert result.void.tolist() == [False] * 8 + [True] * 4
    (zone,) = result.zones
    assert zone.members == (8, 9, 10, 11)
    assert set(zone.theme) == set(OFF_TOPIC)
    assert zone.gap > 0


def test_nothing_is_voided_when_every_candidate_is_on_topic() -> None:
    result = carved([(*ON_TOPIC[:2], f"detail{i}") for i in range(20)])
    assert not result.void.any()
    assert "nothing was voided" in result.note


def test_the_best_candidates_are_never_voided() -> None:
    result = carved([OFF_TOPIC, OFF_TOPIC, OFF_TOPIC] + [ON_TOPIC] * 9)
    assert not result.void[:3].any()


def test_a_candidate_with_a_rare_identifier_of_the_question_is_never_voided() -> None:
    assert carved([ON_TOPIC] * 8 + [OFF_TOPIC] * 4).void[9]
    assert not carved([ON_TOPIC] * 8 + [OFF_TOPIC] * 4, guarded=[9]).void[9]


def test_a_dial_of_zero_voids_nothing_and_a_higher_dial_never_voids_less() -> None:
    keywords = [ON_TOPIC] * 6 + [("payments", "ledger")] * 3 + [("kafka", "payments")] * 3 + [OFF_TOPIC] * 5
    voided = [int(carved(keywords, target=target).void.sum()) for target in (0.0, 0.15, 0.3, 0.45, 0.6)]
    assert voided[0] == 0
    assert voided == sorted(voided)
    assert voided[2] >= 5


@pytest.mark.parametrize("count", [0, 1, 3])
def test_few_candidates_are_left_alone(count: int) -> None:
    assert not carved([OFF_TOPIC] * count).void.any()


def test_clusters_do_not_depend_on_the_order_of_the_candidates() -> None:
    keywords = [("a", "b"), ("a", "b", "c"), ("b", "c"), ("x", "y"), ("x", "y", "z"), ("q",)]
    expected = {frozenset({0, 1, 2}), frozenset({3, 4}), frozenset({5})}
    for order in itertools.permutations(range(6)):
        clusters = average_linkage(jaccard([keywords[i] for i in order]), 0.25)
        assert {frozenset(order[i] for i in cluster.tolist()) for cluster in clusters} == expected


def test_clusters_are_those_of_joining_the_best_pair_again_and_again() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        words = [tuple({f"w{x}" for x in rng.integers(0, 12, 4)}) for _ in range(25)]
        similarity = jaccard(words) + rng.normal(0, 1e-6, (25, 25))
        similarity = (similarity + similarity.T) / 2
        found = {frozenset(cluster.tolist()) for cluster in average_linkage(similarity, 0.15)}
        assert found == naive_average_linkage(similarity, 0.15)


def naive_average_linkage(similarity: np.ndarray, threshold: float) -> set[frozenset[int]]:
    clusters = [frozenset({i}) for i in range(len(similarity))]
    while len(clusters) > 1:
        pairs = itertools.combinations(clusters, 2)
        best, one, other = max((float(np.mean([similarity[i, j] for i in a for j in b])), a, b) for a, b in pairs)
        if best < threshold:
            break
        clusters = [c for c in clusters if c not in (one, other)] + [one | other]
    return set(clusters)
