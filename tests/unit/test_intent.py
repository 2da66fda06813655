"""What kind and what time a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tetrarium.model import Category
from tetrarium.recall.intent import intent_of

NOW = datetime(2026, 5, 14, 15, 30, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("question", "category"),
    [
        ("why did we choose PostgreSQL?", Category.DECISION),
        ("为什么选 PostgreSQL", Category.DECISION),
        ("how do I rotate the keys", Category.SKILL),
        ("怎么回滚一次发布", Category.SKILL),
        ("what went wrong with the export", Category.BUG),
        ("what does Nora prefer", Category.PREFERENCE),
    ],
)
def test_a_question_seeks_its_kind(question: str, category: Category) -> None:
    assert category in intent_of(question, NOW).categories


@pytest.mark.parametrize("question", ["port of the gateway", "网关的端口", "how long is the timeout"])
def test_a_plain_question_seeks_no_kind_and_no_time(question: str) -> None:
    intent = intent_of(question, NOW)
    assert (intent.categories, intent.since, intent.identity, intent.bare) == ((), None, False, question)


@pytest.mark.parametrize(
    ("question", "first", "last", "bare"),
    [
        ("what was deployed today?", "2026-05-14", "2026-05-15", "what was deployed ?"),
        ("昨天改了什么", "2026-05-13", "2026-05-14", "改了什么"),
        ("incidents last week", "2026-05-04", "2026-05-11", "incidents"),
        ("本周的决定", "2026-05-11", "2026-05-18", "的决定"),
        ("two days ago we moved the cache", "2026-05-12", "2026-05-13", "we moved the cache"),
        ("三天前的故障", "2026-05-11", "2026-05-12", "的故障"),
    ],
)
def test_words_of_time_mean_the_askers_own_days(question: str, first: str, last: str, bare: str) -> None:
    intent = intent_of(question, NOW)
    assert intent.since is not None
    assert intent.until is not None
    since, until = (datetime.fromtimestamp(x, UTC) for x in (intent.since, intent.until))
    assert since <= datetime.fromisoformat(first).replace(tzinfo=UTC)
    assert until >= datetime.fromisoformat(last).replace(tzinfo=UTC)
    assert intent.bare == bare


@pytest.mark.parametrize(
    "question", ["who am I and what am I working on?", "我是谁,我在做什么", "where did we leave off"]
)
def test_a_question_on_oneself_is_known(question: str) -> None:
    assert intent_of(question, NOW).identity
