"""What is stored as what, what is noise, and which texts say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tetrarium.config import DEFAULTS, with_overrides
from tetrarium.errors import InvalidInput
from tetrarium.knowledge.entities import entities_in, speaker_of
from tetrarium.lifecycle.classify import categorise, noise_reason
from tetrarium.lifecycle.ingest import clean_content, clean_words, derive_keywords, parse_moment, say_the_same
from tetrarium.model import Category


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("We decided to keep sessions in Redis because the database was slow.", Category.DECISION),
        ("我们决定把会话放到 Redis 里,因为数据库太慢。", Category.DECISION),
        ("The export crashes with a segfault when the file has a BOM.", Category.BUG),
        ("导出功能崩溃,根因是文件带有 BOM。", Category.BUG),
        ("Ana prefers small commits and table tests.", Category.PREFERENCE),
        ("To rebuild the index, run make reindex and restart the worker.", Category.SKILL),
        ("Every new endpoint must validate its input with the shared schema.", Category.PATTERN),
        ("On 2026-04-02 the cluster lost quorum for ten minutes.", Category.EPISODE),
        ("In this session we moved the login form to the new router.", Category.SESSION),
        ("Bram owns the billing service and its alerts.", Category.CONTEXT),
        ("The connection pool holds 32 entries.", Category.FACT),
    ],
)
def test_a_text_gets_the_category_that_a_reader_would_give_it(text: str, category: Category) -> None:
    assert categorise(text) is category


@pytest.mark.parametrize(
    "text", ["ok", "thanks, looks good!", "好的,谢谢", "hello there, good morning", "= = = = = = = = = = = = =", "aaaaaaaaaaaaaaaaaaaaaaaa", "1234567890 1234567890 !!! ###"]
)  # fmt: skip
def test_talk_without_a_fact_is_noise_and_says_why(text: str) -> None:
    assert noise_reason(text, min_length=20, min_letter_share=0.3)


@pytest.mark.parametrize(
    "text",
    ["缓存过期时间改为十分钟。", "🎉🎉🎉 release 1.4 went out on Friday without a hitch 🎉", "192.168.0.1:8080 -> api.internal, behind nginx", "déploiement chaîne réussi hier"],
)  # fmt: skip
def test_short_chinese_emoji_and_addresses_are_no_noise(text: str) -> None:
    assert not noise_reason(text, min_length=20, min_letter_share=0.3)


@pytest.mark.parametrize("content", ["", "   \n ", None, 42, "half \ud83d of a pair is no text at all"])
def test_what_is_no_text_is_refused_with_advice(content: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_content(content, DEFAULTS)
    assert caught.value.advice


def test_control_characters_go_and_line_breaks_stay() -> None:
    assert clean_content("one\x00\x07 line\n\ttwo\x1b[0m", DEFAULTS) == "one line\n\ttwo[0m"


def test_words_are_folded_trimmed_and_unique() -> None:
    assert clean_words(["Redis", " redis ", "ＣＡＣＨＥ", ""], "keywords") == ("redis", "cache")
    assert clean_words("a, b,a", "labels") == ("a", "b")
    with pytest.raises(InvalidInput):
        clean_words([object()], "labels")


def test_times_are_instants_whatever_zone_they_come_in() -> None:
    assert parse_moment("2026-05-14T09:30:00+08:00", "since") == datetime(2026, 5, 14, 1, 30, tzinfo=UTC)
    zone = timezone(timedelta(hours=-7))
    assert parse_moment(datetime(2026, 5, 13, 18, 30, tzinfo=zone), "since") == datetime(2026, 5, 14, 1, 30, tzinfo=UTC)
    with pytest.raises(InvalidInput):
        parse_moment("soon", "since")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The service listens on port 8080 for health checks.", "The service listens on port 9090 for health checks."),
        ("Retries are enabled for the payment worker today.", "Retries are disabled for the payment worker today."),
        ("The cache is shared between the two workers here.", "The cache is not shared between the two workers here."),
        ("Step 7 of the deploy needs a token refresh first.", "Step 8 of the deploy needs a token refresh first."),
        ("Look at getUserName in the session module for this.", "Look at getUserMail in the session module for this."),
        ("支付超时时间是三十秒,不需要重试。", "支付超时时间是三十秒,需要重试。"),
        ("Uploads are limited to 10 GB per file.", "Uploads are limited to 10 MB per file."),
        ("Set FEATURE_CART to false in staging.", "Set FEATURE_CART to true in staging."),
        ("The cache is invalidated before the write.", "The cache is invalidated after the write."),
        ("Alice reviews the changes of Bob.", "Bob reviews the changes of Alice."),
        ("Use tabs, not spaces, in this repository.", "Use spaces, not tabs, in this repository."),
        (
            "We rejected option A for the queue because it loses messages.",
            "We rejected option B for the queue because it loses messages.",
        ),
    ],
)
def test_numbers_negations_and_identifiers_keep_two_texts_apart(new: str, old: str) -> None:
    assert not say_the_same(new, old)


def test_a_rewording_of_a_few_letters_is_the_same() -> None:
    assert say_the_same("The cache is shared by both workers.", "the cache is shared by both worker")


def test_keywords_are_telling_words_as_they_are_written() -> None:
    assert derive_keywords("The getUserName call of SessionStore is slow", lambda _: 2.0, 5)[:2] == (
        "getusername",
        "call",
    )
    chinese = derive_keywords("支付服务的超时时间设为30秒", lambda _: 2.0, 5)
    assert {"支付", "服务", "超时"} <= set(chinese)


def test_entities_are_files_symbols_codes_and_versions() -> None:
    found = entities_in(
        "E1045 in utils/dateFormatter.js: getUserName() needs JWT_SECRET since v2.3.1, see `space.store`"
    )
    assert {"e1045", "utils/dateformatter.js", "getusername", "jwt_secret", "v2.3.1", "space.store"} <= set(found)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Caroline: hey, how was the race?", "Caroline"), ("小林:缓存改好了", "小林"), ("Mei Lin: deployed", "Mei Lin"), ("Note: mind the gap", ""), ("decision: we stay", ""), ("http://example.org", ""), ("no speaker here", "")],
)  # fmt: skip
def test_the_speaker_of_a_turn(text: str, name: str) -> None:
    assert speaker_of(text) == name


def test_a_misspelt_setting_is_refused_with_the_near_names() -> None:
    with pytest.raises(InvalidInput, match="void_target"):
        with_overrides(DEFAULTS, {"void_targt": 0.2})
    with pytest.raises(InvalidInput):
        with_overrides(DEFAULTS, {"void_target": "much"})
    assert with_overrides(DEFAULTS, {"void_target": 0.2}).void_target == 0.2
