"""Looking after a space: its trash, its corrections, many memories at once, what is never void, and what-if."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tetrarium.errors import InvalidInput, NotFound, NotTrusted
from tetrarium.model import Reason, RecallState
from tetrarium.service import MemoryService, fill_sample, open_space
from tetrarium.storage import memories as rows

QUESTION = "what happens when the payment provider does not answer?"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    with open_space(tmp_path / "space") as opened:
        yield opened


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryService]:
    with open_space(tmp_path_factory.mktemp("sample")) as opened:
        fill_sample(opened)
        yield opened


def stored(service: MemoryService, *texts: str) -> list[str]:
    return [str(service.store(text, client="window").id) for text in texts]


def three(service: MemoryService) -> list[str]:
    return stored(
        service,
        "The kiosk prints a paper ticket when the network is down.",
        "Seat maps are drawn on a canvas with hit areas of 24 pixels.",
        "Refunds are booked by hand on the first Monday of each month.",
    )


def test_the_trash_is_listed_the_last_first(service: MemoryService) -> None:
    one, two, _ = three(service)
    service.forget(one)
    service.forget(two)
    assert [item.memory.id for item in service.trashed()] == [two, one]
    assert [item.memory.id for item in service.trashed(offset=1, limit=5)] == [one]
    service.restore(two)
    assert [item.memory.id for item in service.trashed()] == [one]


def test_many_are_labelled_in_one_step_which_one_undo_takes_back(service: MemoryService) -> None:
    ids = three(service)
    assert set(service.label_all(ids[:2], add=["night", "ferry"], client="window")) == set(ids[:2])
    assert service.label_all(ids[:2], add=["ferry"]) == (), "nothing new makes no version"
    assert [service.get(i).labels for i in ids] == [("night", "ferry"), ("night", "ferry"), ()]
    service.undo(client="window")
    assert [service.get(i).labels for i in ids] == [(), (), ()]


def test_many_are_inhibited_all_or_none(service: MemoryService) -> None:
    ids = three(service)
    with pytest.raises(NotFound):
        service.inhibit_all([ids[0], "01ARZ3NDEKTSV4RRFFQ69G5FAV"], client="window")
    with pytest.raises(NotTrusted):
        service.inhibit_all(ids, client="cursor")
    assert service.stats().inhibited == 0
    assert service.inhibit_all(ids[:2], reason="of the old system", client="window") == tuple(ids[:2])
    assert {edge.target: edge.reason for edge in service.corrections()} == dict.fromkeys(ids[:2], "of the old system")
    service.undo(client="window")
    assert service.stats().inhibited == 0


def test_the_reason_of_an_inhibition_is_amended_and_the_old_one_remembered(service: MemoryService) -> None:
    old, new, _ = three(service)
    with pytest.raises(InvalidInput):
        service.amend_inhibition(old, "whatever")
    service.inhibit(old, successor=new, reason="guessed", client="window")
    assert service.amend_inhibition(old, "measured", client="window").superseded_by == new
    newest, before = service.corrections()
    assert (newest.reason, newest.successor, newest.lifted_at) == ("measured", new, None)
    assert before.reason == "guessed"
    assert before.lifted_at is not None
    service.undo(client="window")
    assert service.inhibitions(old)[0].lifted_at is None


def test_a_rehearsal_tells_what_a_correction_would_change_and_changes_nothing(sample: MemoryService) -> None:
    before = sample.recall(QUESTION)
    best = before.blocks[0].id
    version = sample.stats().version
    without = sample.rehearse(inhibited=[best])
    assert best not in {block.id for block in without.blocks}
    inhibited = {edge.target for edge in sample.corrections() if edge.lifted_at is None}
    lifted = {c.id for c in sample.rehearse(lifted=sorted(inhibited)).candidates}
    assert lifted & inhibited
    assert not {c.id for c in before.candidates} & inhibited
    assert [b.id for b in sample.rehearse().blocks] == [b.id for b in before.blocks], (
        "the same premises, the same answer"
    )
    assert sample.stats().version == version
    assert sample.trace() == before


def test_dials_have_their_effect_in_a_rehearsal(sample: MemoryService) -> None:
    sample.recall(QUESTION)
    assert not sample.rehearse(void_target=0.0).void_zones
    assert sample.rehearse(budget=300).token_usage <= 300
    keywords_only = sample.rehearse(settings={"vector_weight": 0.0})
    assert all(candidate.parts.vector == 0 for candidate in keywords_only.candidates)
    with pytest.raises(InvalidInput):
        sample.rehearse(settings={"vector_wait": 0.0})


def test_what_is_let_through_is_not_void_once_or_always(sample: MemoryService) -> None:
    trace = sample.recall(QUESTION)
    off_topic = trace.void_zones[0].members[0]
    again = {c.id: c for c in sample.rehearse(through=[off_topic]).candidates}[off_topic]
    assert again.reason is not Reason.OFF_TOPIC
    theme = sample.let_through([off_topic])
    assert theme.members == (off_topic,)
    try:
        assert {c.id: c for c in sample.recall(QUESTION).candidates}[off_topic].reason is not Reason.OFF_TOPIC
    finally:
        sample.void_again(theme.id)
    candidate = {c.id: c for c in sample.recall(QUESTION).candidates}[off_topic]
    assert (candidate.state, candidate.reason) == (RecallState.VOID, Reason.OFF_TOPIC)


def test_a_theme_that_is_let_through_holds_what_is_stored_later_and_says_so(sample: MemoryService) -> None:
    person = sample
    with open_space(sample.path) as agent:
        zone = max(person.recall(QUESTION).void_zones, key=lambda zone: len(zone.members))
        with pytest.raises(NotTrusted):
            person.let_through(zone.members, client="cursor")
        theme = person.let_through(zone.members, client="window")
        assert theme.words[0] in zone.theme
        assert person.let_through_always() == (theme,)
        trace = agent.recall(QUESTION)
        let = [c for c in trace.candidates if c.id in zone.members]
        assert all(c.reason is not Reason.OFF_TOPIC and c.theme == theme.words for c in let)
        told = agent.explain(let[0].id).why
        assert told.endswith(f"always lets the theme {', '.join(theme.words)} through.")
        others = {c.id for c in trace.candidates if c.reason is Reason.OFF_TOPIC}
        assert others, "the other zones stay void"
        late = agent.store(
            f"What a passenger asks of {' and '.join(theme.words)} is answered within a week.",
            keywords=list(theme.words),
            force=True,
        ).id
        newcomer = next(c for c in agent.recall(QUESTION).candidates if c.id == late)
        assert newcomer.reason is not Reason.OFF_TOPIC
        person.void_again(theme.id, client="window")
        assert person.let_through_always() == ()
        assert {c.id: c.reason for c in agent.recall(QUESTION).candidates}[late] is Reason.OFF_TOPIC
        with pytest.raises(NotFound):
            person.void_again(theme.id)
        person.erase([late])


def test_a_theme_keeps_no_word_of_a_memory_that_is_erased(service: MemoryService) -> None:
    gone = service.store(
        "The quokkabarometer of harbour seven is read at dawn.", keywords=["quokkabarometer", "dawn"]
    ).id
    kept = service.store("The gate of harbour six is opened at dawn by hand.", keywords=["gate", "dawn"]).id
    theme = service.let_through([gone, kept])
    assert "quokkabarometer" in theme.words
    assert service.erase_with_proof([gone]).is_gone
    (left,) = service.let_through_always()
    assert left.members == (kept,)
    assert "quokkabarometer" not in left.words
    assert "gate" in left.words
    service.erase([kept])
    assert service.let_through_always() == ()


def test_ids_that_an_earlier_version_let_through_stay_let_through(tmp_path: Path) -> None:
    with open_space(tmp_path) as service:
        (memory,) = stored(service, "The kiosk prints a paper ticket when the network is down.")
        with service._space.database.write() as connection:
            rows.set_meta(connection, "let_through", [memory])
        (theme,) = service.let_through_always()
        assert (theme.members, theme.words) == ((memory,), ())
        service.void_again(theme.id)
        assert service.let_through_always() == ()


def test_a_space_keeps_its_dials_for_whoever_opens_it(tmp_path: Path) -> None:
    with open_space(tmp_path) as window, open_space(tmp_path) as agent, open_space(tmp_path, void_target=0.1) as asked:
        window.tune({"void_target": 0.45, "default_budget": 900})
        assert (window.settings.void_target, window.settings.default_budget) == (0.45, 900)
        stored(agent, "The kiosk prints a paper ticket when the network is down.")
        assert agent.recall("paper ticket").void_target == 0.45
        assert asked.recall("paper ticket").void_target == 0.1, "what was asked for by name goes before"
        with pytest.raises(InvalidInput):
            window.tune({"max_candidates": 5})
        with pytest.raises(InvalidInput):
            window.tune({"void_target": -1})
    with open_space(tmp_path) as later:
        assert later.settings.default_budget == 900
        later.tune({})
        assert later.settings.void_target == 0.30
