"""Calibrators are frozen numbers that say the same for ever, and refuse what they cannot be."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.calibrators import (
    HIGHEST,
    LOG_ODDS,
    LOWEST,
    Calibrator,
    CalibratorError,
    Identity,
    Isotonic,
    Logistic,
    VennAbers,
    calibrator_from_json,
    log_odds,
)

LOGISTIC = Logistic(bias=-0.5, weights={LOG_ODDS: 0.8, "ocr": 2.0}, defaults={LOG_ODDS: 1.0, "ocr": 0.5})
ISOTONIC = Isotonic((0.2, 0.6, 0.9), (0.1, 0.5, 0.95))
VENN_ABERS = VennAbers(edges=(0.5, 0.8), lower=(0.1, 0.6, 0.9), upper=(0.3, 0.7, 1.0))
ALL: list[Calibrator] = [Identity(), LOGISTIC, ISOTONIC, VENN_ABERS]


@pytest.mark.parametrize("calibrator", ALL, ids=lambda one: one.method)
@given(confidence=st.floats(0, 1), ocr=st.floats(-1e6, 1e6))
def test_a_probability_is_never_certain(calibrator: Calibrator, confidence: float, ocr: float) -> None:
    assert LOWEST <= calibrator.probability(confidence, {"ocr": ocr}) <= HIGHEST


@pytest.mark.parametrize("calibrator", ALL, ids=lambda one: one.method)
@given(one=st.floats(0, 1), other=st.floats(0, 1))
def test_more_confidence_is_never_less_probable(calibrator: Calibrator, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert calibrator.probability(low, {}) <= calibrator.probability(high, {}) + 1e-12


@pytest.mark.parametrize("calibrator", ALL, ids=lambda one: one.method)
def test_a_calibrator_survives_as_json_and_says_the_same(calibrator: Calibrator) -> None:
    stored = json.loads(json.dumps(calibrator.as_json(), allow_nan=False))
    again = calibrator_from_json(stored)
    assert again == calibrator
    assert [again.probability(k / 10, {"ocr": 0.3}) for k in range(11)] == [
        calibrator.probability(k / 10, {"ocr": 0.3}) for k in range(11)
    ]


@pytest.mark.parametrize("calibrator", ALL, ids=lambda one: one.method)
@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
def test_a_confidence_that_is_none_is_refused(calibrator: Calibrator, confidence: float) -> None:
    with pytest.raises(CalibratorError, match="0-1"):
        calibrator.probability(confidence, {})


def test_the_identity_takes_confidence_at_its_word() -> None:
    assert Identity().probability(0.73, {"ocr": 9}) == pytest.approx(0.73)
    assert Identity().probability(1.0, {}) == HIGHEST
    assert Identity().probability(0.0, {}) == LOWEST


def test_the_logistic_map_adds_up_evidence_and_knows_what_to_take_for_what_is_missing() -> None:
    expected = 1 / (1 + math.exp(-(-0.5 + 0.8 * log_odds(0.7) + 2.0 * 0.9)))
    assert LOGISTIC.probability(0.7, {"ocr": 0.9, "unknown": 5.0}) == pytest.approx(expected)
    assert LOGISTIC.probability(0.7, {}) == LOGISTIC.probability(0.7, {"ocr": 0.5})


def test_the_isotonic_map_is_a_line_between_its_points_and_flat_beyond() -> None:
    assert ISOTONIC.probability(0.4, {}) == pytest.approx(0.3)
    assert ISOTONIC.probability(0.05, {}) == pytest.approx(0.1)
    assert ISOTONIC.probability(0.99, {}) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("confidence", "interval"),
    [
        (0.0, (0.1, 0.3)),
        (0.49, (0.1, 0.3)),
        (0.5, (0.6, 0.7)),
        (0.79, (0.6, 0.7)),
        (0.8, (0.9, 1.0)),
        (1.0, (0.9, 1.0)),
    ],
)
def test_the_venn_abers_map_gives_the_interval_of_the_bin_and_a_number_in_it(
    confidence: float, interval: tuple[float, float]
) -> None:
    assert VENN_ABERS.interval(confidence) == interval
    low, high = interval
    assert low <= VENN_ABERS.probability(confidence, {}) <= high
    assert VENN_ABERS.probability(confidence, {}) == pytest.approx(high / (1 - low + high))


def test_log_odds_are_finite_everywhere() -> None:
    assert log_odds(0.5) == 0
    assert log_odds(0.0) == -log_odds(1.0) == -12
    assert log_odds(5e-324) == -12
    assert log_odds(0.75) == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"method": "oracle"},
        {"method": "logistic", "bias": 0.0, "weights": {"a": 1.0}},
        {"method": "logistic", "bias": 0.0, "weights": {"a": 1.0}, "defaults": {"b": 1.0}},
        {"method": "logistic", "bias": float("nan"), "weights": {}, "defaults": {}},
        {"method": "logistic", "bias": 0.0, "weights": [1.0], "defaults": [1.0]},
        {"method": "isotonic", "confidences": [], "probabilities": []},
        {"method": "isotonic", "confidences": [0.1, 0.2], "probabilities": [0.5]},
        {"method": "isotonic", "confidences": [0.1, 0.2], "probabilities": [0.5, 0.4]},
        {"method": "isotonic", "confidences": [0.1, 2.0], "probabilities": [0.4, 0.5]},
        {"method": "isotonic", "confidences": ["x"], "probabilities": [0.5]},
        {"method": "venn_abers", "edges": [0.5], "lower": [0.1], "upper": [0.2]},
        {"method": "venn_abers", "edges": [], "lower": [0.3], "upper": [0.2]},
        {"method": "venn_abers", "edges": [0.6, 0.5], "lower": [0.1] * 3, "upper": [0.2] * 3},
    ],
)
def test_stored_numbers_that_are_no_calibrator_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(CalibratorError):
        calibrator_from_json(data)
