"""Any life of clusters – store, delete, restore, split, merge, settle, undo – keeps every invariant of the geometry."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tetrarium
from tetrarium.geometry.lattice import are_apart, pack_all, vertices
from tetrarium.geometry.places import connected_components
from tetrarium.model import SpaceSnapshot
from tetrarium.service import MemoryService

SUBJECTS = ["payment worker", "登录令牌", "seat map", "kiosk sync"]
PLANS = ["fission", "merge", "attach", "mend", "settle", "layout"]
STEPS = st.lists(
    st.tuples(st.sampled_from(["store"] * 8 + ["trash", "trash", "restore", "purge", *PLANS, "join", "join", "undo"]),
              st.integers(0, 40), st.integers(0, 99)),
    min_size=20,
    max_size=80,
)  # fmt: skip

EAGER: dict[str, float | int | str] = {
    "model": "none",
    "fission_size": 4,
    "fission_part": 1,
    "fission_silhouette": -1.0,
    "merge_margin": -3.0,
    "settle_size": 11,
    "plan_step": 3,
}
"""Small spaces have to split and merge too; by keywords alone, which is fast."""

Standing = dict[str, tuple[tuple[int, ...], int]]


def standing(snapshot: SpaceSnapshot) -> Standing:
    numbers = [snapshot.clusters[at].id for at in snapshot.cluster.tolist()]
    return {
        memory_id: (tuple(place), number)
        for memory_id, place, number in zip(snapshot.ids, snapshot.places.tolist(), numbers, strict=True)
    }


def expect_sound(space: MemoryService) -> None:
    """What spec and README promise of places, checked from the integers alone."""
    snapshot = space.snapshot()
    assert space.examine().findings == ()
    if not len(snapshot):
        return
    assert len(np.unique(pack_all(snapshot.places))) == len(snapshot)
    scratch = connected_components(snapshot.places)
    pairs = np.unique(np.stack([scratch, snapshot.cluster]), axis=1)
    assert pairs.shape[1] == len(np.unique(scratch)) == len(snapshot.clusters)
    assert are_apart(np.unique(vertices(snapshot.places).reshape(-1, 3).round(4), axis=0))


def live(space: MemoryService, steps: list[tuple[str, int, int]]) -> None:
    alive: list[str] = []
    trash: list[str] = []
    for op, which, number in steps:
        target = alive[which % len(alive)] if alive else ""
        if op == "store" or not alive:
            subject = SUBJECTS[number % 4]
            text = f"Remark {number}: the {subject} needs {which} minutes before it is ready again."
            alive.append(str(space.store(text, keywords=[subject], force=True).id))
        elif op == "trash":
            space.forget(target)
            alive.remove(target)
            trash.append(target)
        elif op == "purge":
            space.forget(target, permanently=True)
            alive.remove(target)
        elif op == "restore" and trash:
            alive.append(trash.pop())
            space.restore(alive[-1])
        elif op in PLANS:
            expect_exact_undo(space, op)
        elif op == "join":
            clusters = space.snapshot().clusters
            one, other = clusters[which % len(clusters)].id, clusters[number % len(clusters)].id
            if one != other:
                space.apply_plan(space.plan_clusters("merge", one, onto=other))
        elif op == "undo":
            open_plans = [p for p in space.plans() if not p.undone_by and not p.undoes]
            if open_plans:
                space.undo_plan(open_plans[0].id)


def expect_exact_undo(space: MemoryService, cause: str) -> None:
    """Apply a plan, take it back, compare, and apply it again."""
    before = standing(space.snapshot())
    plan = space.plan_clusters(cause)
    assert standing(space.snapshot()) == before
    applied = space.apply_plan(plan)
    assert applied.skipped == 0
    assert applied.moves == len(plan)
    after = standing(space.snapshot())
    assert {move.id: (move.target, move.target_cluster) for move in plan.moves}.items() <= after.items()
    assert after.keys() == before.keys()
    expect_sound(space)
    if len(plan):
        assert space.undo_plan(applied.id).skipped == 0
        assert standing(space.snapshot()) == before
        space.apply_plan(space.plan_clusters(cause))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
@pytest.mark.timeout(600)
@pytest.mark.expects_log_warning
def test_any_series_of_stores_deletions_and_plans_keeps_every_invariant(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with tetrarium.open_space(folder, **EAGER) as space:
            live(space, steps)
            expect_sound(space)
            lived = standing(space.snapshot())
        with tetrarium.open_space(folder, **EAGER) as rebuilt:
            assert standing(rebuilt.snapshot()) == lived
