"""Arguments: harmless forms are taken, the rest is refused by name with advice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tetrarium.errors import InvalidInput
from tetrarium.mcp.arguments import Argument, read, visible
from tetrarium.mcp.tools import BY_NAME

CREATE = BY_NAME["memory_create"].arguments
SEARCH = BY_NAME["memory_search"].arguments
RECALL = BY_NAME["void_recall"].arguments
TEXT = "We chose SQLite because it needs no server."


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("sqlite, server", ("sqlite", "server")),
        ("sqlite", ("sqlite",)),
        (["sqlite", " server "], ("sqlite", "server")),
        ('["sqlite", "server"]', ("sqlite", "server")),
        ("数据库，服务器、缓存", ("数据库", "服务器", "缓存")),
        ([], ()),
        ("", ()),
        ([2026, "x"], ("2026", "x")),
        ("[draft", ("[draft",)),
    ],
)
def test_a_list_may_come_as_a_list_or_as_text(given: Any, taken: tuple[str, ...]) -> None:
    assert read(CREATE, {"content": TEXT, "keywords": given})["keywords"] == taken


@pytest.mark.parametrize(("given", "taken"), [("500", 500), (500, 500), (500.0, 500), (" 500 ", 500)])
def test_a_number_may_come_as_text(given: Any, taken: int) -> None:
    assert read(RECALL, {"query": "x", "budget": given})["budget"] == taken


@pytest.mark.parametrize(("given", "taken"), [(True, True), ("true", True), ("False", False), (0, False)])
def test_a_flag_may_come_as_text(given: Any, taken: bool) -> None:
    assert read(CREATE, {"content": TEXT, "force": given})["force"] is taken


def test_null_means_not_given() -> None:
    assert read(RECALL, {"query": "x", "budget": None, "project": None}) == {"query": "x"}


def test_a_choice_is_read_without_regard_to_case() -> None:
    assert read(CREATE, {"content": TEXT, "category": " Decision"})["category"] == "decision"


def test_content_is_taken_as_it_is() -> None:
    content = "  " + TEXT + "\n\n\ttabs, 中文, 🧠 and \u202e marks stay  "
    assert read(CREATE, {"content": content})["content"] == content


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        (RECALL, {}, ["'query' is missing"]),
        (RECALL, None, ["'query' is missing"]),
        (RECALL, {"query": ["a"]}, ["'query'", "one text"]),
        (RECALL, {"query": "x", "budget": "many"}, ["'budget'", "many", "a number"]),
        (RECALL, {"query": "x", "budget": 0}, ["'budget'", "from 1 to 200000"]),
        (RECALL, {"query": "x", "budget": 10**400}, ["'budget'"]),
        (RECALL, {"query": "x", "budget": float("nan")}, ["'budget'", "a number"]),
        (RECALL, {"query": "x", "budget": True}, ["'budget'", "a number"]),
        (RECALL, {"query": "x", "budget": 2.5}, ["'budget'", "whole number"]),
        (RECALL, {"query": "x", "bugdet": 5}, ["'bugdet'", "budget"]),
        (RECALL, {"query": "x", "zzz": 5}, ["'zzz'", "Use query, budget"]),
        (RECALL, {"query": "a\ud800b"}, ["'query'", "\\ud800", "position 1"]),
        (SEARCH, {"query": "x", "limit": 101}, ["'limit'", "from 1 to 100"]),
        (SEARCH, {"query": "x", "offset": -1}, ["'offset'", "0 or more"]),
        (SEARCH, {"query": "x", "state": "dead"}, ["'state'", "live, inhibited, all"]),
        (SEARCH, {"query": "x", "categories": "bug, idea"}, ["'categories'", "idea", "decision"]),
        (SEARCH, {"query": "x", "since": "yesterday"}, ["'since'", "2026-01-31"]),
        (CREATE, {"content": TEXT, "importance": 2}, ["'importance'", "from 0 to 1"]),
        (CREATE, {"content": TEXT, "keywords": 7}, ["'keywords'", "list"]),
        (CREATE, {"content": TEXT, "keywords": ["x"] * 21}, ["'keywords'", "21", "at most 20"]),
        (CREATE, {"content": TEXT, "force": "perhaps"}, ["'force'", "true or false"]),
        ((), {"x": 1}, ["'x'", "no arguments"]),
    ],
)
def test_a_refusal_names_the_argument_and_says_what_to_do(
    arguments: tuple[Argument, ...], given: Any, words: list[str]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(arguments, given)
    for word in words:
        assert word in str(refused.value)


def test_a_refusal_never_repeats_a_long_or_hidden_value() -> None:
    with pytest.raises(InvalidInput) as refused:
        read(RECALL, {"query": "x", "budget": "\x1b[31m" + "9x" * 5_000})
    assert len(str(refused.value)) < 200
    assert "\x1b" not in str(refused.value)


def test_a_time_with_an_offset_is_that_instant() -> None:
    assert read(SEARCH, {"query": "x", "since": "2026-01-31T14:00:00+08:00"})["since"] == datetime(
        2026, 1, 31, 6, tzinfo=UTC
    )
    assert read(SEARCH, {"query": "x", "since": "2026-01-31T14:00:00Z"})["since"] == datetime(
        2026, 1, 31, 14, tzinfo=UTC
    )


def test_a_time_without_an_offset_is_local() -> None:
    read_time = read(SEARCH, {"query": "x", "since": "2026-01-31T14:00"})["since"]
    assert read_time == datetime(2026, 1, 31, 14).astimezone()
    assert read_time.tzinfo is UTC


def test_a_bare_date_counts_whole() -> None:
    asked = read(SEARCH, {"query": "x", "since": "2026-01-31", "until": "2026-01-31"})
    assert asked["until"] - asked["since"] == timedelta(days=1)


def test_what_acts_on_a_terminal_or_hides_is_written_out() -> None:
    assert visible("a\x1b[31m\u202e中文\n\t👩\u200d💻") == "a\\u001b[31m\\u202e中文\n\t👩\u200d💻"
