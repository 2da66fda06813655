"""Trust, descriptions and contradictions, apart from any space."""

from __future__ import annotations

import pytest

from tetrarium.config import DEFAULTS
from tetrarium.lifecycle.correction import Described, contradiction, is_id, meant
from tetrarium.lifecycle.trust import Trust, agent_name, may_change, trust_of


@pytest.mark.parametrize(
    ("client", "trust"),
    [("window", Trust.PERSON), ("", Trust.PERSON), ("tetrarium 0.1.0", Trust.PERSON), ("import", Trust.IMPORT), ("sample", Trust.IMPORT), ("claude-code 2.1", Trust.AGENT)],
)  # fmt: skip
def test_trust_is_read_from_the_client(client: str, trust: Trust) -> None:
    assert trust_of(client) is trust


@pytest.mark.parametrize("name", ["window", "Window ", "", "import", "tetrarium 0.1.0"])
def test_no_agent_is_served_under_the_name_of_a_person(name: str) -> None:
    assert trust_of(agent_name(name)) is Trust.AGENT
    assert not may_change(agent_name(name), "window")


def test_an_id_is_told_from_a_description() -> None:
    assert is_id("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert is_id(" 01arz3ndektsv4rrffq69g5fav ")
    assert not is_id("the memory about caches")


def described(*rows: tuple[float, str]) -> list[Described]:
    return [Described(num, score, set(tokens.split())) for num, (score, tokens) in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("ranked", "num"),
    [
        (described((1.0, "session cach gateway"), (0.4, "cach")), 1),
        (described((1.0, "session cach gateway"), (0.95, "cach")), None),
        (described((1.0, "session cach gateway"), (0.4, "session cach gateway")), None),
        (described((1.0, "session"), (0.4, "x")), None),
        (described(), None),
    ],
)
def test_a_description_must_lead_in_words_and_in_score(ranked: list[Described], num: int | None) -> None:
    assert meant("the session cache of the gateway", ranked, rarity=lambda _: 1.0, settings=DEFAULTS) == num


def test_two_words_describe_a_subject_and_never_one_memory() -> None:
    assert meant("session cache", described((1.0, "session cach")), rarity=lambda _: 1.0, settings=DEFAULTS) is None


def test_texts_that_each_hold_a_rare_word_of_their_own_speak_of_two_subjects() -> None:
    rare = {"harbor", "falcon"}

    def say(word: str, seconds: int) -> str:
        return f"The refund job of {word} times out after {seconds} seconds."

    def rarity(token: str) -> float:
        return 4.0 if token in rare else 1.0

    assert not contradiction(say("harbor", 30), say("falcon", 60), rarity=rarity, settings=DEFAULTS)
    assert contradiction(say("harbor", 30), say("harbor", 60), rarity=rarity, settings=DEFAULTS)


@pytest.mark.parametrize(
    ("new", "old", "word"),
    [
        ("The proxy listens on port 8080.", "The proxy listens on port 9090.", "8080"),
        ("缓存过期时间是10分钟。", "缓存过期时间是30分钟。", "30"),
        ("Uploads are allowed for guests here.", "Uploads are forbidden for guests here.", "opposite"),
        ("The proxy listens on port 8080.", "The proxy listens on port 8080 again.", ""),
        ("Ticket 12 is about the login form.", "Ticket 13 is about the login form.", ""),
        ("Look at a/one.py for the login form.", "Look at b/two.py for the login form.", ""),
        ("", "", ""),
    ],
)
def test_a_contradiction_is_the_same_subject_with_another_value(new: str, old: str, word: str) -> None:
    why = contradiction(new, old, rarity=lambda _: 1.0, settings=DEFAULTS)
    assert (word in why) if word else not why
