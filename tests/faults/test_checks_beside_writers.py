"""The full check of the store, in slices, while memories come and go: nothing sound is called damaged, damage is still found."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

import tetrarium
from tetrarium import paths
from tetrarium.service import MemoryService
from tetrarium.storage import checks

TEMPORARY = "SELECT name FROM temp.sqlite_schema"
FACTS = [f"Quay {number} closes at {number % 24} o'clock for cargo of kind {number * 7 % 31}." for number in range(48)]


@pytest.fixture
def slow_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A space that is checked in many small slices after it is opened."""
    monkeypatch.setattr(checks, "SLICE", 4)
    with tetrarium.open_space(tmp_path) as space:
        for fact in FACTS:
            space.store(fact, force=True)
    return tmp_path


def live(space: MemoryService, number: int) -> None:
    """A change of every kind that the full-text index follows."""
    ids = space.snapshot().ids
    new = str(space.store(f"Crane {number} is greased every {number + 2} days by the night shift.", force=True).id)
    space.update(ids[number], content=f"Quay {number} never closes; ships come at any hour, {number} of them.")
    space.forget(ids[number + 16])
    space.store("The crane's grease comes from another firm.", supersedes=[new], force=True)
    if number % 3 == 2:
        space.undo()
    if number == 3:
        space.forget(ids[30], permanently=True)


def test_a_check_that_is_interrupted_by_changes_calls_nothing_damaged(
    slow_space: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with tetrarium.open_space(slow_space, check_at_open=0) as space:
        looking_at_texts = 0
        for number in range(1_000):
            if not space.maintain():
                break
            texts = "fresh" in {name for (name,) in space._space.database.connection.execute(TEMPORARY)}
            if texts and looking_at_texts < 10:
                live(space, looking_at_texts)
            elif number % 5 == 0:
                space.store(f"Tug {number} pulls {number % 7} barges.", force=True)
            looking_at_texts += texts
        assert looking_at_texts >= 10
        assert not space._space.damage
        assert not space._space.check_due
    assert "damaged" not in caplog.text


@pytest.mark.expects_log_warning
def test_an_index_that_lacks_a_word_is_found_all_the_same(slow_space: Path, caplog: pytest.LogCaptureFixture) -> None:
    connection = apsw.Connection(str(slow_space / paths.STORE_FILE))
    num, tokens = connection.execute("SELECT num, tokens FROM memories ORDER BY num LIMIT 1 OFFSET 5").fetchone()  # type: ignore[misc]
    connection.execute("INSERT INTO fulltext (fulltext, rowid, tokens) VALUES ('delete', ?, ?)", (num, tokens))
    connection.close()
    with tetrarium.open_space(slow_space, check_at_open=0) as space:
        number = 0
        while space.maintain():
            if number < 60:  # to the last slice
                space.store(f"Crane {number} is greased every {number + 2} days.", force=True)
                number += 1
        assert "An index of the store was damaged and is made anew." in caplog.text
        assert not space._space.damage


def test_a_space_that_is_opened_while_another_writes_is_not_called_damaged(
    slow_space: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended = threading.Event()

    def write() -> None:
        with tetrarium.open_space(slow_space, check_at_open=0) as other:
            number = 0
            while not ended.is_set():
                other.store(f"Buoy {number} blinks {number % 5} times.", force=True)
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(12):
            with tetrarium.open_space(slow_space) as space:
                assert not space._space.damage
    finally:
        ended.set()
        writer.join()
    assert "damaged" not in caplog.text
