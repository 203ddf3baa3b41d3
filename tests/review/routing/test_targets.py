"""A threshold is certified only where the labels carry it, and what is lacking is counted."""

import json
from dataclasses import replace

import numpy as np
import pytest

from review.routing.bands import Band
from review.routing.policy import PolicyRules
from review.routing.targets import NOT_STORED, Certificate, Target, by_threshold, certify, planned_trials
from review.routing.thinning import ExaminedValue, Trials
from review.routing.what_if import RoutedField, reband

TARGET = Target(0.01)


def value(n: int, confidence: float, *, is_wrong: bool = False) -> ExaminedValue:
    return ExaminedValue(f"d{n}", "/total", confidence, is_wrong)


def clean(n: int, *, lowest: float = 0.9) -> list[ExaminedValue]:
    """n values, none of them wrong, with confidences up to 1."""
    return [value(k, 1 - (1 - lowest) * k / n) for k in range(1, n + 1)]


def confidences(values: list[ExaminedValue]) -> list[float]:
    return [one.confidence for one in values]


@pytest.mark.parametrize(
    ("target", "n"), [(Target(0.005), 598), (Target(0.01), 299), (Target(0.02), 149), (Target(0.01, 0.99), 459)]
)
def test_without_any_error_the_classical_number_of_labels_is_enough_and_one_less_is_not(target: Target, n: int) -> None:
    enough = certify(clean(n), confidences(clean(n)), target)
    assert enough.threshold == pytest.approx(0.9)
    assert (enough.n_trials, enough.n_wrong, enough.n_stored, enough.n_more_needed) == (n, 0, n, None)
    assert enough.upper_limit <= target.wrong_share
    short = certify(clean(n - 1), confidences(clean(n - 1)), target)
    assert not short.is_automated
    assert short.upper_limit > target.wrong_share
    assert (short.n_stored, short.n_more_needed) == (0, 1)


def test_the_threshold_stops_above_the_errors() -> None:
    good = [value(n, 0.9 + 0.0001 * (n % 900)) for n in range(900)]
    bad = [value(1_000 + n, 0.5 + 0.0001 * n, is_wrong=True) for n in range(200)]
    found = certify(good + bad, confidences(good + bad), TARGET)
    assert found.threshold is not None
    assert 0.5 < found.threshold <= 0.9
    # What lies above the threshold is good enough itself, and the next errors would not be.
    assert found.n_wrong / found.n_trials < 0.01
    assert found.n_stored == found.n_trials


def test_one_early_error_is_made_up_for_by_many_right_values() -> None:
    first = value(0, 1.0, is_wrong=True)
    assert certify([first, *clean(1_000)], [], TARGET).threshold == pytest.approx(0.9)
    assert not certify([first, *clean(400)], [], TARGET).is_automated


def test_values_without_any_information_in_their_confidence_are_certified_all_or_not_at_all() -> None:
    values = [value(n, 0.8) for n in range(400)]
    assert certify(values, confidences(values), TARGET).threshold == 0.8
    worse = [replace(one, is_wrong=n < 20) for n, one in enumerate(values)]
    assert certify(worse, confidences(worse), TARGET).threshold is None


def test_what_would_be_stored_is_counted_in_all_that_was_routed() -> None:
    found = certify(clean(400), [0.5, 0.9, 0.95, 0.99, *[0.1] * 6], TARGET)
    assert (found.n_frame, found.n_stored) == (10, 3)


def test_the_frame_has_no_say_in_the_threshold() -> None:
    values = clean(400)
    assert {certify(values, frame, TARGET).threshold for frame in ([], [0.1], [1.0] * 50)} == {0.9}


def test_what_is_needed_shrinks_as_labels_come_and_is_then_enough() -> None:
    needed = [certify(clean(n), [], TARGET).n_more_needed for n in (0, 50, 150, 298)]
    assert needed == [299, 249, 149, 1]


def test_errors_at_the_target_need_more_labels_than_there_are() -> None:
    values = [value(n, 0.9, is_wrong=n % 50 == 0) for n in range(1_000)]
    found = certify(values, confidences(values), TARGET)
    assert (found.threshold, found.n_more_needed) == (None, None)
    assert (found.n_trials, found.n_wrong) == (1_000, 20)


