"""Thirty ways in which another memory with voids was seen to fail, each with what ours must do instead.

Three of them stand where their machinery is: a kill during stores (tests/faults), a bad store over the wire that must
not end the server and a call without arguments (test_mcp_wire, test_mcp).
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

import tetrarium
from bench.explain import digest
from tetrarium import paths
from tetrarium.errors import InvalidInput, NotFound, UserError
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.model import Outcome, Reason, Standing
from tetrarium.service import MemoryService, fill_sample

AGENT = "editor 1.0"


def stored(space: MemoryService, content: str, **more: object) -> str:
    result = space.store(content, **more)  # type: ignore[arg-type]
    assert result.outcome is Outcome.STORED, result
    return str(result.id)


def found(space: MemoryService, query: str) -> list[str]:
    return [block.id for block in space.recall(query).blocks]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("支付网关的超时设为三十秒,重试两次后转人工。", "支付超时多久"),
        ("決済サービスのタイムアウトは三十秒に設定されている。", "決済のタイムアウト"),
        ("部署用 Jenkins pipeline,先跑 smoke test 再切流量。", "部署之前要跑什么"),
        ("Le déploiement passe par la chaîne de préproduction avant midi.", "deploiement chaine"),
        ("🚀🎉✅ Release trains leave on Tuesdays 🚀🎉✅", "when do release trains leave"),
        ("192.168.0.1:8080 -> api.internal, behind nginx", "192.168.0.1:8080"),
    ],
    ids=["row 1 Chinese", "row 1 Japanese", "row 2 mixed", "row 3 accents", "row 4 emoji", "row 4 address"],
)
def test_rows_1_to_4_every_script_is_stored_and_found(space: MemoryService, content: str, query: str) -> None:
    memory = stored(space, content)
    stored(space, "The coffee machine on the second floor takes only coins.")
    assert found(space, query)[0] == memory


@pytest.mark.parametrize("content", ["", "  ", None])
def test_row_5_empty_content_is_refused_with_advice(space: MemoryService, content: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        space.store(content)  # type: ignore[arg-type]
    assert caught.value.advice
    assert space.stats().memories == 0


def test_row_6_missing_keywords_are_derived_and_the_same_text_is_one_memory(space: MemoryService) -> None:
    one = space.store("The ledger export runs at four in the morning.")
    two = space.store("The ledger export runs at four in the morning.")
    assert one.keywords
    assert two.outcome is Outcome.MERGED
    assert space.stats().memories == 1


def test_row_7_keywords_in_other_forms_are_taken_or_refused_by_name(space: MemoryService) -> None:
    assert space.store("The ledger export runs at four in the morning.", keywords="ledger, export").keywords == (
        "ledger",
        "export",
    )
    assert space.store("The invoice import runs at five in the morning.", keywords=[5]).keywords == ("5",)  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="keywords"):
        space.store("The audit import runs at six in the morning.", keywords=[object()])  # type: ignore[list-item]


def test_row_8_a_megabyte_is_kept_whole_named_when_it_does_not_fit_and_slows_nothing(space: MemoryService) -> None:
    small = stored(space, "The migration log is summed up on the wiki page of the platform team.")
    large = stored(space, "The migration log of the platform team. " + "moved one more table " * 50_000)
    trace = space.recall("migration log of the platform team", void_target=0)
    assert small in [block.id for block in trace.blocks]
    assert trace.best_left_out == large
    assert trace.best_left_out_tokens > trace.budget
    assert space.explain(large).reason is Reason.OVER_BUDGET


@pytest.mark.parametrize("word", ["%", "_", "'; DROP TABLE memories; --", '" OR 1=1'])
def test_row_9_what_looks_like_sql_is_only_text(space: MemoryService, word: str) -> None:
    memory = stored(space, f"The report of the auditors quotes {word} as it stands.", keywords=[word, "auditors"])
    stored(space, "An unrelated remark about the colour of the logo.")
    assert found(space, f"auditors {word}")[0] == memory
    assert space.stats().memories == 2


def test_row_10_an_unknown_category_is_refused_with_the_known_ones(space: MemoryService) -> None:
    with pytest.raises(InvalidInput, match="decision"):
        space.store("The ledger export runs at four in the morning.", category="musing")


def test_row_11_different_facts_under_the_same_keywords_are_both_kept(space: MemoryService) -> None:
    words = ["redis", "cache", "ttl"]
    one = stored(space, "The session cache in Redis lives for five minutes.", keywords=words)
    two = stored(space, "Redis runs on its own node since the cache outage in March.", keywords=words)
    assert {space.get(one).content, space.get(two).content} == {
        "The session cache in Redis lives for five minutes.",
        "Redis runs on its own node since the cache outage in March.",
    }


def test_row_12_a_correction_with_the_same_keywords_supersedes_and_keeps_history(space: MemoryService) -> None:
    words = ["redis", "cache", "ttl"]
    old = stored(space, "The session cache in Redis lives for five minutes.", keywords=words)
    new = space.store("The session cache in Redis lives for nine minutes.", keywords=words, supersedes=old)
    assert new.superseded == (old,)
    assert space.get(old).standing is Standing.INHIBITED
    assert [(edge.target, edge.successor) for edge in space.inhibitions(old)] == [(old, new.id)]


def test_row_13_a_correction_of_one_memory_leaves_another_with_its_keywords_alone(space: MemoryService) -> None:
    words = ["redis", "cache", "ttl"]
    a = stored(space, "The session cache in Redis lives for five minutes.")
    x = stored(space, "Redis runs on its own node since the cache outage in March.", keywords=words)
    new = space.store("The session cache in Redis lives for nine minutes.", keywords=words, supersedes=a)
    assert new.superseded == (a,)
    assert space.get(x).standing is Standing.LIVE
    assert space.get(x).revision == 1


def test_row_14_a_correction_of_nothing_changes_nothing(space: MemoryService) -> None:
    stored(space, "The session cache in Redis lives for five minutes.")
    with pytest.raises(NotFound):
        space.store("The session cache lives for nine minutes.", supersedes="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert space.stats().memories == 1


def test_row_15_likeness_alone_never_silences_a_memory(space: MemoryService) -> None:
    first = stored(space, "The backup job takes 30 minutes on the database host.", keywords=["job", "database"])
    space.store(
        "The restore job takes 90 minutes on the database host; a path was fixed.", keywords=["job", "database"]
    )
    assert space.get(first).standing is Standing.LIVE
    assert space.stats().inhibited == 0


def test_row_16_the_named_one_is_superseded_and_the_one_alike_is_only_proposed(space: MemoryService) -> None:
    z = stored(space, "Release notes are written by hand on Fridays.")
    c = stored(space, "The gateway of the booking service listens on port 8080.")
    new = space.store("The gateway of the booking service listens on port 9090.", supersedes=z)
    assert new.superseded == (z,)
    assert [(pair.older, "8080" in pair.why) for pair in new.contradicts] == [(c, True)]
    assert space.get(c).standing is Standing.LIVE
    assert space.stats().contradictions == 1


def test_row_17_the_text_of_an_inhibited_memory_is_told_and_needs_force(space: MemoryService) -> None:
    text = "The office door code is on the whiteboard."
    old = stored(space, text)
    new = stored(space, "The office door now opens with a card.", supersedes=old)
    again = space.store(text)
    assert again.outcome is Outcome.MATCHES_INHIBITED
    assert old in again.reason
    assert new in again.reason
    assert space.store(text, force=True).outcome is Outcome.STORED


def test_row_18_a_chain_is_right_shown_and_undone_link_by_link(space: MemoryService) -> None:
    a = stored(space, "The cache of the gateway lives for five minutes.")
    b = stored(space, "The cache of the gateway lives for ten minutes.", supersedes=a)
    c = stored(space, "The cache of the gateway lives for one minute.", supersedes=b)
    assert [space.get(x).standing for x in (a, b, c)] == [Standing.INHIBITED, Standing.INHIBITED, Standing.LIVE]
    for member in (a, b, c):
        assert [(edge.target, edge.successor) for edge in space.inhibitions(member)] == [(a, b), (b, c)]
    space.release(b)
    assert [space.get(x).standing for x in (a, b, c)] == [Standing.INHIBITED, Standing.LIVE, Standing.LIVE]
    assert [edge.lifted_at is None for edge in space.inhibitions(a)] == [True, False]


def test_row_19_a_space_with_one_memory_answers_its_own_question(space: MemoryService) -> None:
    memory = stored(space, "The ledger export runs at four in the morning.")
    assert found(space, "when does the ledger export run?") == [memory]


def test_row_20_a_question_of_stop_words_scores_nothing_and_says_so(space: MemoryService) -> None:
    fill_sample(space)
    trace = space.recall("the and for with")
    assert not trace.blocks
    assert not trace.candidates
    assert "no content word" in trace.note


@pytest.mark.parametrize("query", ["", "!!!", "how", "x" * 100_000], ids=["empty", "marks", "how", "100 kB"])
def test_row_21_a_question_without_a_question_gets_nothing_and_a_hint_fast(space: MemoryService, query: str) -> None:
    fill_sample(space)
    space.recall("warm up")
    started = time.process_time()
    trace = space.recall(query)
    assert not trace.blocks
    assert trace.note
    assert time.process_time() - started < 5


def test_row_22_a_question_that_is_no_text_is_refused(space: MemoryService) -> None:
    with pytest.raises(InvalidInput):
        space.recall(42)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="query"):
        BY_NAME["void_recall"].call({}, Caller(AGENT))


def test_row_23_of_forty_that_say_nearly_the_same_not_all_are_answered(space: MemoryService) -> None:
    words = ["nightly", "build", "runner"]
    for number in range(40):
        text = f"The nightly build ran on runner {number} without a failure."
        stored(space, text, keywords=words, force=True)
    trace = space.recall("nightly build on the runners", budget=20_000)
    assert len(trace.blocks) < 40
    assert len(trace.candidates) == 40
    assert len({candidate.reason for candidate in trace.candidates}) > 1


def test_row_24_with_three_candidates_even_the_noise_that_is_kept_is_explained(space: MemoryService) -> None:
    stored(space, "The ledger export runs at four in the morning.")
    noise = [
        stored(space, "The coffee machine on the second floor takes only coins."),
        stored(space, "Nora prefers table-driven tests in Go."),
    ]
    trace = space.recall("when does the ledger export run?")
    for memory in noise:
        found = space.explain(memory, trace.id)
        assert found.why
        assert found.rank > 1


def test_row_25_asking_what_was_voided_writes_nothing(space: MemoryService) -> None:
    fill_sample(space)
    trace = space.recall("how are payments retried?", client=AGENT)
    space.maintain()

    def counted() -> object:
        return space.page(limit=1_000), space.stats().by_confidence, space.stats().recalls

    bytes_before, before = digest(space.path), counted()
    for _ in range(3):
        for tool, given in (
            ("void_zones", {}),
            ("void_explain", {}),
            ("void_explain", {"memory_id": trace.candidates[-1].id}),
        ):
            BY_NAME[tool].call(given, Caller(AGENT))(space)
    assert digest(space.path) == bytes_before
    space.maintain()  # what was read is noted then, in the audit; nothing of it counts
    assert counted() == before


def test_row_26_two_programs_that_store_the_same_facts_make_them_once(tmp_path: Path) -> None:
    facts = [f"Warehouse {number} closes at {number % 9 + 12} o'clock on weekdays." for number in range(30)]
    with tetrarium.open_space(tmp_path) as one, tetrarium.open_space(tmp_path) as other:
        outcomes = [[program.store(fact).outcome for program in (one, other)] for fact in facts]
        assert outcomes == [[Outcome.STORED, Outcome.MERGED]] * len(facts)
        assert one.stats().memories == other.stats().memories == len(facts)


def test_row_28_a_recall_needs_no_write_lock(space: MemoryService) -> None:
    memory = stored(space, "The ledger export runs at four in the morning.")
    other = sqlite3.connect(space.path / paths.STORE_FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert found(space, "when does the ledger export run?") == [memory]
        assert space.explain(memory).reason is Reason.KEPT
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.parametrize("field", ["state", "confidence", "access_count", "superseded_by"])
def test_row_30_what_only_the_memory_itself_may_decide_cannot_be_stored(space: MemoryService, field: str) -> None:
    for tool in ("memory_create", "void_store"):
        with pytest.raises(UserError, match=field):
            BY_NAME[tool].call({"content": "The ledger export runs at four.", field: "confirmed"}, Caller(AGENT))
