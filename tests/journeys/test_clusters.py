"""Clusters through the one door: named, walked, rearranged and taken back, while other things happen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tetrarium
from tetrarium.errors import InvalidInput, NotFound
from tetrarium.events import SpaceChanged
from tetrarium.model import Cause, SpaceSnapshot
from tetrarium.service import MemoryService

TOPICS = {
    "payments": ["refund", "ledger", "invoice", "charge"],
    "kubernetes": ["pod", "helm", "ingress", "node"],
    "登录": ["令牌", "会话", "密码", "刷新"],
}


def fill(space: MemoryService, count: int, first: int = 0) -> list[str]:
    ids = []
    for number in range(first, first + count):
        topic = list(TOPICS)[number % len(TOPICS)]
        word = TOPICS[topic][number % 4]
        text = f"Note {number}: the {topic} {word} was set to {number} minutes after the review of {word}."
        ids.append(str(space.store(text, keywords=[topic, word], force=True).id))
    return ids


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clusters")
    with tetrarium.open_space(path) as space:
        fill(space, 90)
    return path


@pytest.fixture
def grown(folder: Path, tmp_path: Path) -> Iterator[MemoryService]:
    (tmp_path / "space.tetrarium").write_bytes((folder / "space.tetrarium").read_bytes())
    with tetrarium.open_space(tmp_path, settle_size=11) as space:
        yield space


def standing(snapshot: SpaceSnapshot) -> dict[str, tuple[tuple[int, ...], int]]:
    numbers = [snapshot.clusters[at].id for at in snapshot.cluster.tolist()]
    places = map(tuple, snapshot.places.tolist())
    return dict(zip(snapshot.ids, zip(places, numbers, strict=True), strict=True))


def largest(space: MemoryService) -> list[int]:
    return [c.id for c in sorted(space.snapshot().clusters, key=lambda c: (-c.size, c.id))]


def test_a_name_that_a_person_gave_sticks_through_stores_and_restarts(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "space.tetrarium").write_bytes((folder / "space.tetrarium").read_bytes())
    with tetrarium.open_space(tmp_path) as space:
        number = largest(space)[0]
        told = space.cluster(number).name
        assert space.name_cluster(number, "  Money – 钱  ").is_named
        hue = space.cluster(number).hue
        fill(space, 6, first=200)
    with tetrarium.open_space(tmp_path) as again:
        cluster = again.cluster(number)
        assert (cluster.name, cluster.is_named, cluster.hue) == ("Money – 钱", True, hue)
        assert "Money – 钱" in [c.name for c in again.snapshot().clusters]
        back = again.name_cluster(number, "")
        assert not back.is_named
        assert set(back.name.split(" · ")) & set(told.split(" · "))


def test_a_name_is_one_line_of_bounded_length(grown: MemoryService) -> None:
    with pytest.raises(InvalidInput, match="80"):
        grown.name_cluster(largest(grown)[0], "x" * 81)
    with pytest.raises(NotFound):
        grown.name_cluster(9_999, "nobody")


def test_a_cluster_tells_its_words_its_figures_and_its_members(grown: MemoryService) -> None:
    cluster = grown.cluster(largest(grown)[0])
    assert cluster.size == len(cluster.members) == len(set(cluster.members))
    assert cluster.medoid in cluster.members
    assert set(cluster.words) & {word for topic, words in TOPICS.items() for word in (topic, *words)}
    assert 0 <= cluster.entropy <= 1
    assert 0 <= cluster.purity <= 1
    assert cluster.radius > 0


def test_neighbours_share_vertices_and_a_path_leads_through_them(grown: MemoryService) -> None:
    members = grown.cluster(largest(grown)[0]).members
    near = grown.neighbours(members[0])
    assert near
    assert all(n.shared in (1, 2) and n.memory.id in members for n in near)
    assert [n.shared for n in near] == sorted((n.shared for n in near), reverse=True)
    way = [memory.id for memory in grown.path_between(members[0], members[-1])]
    assert way[0] == members[0]
    assert way[-1] == members[-1]
    for one, other in pairwise(way):
        assert other in [n.memory.id for n in grown.neighbours(one)]
    assert [m.id for m in grown.path_between(members[0], members[0])] == [members[0]]


def test_no_path_leads_out_of_a_cluster(grown: MemoryService) -> None:
    one, other = (grown.cluster(number).members[0] for number in largest(grown)[:2])
    assert grown.path_between(one, other) == ()
    with pytest.raises(NotFound):
        grown.neighbours("01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_a_merge_leaves_the_larger_where_it_stands_and_the_old_id_leads_to_it(grown: MemoryService) -> None:
    larger, smaller = largest(grown)[:2]
    before = standing(grown.snapshot())
    told: list[SpaceChanged] = []
    grown.events.subscribe(lambda event: told.append(event) if isinstance(event, SpaceChanged) else None)
    plan = grown.plan_clusters("merge", smaller, onto=larger)
    assert standing(grown.snapshot()) == before
    record = grown.apply_plan(plan)
    after = standing(grown.snapshot())
    assert record.moves == len(plan) == grown.cluster(larger).size - sum(n == larger for _, n in before.values())
    assert all(after[m] == where for m, where in before.items() if where[1] != smaller)
    assert grown.cluster(smaller).id == larger
    assert grown.cluster(larger).aliases == (smaller,)
    assert {m for event in told for m in event.changes.moved} == {move.id for move in plan.moves}
    assert [move.target for move in grown.plan_moves(record.id)] == [move.target for move in plan.moves]

    back = grown.undo_plan(record.id)
    assert standing(grown.snapshot()) == before
    assert grown.cluster(smaller).id == smaller
    assert grown.cluster(larger).aliases == ()
    assert [(p.cause, p.undone_by) for p in grown.plans()] == [(Cause.UNDO, ""), (Cause.MERGE, back.id)]


def test_a_given_name_goes_along_into_a_merge_and_comes_back_with_an_undo(grown: MemoryService) -> None:
    larger, smaller = largest(grown)[:2]
    grown.name_cluster(smaller, "Money")
    record = grown.apply_plan(grown.plan_clusters("merge", smaller, onto=larger))
    assert grown.cluster(larger).name == "Money"
    grown.undo_plan(record.id)
    assert grown.cluster(smaller).name == "Money"
    assert not grown.cluster(larger).is_named


def test_two_topics_in_one_cluster_are_split_and_the_larger_part_stays(grown: MemoryService) -> None:
    larger, smaller = largest(grown)[:2]
    grown.apply_plan(grown.plan_clusters("merge", smaller, onto=larger))
    mixed = standing(grown.snapshot())
    plan = grown.plan_clusters("fission", larger)
    assert len(plan.steps) == 1
    grown.apply_plan(plan)
    after = standing(grown.snapshot())
    moved = {move.id for move in plan.moves if move.target_cluster != larger}
    topics = [set(grown.get(m).keywords) & TOPICS.keys() for m in moved]
    assert len({min(topic) for topic in topics}) == 1
    assert len(moved) <= len([m for m, (_, n) in mixed.items() if n == larger]) / 2
    assert {after[m][1] for m in moved} == {max(number for _, number in after.values())}
    assert grown.examine().is_healthy


def test_an_undo_works_around_what_came_and_went_since(grown: MemoryService) -> None:
    larger, smaller = largest(grown)[:2]
    before = standing(grown.snapshot())
    record = grown.apply_plan(grown.plan_clusters("merge", smaller, onto=larger))
    fill(grown, 30, first=500)
    lost = grown.cluster(larger).members[3]
    grown.forget(lost)
    grown.undo_plan(record.id)
    after = standing(grown.snapshot())
    assert all(after[m] == where for m, where in before.items() if where[1] == smaller and m != lost)
    assert grown.examine().is_healthy


def test_a_plan_is_undone_once_and_the_later_of_two_first(grown: MemoryService) -> None:
    one, two = largest(grown)[:2]
    first = grown.apply_plan(grown.plan_clusters("merge", two, onto=one)).id
    second = grown.apply_plan(grown.plan_clusters("settle", one)).id
    with pytest.raises(InvalidInput, match=second):
        grown.undo_plan(first)
    undo = grown.undo_plan(second).id
    with pytest.raises(InvalidInput, match="already"):
        grown.undo_plan(second)
    with pytest.raises(InvalidInput, match="cannot be undone"):
        grown.undo_plan(undo)
    grown.undo_plan(first)
    with pytest.raises(NotFound):
        grown.undo_plan("01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_a_step_that_no_longer_fits_is_left_out_and_the_rest_is_done(grown: MemoryService) -> None:
    plan = grown.plan_clusters("settle")
    assert len(plan.steps) > 1
    grown.forget(plan.steps[0][0].id)
    record = grown.apply_plan(plan)
    assert record.skipped >= 1
    assert record.moves == len(grown.plan_moves(record.id)) > 0
    assert grown.examine().is_healthy


@pytest.mark.parametrize("cause", ["settle", "merge"])
def test_a_plan_that_was_cut_short_leaves_a_sound_space_and_is_undone_all_the_same(
    folder: Path, tmp_path: Path, cause: str
) -> None:
    (tmp_path / "space.tetrarium").write_bytes((folder / "space.tetrarium").read_bytes())
    with tetrarium.open_space(tmp_path, settle_size=11, plan_step=5) as space:
        before = standing(space.snapshot())
        one, other = largest(space)[:2]
        plan = space.plan_clusters(cause, other, onto=one) if cause == "merge" else space.plan_clusters(cause)
        assert len(plan.steps) > 1
        cut = space.apply_plan(replace(plan, steps=plan.steps[: len(plan.steps) // 2]))
        assert cut.skipped == 0
    with tetrarium.open_space(tmp_path) as again:
        assert again.examine().is_healthy
        assert standing(again.snapshot()) != before
        again.undo_plan(cut.id)
        assert standing(again.snapshot()) == before


def test_settling_keeps_every_voxel_and_every_cluster(grown: MemoryService) -> None:
    before = standing(grown.snapshot())
    grown.apply_plan(grown.plan_clusters("settle"))
    after = standing(grown.snapshot())
    assert sorted(before.values()) == sorted(after.values())
    assert {m: n for m, (_, n) in before.items()} == {m: n for m, (_, n) in after.items()}


def test_what_a_deletion_cut_off_is_brought_back(grown: MemoryService) -> None:
    members = list(grown.cluster(largest(grown)[0]).members)
    clusters = len(grown.snapshot().clusters)
    while len(grown.snapshot().clusters) <= clusters and len(members) > 3:
        # Whoever has most neighbours left holds most together.
        members.sort(key=lambda memory_id: len(grown.neighbours(memory_id)))
        grown.forget(members.pop())
    assert len(grown.snapshot().clusters) > clusters
    plan = grown.plan_clusters("mend")
    assert len(plan)
    grown.apply_plan(plan)
    assert len(grown.snapshot().clusters) == clusters
    assert grown.examine().is_healthy


def test_another_process_sees_the_moves(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "space.tetrarium").write_bytes((folder / "space.tetrarium").read_bytes())
    with tetrarium.open_space(tmp_path) as one, tetrarium.open_space(tmp_path) as other:
        clusters = largest(one)
        record = one.apply_plan(one.plan_clusters("merge", clusters[1], onto=clusters[0]))
        assert standing(other.snapshot()) == standing(one.snapshot())
        other.undo_plan(record.id)
        assert standing(other.snapshot()) == standing(one.snapshot())
        assert one.examine().is_healthy


def test_unknown_plans_and_pairs_are_refused(grown: MemoryService) -> None:
    one = largest(grown)[0]
    for cause, cluster, onto in (
        ("explode", None, None),
        ("undo", None, None),
        ("fission", one, one),
        ("merge", one, one),
    ):
        with pytest.raises(InvalidInput):
            grown.plan_clusters(cause, cluster, onto=onto)


def test_the_figures_of_the_space_stand_in_its_stats(grown: MemoryService) -> None:
    figures = grown.stats().figures
    snapshot = grown.snapshot()
    sizes = np.bincount(snapshot.cluster)
    assert figures.orphan_rate == (sizes == 1).sum() / len(snapshot)
    assert figures.mean_size == pytest.approx(sizes[sizes > 1].mean())
    assert figures.purity > 0.8
    assert 0 < figures.association_density < 1
    assert 1 < figures.shared_vertices < 4


def test_old_places_stand_after_a_thousand_stores_and_a_restart(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "space.tetrarium").write_bytes((folder / "space.tetrarium").read_bytes())
    with tetrarium.open_space(tmp_path) as space:
        before = standing(space.snapshot())
        fill(space, 1_000, first=1_000)
    with tetrarium.open_space(tmp_path) as again:
        after = standing(again.snapshot())
        assert before.items() <= after.items()
        assert len(after) == len(before) + 1_000


def test_a_cluster_can_be_named_while_every_memory_stands_alone(space: MemoryService) -> None:
    lone = space.get(str(space.store("The only memory of this space says very little.").id))
    assert space.name_cluster(lone.cluster, "alone").name == "alone"
