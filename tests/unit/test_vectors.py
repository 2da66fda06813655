"""The vector indexes: exact and HNSW behind one interface, and the spread of cosines per language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tetrarium.config import DEFAULTS, Settings
from tetrarium.errors import InvalidInput
from tetrarium.indexing.indexes import Indexes
from tetrarium.indexing.vectors import ExactIndex, HnswIndex, IndexRecord, LanguageMoments, VectorIndex, open_index
from tetrarium.model import Float32

D = 32
SMALL = replace(DEFAULTS, exact_limit=500, exact_subset=100, hnsw_ef_construction=60)
"""HNSW from 500 vectors on, so that a test stays quick."""

PATIENCE = 60.0
"""Seconds that a build may take before a test gives up."""


def unit_rows(n: int, d: int = D, seed: int = 0) -> Float32:
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(12, d))
    rows = topics[rng.integers(12, size=n)] + 0.7 * rng.normal(size=(n, d))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def filled(index: VectorIndex, rows: Float32) -> VectorIndex:
    index.add_many(range(1, len(rows) + 1), rows)
    return index


def hnsw(rows: Float32, settings: Settings = SMALL) -> HnswIndex:
    pytest.importorskip("hnswlib")
    index = HnswIndex(rows.shape[1], settings)
    filled(index, rows)
    assert index.settle(PATIENCE)
    assert index.kind == "hnsw", index.note
    return index


def recall(index: VectorIndex, oracle: VectorIndex, queries: Float32, k: int = 10) -> float:
    found = [len(set(index.search(q, k)[0]) & set(oracle.search(q, k)[0])) / k for q in queries]
    return float(np.mean(found))


def both() -> list[VectorIndex]:
    rows = unit_rows(800)
    return [filled(ExactIndex(D, SMALL), rows), hnsw(rows)]


def test_exact_search_is_the_sorted_list_of_all_cosines() -> None:
    rows = unit_rows(300)
    index = filled(ExactIndex(D, DEFAULTS), rows)
    query = unit_rows(1, seed=9)[0]
    nums, cosines = index.search(query, 7)
    expected = np.argsort(-(rows @ query))[:7]
    assert nums.tolist() == (expected + 1).tolist()
    assert cosines == pytest.approx((rows @ query)[expected])


def test_equal_cosines_come_in_the_order_of_their_numbers() -> None:
    right = np.array([1, 0], np.float32)
    index = ExactIndex(2, DEFAULTS)
    index.add_many([9, 3, 5], np.tile(right, (3, 1)))
    assert index.search(right, 3)[0].tolist() == [3, 5, 9]


def test_an_empty_index_answers_with_nothing() -> None:
    for index in (ExactIndex(D, DEFAULTS), open_index(DEFAULTS, D)):
        nums, cosines = index.search(unit_rows(1)[0], 5)
        assert len(nums) == len(cosines) == len(index) == 0


def test_a_removed_memory_is_found_no_more_and_its_row_is_wiped() -> None:
    for index in both():
        query = index.vectors([17])[0]
        assert index.search(query, 1)[0].tolist() == [17]
        index.remove(17)
        assert 17 not in index
        assert 17 not in index.search(query, len(index))[0]
        assert not index.vectors([17]).any()
        assert np.isnan(index.cosines(query, [17])).all()
        index.remove(17)
        assert len(index) == 799


def test_a_new_vector_of_a_memory_replaces_the_old_one_without_a_ghost() -> None:
    for index in both():
        old = index.vectors([5])[0]
        for step in range(4):
            index.add(5, unit_rows(1, seed=100 + step)[0])
        new = unit_rows(1, seed=103)[0]
        nums, cosines = index.search(new, 1)
        assert nums.tolist() == [5]
        assert cosines[0] == pytest.approx(1.0, abs=1e-6)
        all_nums = index.search(old, len(index))[0].tolist()
        assert all_nums.count(5) == 1
        assert index.cosines(old, [5])[0] == pytest.approx(float(old @ new), abs=1e-6)
        assert len(index) == 800


def test_rows_are_closed_up_when_many_are_dead_and_answers_stay() -> None:
    rows = unit_rows(5_000)
    index = filled(ExactIndex(D, DEFAULTS), rows)
    for num in range(1, 3_001):
        index.remove(num)
    left = filled(ExactIndex(D, DEFAULTS), rows)
    allowed = np.arange(5_001) > 3_000
    for query in unit_rows(20, seed=4):
        got, expected = index.search(query, 10), left.search(query, 10, allowed)
        assert got[0].tolist() == expected[0].tolist()
    assert np.array_equal(index.vectors([4_321]), rows[4_320:4_321])


def test_a_filtered_search_is_exact_for_small_and_large_parts() -> None:
    rows = unit_rows(800)
    for index in both():
        for share in (0.01, 0.3, 0.9):
            allowed = np.random.default_rng(1).random(801) < share
            allowed[0] = False
            query = unit_rows(1, seed=6)[0]
            nums, _ = index.search(query, 10, allowed)
            inside = np.flatnonzero(allowed)
            expected = inside[np.argsort(-(rows[inside - 1] @ query))[:10]]
            assert allowed[nums].all()
            if isinstance(index, ExactIndex) or allowed.sum() <= SMALL.exact_subset:
                assert nums.tolist() == expected.tolist()
            else:
                assert len(set(nums) & set(expected)) >= 9


def test_a_number_beyond_the_filter_is_not_allowed() -> None:
    for index in both():
        nums, _ = index.search(unit_rows(1, seed=6)[0], 50, np.ones(300, np.bool_))
        assert len(nums) == 50
        assert nums.max() < 300


def test_vectors_of_another_dimension_are_refused() -> None:
    index = ExactIndex(D, DEFAULTS)
    with pytest.raises(InvalidInput, match="do not fit"):
        index.add(1, np.zeros(D + 1, np.float32))


def test_an_open_index_changes_to_hnsw_when_the_space_grows_past_the_limit() -> None:
    pytest.importorskip("hnswlib")
    rows = unit_rows(700)
    index = open_index(SMALL, D)
    assert isinstance(index, HnswIndex)
    index.add_many(range(500), rows[:500])
    assert index.kind == "exact"
    index.add_many(range(500, 700), rows[500:])
    index.add(700, unit_rows(1, seed=77)[0])  # while the graph is being built
    index.remove(3)
    assert index.settle(PATIENCE)
    assert index.kind == "hnsw"
    assert "recall@10" in index.note
    assert index.search(unit_rows(1, seed=77)[0], 1)[0].tolist() == [700]
    assert 3 not in index.search(rows[3], 600)[0]


def test_hnsw_finds_what_exact_search_finds() -> None:
    rows = unit_rows(3_000)
    assert recall(hnsw(rows), filled(ExactIndex(D, DEFAULTS), rows), unit_rows(100, seed=5)) >= 0.95


def test_hnsw_keeps_its_recall_on_vectors_without_any_topic() -> None:
    noise = np.random.default_rng(3).normal(size=(3_000, 96))
    rows = np.asarray(noise / np.linalg.norm(noise, axis=1, keepdims=True), np.float32)
    index = hnsw(rows)
    assert recall(index, filled(ExactIndex(96, DEFAULTS), rows), rows[::37]) >= 0.95


def test_hnsw_is_built_anew_when_a_fifth_is_dead_and_keeps_its_recall() -> None:
    rows = unit_rows(2_000)
    index, oracle = hnsw(rows), filled(ExactIndex(D, DEFAULTS), rows)
    for num in range(1, 601):
        index.remove(num)
        oracle.remove(num)
    assert index.settle(PATIENCE)
    assert index.kind == "hnsw"
    assert recall(index, oracle, unit_rows(60, seed=8)) >= 0.95


def test_hnsw_answers_whole_when_nearly_everything_is_removed() -> None:
    rows = unit_rows(900)
    index = hnsw(rows, replace(SMALL, hnsw_dead_share=0.99))
    for num in range(1, 601):
        index.remove(num)
    assert index.kind == "hnsw"
    nums, _ = index.search(rows[700], 300)
    assert sorted(nums) == list(range(601, 901))


def test_a_saved_index_is_taken_over_with_its_deletions_and_new_versions(tmp_path: Path) -> None:
    rows = unit_rows(1_000)
    index = hnsw(rows)
    index.remove(10)
    index.add(20, unit_rows(1, seed=55)[0])
    record = index.save(tmp_path / "cache", seq=42, model="m@1")
    assert record is not None
    again = HnswIndex(D, SMALL)
    kept = [num for num in range(1, 1_001) if num != 10]
    again.add_many(kept, index.vectors(kept))
    assert again.load(tmp_path / "cache", IndexRecord.from_text(record.as_text()), seq=42, model="m@1")
    assert again.kind == "hnsw"
    for query in unit_rows(40, seed=5):
        assert again.search(query, 10)[0].tolist() == index.search(query, 10)[0].tolist()
    again.add(20, rows[19])
    assert again.search(rows[19], 1)[0].tolist() == [20]
    again.add(10, rows[9])
    assert again.search(rows[9], 1)[0].tolist() == [10]


def test_every_damaged_or_foreign_cache_file_is_refused(tmp_path: Path) -> None:
    rows = unit_rows(600)
    path = tmp_path / "cache"
    record = hnsw(rows).save(path, seq=7, model="m@1")
    assert record is not None
    whole = path.read_bytes()
    other = tmp_path / "other"
    hnsw(unit_rows(600, seed=2)).save(other, seq=7, model="m@1")
    rng = np.random.default_rng(0)

    def flipped(position: int) -> bytes:
        return whole[:position] + bytes([whole[position] ^ (1 << int(rng.integers(8)))]) + whole[position + 1 :]

    damaged = [flipped(int(p)) for p in rng.integers(len(whole), size=40)]
    damaged += [b"", whole[:-1], whole[: len(whole) // 2], whole + b"\0", bytes(len(whole)), other.read_bytes()]
    index = HnswIndex(D, replace(SMALL, exact_limit=5_000))
    filled(index, rows)
    for content in damaged:
        path.write_bytes(content)
        assert not index.load(path, record, seq=7, model="m@1")
        assert "damaged" in index.note
    path.write_bytes(whole)
    assert not index.load(path, record, seq=8, model="m@1")
    assert not index.load(path, record, seq=7, model="m@2")
    assert not index.load(path, replace(record, dimension=D + 1), seq=7, model="m@1")
    assert not index.load(path, replace(record, count=599), seq=7, model="m@1")
    assert not index.load(tmp_path / "absent", record, seq=7, model="m@1")
    assert index.kind == "exact"
    assert index.load(path, record, seq=7, model="m@1")
    assert index.kind == "hnsw"


def test_saving_leaves_one_whole_file_and_nothing_beside_it(tmp_path: Path) -> None:
    index = hnsw(unit_rows(600))
    for seq in (1, 2):
        record = index.save(tmp_path / "cache", seq=seq, model="m@1")
        assert record is not None
        assert record.length == (tmp_path / "cache").stat().st_size
    assert [p.name for p in tmp_path.iterdir()] == ["cache"]


def test_a_small_index_saves_no_file(tmp_path: Path) -> None:
    for index in (filled(ExactIndex(D, SMALL), unit_rows(9)), filled(open_index(SMALL, D), unit_rows(9))):
        assert index.save(tmp_path / "cache", seq=1, model="m@1") is None
    assert not list(tmp_path.iterdir())


def test_a_rebuild_for_erasure_starts_from_the_live_vectors_only(tmp_path: Path) -> None:
    rows = unit_rows(700)
    index = hnsw(rows)
    index.remove(123)
    index.rebuild()
    assert index.kind == "exact"
    assert index.settle(PATIENCE)
    assert index.kind == "hnsw"
    index.save(tmp_path / "cache", seq=1, model="m@1")
    saved = (tmp_path / "cache").read_bytes()
    assert rows[123].tobytes() in saved
    assert rows[122].tobytes() not in saved


def test_closing_ends_a_build_in_the_background() -> None:
    pytest.importorskip("hnswlib")
    index = HnswIndex(D, SMALL)
    filled(index, unit_rows(4_000))
    index.close()
    assert index.settle(0.0)
    assert index.kind == "exact"


def test_moments_equal_brute_force_after_adding_and_removing() -> None:
    rows = unit_rows(400, 64)
    languages = ["zh" if i % 3 == 0 else "en" for i in range(400)]
    moments = LanguageMoments(64)
    moments.bulk(languages[:300], rows[:300])
    for i in range(300, 400):
        moments.add(languages[i], rows[i])
    for i in range(0, 400, 5):
        moments.remove(languages[i], rows[i])
    query = unit_rows(1, 64, seed=3)[0]
    for language in ("en", "zh"):
        left = [i for i in range(400) if i % 5 and languages[i] == language]
        cosines = rows[left].astype(np.float64) @ query.astype(np.float64)
        mean, std, size = moments.of(language, query)
        assert size == len(left)
        assert mean == pytest.approx(cosines.mean(), abs=1e-12)
        assert std == pytest.approx(cosines.std(), abs=1e-9)


def test_the_moments_of_all_languages_are_those_of_the_whole_space() -> None:
    rows = unit_rows(119, 64)
    moments = LanguageMoments(64)
    moments.bulk(["en"] * 100 + ["zh"] * 19, rows)
    query = unit_rows(1, 64, seed=3)[0]
    cosines = rows.astype(np.float64) @ query
    mean, std, size = moments.of_all(query)
    assert (mean, std) == pytest.approx((cosines.mean(), cosines.std()))
    assert size == 119


def test_a_language_of_few_memories_leans_on_the_usual_spread_of_the_model() -> None:
    usual = {"en": {"en": (0.79, 0.02), "zh": (0.76, 0.015)}}
    indexes = Indexes(DEFAULTS, 64, usual)
    query = unit_rows(1, 64, seed=3)[0]
    assert indexes.cosine_spread("en", "zh", query) == pytest.approx((0.76, 0.015))
    rows = unit_rows(2_000, 64)
    indexes.moments.bulk(["zh"] * 2_000, rows)
    own = rows.astype(np.float64) @ query
    mean, std = indexes.cosine_spread("en", "zh", query)
    assert abs(mean - own.mean()) < 0.01 * abs(0.76 - own.mean()) + 1e-9
    assert std == pytest.approx(own.std(), rel=0.01)
    # The model says nothing of French: the whole space stands in.
    assert indexes.cosine_spread("en", "fr", query) == pytest.approx((own.mean(), own.std()))


def test_moments_of_an_empty_space_are_zero() -> None:
    moments = LanguageMoments(D)
    row = unit_rows(1)[0]
    assert moments.of("en", row) == (0.0, 0.0, 0)
    moments.add("en", row)
    moments.remove("en", row)
    assert moments.of("en", row) == (0.0, 0.0, 0)
