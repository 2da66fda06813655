"""The analyser: prose in any script, and code."""

from __future__ import annotations

import pytest

from tetrarium.indexing.tokens import budget_tokens, fold, language, tokenize


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getUserName", {"getusername", "get", "user", "name"}),
        ("JWT_SECRET", {"jwt_secret", "jwt", "secret"}),
        ("utils/dateFormatter.js", {"utils/dateformatter.js", "date", "js"}),
        ("v2.3.1", {"v2.3.1"}),
        ("E1045", {"e1045", "1045"}),
        ("pre-edit", {"pre-edit", "pre", "edit"}),
        ("C:\\src\\proj", {"c:/src/proj", "src", "proj"}),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(identifier: str, parts: set[str]) -> None:
    assert parts <= set(tokenize(f"look at {identifier}, please"))


def test_english_words_meet_in_their_stem_and_stop_words_are_gone() -> None:
    assert tokenize("the connections were pooled") == tokenize("Connection pooling") == ["connect", "pool"]


def test_chinese_is_found_by_words_inside_a_clause_and_beside_english_glued_to_it() -> None:
    tokens = tokenize("数据库迁移到PostgreSQL之后变快")
    assert {"数据", "迁移", "postgresql"} <= set(tokens)


def test_accents_width_and_case_do_not_matter() -> None:
    assert tokenize("DÉPLOIEMENT Ｃａｃｈｅ") == tokenize("deploiement cache")
    assert fold("Straße ÉTÉ") == "strasse ete"


def test_numbers_and_thousands_stay_numbers() -> None:
    assert "1000" in tokenize("a limit of 1,000 entries")
    assert tokenize("port 8080") != tokenize("port 9090")


@pytest.mark.parametrize("text", ["", "   ", "!!! ??? …", "🎉🎉", "\u200b\u200d"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert tokenize(text) == []


def test_a_megabyte_without_blanks_is_no_word() -> None:
    assert tokenize("x" * 1_000_000) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cache in Redis", "en"),
        ("缓存放在 Redis 里", "zh"),
        ("キャッシュの設定", "ja"),
        ("캐시 설정", "ko"),
        ("", "en"),
    ],
)
def test_the_language_group_of_a_text(text: str, code: str) -> None:
    assert language(text) == code


def test_the_budget_count_grows_with_the_text_and_charges_chinese_by_the_character() -> None:
    assert budget_tokens("") <= 2
    assert budget_tokens("memory " * 100) >= 100
    assert budget_tokens("记忆" * 100) >= 200
    assert budget_tokens("x=1;" * 100) >= 300
