"""Each map finds again what made the labels, and weights stand for values."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import expit

from review.accuracy.calibrator_fitting import METHODS, Labels, effective_n, fit_logistic, fit_venn_abers, in_labels
from review.accuracy.calibrators import Isotonic, Logistic, VennAbers

Floats = npt.NDArray[np.float64]


def labels(
    confidences: Sequence[float] | Floats, correct: Sequence[bool] | npt.NDArray[np.bool_], weights: object = None
) -> Labels:
    c = np.asarray(confidences, dtype=np.float64)
    w = np.ones(len(c)) if weights is None else np.asarray(weights, dtype=np.float64)
    return Labels(c, [{}] * len(c), np.asarray(correct, dtype=bool), w)


def overconfident(n: int, seed: int = 0) -> Labels:
    """Log odds that promise half as much again as they keep, and one unit more."""
    random = np.random.default_rng(seed)
    truth = random.normal(1.5, 1.5, n)
    return labels(expit(1.5 * truth + 1), random.random(n) < expit(truth))


@pytest.mark.parametrize("method", ["logistic", "isotonic", "venn_abers"])
def test_an_overconfident_reader_is_put_right(method: str) -> None:
    fitted = METHODS[method](overconfident(4_000))
    assert fitted is not None
    for truth in (-0.5, 0.5, 1.5, 2.5):
        found = fitted.probability(float(expit(1.5 * truth + 1)), {})
        assert found == pytest.approx(float(expit(truth)), abs=0.07)


def test_the_identity_changes_nothing() -> None:
    fitted = METHODS["identity"](overconfident(10))
    assert fitted is not None
    assert fitted.probability(0.8, {}) == pytest.approx(0.8)


@pytest.mark.parametrize("method", ["logistic", "isotonic", "venn_abers"])
def test_a_weight_of_three_is_three_labels(method: str) -> None:
    few = overconfident(200)
    weights = 1.0 + 2.0 * (np.arange(200) % 3 == 0)
    heavy = METHODS[method](few._replace(weights=weights))
    times = weights.astype(int)
    repeated = METHODS[method](labels(np.repeat(few.confidences, times), np.repeat(few.correct, times)))
    assert heavy is not None
    assert repeated is not None
    for confidence in (0.3, 0.7, 0.95):
        assert heavy.probability(confidence, {}) == pytest.approx(repeated.probability(confidence, {}), abs=1e-4)


@pytest.mark.parametrize("method", ["logistic", "isotonic", "venn_abers"])
def test_a_label_without_weight_is_none(method: str) -> None:
    good = overconfident(150)
    noise = Labels(
        np.concatenate([good.confidences, np.linspace(0, 1, 50)]),
        [*good.evidence, *[{}] * 50],
        np.concatenate([good.correct, np.zeros(50, bool)]),
        np.concatenate([good.weights, np.zeros(50)]),
    )
    one, other = METHODS[method](good), METHODS[method](noise)
    assert one is not None
    assert other is not None
    for confidence in (0.3, 0.7, 0.95):
        assert one.probability(confidence, {}) == pytest.approx(other.probability(confidence, {}), abs=1e-4)


def test_evidence_beside_confidence_is_used_by_the_logistic_map() -> None:
    random = np.random.default_rng(1)
    ocr = random.random(3_000)
    correct = random.random(3_000) < expit(4 * ocr - 1)
    fitted = fit_logistic(Labels(np.full(3_000, 0.8), [{"ocr": one} for one in ocr.tolist()], correct, np.ones(3_000)))
    assert isinstance(fitted, Logistic)
    assert fitted.weights["ocr"] == pytest.approx(4, abs=0.8)
    for one in (0.1, 0.9):
        assert fitted.probability(0.8, {"ocr": one}) == pytest.approx(float(expit(4 * one - 1)), abs=0.05)


def test_evidence_that_is_missing_takes_its_mean() -> None:
    random = np.random.default_rng(2)
    evidence = [{"ocr": value} if n % 2 else {} for n, value in enumerate(random.random(400).tolist())]
    fitted = fit_logistic(Labels(random.random(400), evidence, random.random(400) < 0.8, np.ones(400)))
    assert isinstance(fitted, Logistic)
    assert fitted.defaults["ocr"] == pytest.approx(np.mean([one["ocr"] for one in evidence if one]))
    assert fitted.probability(0.7, {}) == fitted.probability(0.7, {"ocr": fitted.defaults["ocr"]})


def test_evidence_that_never_changes_weighs_nothing() -> None:
    few = overconfident(100)
    fitted = fit_logistic(few._replace(evidence=[{"constant": 3.0}] * 100))
    assert isinstance(fitted, Logistic)
    assert fitted.weights["constant"] == 0


@pytest.mark.parametrize("is_right", [True, False])
def test_labels_of_one_kind_teach_no_logistic_map(is_right: bool) -> None:
    assert fit_logistic(labels([0.5, 0.9], [is_right] * 2)) is None


def test_seeing_nothing_wrong_does_not_prove_that_nothing_is() -> None:
    for n in (5, 50, 500):
        one = labels(np.linspace(0.5, 0.99, n), np.ones(n, bool))
        fitted = METHODS["isotonic"](one)
        assert fitted is not None
        assert fitted.probability(0.99, {}) == pytest.approx(1 - 1 / (n + 2))
        venn_abers = fit_venn_abers(one)
        assert isinstance(venn_abers, VennAbers)
        assert venn_abers.interval(0.99)[0] < 1
        assert venn_abers.probability(0.99, {}) <= 1 - 1 / (n + 2) + 1e-9


def test_the_isotonic_map_pools_what_falls() -> None:
    fitted = METHODS["isotonic"](
        labels([0.1] * 10 + [0.5] * 10 + [0.9] * 10, [True, False] * 5 + [False] * 10 + [True] * 10)
    )
    assert isinstance(fitted, Isotonic)
    assert fitted.probability(0.1, {}) == fitted.probability(0.5, {}) == pytest.approx(0.25)


def test_venn_abers_is_isotonic_regression_with_the_value_added_both_ways() -> None:
    few = overconfident(60)
    fitted = fit_venn_abers(few)
    assert isinstance(fitted, VennAbers)
    for place in (0, 17, 41, 59):
        confidence = float(few.confidences[place])
        expected = []
        for is_right in (0.0, 1.0):
            # Its copy of the same confidence is pooled with it, so the mean of the two goes in with weight 2.
            y = few.correct.astype(float)
            w = np.ones(60)
            y[place], w[place] = (y[place] + is_right) / 2, 2.0
            order = np.argsort(few.confidences)
            solved = isotonic_regression(y[order], weights=w[order]).x
            expected.append(float(solved[np.flatnonzero(order == place)[0]]))
        assert fitted.interval(confidence) == pytest.approx(tuple(expected))


def test_many_labels_make_at_most_a_hundred_bins_and_narrow_intervals() -> None:
    fitted = fit_venn_abers(overconfident(3_000))
    assert isinstance(fitted, VennAbers)
    assert len(fitted.lower) == 100
    assert np.median(np.array(fitted.upper) - np.array(fitted.lower)) < 0.05
    few = fit_venn_abers(overconfident(30))
    assert isinstance(few, VennAbers)
    assert np.median(np.array(few.upper) - np.array(few.lower)) > 0.05


@pytest.mark.parametrize("method", ["logistic", "isotonic", "venn_abers"])
def test_nothing_labelled_teaches_nothing(method: str) -> None:
    assert METHODS[method](labels([], [])) is None
    assert METHODS[method](labels([0.5], [True], [0.0])) is None


def test_weights_are_brought_to_the_number_of_labels_that_they_are_worth() -> None:
    weights = np.array([1.0, 1.0, 50.0])
    assert in_labels(weights).sum() == pytest.approx(effective_n(weights)) == pytest.approx(52**2 / 2502)
    assert in_labels(np.full(7, 20.0)).tolist() == [1.0] * 7
    assert in_labels(np.zeros(2)).tolist() == [0.0, 0.0]
    assert effective_n(np.empty(0)) == 0
