"""What must hold whatever is stored and asked, in any order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tetrarium
from tetrarium.geometry.lattice import pack_all
from tetrarium.geometry.places import connected_components
from tetrarium.indexing.tokens import tokenize
from tetrarium.recall.budget import fit
from tetrarium.service import MemoryService

SUBJECTS = ["payment worker", "登录令牌", "seat map", "kiosk sync", "发布流程", "search index"]
STEPS = st.lists(
    st.tuples(st.sampled_from(["store", "supersede", "release", "trash", "restore", "purge", "edit"]), st.integers(0, 11), st.integers(0, 99)),
    min_size=1,
    max_size=25,
)  # fmt: skip


@given(st.lists(st.integers(1, 500), max_size=40), st.integers(1, 2_000))
def test_a_budget_is_never_exceeded_and_nothing_that_fits_at_its_turn_is_left_out(
    costs: list[int], budget: int
) -> None:
    result = fit(costs, budget)
    assert result.used == sum(costs[i] for i in result.kept) <= budget
    assert sorted((*result.kept, *result.left_out)) == list(range(len(costs)))
    for left in result.left_out:
        assert sum(costs[i] for i in result.kept if i < left) + costs[left] > budget


@given(st.text())
def test_every_text_has_tokens_of_known_characters_only(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert not token.isspace()
        assert all(c.isalnum() or c in "._/:@+#-" for c in token)


def apply(space: MemoryService, steps: list[tuple[str, int, int]]) -> set[str]:
    """Run the steps; gives the ids that must be inhibited at the end."""
    live: list[str] = []
    trash: list[str] = []
    edges: dict[str, set[str]] = {}
    for op, which, number in steps:
        text = f"Remark {number}: the {SUBJECTS[number % 6]} needs {number} minutes before it is ready again."
        target = live[which % len(live)] if live else ""
        if op == "store" or not live:
            live.append(str(space.store(text, force=True).id))
        elif op == "supersede":
            live.append(str(space.store(text, supersedes=target, force=True).id))
            edges.setdefault(target, set()).add(live[-1])
        elif op == "release" and edges.get(target):
            space.release(target)
            edges[target] = set()
        elif op == "edit":
            space.update(target, content=f"{text} Edited.")
        elif op == "trash":
            space.forget(target)
            live.remove(target)
            trash.append(target)
        elif op == "restore" and trash:
            live.append(trash.pop())
            space.restore(live[-1])
        elif op == "purge" and target:
            space.forget(target, permanently=True)
            live.remove(target)
            edges.pop(target, None)
    return {memory_id for memory_id in live if edges.get(memory_id)}


def state(space: MemoryService) -> dict[str, object]:
    snapshot = space.snapshot()
    answers = [
        # Sorted: what was recalled meanwhile is counted at the close, and may change the order of equals.
        sorted(
            (hit.id, round(hit.parts.vector, 9), round(hit.parts.keyword, 9)) for hit in space.search(subject, limit=99)
        )
        for subject in SUBJECTS
    ]
    clusters = [snapshot.clusters[cluster].id for cluster in snapshot.cluster.tolist()]
    return {"ids": snapshot.ids, "places": snapshot.places.tolist(), "clusters": clusters, "answers": answers}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
@pytest.mark.timeout(300)
def test_any_life_of_a_space_keeps_its_promises(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space"
        with tetrarium.open_space(path) as space:
            inhibited = apply(space, steps)
            lived = state(space)
            for subject in SUBJECTS:
                assert not inhibited & {hit.id for hit in space.search(subject, limit=99)}
                assert not inhibited & {block.id for block in space.recall(subject, void_target=0).blocks}
            snapshot = space.snapshot()
            assert {i for i, out in zip(snapshot.ids, snapshot.inhibited, strict=True) if out} == inhibited
            if len(snapshot):
                assert len(np.unique(pack_all(snapshot.places))) == len(snapshot)
                scratch = connected_components(snapshot.places)
                pairs = np.unique(np.stack([scratch, snapshot.cluster]), axis=1)
                assert pairs.shape[1] == len(np.unique(scratch)) == len(snapshot.clusters)
        with tetrarium.open_space(path) as rebuilt:
            assert state(rebuilt) == lived
