"""Keyword scores are those of the unmodified library, computed for the candidates only."""

from __future__ import annotations

import random

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from tetrarium.config import Settings
from tetrarium.indexing.keywords import KeywordStatistics, spaced
from tetrarium.model import Float64

VOCABULARY = [f"w{i}" for i in range(300)]


def documents(count: int, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    weights = [1 / (i + 1) for i in range(len(VOCABULARY))]
    return [rng.choices(VOCABULARY, weights, k=rng.randint(3, 60)) for _ in range(count)]


def statistics(texts: list[list[str]], settings: Settings) -> KeywordStatistics:
    found = KeywordStatistics(settings)
    for text in texts:
        found.add(text)
    return found


def scored(ours: KeywordStatistics, question: list[str], texts: list[list[str]]) -> Float64:
    return ours.scores(question, [spaced(" ".join(text)) for text in texts], [len(text) for text in texts])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_score_equals_that_of_bm25okapi_over_all_documents(seed: int) -> None:
    settings = Settings()
    texts = documents(1_500, seed)
    library = BM25Okapi(texts, k1=settings.bm25_k1, b=settings.bm25_b)
    ours = statistics(texts, settings)
    rng = random.Random(seed + 10)
    for _ in range(25):
        # The most frequent words stand in more than half of the documents: the library's floor is tested too.
        question = list(dict.fromkeys([rng.choice(VOCABULARY[:3]), *rng.choices(VOCABULARY, k=4), "unheard-of"]))
        candidates = rng.sample(range(len(texts)), 200)
        scores = scored(ours, question, [texts[i] for i in candidates])
        assert np.allclose(scores, library.get_scores(question)[candidates], atol=1e-9)


def test_what_was_added_and_removed_leaves_no_trace() -> None:
    settings = Settings()
    texts = documents(300, 4)
    changed = statistics(texts, settings)
    for extra in documents(40, 5):
        changed.add(extra)
    for extra in documents(40, 5):
        changed.remove(extra)
    same = statistics(texts, settings)
    assert changed.terms == same.terms
    assert all(changed.idf(word) == pytest.approx(same.idf(word), abs=1e-12) for word in VOCABULARY if same.idf(word))


def test_frequent_words_fetch_nothing_but_the_rarest_known_one_always_does() -> None:
    settings = Settings(frequent_term_floor=20, frequent_term_share=0.0)
    ours = statistics([["every", "each", f"rare{i}"] for i in range(100)] + [["each"]], settings)
    assert ours.rare(["every", "each", "rare7", "unknown"]) == ["rare7"]
    assert ours.rare(["each", "every"]) == ["every"]
    assert ours.rare(["unknown"]) == []


def test_no_document_scores_above_what_the_question_can_reach() -> None:
    settings = Settings()
    texts = documents(400, 6)
    ours = statistics(texts, settings)
    question = ["w5", "w40", "w200"]
    best = scored(ours, question, texts).max()
    assert 0 < best <= ours.best_reachable(question)
