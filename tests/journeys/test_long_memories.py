"""A long memory is found by each thing it says, also when the model's sight ends long before."""

from __future__ import annotations

from pathlib import Path

import pytest

import tetrarium
from bench.explain import digest
from tetrarium.indexing.passages import MOST_WINDOWS, windows
from tetrarium.indexing.tokens import budget_tokens
from tetrarium.service import MemoryService
from tetrarium.service.door import WINDOWS_A_SLICE

FILLER = (
    "The minutes of the quarterly meeting list who attended and which rooms were booked. "
    "Catering was ordered for noon, and the projector of the large room was repaired. "
    "Several departments reported on travel, parking permits and the summer party. "
)
LAST = "From spring on, whoever is ill has to let the shift leader know before six in the morning."
QUESTION = "by when must an employee call in sick?"


@pytest.fixture
def handbook(space: MemoryService) -> MemoryService:
    """Short memories that are nearer to the question by what they are about."""
    for number in range(6):
        space.store(f"Employee handbook, page {number}: desks in hall {number} are shared by two teams.", force=True)
        space.store(f"The sports course number {number} for staff starts in room {number} after work.", force=True)
    return space


def test_a_fact_in_the_last_sentence_of_three_thousand_words_is_found_by_its_meaning_and_nothing_is_written(
    handbook: MemoryService,
) -> None:
    text = FILLER * 77 + LAST
    assert len(text.split()) > 3_000
    long = handbook.store(text).id
    before = digest(handbook.path)
    assert handbook.search(QUESTION).hits[0].id == long
    assert digest(handbook.path) == before
    assert long in [block.id for block in handbook.recall(QUESTION, budget=20_000).blocks]


def test_its_parts_are_kept_across_a_restart_follow_its_text_and_go_with_it(handbook: MemoryService) -> None:
    text = FILLER * 20 + LAST
    long = str(handbook.store(text).id)
    before = handbook.search(QUESTION).hits[0].score
    while handbook.maintain():
        pass
    with tetrarium.open_space(handbook.path) as again:
        assert not again._space.indexes.unread
        assert again.search(QUESTION).hits[0].id == long
        assert again.search(QUESTION).hits[0].score == pytest.approx(before, abs=0.02)
        again.update(long, content="The minutes of the meeting were lost.")
        assert not len(again._space.indexes.passages)
        again.update(long, content=text)
        assert again.search(QUESTION).hits[0].id == long
        again.forget(long)
        assert long not in [hit.id for hit in again.search(QUESTION).hits]
        assert not len(again._space.indexes.passages)


@pytest.mark.parametrize(
    "sentence", [FILLER, "支付网关的超时设为三十秒,重试两次后转人工。", "x" * 5_000, "a, b, c, d\n"]
)
def test_windows_hold_the_whole_text_overlap_and_stay_small(sentence: str, tmp_path: Path) -> None:
    text = sentence * (20_000 // len(sentence))
    parts = windows(text)
    assert 2 <= len(parts) <= MOST_WINDOWS
    assert all(part in text for part in parts)
    assert text.startswith(parts[0]) or text.strip().startswith(parts[0])
    assert len(parts) == MOST_WINDOWS or text.strip().endswith(parts[-1])
    assert all(budget_tokens(part) <= 500 for part in parts)
    assert sum(map(len, parts)) >= min(len(text), 10_000) * 0.95
    assert windows("One short sentence. And another one.") == []


def test_a_very_long_memory_is_read_in_slices_so_that_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tetrarium.open_space(tmp_path / "space") as space:
        long = str(space.store(FILLER * 900, force=True).id)
        slices: list[int] = []
        embed = space._space.embed_passages

        def watched(texts: list[str]) -> list[object]:
            slices.append(len(texts))
            return list(embed(texts))

        monkeypatch.setattr(space._space, "embed_passages", watched)
        assert space.maintain()
        space.update(long, labels=["edited in between"])
        while space.maintain():
            pass
        assert max(slices) <= WINDOWS_A_SLICE
        (num,) = (num for num in [space._space.indexes.table.by_id[long]] if num in space._space.indexes.passages)
        assert len(space._space.indexes.passages.of(num)) == len(windows(space.get(long).content))
