"""The name of a cluster tells it from the rest of the space."""

from tetrarium.geometry.clusters import cluster_name


def test_a_name_takes_frequent_and_rare_words_before_common_ones() -> None:
    counts = {"postgres": 40, "pool": 20, "replica": 12, "atlas": 30}
    frequencies = {"postgres": 42, "pool": 180, "replica": 15, "atlas": 2_000}
    assert cluster_name(counts, frequencies, memories=3_000) == "postgres · replica · pool"


def test_a_name_may_be_one_word_when_the_others_tell_little() -> None:
    assert cluster_name({"kafka": 30, "limit": 2}, {"kafka": 31, "limit": 400}, memories=1_000) == "kafka"


def test_a_name_repeats_no_word_in_another_form() -> None:
    counts = {"index": 10, "indexes": 9, "shard": 8}
    assert cluster_name(counts, dict.fromkeys(counts, 10), memories=500) == "index · shard"


def test_a_chinese_cluster_is_named_by_its_chinese_words() -> None:
    counts = {"索引": 9, "索引重建": 8, "分片": 6, "配置": 1}
    assert cluster_name(counts, {"索引": 9, "索引重建": 8, "分片": 6, "配置": 90}, memories=100) == "索引 · 分片"


def test_a_cluster_without_keywords_has_no_name() -> None:
    assert cluster_name({}, {}, memories=10) == ""
