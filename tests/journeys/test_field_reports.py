"""What users of other memories reported again and again: row numbers are those of our list of such reports."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tetrarium
from tetrarium import paths
from tetrarium.indexing.tokens import budget_tokens
from tetrarium.lifecycle.sample import sample_memories
from tetrarium.mcp.tools import BY_NAME, Caller
from tetrarium.model import Outcome, Reason
from tetrarium.service import MemoryService, fill_sample

CALLER = Caller("editor 1.0")
ABSENT = [
    "How long does sourdough have to rise before it is baked?",
    "Which strings does a harpsichord need for a baroque tuning?",
    "What is the offside rule in football?",
    "How do I prune an apple tree in winter?",
    "Which vaccinations does a puppy need?",
    "How deep is the Mariana trench?",
    "Who composed the Goldberg variations?",
    "怎样给紫砂壶开壶?",
]
"""Plausible questions on subjects that the sample project never touches."""


@pytest.fixture
def by_keywords(tmp_path: Path) -> Iterator[MemoryService]:
    """A space whose model cannot be had."""
    with tetrarium.open_space(tmp_path / "words", model=str(tmp_path / "no-model")) as space:
        yield space


def test_row_11_a_deleted_memory_is_nowhere_also_after_a_restart(tmp_path: Path) -> None:
    text = "The heron dashboard of the quay project shows berth occupancy."
    with tetrarium.open_space(tmp_path) as space:
        memory_id = str(space.store(text).id)
        space.store("The crane telemetry is kept for two weeks.")
        space.forget(memory_id, permanently=True)
    with tetrarium.open_space(tmp_path) as space:
        for query in (text, "where do I see which berths are taken?", "heron"):
            assert memory_id not in [hit.id for hit in space.search(query, limit=50, state="all", project="*")]
            assert memory_id not in [candidate.id for candidate in space.recall(query).candidates]
        assert memory_id not in space.snapshot().ids
        assert memory_id not in [memory.id for memory in space.page(limit=100)]
    assert b"heron" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_row_12_an_edited_memory_is_found_by_its_new_words_only(space: MemoryService) -> None:
    memory_id = str(space.store("The pelican queue feeds the billing importer.").id)
    for other in ("The crane telemetry is kept for two weeks.", "Nora prefers table-driven tests in Go."):
        space.store(other)
    space.update(memory_id, content="The walrus stream feeds the billing importer.")
    assert space.search("walrus")[0].id == memory_id
    assert space.search("walrus")[0].parts.keyword > 0
    assert all(hit.parts.keyword == 0 for hit in space.search("pelican"))
    assert [version.content for version in space.versions(memory_id)] == [
        "The pelican queue feeds the billing importer."
    ]


def test_row_13_the_same_said_again_and_again_is_one_memory_that_counts(space: MemoryService) -> None:
    text = "The customs declaration is sent to the broker at noon, and the copy goes to the archive."
    first = str(space.store(text).id)
    lightly = [
        text.replace(", and", "; and"),
        text.replace("The customs", "the customs"),
        text.replace("goes to", "then goes to"),
    ]
    for again in (*[text] * 4, *lightly):
        result = space.store(again)
        assert (result.outcome, result.id) == (Outcome.MERGED, first)
    assert space.stats().memories == 1
    assert space.get(first).stored_again == 7


def test_row_16_a_replaced_decision_is_never_recalled_and_still_explained(space: MemoryService) -> None:
    old = str(space.store("We decided to use vLLM for serving the summary model.").id)
    new = str(space.store("We replaced vLLM by SGLang for serving the summary model.", supersedes=old).id)
    for query in ("what do we use for serving the summary model?", "vLLM", "serving"):
        assert old not in [block.id for block in space.recall(query).blocks]
        assert old not in [hit.id for hit in space.search(query, limit=50)]
    explained = space.explain(old)
    assert explained.reason is Reason.SUPERSEDED
    assert new in explained.why
    assert [hit.id for hit in space.search("vLLM", state="inhibited")] == [old]


@pytest.mark.expects_log_warning
def test_row_17_chinese_words_and_words_glued_between_them_are_found_without_a_model(
    by_keywords: MemoryService,
) -> None:
    sentence = str(by_keywords.store("数据库连接池的上限调整为六十四,否则高峰期会排队。").id)
    mixed = str(by_keywords.store("我们用Kubernetes部署网关服务,灰度比例是百分之五。").id)
    by_keywords.store("The coffee machine on the second floor takes only coins.")
    for query, memory in [
        ("连接", sentence),
        ("高峰", sentence),
        ("排队", sentence),
        ("Kubernetes", mixed),
        ("灰度", mixed),
    ]:
        assert by_keywords.search(query)[0].id == memory, query


@pytest.mark.parametrize("query", ["pre-edit", "GB/s", "don't", '"open', "a:b", "NOT", "*", "", "w " * 5_000])
def test_row_19_marks_in_a_question_are_text_and_literal_matches_come_first(space: MemoryService, query: str) -> None:
    literal = {
        "pre-edit": "The pre-edit hook formats the file before it is saved.",
        "GB/s": "The backup link moves 2 GB/s at night.",
        "don't": "People don't restart the broker by hand any more.",
        '"open': 'The state "open" means that a ticket has an owner.',
        "a:b": "The routing key has the form a:b in every exchange.",
    }
    ids = {name: str(space.store(text).id) for name, text in literal.items()}
    space.store("An editor of the first page prefers openness and backups.")
    found = space.search(query)
    space.recall(query)
    if query in ids:
        assert found[0].id == ids[query]


@pytest.mark.expects_log_warning
def test_row_23_no_read_outgrows_its_bound_however_much_is_stored(by_keywords: MemoryService) -> None:
    for number in range(600):
        by_keywords.store(
            f"Container {number} of the shipment was unloaded at the quay, weighed, sealed and sent on to depot {number % 37}. "
            + "Its papers were in order and the crane needed no second lift. " * 6,
            keywords=["container", "shipment", f"depot{number % 37}"],
            session=f"shift {number // 20}",
            force=True,
        )
    last = by_keywords.recall("which containers of the shipment were unloaded?", client=CALLER.client)
    reads: dict[str, tuple[dict[str, object], int]] = {
        "memory_search": ({"query": "containers of the shipment"}, 2_000),
        "void_recall": ({"query": "containers of the shipment", "budget": 500}, 500),
        "memory_recall": ({"query": "containers of the shipment", "budget": 500}, 500),
        "void_zones": ({}, 2_000),
        "void_explain": ({"memory_id": last.candidates[-1].id}, 2_000),
        "void_stats": ({}, 2_500),
        "memory_forget": ({"categories": ["fact"]}, 2_000),
    }
    whole = {memory.content for memory in by_keywords.page(limit=1_000)}
    for name, (given, bound) in reads.items():
        answer = BY_NAME[name].call(given, CALLER)(by_keywords).structured
        rows = answer.get("blocks") or answer.get("hits") or [b for g in answer.get("groups", ()) for b in g["blocks"]]
        rows = rows + answer.get("neighbours", [])
        assert all(row["content"] in whole for row in rows if row["content"]), name
        if bound == 500:
            assert answer["token_usage"] <= 500
            assert sum(budget_tokens(json.dumps(row, ensure_ascii=False)) for row in rows) <= 500, name
        else:
            assert budget_tokens(json.dumps(answer, ensure_ascii=False)) <= bound, name
    assert (
        BY_NAME["void_recall"].call(reads["void_recall"][0], CALLER)(by_keywords).structured["budget_voided_total"] > 0
    )


def test_row_24_absent_subjects_are_answered_with_nothing_and_a_reason(space: MemoryService) -> None:
    fill_sample(space)
    traces = [space.recall(question) for question in ABSENT]
    empty = [trace for trace in traces if not trace.blocks]
    assert all(trace.note for trace in empty)
    # What this model cannot tell apart is answered rather than withheld (decision 0023).
    assert len(empty) >= 7, [(trace.query, len(trace.blocks)) for trace in traces if trace.blocks]


def test_row_24_questions_on_what_is_there_are_still_answered(space: MemoryService) -> None:
    fill_sample(space)
    questions = json.loads((paths.resources() / "sample" / "questions.json").read_text("utf-8"))[:20]
    texts = {memory.ref: memory.content for memory in sample_memories()}
    hits = 0
    for question in questions:
        trace = space.recall(question["query"])
        assert trace.blocks, trace.note
        answered = {block.content for block in trace.blocks}
        hits += any(texts[ref] in answered for ref in question["gold"])
    assert hits >= 15


@pytest.fixture(params=["Asia/Shanghai", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """This process in another time zone."""
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_row_26_local_times_are_instants_in_every_zone(space: MemoryService, zone: str) -> None:
    hours = {"Asia/Shanghai": 8, "America/Los_Angeles": -7}[zone]
    late = str(space.store("The night shift closed the gate at the north quay.", created_at="2026-05-14T23:30").id)
    instant = datetime(2026, 5, 14, 23, 30, tzinfo=UTC) - timedelta(hours=hours)
    assert space.get(late).created_at == instant
    search = BY_NAME["memory_search"]

    def hits(**filters: str) -> list[dict[str, str]]:
        answer = search.call({"query": "night shift gate"} | filters, CALLER)(space)
        return list(answer.structured["hits"])

    assert [hit["id"] for hit in hits(since="2026-05-14", until="2026-05-14")] == [late]
    assert hits(since="2026-05-15") == hits(until="2026-05-13") == []
    assert [hit["id"] for hit in hits(since=instant.isoformat())] == [late]
    (hit,) = hits()
    assert datetime.fromisoformat(hit["created_at"]) == instant


def test_row_26_an_expiry_is_an_instant_in_every_zone(space: MemoryService, zone: str) -> None:
    now = datetime.now(UTC)
    here = datetime.now().replace(microsecond=0)
    gone = space.store(
        "The demo server was reachable until a minute ago.", expires_at=(here - timedelta(minutes=1)).isoformat()
    )
    kept = space.store(
        "The staging server is reachable for an hour more.", expires_at=(here + timedelta(hours=1)).isoformat()
    )
    found = [hit.id for hit in space.search("which server is reachable")]
    assert kept.id in found
    assert gone.id not in found
    expires = space.get(str(kept.id)).expires_at
    assert expires is not None
    assert abs(expires - now - timedelta(hours=1)) < timedelta(seconds=30)
    assert datetime.now(UTC).tzinfo is UTC, zone


def test_row_26_today_means_today_where_the_asker_is(space: MemoryService, zone: str) -> None:
    today = datetime.now().replace(hour=0, minute=30, second=0, microsecond=0)
    if today > datetime.now():
        today = datetime.now()
    new = str(space.store("The deploy of the ticket shop went out without a hitch.", created_at=today.isoformat()).id)
    space.store(
        "The deploy of the ticket shop was rolled back at once.", created_at=(today - timedelta(days=9)).isoformat()
    )
    assert space.recall("what was deployed today?").blocks[0].id == new, zone
