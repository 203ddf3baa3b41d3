"""The figures of probabilities, by hand and against those of unweighted metrics."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.metrics import brier_score, calibration_error, coverage_at_precision
from review.accuracy.probability_scores import log_loss, probability_scores, weighted_coverage

CASES = st.lists(
    st.tuples(st.sampled_from([0.1, 0.5, 0.62, 0.85, 0.93, 0.97, 0.995]), st.booleans()), min_size=1, max_size=40
)


def arrays(cases: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([one for one, _ in cases]), np.array([right for _, right in cases], dtype=bool)


@given(CASES)
def test_with_equal_weights_the_figures_are_the_plain_ones(cases: list[tuple[float, bool]]) -> None:
    probabilities, correct = arrays(cases)
    scores = probability_scores(probabilities, correct, np.full(len(cases), 3.0))
    assert scores.n == len(cases)
    assert scores.brier == pytest.approx(brier_score(probabilities.tolist(), correct.tolist()))
    assert scores.calibration_error == pytest.approx(calibration_error(probabilities.tolist(), correct.tolist()))
    plain = coverage_at_precision(probabilities.tolist(), correct.tolist(), 0.99)
    assert scores.coverage_at_99.share == pytest.approx(plain.share)
    assert scores.coverage_at_99.threshold == (plain.threshold if plain.share else None)


@given(CASES)
def test_a_weight_of_two_is_the_same_label_twice(cases: list[tuple[float, bool]]) -> None:
    probabilities, correct = arrays(cases)
    weights = np.array([1.0 + n % 2 for n in range(len(cases))])
    times = weights.astype(int)
    heavy = probability_scores(probabilities, correct, weights)
    twice = probability_scores(np.repeat(probabilities, times), np.repeat(correct, times), np.ones(times.sum()))
    for name in ("brier", "log_loss", "calibration_error"):
        assert getattr(heavy, name) == pytest.approx(getattr(twice, name))
    assert heavy.coverage_at_99.share == pytest.approx(twice.coverage_at_99.share)


def test_the_log_loss_is_that_of_what_happened() -> None:
    found = log_loss(np.array([0.9, 0.2]), np.array([True, False]), np.array([1.0, 3.0]))
    assert found == pytest.approx(-(np.log(0.9) + 3 * np.log(0.8)) / 4)


def test_the_true_chance_has_the_least_loss() -> None:
    random = np.random.default_rng(0)
    truth = random.uniform(0.05, 0.95, 20_000)
    correct = random.random(20_000) < truth
    weights = np.ones(20_000)
    honest = probability_scores(truth, correct, weights)
    for bent in (truth**2, np.sqrt(truth), np.clip(truth + 0.1, 0.01, 0.99)):
        other = probability_scores(bent, correct, weights)
        assert (honest.log_loss or 0) < (other.log_loss or 0)
        assert (honest.brier or 0) < (other.brier or 0)
        assert (honest.calibration_error or 0) < (other.calibration_error or 0)


def test_coverage_counts_what_labels_stand_for() -> None:
    probabilities, correct = np.array([0.9, 0.8, 0.7]), np.array([True, True, False])
    found = weighted_coverage(probabilities, correct, np.array([1.0, 8.0, 1.0]), 0.99)
    assert (found.share, found.threshold, found.precision) == (0.9, 0.8, 1.0)
    # At 90 % the wrong one may come along.
    assert weighted_coverage(probabilities, correct, np.array([1.0, 8.0, 1.0]), 0.9).share == 1
    assert weighted_coverage(probabilities, ~correct, np.ones(3), 0.99).share == 0
    assert weighted_coverage(np.empty(0), np.empty(0, bool), np.empty(0), 0.9).share == 0


def test_labels_without_weight_say_nothing() -> None:
    scores = probability_scores(np.array([0.5]), np.array([True]), np.zeros(1))
    assert (scores.n, scores.brier, scores.log_loss, scores.calibration_error) == (0, None, None, None)
    assert scores.reliability == ()


def test_the_figures_are_plain_data_with_their_diagram() -> None:
    scores = probability_scores(np.array([0.4, 0.97, 0.97]), np.array([False, True, True]), np.ones(3))
    data = json.loads(json.dumps(scores.as_json(), allow_nan=False))
    assert [row["bucket"] for row in data["reliability"]] == ["0.00-0.50", "0.95-0.99"]
    assert data["reliability"][1]["accuracy"]["point"] == 1
    assert data["coverage_at_99"]["share"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("probabilities", "n_correct"), [([0.5], 2), ([0.0], 1), ([1.0], 1), ([float("nan")], 1), ([[0.5]], 1)]
)
def test_what_is_no_list_of_probabilities_is_refused(probabilities: list[float], n_correct: int) -> None:
    with pytest.raises(ValueError, match="probabilit"):
        probability_scores(np.array(probabilities), np.ones(n_correct, bool), np.ones(n_correct))
