"""The life of memories through the one door: stored, found, corrected, edited, forgotten, and there after a restart."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import tetrarium
from tetrarium.errors import InvalidInput, NotFound, StaleEdit
from tetrarium.events import Recalled, SpaceChanged
from tetrarium.model import Confidence, Outcome, Reason, RecallState, Standing
from tetrarium.service import MemoryService

FACTS = [
    "The payment worker retries a failed charge three times, then parks the job in the dead letter queue.",
    "We chose PostgreSQL for the booking service because of its partial indexes.",
    "登录令牌的有效期是十五分钟,刷新令牌是三十天。",
    "Nora prefers table-driven tests and early returns in Go code.",
    "The kiosk app keeps sold tickets in SQLite until the network is back.",
    "To roll back a release, run make rollback and wait for the health check.",
    "E1045 means that the fare table was loaded twice; see fares/loader.go.",
]


@pytest.fixture
def filled(space: MemoryService) -> MemoryService:
    for fact in FACTS:
        assert space.store(fact).outcome is Outcome.STORED
    return space


def first(space: MemoryService, query: str) -> str:
    return space.search(query)[0].content


def test_filters_without_words_list_what_passes_them_newest_first(space: MemoryService) -> None:
    for number, (text, client) in enumerate(zip(FACTS[:4], ("codex", "cursor", "codex", "cursor"), strict=True)):
        space.store(text, labels=["ops"] if number < 3 else [], client=client)
    found = space.search("", labels=["ops"], stored_by="codex")
    assert [hit.content for hit in found] == [FACTS[2], FACTS[0]]
    assert (found.total, {hit.score for hit in found}) == (2, {0.0})
    assert [hit.content for hit in space.search("", labels=["ops"], offset=1, limit=1)] == [FACTS[1]]
    assert len(space.search("")) == 0, "without words and filters nothing is asked"
    assert space.search("charge", stored_by="codex")[0].content == FACTS[0]
    assert space.search("charge", stored_by="nobody").total == 0
    assert space.names("clients") == ("codex", "cursor")


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("what happens when a charge fails?", 0),
        ("which database did we pick for bookings", 1),
        ("how long is a login token valid", 2),
        ("令牌多久过期", 2),
        ("怎么回滚一次发布", 5),
        ("E1045", 6),
        ("fares/loader.go", 6),
    ],
)
def test_a_question_in_either_language_finds_its_memory_first(filled: MemoryService, query: str, fact: int) -> None:
    assert first(filled, query) == FACTS[fact]


def test_a_space_with_one_memory_answers_its_own_question(space: MemoryService) -> None:
    space.store(FACTS[0])
    assert [block.content for block in space.recall("how often is a charge retried?").blocks] == [FACTS[0]]


def test_what_was_stored_is_there_after_a_restart(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        ids = [space.store(fact, labels=["kept"], keywords=["one", "two"]).id for fact in FACTS]
        before = space.snapshot()
        ranking = [(hit.id, hit.score) for hit in space.search("token")]
    with tetrarium.open_space(tmp_path) as again:
        after = again.snapshot()
        assert after.ids == before.ids == tuple(ids)
        assert np.array_equal(after.places, before.places)
        assert np.array_equal(after.cluster, before.cluster)
        assert again.get(str(ids[0])).labels == ("kept",)
        assert [hit.id for hit in again.search("token")] == [memory_id for memory_id, _ in ranking]


def test_a_correction_takes_the_old_memory_out_of_every_answer(filled: MemoryService) -> None:
    old = filled.search("which database for bookings")[0].id
    new = filled.store("The booking service moved to CockroachDB for its regions.", supersedes=old, reason="moved")
    assert new.superseded == (old,)
    for answer in (filled.search("which database for bookings", limit=50).hits, filled.recall("database").blocks):
        assert old not in [hit.id for hit in answer]
    assert filled.recall("which database for bookings").inhibited_skipped == 1
    memory = filled.get(old)
    assert memory.standing is Standing.INHIBITED
    assert memory.superseded_by == new.id
    assert filled.get(str(new.id)).supersedes == (old,)
    assert [hit.id for hit in filled.search("database", state="inhibited")] == [old]


def test_a_chain_of_corrections_leaves_only_the_last(space: MemoryService) -> None:
    a = space.store("The cache lives for five minutes in the gateway.").id
    b = space.store("The cache lives for ten minutes in the gateway.", supersedes=str(a)).id
    c = space.store("The cache lives for one minute in the gateway.", supersedes=str(b)).id
    assert [hit.id for hit in space.search("how long does the cache live")] == [c]


def test_a_released_memory_is_answered_as_before_to_the_last_bit(filled: MemoryService) -> None:
    def ranking() -> list[tuple[str, float]]:
        return [
            (hit.id, hit.parts.vector + hit.parts.keyword) for hit in filled.search("database for bookings", limit=50)
        ]

    old = filled.search("which database for bookings")[0].id
    extra = filled.store("An unrelated remark about the colour of the logo.").id
    before = ranking()
    filled.forget(str(extra))
    new = filled.store("The booking service moved to CockroachDB for its regions.", supersedes=old).id
    filled.forget(str(new))
    assert old not in dict(ranking())
    assert filled.release(old).standing is Standing.LIVE
    filled.restore(str(extra))
    assert ranking() == before


def test_an_unknown_target_of_a_correction_changes_nothing(filled: MemoryService) -> None:
    with pytest.raises(NotFound):
        filled.store("The token is now valid for an hour, everywhere.", supersedes="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert filled.stats().memories == len(FACTS)


def test_the_same_text_again_is_one_memory_and_loses_nothing(filled: MemoryService) -> None:
    one = filled.store(FACTS[0], keywords=["retry"], labels=["billing"])
    assert one.outcome is Outcome.MERGED
    assert one.merged_with == one.id
    two = filled.store(FACTS[0].replace("then parks", "and then parks"))
    assert (two.outcome, two.id) == (Outcome.MERGED, one.id)
    memory = filled.get(str(one.id))
    assert {"retry"} <= set(memory.keywords)
    assert memory.labels == ("billing",)
    assert FACTS[0] in [version.content for version in filled.versions(memory.id)]
    assert filled.stats().memories == len(FACTS)


def test_facts_that_differ_in_a_number_stay_two_memories(space: MemoryService) -> None:
    words = ["kafka", "timeout"]
    one = space.store("The Kafka consumer of the ledger times out after 30 seconds.", keywords=words)
    two = space.store("The Kafka consumer of the ledger times out after 90 seconds.", keywords=words)
    assert two.outcome is Outcome.STORED
    assert one.id != two.id


def test_the_text_of_an_inhibited_memory_comes_back_only_by_force(space: MemoryService) -> None:
    old = space.store("The office door code is on the whiteboard.").id
    space.store("The office door now opens with a card.", supersedes=str(old))
    again = space.store("The office door code is on the whiteboard.")
    assert again.outcome is Outcome.MATCHES_INHIBITED
    assert str(old) in again.reason
    assert space.stats().live == 1
    assert space.store("The office door code is on the whiteboard.", force=True).outcome is Outcome.STORED


def test_a_retried_store_gets_the_first_answer_again(space: MemoryService) -> None:
    one = space.store(FACTS[0], idempotency_key="call-7")
    two = space.store(FACTS[0], idempotency_key="call-7", labels=["ignored"])
    assert two == one
    assert space.stats().memories == 1


def test_a_key_of_one_project_or_text_never_answers_for_another(space: MemoryService) -> None:
    one = space.store("Project one rotates its tokens every night.", idempotency_key="1", project="one")
    other = space.store("Project two uses Bazel for every build.", idempotency_key="1", project="two")
    assert other.outcome is Outcome.STORED
    assert other.id != one.id
    with pytest.raises(InvalidInput, match="another text"):
        space.store("Project one now uses Bazel for every build.", idempotency_key="1", project="one")
    assert space.stats().memories == 2


def test_one_project_cannot_silence_the_memory_of_another(space: MemoryService) -> None:
    walrus = space.store("Walrus deploys happen on Thursdays at noon.", project="one").id
    with pytest.raises(InvalidInput, match="belongs to project 'one'"):
        space.store("Walrus deploys happen on Mondays at noon.", project="two", supersedes=str(walrus))
    assert [hit.id for hit in space.search("walrus deploys", project="one")] == [walrus]
    with pytest.raises(InvalidInput):
        space.store("A memory for everybody and nobody at all.", project="*")


def test_a_subject_that_the_space_does_not_know_is_answered_with_nothing_and_the_reason(space: MemoryService) -> None:
    for fact in FACTS:
        space.store(fact)
    for absent in (
        "How long should a sourdough starter ferment?",
        "who tunes the harpsichord",
        "limit of the cache in zzz-17",
    ):
        trace = space.recall(absent)
        assert not trace.blocks, absent
        assert trace.note
        assert {candidate.reason for candidate in trace.candidates} == {Reason.NO_EVIDENCE}
    assert space.recall("what happens when a charge fails?").blocks


@pytest.mark.expects_log_warning
def test_a_memory_stored_without_the_model_is_found_by_meaning_once_it_is_back(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path, model="no-such-model") as space:
        heron = space.store("This statement is about the herons of Lund.").id
        assert "keyword" in space.stats().model_note.lower()
        assert [hit.id for hit in space.search("herons")] == [heron]
    with tetrarium.open_space(tmp_path) as space:
        for fact in FACTS:
            space.store(fact)
        space.search("anything")
        assert space.search("wading birds in a Swedish town")[0].id == heron


def test_noise_is_answered_with_the_reason_and_not_stored(space: MemoryService) -> None:
    result = space.store("ok thanks")
    assert result.outcome is Outcome.NOISE
    assert result.id is None
    assert result.reason
    assert space.stats().memories == 0
    assert space.store("ok thanks", force=True).outcome is Outcome.STORED


def test_an_edit_is_found_by_its_new_words_only_and_keeps_the_old_text_as_a_version(space: MemoryService) -> None:
    memory_id = str(space.store("The staging cluster lives in Frankfurt on three nodes.").id)
    place = space.get(memory_id).place
    edited = space.update(memory_id, content="The staging cluster lives in Oslo on five machines.", expected_revision=1)
    assert edited.revision == 2
    assert edited.place == place
    assert [hit.id for hit in space.search("Oslo machines")] == [memory_id]
    assert space.search("Frankfurt")[0].parts.keyword == 0
    assert [version.content for version in space.versions(memory_id)] == [
        "The staging cluster lives in Frankfurt on three nodes."
    ]


def test_a_stale_edit_is_refused_with_both_texts(space: MemoryService) -> None:
    memory_id = str(space.store("The staging cluster lives in Frankfurt.").id)
    space.update(memory_id, content="The staging cluster lives in Oslo.")
    with pytest.raises(StaleEdit) as caught:
        space.update(memory_id, content="The staging cluster lives in Bergen.", expected_revision=1)
    assert caught.value.stored == "The staging cluster lives in Oslo."
    assert caught.value.offered == "The staging cluster lives in Bergen."
    assert space.get(memory_id).content == "The staging cluster lives in Oslo."


def test_a_forgotten_memory_is_nowhere_and_comes_back_from_the_trash(filled: MemoryService) -> None:
    memory_id = first_id = filled.search("E1045")[0].id
    filled.forget(memory_id)
    assert first_id not in [hit.id for hit in filled.search("E1045", limit=50)]
    assert first_id not in filled.snapshot().ids
    assert filled.stats().in_trash == 1
    with pytest.raises(NotFound):
        filled.get(memory_id)
    filled.restore(memory_id)
    assert filled.search("E1045")[0].id == memory_id


def test_what_is_forgotten_permanently_leaves_no_byte_in_the_folder(space: MemoryService) -> None:
    token = "zanzibarquokka7731"
    memory_id = str(space.store(f"The secret project name is {token}, tell nobody.").id)
    kept = "marzipanwombat2209"
    space.store(f"The public project name is {kept}, tell everybody.")
    space.update(memory_id, content=f"The secret project name is {token}, tell nobody at all.")
    space.search(token)
    space.forget(memory_id, permanently=True)
    space.close()
    everything = b"".join(file.read_bytes() for file in space.path.iterdir())
    assert token.encode() not in everything
    assert token[8:].encode() not in everything
    assert kept.encode() in everything


def test_a_recall_is_counted_later_and_raises_confidence(space: MemoryService) -> None:
    memory_id = str(space.store(FACTS[0]).id)
    for expected in (Confidence.ACCESSED, Confidence.ACCESSED, Confidence.CONFIRMED):
        space.recall("what happens when a charge fails?")
        space.maintain()
        assert space.get(memory_id).confidence is expected
    assert space.stats().recalls == 3


def test_asking_again_and_again_does_not_change_the_ranking(filled: MemoryService) -> None:
    def top() -> list[str]:
        return [block.id for block in filled.recall("tests and code style").blocks[:5]]

    before = top()
    for _ in range(20):
        filled.recall("tests and code style")
        filled.maintain()
    assert len(set(top()) & set(before)) / len(before) >= 0.95


def test_filters_are_exact(space: MemoryService) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    for day in range(40):
        space.store(
            f"Remark number {day} about the weather at the harbour on that day.",
            labels=["even"] if day % 2 == 0 else ["odd"],
            category="episode" if day % 4 == 0 else "fact",
            created_at=start + timedelta(days=day),
            force=True,
        )
    found = space.search("weather at the harbour", labels="even", categories=["episode"], since=start + timedelta(days=8),
                         until=start + timedelta(days=24), limit=100)  # fmt: skip
    assert sorted(hit.memory.created_at for hit in found) == [start + timedelta(days=d) for d in (8, 12, 16, 20)]
    assert found.total == 4
    page = space.search("weather at the harbour", limit=7, offset=7)
    assert len({hit.id for hit in (*page.hits, *space.search("weather at the harbour", limit=7).hits)}) == 14


def test_a_project_sees_its_own_and_the_global_memories_and_a_stranger_the_global_ones(space: MemoryService) -> None:
    a = space.store("Project A deploys on Mondays after the stand-up.", project="a").id
    b = space.store("Project B deploys on Fridays before lunch.", project="b").id
    everyone = space.store("Every project deploys through the same pipeline.").id

    def seen(project: str | None) -> set[str]:
        return {hit.id for hit in space.search("when do we deploy", project=project)}

    assert seen("a") == {a, everyone}
    assert seen("b") == {b, everyone}
    assert seen("unheard-of") == seen(None) == {everyone}
    assert seen("*") == {a, b, everyone}


def test_an_expired_memory_leaves_every_answer_at_once_and_may_be_said_again(space: MemoryService) -> None:
    text = "The demo server is reachable until noon today."
    space.search("what loads the model")
    gone = space.store(text, expires_at=datetime.now(UTC) + timedelta(milliseconds=1_500)).id
    assert [hit.id for hit in space.search("demo server")] == [gone]
    deadline = time.monotonic() + 10
    while space.search("demo server").total:
        assert time.monotonic() < deadline
    assert not space.recall("demo server").blocks
    again = space.store(text)
    assert again.outcome is Outcome.STORED
    assert [hit.id for hit in space.search("demo server")] == [again.id]


def test_a_budget_is_never_exceeded_and_the_best_memory_that_did_not_fit_is_named(filled: MemoryService) -> None:
    long = filled.store("The long story of the payment outage. " + "It went on and on. " * 200).id
    trace = filled.recall("the long story of the payment outage", budget=300, void_target=0)
    assert trace.token_usage <= 300
    assert trace.best_left_out == long
    assert trace.best_left_out_tokens > 300
    assert trace.blocks
    assert all(block.content == filled.get(block.id).content for block in trace.blocks)


def test_every_candidate_of_a_recall_has_one_state_and_one_reason(filled: MemoryService) -> None:
    trace = filled.recall("payment worker retries")
    assert len({candidate.id for candidate in trace.candidates}) == len(trace.candidates)
    active = [candidate.id for candidate in trace.candidates if candidate.state is RecallState.ACTIVE]
    assert active == [block.id for block in trace.blocks]
    assert filled.trace() is trace
    assert filled.trace(trace.id) is trace
    with pytest.raises(NotFound):
        filled.trace("no such recall")


def test_score_parts_multiply_to_the_score(filled: MemoryService) -> None:
    for hit in filled.search("payment worker retries", limit=50):
        p = hit.parts
        summands = p.vector + p.keyword + p.label + p.entity + p.context
        assert hit.score == pytest.approx(max(summands, 0) * p.recency * p.importance * p.access * p.confidence)


def test_every_read_works_on_an_empty_space(space: MemoryService) -> None:
    assert len(space.search("anything at all")) == 0
    assert space.recall("anything at all").note
    assert len(space.snapshot()) == 0
    assert space.page() == ()
    assert space.stats().memories == 0
    assert not space.maintain()


@pytest.mark.parametrize(
    "query", ["", "   ", "!!!", "the and of for with", '"open', "pre-edit", "GB/s", "don't", "a:b", "NOT", "*", "NEAR(a b)", "a AND", "'; DROP TABLE memories; --", "x" * 100_000, "词" * 5_000, "\ud800", "🎉"]
)  # fmt: skip
def test_no_question_breaks_search_or_recall(filled: MemoryService, query: str) -> None:
    filled.search(query)
    filled.recall(query)
    assert filled.stats().memories == len(FACTS)


@pytest.mark.parametrize("budget", [0, -5, 10**9, float("nan"), True, "many"])
def test_a_budget_that_cannot_be_used_is_refused(filled: MemoryService, budget: object) -> None:
    with pytest.raises(InvalidInput):
        filled.recall("payment", budget=budget)  # type: ignore[arg-type]


def test_listeners_hear_of_stores_and_recalls(space: MemoryService) -> None:
    heard: list[object] = []
    stop = space.events.subscribe(heard.append)
    memory_id = space.store(FACTS[0]).id
    trace = space.recall("charge")
    stop()
    space.store(FACTS[1])
    assert next(event for event in heard if isinstance(event, SpaceChanged)).changes.stored == (memory_id,)
    assert [event.trace for event in heard if isinstance(event, Recalled)] == [trace]


def test_two_programs_on_one_space_see_each_others_memories(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as one, tetrarium.open_space(tmp_path) as other:
        ids = [(one if i % 2 else other).store(fact).id for i, fact in enumerate(FACTS)]
        for space in (one, other):
            assert set(space.snapshot().ids) == set(ids)
            assert first(space, "E1045") == FACTS[6]
        one.forget(str(ids[0]))
        assert ids[0] not in other.snapshot().ids
        other.store("The booking service moved to CockroachDB.", supersedes=str(ids[1]))
        assert ids[1] not in [hit.id for hit in one.search("which database for bookings", limit=50)]
        assert np.array_equal(one.snapshot().places, other.snapshot().places)


def test_the_sample_space_tells_a_story_that_can_be_asked(tmp_path: Path) -> None:
    import json

    from tetrarium import paths
    from tetrarium.lifecycle.sample import sample_memories
    from tetrarium.service import fill_sample

    questions = json.loads((paths.resources() / "sample" / "questions.json").read_text("utf-8"))
    texts = {memory.ref: memory.content for memory in sample_memories()}
    with tetrarium.open_space(tmp_path) as space:
        assert fill_sample(space) == len(texts) >= 300
        assert fill_sample(space) == 0
        stats = space.stats()
        assert min(stats.by_category.values()) >= 15
        assert stats.inhibited >= 15
        hits = 0
        for question in questions:
            found = [hit.content for hit in space.search(question["query"])]
            hits += any(texts[ref] in found for ref in question["gold"])
        assert hits / len(questions) >= 0.55
