"""Similarity counts embedding and keywords alike, in the space's own scale."""

import numpy as np
import pytest

from tetrarium.config import DEFAULTS
from tetrarium.geometry.similarity import DEFAULT_CALIBRATION, Calibration, calibrate, similarity


def test_random_pairs_of_the_calibrated_space_have_mean_zero() -> None:
    rng = np.random.default_rng(3)
    cosines, keyword_cosines = rng.normal(0.8, 0.02, 4_000), rng.random(4_000)
    calibration = calibrate(cosines, keyword_cosines)
    assert similarity(cosines, keyword_cosines, calibration).mean() == pytest.approx(0, abs=1e-9)


def test_tau_lies_where_only_the_nearest_random_pairs_are() -> None:
    rng = np.random.default_rng(4)
    cosines, keyword_cosines = rng.normal(0.8, 0.02, 20_000), rng.random(20_000)
    calibration = calibrate(cosines, keyword_cosines)
    above = (similarity(cosines, keyword_cosines, calibration) >= calibration.tau).mean()
    assert above == pytest.approx(1 - DEFAULTS.tau_percentile / 100, abs=0.002)


def test_one_deviation_of_the_cosine_is_worth_one_deviation_of_the_keywords() -> None:
    calibration = Calibration(0.8, 0.02, 0.1, 0.05, tau=1.0)
    by_vector, by_keywords = similarity(np.array([0.82, 0.80]), np.array([0.10, 0.15]), calibration)
    assert by_vector == pytest.approx(by_keywords)


def test_a_space_where_nothing_varies_keeps_a_usable_scale() -> None:
    calibration = calibrate(np.full(10, 0.9), np.zeros(10))
    assert calibration.cosine_std == DEFAULT_CALIBRATION.cosine_std
    assert calibration.tau >= DEFAULTS.tau_floor


def test_strangers_stay_under_tau_where_hardly_any_pair_shares_a_keyword() -> None:
    keyword_cosines = np.zeros(1_000)
    keyword_cosines[:3] = 0.4
    calibration = calibrate(np.full(1_000, 0.0), keyword_cosines)
    assert similarity(np.array([0.0]), np.array([0.0]), calibration)[0] < calibration.tau - DEFAULTS.centroid_slack
