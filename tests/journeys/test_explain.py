"""Why a memory was or was not recalled: the answer is the trace's, and what it says would help does help."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tetrarium
from bench.explain import digest, is_right, prepared
from tetrarium.errors import NotFound
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.model import ChangeKind, Reason, RecallState
from tetrarium.service import EVERYWHERE, MemoryService

PAIRS = 24


def test_what_an_explanation_names_brings_the_memory_into_the_answer(tmp_path: Path) -> None:
    rng = random.Random(5)
    questions = prepared(tmp_path)
    with tetrarium.open_space(tmp_path) as space:
        memories = space.page(limit=1_000)
        for _ in range(PAIRS):
            memory, question = rng.choice(memories), rng.choice(questions)
            trace = space.recall(question, project=rng.choice(["", EVERYWHERE]), budget=rng.choice([600, 4_000]))
            before = digest(tmp_path)
            found = space.explain(memory.id, trace.id)
            assert digest(tmp_path) == before
            assert is_right(space, trace, found), (found.why, found.remedy)


def test_every_candidate_is_explained_as_the_trace_has_it(tmp_path: Path) -> None:
    (question, *_) = prepared(tmp_path)
    with tetrarium.open_space(tmp_path) as space:
        trace = space.recall(question, budget=900)
        for rank, candidate in enumerate(trace.candidates[:25], start=1):
            found = space.explain(candidate.id)
            assert (found.state, found.reason, found.score, found.rank) == (
                candidate.state,
                candidate.reason,
                candidate.score,
                rank,
            )
        assert trace.beyond
        deep = space.explain(trace.beyond[0])
        assert (deep.reason, deep.rank) == (Reason.RANKED_BELOW, len(trace.candidates) + 1)


@pytest.fixture
def few(space: MemoryService) -> MemoryService:
    for text in ("The ledger export runs at four in the morning.", "Nora prefers table-driven tests in Go."):
        space.store(text)
    return space


def test_an_inhibited_memory_is_explained_by_its_edge_and_told_without_its_words(few: MemoryService) -> None:
    old = str(few.store("The zanzibar endpoint listens on port 8080.", client="editor 1").id)
    new = str(few.store("The gateway endpoint listens on port 9090.", supersedes=old, reason="it moved").id)
    trace = few.recall("which port does the endpoint listen on?", client="editor 1")
    found = few.explain(old, trace.id)
    assert (found.state, found.reason, found.rank) == (RecallState.INHIBITED, Reason.SUPERSEDED, 0)
    assert found.inhibition
    assert found.inhibition.successor == new
    assert [change.kind for change in found.changes] == [ChangeKind.RELEASE]
    answer = BY_NAME["void_explain"].call({"memory_id": old}, Caller("editor 1"))(few)
    assert "zanzibar" not in answer.text + str(answer.structured)
    assert new in answer.text


def test_expired_foreign_and_later_memories_say_so(few: MemoryService) -> None:
    gone = few.store("The demo ledger is open until noon.", expires_at=datetime.now(UTC) - timedelta(hours=1)).id
    foreign = few.store("The ledger of the branch is closed on Mondays.", project="branch").id
    few.recall("ledger")
    later = few.store("The ledger is printed in two colours.").id
    said = {memory_id: few.explain(str(memory_id)) for memory_id in (gone, foreign, later)}
    assert [found.reason for found in said.values()] == [Reason.EXPIRED, Reason.OTHER_PROJECT, Reason.STORED_LATER]
    kinds = [[change.kind for change in found.changes] for found in said.values()]
    assert kinds == [[ChangeKind.EXPIRY], [ChangeKind.PROJECT], [ChangeKind.ASK_AGAIN]]


def test_the_budget_that_is_named_is_the_least_that_is_enough(few: MemoryService) -> None:
    long = str(few.store("The ledger export, told at length. " + "It went on and on. " * 100).id)
    few.recall("the ledger export told at length", budget=200, void_target=0)
    (change,) = few.explain(long).changes
    assert change.kind is ChangeKind.BUDGET
    need = int(change.value)
    for budget, answered in ((need, True), (need - 1, False)):
        blocks = few.recall("the ledger export told at length", budget=budget, void_target=0).blocks
        assert (long in [block.id for block in blocks]) is answered


def test_each_client_asks_about_its_own_last_recall(few: MemoryService) -> None:
    one = few.recall("when does the export run?", client="editor 1")
    other = few.recall("who likes table-driven tests?", client="editor 2")
    assert few.trace(client="editor 1") is one
    assert few.trace(client="editor 2") is few.trace() is other
    assert few.traces(client="editor 1") == (one,)
    with pytest.raises(NotFound):
        few.trace(client="editor 3")
    with pytest.raises(NotFound):
        few.explain("01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_what_was_stored_before_a_recall_is_so_also_after_the_clock_was_wrong(
    few: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as wrong:
        now = time.time_ns()
        wrong.setattr("tetrarium.storage.identity.time.time_ns", lambda: now + 10 * 365 * 86_400 * 10**9)
        few.store("The harbour lamps were counted while the clock was wrong.")
    old = str(few.store("The zanzibar endpoint listens on port 8080.").id)
    few.store("The gateway endpoint listens on port 9090.", supersedes=old)
    few.recall("which port does the endpoint listen on?")
    assert few.explain(old).reason is Reason.SUPERSEDED
    later = str(few.store("The ledger is printed in two colours.").id)
    assert few.explain(later).reason is Reason.STORED_LATER


def test_a_recall_that_another_program_answered_is_explained_and_rehearsed_as_if_asked_here(tmp_path: Path) -> None:
    (question, *_) = prepared(tmp_path)
    with tetrarium.open_space(tmp_path) as theirs, tetrarium.open_space(tmp_path) as ours:
        trace = theirs.recall(question, budget=900, client="cursor")
        with pytest.raises(NotFound):
            ours.explain(trace.candidates[0].id, trace.id)
        before = digest(tmp_path)
        ours.adopt(trace)
        ours.adopt(trace)
        assert ours.traces() == (trace,)
        for memory_id in (*(candidate.id for candidate in trace.candidates[:20]), trace.beyond[0]):
            assert ours.explain(memory_id, trace.id) == theirs.explain(memory_id, trace.id)
        again = ours.rehearse(trace.id)
        assert [block.id for block in again.blocks] == [block.id for block in trace.blocks]
        more = ours.rehearse(trace.id, budget=4_000)
        assert len(more.blocks) > len(trace.blocks)
        assert digest(tmp_path) == before