def test_labels_of_automatic_documents_count_for_all_that_are_like_them() -> None:
    # 400 of 20,000 automatic values were audited, and 3,000 doubtful ones looked at, many wrong: these are 13 % of all.
    audits = [ExaminedValue(f"a{n}", "/total", 0.99, False, 0.02, 0.02) for n in range(400)]
    doubts = [ExaminedValue(f"r{n}", "/total", 0.5, n % 4 == 0, 1.0, 0.02) for n in range(3_000)]
    found = certify(audits + doubts, [0.99] * 20_000 + [0.5] * 3_000, TARGET)
    assert (found.threshold, found.n_trials, found.n_stored) == (0.99, 400, 20_000)


def test_looks_at_what_is_often_examined_certify_nothing_about_what_is_not() -> None:
    sampled = [ExaminedValue(f"s{n}", "/total", 0.99, False, 0.2, 0.02) for n in range(400)]
    assert not certify(sampled, [], TARGET).is_automated


def test_rows_of_few_documents_are_no_proof_however_many_they_are() -> None:
    rows = [ExaminedValue(f"d{n}", f"/rows/{k}", 0.99, False) for n in range(100) for k in range(30)]
    for most in (1, 30):
        found = certify(rows, [], Target(0.01, most_per_document=most))
        assert found.threshold is None
        assert found.n_trials == 100
        assert found.n_more_needed == pytest.approx(199 * 30, abs=30)


def test_asking_again_takes_more_proof_each_time() -> None:
    enough = {None: 299, 1: 321, 2: 558, 10: 899}
    for look, n in enough.items():
        target = Target(0.01, look=look)
        assert [certify(clean(k), [], target).is_automated for k in (n - 1, n)] == [False, True]
    assert sum(Target(0.01, look=look).level for look in range(1, 5_000)) < 0.05


def test_the_stake_looks_at_confidences_only() -> None:
    trials = Trials(np.linspace(0.999, 0.5, 500), np.zeros(500, bool))
    turned = trials._replace(is_wrong=np.ones(500, bool))
    assert planned_trials(trials, 0.01) == planned_trials(turned, 0.01)


def test_the_decision_is_expected_where_confidence_promises_it_but_never_early() -> None:
    sure, half = np.full(1_000, 0.9999), np.concatenate([np.full(850, 0.9999), np.full(150, 0.2)])
    assert planned_trials(Trials(sure, np.zeros(1_000, bool)), 0.01) == 1_000
    assert 850 <= planned_trials(Trials(half, np.zeros(1_000, bool)), 0.01) < 880
    assert planned_trials(Trials(np.full(1_000, 0.2), np.zeros(1_000, bool)), 0.01) == 700
    assert planned_trials(Trials(np.empty(0), np.empty(0, bool)), 0.01) == 1


def test_equal_confidences_stand_or_fall_together() -> None:
    trials = Trials(np.array([0.9, 0.9, 0.8, 0.7, 0.7]), np.array([True, False, False, True, True]))
    limits, n, n_wrong = by_threshold(trials)
    assert limits.tolist() == [0.9, 0.8, 0.7]
    assert n.tolist() == [2, 3, 5]
    assert n_wrong.tolist() == [1, 1, 3]


def test_a_certificate_makes_the_limits_of_a_policy() -> None:
    found = certify(clean(400), [], TARGET)
    limits = found.thresholds()
    assert (limits.auto, limits.review) == (None, found.threshold)
    assert found.thresholds(auto=0.99).auto == 0.99
    assert found.thresholds(auto=0.5).auto == found.threshold
    PolicyRules(fields={"/total": found.thresholds(auto=0.5)})


def test_what_is_not_certified_goes_to_people_up_to_the_highest_confidence() -> None:
    limits = certify(clean(10), [], TARGET).thresholds(auto=0.5)
    assert limits == NOT_STORED
    field = RoutedField("/total", 0.9999, Band.AUTO, ())
    assert reband(field, limits) is Band.REVIEW


def test_a_certificate_is_plain_data() -> None:
    found = certify(clean(400), [0.95], TARGET)
    assert Certificate(**json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("frame", [[1.2], [-0.1], [float("nan")], [[0.5]]])
def test_a_frame_of_something_else_is_refused(frame: list[float]) -> None:
    with pytest.raises(ValueError, match="frame"):
        certify([], frame, TARGET)


@pytest.mark.parametrize(("wrong", "confidence"), [(0.0, 0.95), (1.0, 0.95), (0.01, 0.0), (0.01, 1.0)])
def test_a_target_that_promises_nothing_or_everything_is_refused(wrong: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="strictly between"):
        Target(wrong, confidence)
