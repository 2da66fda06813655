"""An identifier that is mistyped by a letter still finds its memory, and the answer says how it was read."""

from __future__ import annotations

import time

import pytest

from tetrarium.indexing.spellings import Spellings, one_slip
from tetrarium.service import MemoryService

KEPT = {
    "The helper getUserName trims the blanks of what the form sends.": "getUserName",
    "Rotate JWT_SECRET on the first Monday of each quarter.": "JWT_SECRET",
    "Dates are written by utils/dateFormatter.js and nowhere else.": "utils/dateFormatter.js",
    "Support sees E1045 when the licence of a seat has run out.": "E1045",
}


@pytest.fixture
def named(space: MemoryService) -> MemoryService:
    for text in KEPT:
        space.store(text)
    for number in range(20):
        space.store(f"An unrelated remark about the colour of logo number {number} on the wall.", force=True)
    return space


@pytest.mark.parametrize("asked", ["getUserNmae", "getUsrName", "JWT_SECRT", "utils/dateFormater.js"])
def test_a_slip_of_the_finger_in_an_identifier_is_read_as_the_one_that_is_known(
    named: MemoryService, asked: str
) -> None:
    trace = named.recall(f"{asked}?")
    known = next(name for text, name in KEPT.items() if one_slip(asked.casefold(), name.casefold()))
    assert known in trace.blocks[0].content
    assert known.casefold() in trace.note


def test_another_number_is_another_identifier(named: MemoryService) -> None:
    trace = named.recall("what does E1046 mean?")
    assert not trace.blocks
    assert "E1046" in trace.note


def test_a_name_that_is_known_is_never_read_as_another(named: MemoryService) -> None:
    named.store("The helper getUserNames reads the whole table of a tenant.")
    assert "getUserNames" in named.recall("getUserNames").blocks[0].content
    assert "read as" not in named.recall("getUserNames").note


def test_among_fifty_thousand_names_a_slip_is_looked_up_in_a_blink() -> None:
    spellings = Spellings()
    for number in range(50_000):
        spellings.add(f"{'abcdefghij'[number % 10]}module{'klmnopqrst'[number // 10 % 10]}_handler{number}")
    spellings.add("retry_scheduler")
    started = time.thread_time()
    for _ in range(100):
        assert spellings.near("retry_schedulre") == "retry_scheduler"
    assert time.thread_time() - started < 0.5
    spellings.drop("retry_scheduler")
    assert spellings.near("retry_schedulre") == ""
