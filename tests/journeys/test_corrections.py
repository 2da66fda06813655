"""Corrections, feedback, forgetting: who may do what, what it does, and that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tetrarium
from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.lifecycle.trust import WINDOW
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.model import Confidence, Outcome, Standing
from tetrarium.service import MemoryService

AGENT, OTHER = "editor 1.0", "console 2"
CACHE = "The session cache of the gateway lives for five minutes in Redis."
FACTS = [
    CACHE,
    "The invoice importer reads GB18030 files because the bank still sends them so.",
    "The kiosk keeps sold tickets in SQLite until the network is back.",
    "Nora prefers table-driven tests and early returns in Go code.",
]


@pytest.fixture
def filled(space: MemoryService) -> MemoryService:
    for fact in FACTS:
        space.store(fact, client=AGENT)
    return space


def id_of(space: MemoryService, content: str) -> str:
    return next(memory.id for memory in space.page() if memory.content == content)


def test_a_correction_finds_its_target_by_a_description_that_means_one_memory(filled: MemoryService) -> None:
    old = id_of(filled, CACHE)
    new = filled.store(
        "The session cache of the gateway lives for one minute.",
        supersedes="session cache of the gateway in Redis",
        client=AGENT,
    )
    assert new.superseded == (old,)


def test_a_description_that_may_mean_several_changes_nothing_and_names_them(filled: MemoryService) -> None:
    twins = [
        str(filled.store(f"The {side} turnstile of the ferry reads tickets by camera.", client=AGENT).id)
        for side in ("left", "right")
    ]
    before = filled.stats()
    result = filled.store(
        "Turnstiles read tickets by radio now.", supersedes="turnstile of the ferry reads tickets", client=AGENT
    )
    assert result.outcome is Outcome.AMBIGUOUS
    assert result.id is None
    assert {likely.id for likely in result.candidates[:2]} == set(twins)
    absent = filled.store("It rains in Paris now.", supersedes="the weather in Paris", client=AGENT, force=True)
    assert (absent.outcome, absent.candidates) == (Outcome.AMBIGUOUS, ())
    assert "'the weather in Paris' means no memory" in absent.reason
    assert (filled.stats().memories, filled.stats().inhibited) == (before.memories, before.inhibited)
    vague = filled.store("Redis is gone from the stack altogether.", supersedes="the cache", client=AGENT)
    assert vague.outcome is Outcome.AMBIGUOUS


def test_less_trust_never_takes_out_more_trust(space: MemoryService) -> None:
    said = str(space.store("The person wants commits in English only.", client=WINDOW).id)
    result = space.store("Commits may be in any language from now on.", supersedes=said, client=AGENT)
    assert result.outcome is Outcome.REFUSED
    assert space.stats().memories == 1
    for change in (
        lambda: space.inhibit(said, client=AGENT),
        lambda: space.update(said, content="Commits are in any language.", client=AGENT),
        lambda: space.forget(said, client=AGENT),
        lambda: space.forget_all([said], client=AGENT),
    ):
        with pytest.raises(NotTrusted):
            change()
    assert space.forget_matching(categories=["preference", "fact"], client=AGENT).spared == 1
    imported = str(space.store("Commits were once in Norwegian, says the wiki.", client="import").id)
    assert space.store("Commits are in English, not Norwegian.", supersedes=imported, client=AGENT).superseded == (
        imported,
    )


def test_what_a_person_inhibited_only_a_person_releases(filled: MemoryService) -> None:
    memory = id_of(filled, CACHE)
    filled.inhibit(memory, reason="wrong", client=WINDOW)
    with pytest.raises(NotTrusted):
        filled.release(memory, client=AGENT)
    assert filled.release(memory, client=WINDOW).standing is Standing.LIVE


def test_inhibiting_by_hand_is_an_edge_with_reason_author_and_time_and_comes_back_whole(filled: MemoryService) -> None:
    memory = id_of(filled, CACHE)
    before = [(hit.id, hit.score) for hit in filled.search("session cache", limit=50)]
    assert filled.inhibit(memory, reason="out of date", client=AGENT).standing is Standing.INHIBITED
    assert memory not in [hit.id for hit in filled.search("session cache", limit=50)]
    (edge,) = filled.inhibitions(memory)
    assert (edge.target, edge.successor, edge.reason, edge.author) == (memory, None, "out of date", AGENT)
    assert datetime.now(UTC) - edge.created_at < timedelta(minutes=1)
    with pytest.raises(InvalidInput, match="already"):
        filled.inhibit(memory)
    filled.release(memory)
    after = [(hit.id, hit.score) for hit in filled.search("session cache", limit=50)]
    assert [memory_id for memory_id, _ in after] == [memory_id for memory_id, _ in before]
    assert [score for _, score in after] == pytest.approx([score for _, score in before], rel=1e-6)


def test_a_memory_cannot_supersede_itself_nor_an_inhibited_one_another(filled: MemoryService) -> None:
    one, two = id_of(filled, CACHE), id_of(filled, FACTS[1])
    with pytest.raises(InvalidInput):
        filled.inhibit(one, successor=one)
    filled.inhibit(one, successor=two)
    with pytest.raises(InvalidInput):
        filled.inhibit(two, successor=one)
    assert filled.get(one).superseded_by == two


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            "The health check listens on port 9090 of the gateway.",
            "The health check listens on port 8080 of the gateway.",
        ),
        ("Retries are disabled for the payment worker today.", "Retries are enabled for the payment worker today."),
        ("The cache is not shared between the two workers here.", "The cache is shared between the two workers here."),
        ("缓存过期时间是十分钟,不需要预热。", "缓存过期时间是十分钟,需要预热。"),
    ],
)
def test_what_may_contradict_is_proposed_and_settled_by_a_person(space: MemoryService, new: str, old: str) -> None:
    one, two = str(space.store(old).id), space.store(new)
    assert two.outcome is Outcome.STORED
    assert [pair.older for pair in two.contradicts] == [one]
    assert space.stats().contradictions == 1
    assert space.get(one).standing is Standing.LIVE
    space.dismiss_contradiction(str(two.id), one)
    assert space.contradictions() == ()


def test_a_proposal_goes_when_one_side_is_inhibited_or_edited(space: MemoryService) -> None:
    one = str(space.store("The health check listens on port 8080 of the gateway.").id)
    two = str(space.store("The health check listens on port 9090 of the gateway.").id)
    space.inhibit(one, successor=two)
    assert space.contradictions() == ()
    space.release(one)
    assert len(space.contradictions()) == 1
    space.update(one, content="The health check of the gateway listened on port 8080 until May.")
    assert space.contradictions() == ()


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Step 7 of the deploy needs a token refresh first.", "Step 8 of the deploy needs a token refresh first."),
        ("Look at getUserName in the session module for this.", "Look at getUserMail in the session module for this."),
        (
            "The Kafka consumer of the ledger times out after 30 seconds.",
            "The restore job takes 90 minutes on Sundays.",
        ),
    ],
)
def test_two_subjects_are_two_memories_and_no_contradiction(space: MemoryService, new: str, old: str) -> None:
    space.store(old)
    result = space.store(new)
    assert result.outcome is Outcome.STORED
    assert result.contradicts == ()


def test_feedback_moves_confidence_and_importance_and_can_be_taken_back(filled: MemoryService) -> None:
    memory = id_of(filled, CACHE)
    before = filled.search("session cache")[0]
    recall = filled.recall("how long does the session cache live?", client=AGENT)
    assert filled.feedback(memory, True, recall_id=recall.id, client=AGENT).confidence is Confidence.CONFIRMED
    assert filled.search("session cache")[0].parts.importance > before.parts.importance
    assert filled.feedback(memory, False, recall_id=recall.id, client=AGENT).confidence is Confidence.STORED
    assert filled.search("session cache")[0].parts.importance < before.parts.importance
    cleared = filled.feedback(memory, None, recall_id=recall.id, client=AGENT)
    assert (cleared.helped, cleared.misled) == (0, 0)
    assert filled.search("session cache")[0].score == pytest.approx(before.score, rel=1e-6)


def test_nobody_pushes_a_memory_by_repeating_himself(filled: MemoryService) -> None:
    memory = id_of(filled, CACHE)
    for _ in range(50):
        filled.feedback(memory, True, client=AGENT)
    assert filled.get(memory).helped == 1
    for number in range(50):
        filled.feedback(memory, True, client=f"editor {number}")
    importance = filled.search("session cache")[0].parts.importance
    assert importance <= 1 + filled.settings.importance_span
    recall = filled.recall("tests in Go", client=AGENT, budget=120)
    assert recall.blocks
    assert memory not in [block.id for block in recall.blocks]
    with pytest.raises(InvalidInput):
        filled.feedback(memory, True, recall_id=recall.id, client=AGENT)
    with pytest.raises(NotFound):
        filled.feedback(memory, True, recall_id="01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_different_questions_are_counted_and_the_same_one_once(tmp_path: Path) -> None:
    with tetrarium.open_space(tmp_path) as space:
        memory = str(space.store(CACHE).id)
        for question in ("session cache", "cache session", "how long does the gateway cache live?", "Redis"):
            space.recall(question, client=AGENT)
        space.maintain()
        assert space.get(memory).distinct_queries == 3
    with tetrarium.open_space(tmp_path) as space:
        space.recall("session cache", client=AGENT)
        space.recall("what expires in Redis?", client=WINDOW)
        space.maintain()
        assert space.get(memory).distinct_queries == 3


def test_a_filter_is_previewed_then_forgets_softly_and_spares_what_is_pinned(space: MemoryService) -> None:
    ids = [
        str(space.store(f"Remark {n} on the weather at the harbour.", labels=["draft"], force=True).id)
        for n in range(6)
    ]
    space.store("The kiosk keeps sold tickets in SQLite.")
    space.update(ids[0], pinned=True)
    preview = space.forget_matching(labels="draft")
    assert (preview.done, preview.total, preview.spared) == (False, 5, 1)
    assert space.stats().memories == 7
    assert space.forget_matching(labels="draft", confirm="guessed").done is False
    late = str(space.store("Remark 9 on the weather at the harbour.", labels=["draft"], force=True).id)
    again = space.forget_matching(labels="draft", confirm=preview.confirm)
    assert (again.done, again.total) == (False, 6)
    done = space.forget_matching(labels="draft", confirm=again.confirm)
    assert done.done
    assert set(done.ids) == {*ids[1:], late}
    assert (space.stats().memories, space.stats().in_trash) == (2, 6)
    assert set(space.restore_all(done.ids).ids) == set(done.ids)
    assert space.stats().memories == 8


def test_a_filter_that_matches_everything_is_refused(filled: MemoryService) -> None:
    with pytest.raises(InvalidInput):
        filled.forget_matching()


def test_the_preview_of_inhibited_memories_tells_none_of_their_words(filled: MemoryService) -> None:
    filled.inhibit(id_of(filled, CACHE))
    answer = BY_NAME["memory_forget"].call({"state": "inhibited"}, Caller(AGENT))(filled)
    assert answer.structured["total"] == 1
    assert "Redis" not in answer.text + str(answer.structured)


def test_pin_and_expiry_make_no_version_and_an_edit_can_be_undone(filled: MemoryService) -> None:
    memory = id_of(filled, CACHE)
    until = datetime.now(UTC) + timedelta(days=1)
    changed = filled.update(memory, pinned=True, expires_at=until)
    assert (changed.pinned, changed.expires_at, changed.revision) == (True, until, 1)
    assert filled.update(memory, expires_at="never").expires_at is None
    edited = filled.update(memory, content="The session cache lives for ever.", labels=["odd"], importance=0.9)
    assert (edited.revision, edited.pinned) == (2, True)
    undone = filled.revert(memory)
    assert (undone.content, undone.labels, undone.revision) == (CACHE, (), 3)
    assert filled.search("how long does the session cache live?")[0].id == memory


@pytest.fixture
def unvoided(tmp_path: Path) -> Iterator[MemoryService]:
    with tetrarium.open_space(tmp_path / "unvoided", void_target=0.0) as space:
        yield space


def test_a_gathered_recall_is_sorted_by_use_and_brings_neighbours_within_the_budget(unvoided: MemoryService) -> None:
    space = unvoided
    space.store("We decided to keep sessions in Redis because the database was slow.", session="s", client=AGENT)
    space.store("The lunch menu of the canteen changes on Wednesdays.", session="s", client=AGENT)
    for number in range(120):
        space.store(f"Redis node {number} keeps sessions of region {number}.", client=AGENT, force=True)
    space.store("To flush the sessions in Redis, run make flush.", client=AGENT)
    question = "We decided to keep sessions in Redis because the database was slow; how to flush them with make?"
    result = space.gather(question, budget=2_000, client=AGENT)
    groups = {group.name: [hit.memory.category for hit in group.hits] for group in result.groups}
    assert set(groups) >= {"decisions", "how-to"}
    assert [memory.content for memory in result.neighbours] == ["The lunch menu of the canteen changes on Wednesdays."]
    assert result.trace.token_usage < result.token_usage <= 2_000


def test_a_decision_and_a_pattern_told_in_parts_stand_for_themselves(space: MemoryService) -> None:
    decision = space.record_decision(
        "Session store",
        "Sessions live in Redis",
        "the database was too slow",
        alternatives=["PostgreSQL: locks"],
        client=AGENT,
    )
    pattern = space.learn_pattern(
        "a new endpoint is added",
        ["write the schema", "write the handler"],
        example="make endpoint NAME",
        language="Go",
        client=AGENT,
    )
    texts = [space.get(str(result.id)).content for result in (decision, pattern)]
    assert texts[0] == (
        "Session store. Decision: Sessions live in Redis. Because: the database was too slow. Turned down: PostgreSQL: locks."
    )
    assert texts[1].endswith("(1) write the schema (2) write the handler.\nExample:\nmake endpoint NAME")
    assert space.search("why not PostgreSQL for sessions?")[0].id == decision.id
    with pytest.raises(InvalidInput):
        space.learn_pattern("never", [])
