"""What a question is about, and whether a space knows it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import tetrarium
from tetrarium.indexing.synonyms import Synonyms
from tetrarium.recall.evidence import KNOWN_PRIOR, MOST_WEIGHT, NAME_WEIGHT, known_share, subject_of
from tetrarium.service import MemoryService

SURPRISE = {"volcanoes": 30.0, "form": 11.0, "Maria": 10.5, "plan": 11.5, "越位": 13.0, "规则": 13.2, "是什么": 12.0}
NO_SYNONYMS = Synonyms([])


def pieces(text: str) -> Sequence[tuple[str, float]]:
    """A vocabulary of a few words; the Chinese ones stand in one run."""
    if text in SURPRISE:
        return [(text, SURPRISE[text])]
    return [(word, nats) for word, nats in SURPRISE.items() if word in text]


def weights(text: str) -> dict[str, float]:
    return {word.terms[0]: round(word.weight, 1) for word in subject_of(text, pieces, NO_SYNONYMS)}


def test_a_rare_word_weighs_more_than_an_everyday_one_and_nothing_weighs_without_bound() -> None:
    assert weights("How do volcanoes form?") == {"volcano": MOST_WEIGHT, "form": 1.0}


def test_a_name_inside_a_question_is_its_subject_however_common_it_is() -> None:
    assert weights("What did Maria plan?")["maria"] == NAME_WEIGHT
    assert weights("Maria plan")["maria"] < 1


def test_words_of_time_and_numbers_are_no_subject() -> None:
    assert weights("What did Maria plan on 7 July, 2023?").keys() == {"maria", "plan"}


def test_a_chinese_question_is_cut_into_words_and_the_words_that_only_ask_are_dropped() -> None:
    assert weights("越位规则是什么").keys() >= {"越位", "规则"}


@pytest.fixture
def grown(space: MemoryService) -> MemoryService:
    for number in range(60):
        space.store(f"The relay of warehouse {number} forms a queue of orders.", force=True)
    return space


def test_a_space_knows_a_subject_by_its_words_or_their_synonyms_and_a_small_one_is_not_held_to_it(
    grown: MemoryService,
) -> None:
    indexes = grown._space.indexes

    def share(text: str, synonyms: Synonyms = NO_SYNONYMS) -> float:
        return known_share(subject_of(text, grown._space.pieces, synonyms), "en", indexes)

    assert share("which warehouse relay") > KNOWN_PRIOR > share("which harpsichord")
    assert share("which depot", Synonyms([["depot", "warehouse"]])) == pytest.approx(share("which warehouse"))
    with tetrarium.open_space(grown.path.parent / "new") as empty:
        empty.store("The relay of one warehouse forms a queue of orders.")
        subject = subject_of("which harpsichord", empty._space.pieces, NO_SYNONYMS)
        assert known_share(subject, "en", empty._space.indexes) == pytest.approx(KNOWN_PRIOR, abs=0.01)
        assert known_share((), "en", empty._space.indexes) == KNOWN_PRIOR
