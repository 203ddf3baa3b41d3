import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.accuracy.metrics import (
    BUCKET_EDGES,
    BUCKETS,
    Coverage,
    brier_score,
    calibration_error,
    character_error_rate,
    confidence_bucket,
    coverage_at_precision,
    exact_match,
    missing_share,
    reliability,
)

NAN = math.nan

confidences = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, 0.5, 0.99, 1.0]))
answers = st.lists(st.tuples(confidences, st.booleans()), max_size=40)


def split(rows: list[tuple[float | None, bool]]) -> tuple[list[float | None], list[bool]]:
    return [confidence for confidence, _ in rows], [right for _, right in rows]


def trust(confidence: float | None) -> float:
    return confidence if confidence is not None and 0 <= confidence <= 1 else -1.0


@pytest.mark.parametrize(
    ("confidence", "bucket"),
    [
        (0.0, "0.00-0.50"),
        (0.4999, "0.00-0.50"),
        (0.5, "0.50-0.80"),
        (0.95, "0.95-0.99"),
        (0.99, "0.99-1.00"),
        (1.0, "0.99-1.00"),
        (None, "missing"),
        (NAN, "missing"),
        (1.01, "missing"),
        (-0.01, "missing"),
        (math.inf, "missing"),
    ],
)
def test_every_confidence_has_one_bucket(confidence: float | None, bucket: str) -> None:
    assert confidence_bucket(confidence) == bucket


def test_buckets_are_the_stored_names_and_fit_their_column() -> None:
    assert BUCKETS == (
        "0.00-0.50", "0.50-0.80", "0.80-0.90", "0.90-0.95", "0.95-0.99", "0.99-1.00", "missing",
    )  # fmt: skip
    assert all(len(bucket) <= 12 for bucket in BUCKETS)


@settings(deadline=None)
@given(st.floats(0, 1))
def test_a_confidence_lies_between_the_edges_of_its_bucket(confidence: float) -> None:
    position = BUCKETS.index(confidence_bucket(confidence))
    assert BUCKET_EDGES[position] <= confidence <= BUCKET_EDGES[position + 1]


def test_exact_match_is_the_share_of_right_answers_with_an_interval() -> None:
    estimate = exact_match([True, True, True, False])
    assert (estimate.point, estimate.n, estimate.estimator) == (0.75, 4, "wilson")
    assert estimate.lower == pytest.approx(0.3006, abs=1e-4)
    assert estimate.upper == pytest.approx(0.9544, abs=1e-4)
    assert exact_match([]).point is None


@pytest.mark.parametrize(
    ("truths", "predictions", "rate"),
    [
        (["abcd"], ["abcd"], 0.0),
        (["abcd"], ["abxd"], 0.25),
        (["abcd"], ["acd"], 0.25),
        (["abcd"], ["abcde"], 0.25),
        (["abcd"], [None], 1.0),
        (["abcd"], [""], 1.0),
        (["ab"], ["abcdef"], 2.0),
        (["壹万贰仟"], ["壹万贰什"], 0.25),
        (["abcdefgh", "ab"], ["abcdefgh", "xy"], 0.2),
        (["", "ab"], ["x", "ab"], 0.5),
    ],
)
def test_character_errors_are_counted_over_all_characters_of_truth(
    truths: list[str], predictions: list[str | None], rate: float
) -> None:
    assert character_error_rate(truths, predictions) == pytest.approx(rate)


def test_character_errors_without_any_truth_are_unknown() -> None:
    assert character_error_rate([], []) is None
    assert character_error_rate([""], ["x"]) is None


def test_missing_share_counts_only_fields_that_have_a_truth() -> None:
    assert missing_share(["a", "b", None, "c", "d"], ["a", None, None, "x", "y"]) == 0.25
    assert missing_share([None], ["x"]) is None
    assert missing_share([], []) is None


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        missing_share(["a"], [])
    with pytest.raises(ValueError, match="shorter"):
        character_error_rate(["a"], [])
    for metric in (coverage_at_precision, brier_score, reliability, calibration_error):
        with pytest.raises(ValueError, match="one length"):
            metric([0.5], [])


@pytest.mark.parametrize(
    ("given_confidences", "correct", "coverage"),
    [
        ([], [], Coverage(0.0, None, None)),
        ([0.9], [True], Coverage(1.0, 0.9, 1.0)),
        ([0.9], [False], Coverage(0.0, None, None)),
        # the wrong one is least trusted: everything above it can go
        ([0.2, 0.9, 0.8, 0.7], [False, True, True, True], Coverage(0.75, 0.7, 1.0)),
        # the wrong one is most trusted: nothing can go, however good the rest
        ([0.9, 0.8, 0.7], [False, True, True], Coverage(0.0, None, None)),
        # a tie with a wrong answer falls as a whole, in whichever order it was given
        ([0.9, 0.5, 0.5], [True, True, False], Coverage(1 / 3, 0.9, 1.0)),
        ([0.9, 0.5, 0.5], [True, False, True], Coverage(1 / 3, 0.9, 1.0)),
        # no confidence is trusted least
        ([None, 0.1], [False, True], Coverage(0.5, 0.1, 1.0)),
        ([NAN, 0.1], [False, True], Coverage(0.5, 0.1, 1.0)),
        ([7.0, 0.1], [False, True], Coverage(0.5, 0.1, 1.0)),
        ([None, NAN], [True, False], Coverage(0.0, None, None)),
        # all right: all of them, and no threshold says so
        ([None, 0.1], [True, True], Coverage(1.0, None, 1.0)),
        ([0.0, 0.1], [True, True], Coverage(1.0, 0.0, 1.0)),
    ],
)
def test_coverage_is_the_most_that_keeps_the_precision(
    given_confidences: list[float | None], correct: list[bool], coverage: Coverage
) -> None:
    assert coverage_at_precision(given_confidences, correct) == coverage


def test_coverage_may_pass_a_dip_on_its_way() -> None:
    # After 10 documents one is wrong (0.90 < 0.99); after 100 the precision is 0.99 again.
    ordered = [1 - number / 1000 for number in range(200)]
    correct = [number not in (9, 150) for number in range(200)]
    found = coverage_at_precision(ordered, correct)
    assert (found.share, found.precision) == (1.0, 0.99)
    assert coverage_at_precision(ordered[:99], correct[:99]).share == pytest.approx(9 / 99)


def test_exactly_99_right_of_100_is_enough() -> None:
    ordered = [1 - number / 1000 for number in range(100)]
    assert coverage_at_precision(ordered, [True] * 99 + [False]).share == 1.0
    assert coverage_at_precision(ordered, [True] * 98 + [False] * 2).share == 0.98


def test_a_precision_reached_exactly_is_not_lost_to_rounding() -> None:
    assert 0.55 * 100 > 55
    ordered = [1 - number / 1000 for number in range(100)]
    assert coverage_at_precision(ordered, [True] * 55 + [False] * 45, 0.55).share == 1.0


@settings(deadline=None)
@given(answers, st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_coverage_agrees_with_trying_every_threshold(rows: list[tuple[float | None, bool]], precision: float) -> None:
    best = 0
    for limit in {trust(confidence) for confidence, _ in rows}:
        taken = [right for confidence, right in rows if trust(confidence) >= limit]
        if sum(taken) >= precision * len(taken) - 1e-9:
            best = max(best, len(taken))
    found = coverage_at_precision(*split(rows), precision)
    assert found.share == (best / len(rows) if rows else 0.0)
    if found.precision is not None:
        assert found.precision >= precision - 1e-9


@settings(deadline=None)
@given(answers)
def test_coverage_does_not_depend_on_the_order_given(rows: list[tuple[float | None, bool]]) -> None:
    shuffled = sorted(rows, key=lambda row: (row[1], str(row[0])))
    assert coverage_at_precision(*split(rows)) == coverage_at_precision(*split(shuffled))


@pytest.mark.parametrize(
    ("given_confidences", "correct", "score"),
    [
        ([1.0, 0.0], [True, False], 0.0),
        ([1.0, 0.0], [False, True], 1.0),
        ([0.5, 0.5], [True, False], 0.25),
        ([0.8, None, NAN], [True, False, False], 0.04),
        ([None], [True], None),
        ([], [], None),
    ],
)
def test_brier_score(given_confidences: list[float | None], correct: list[bool], score: float | None) -> None:
    found = brier_score(given_confidences, correct)
    assert found == (None if score is None else pytest.approx(score))


def test_reliability_sets_promise_against_accuracy() -> None:
    rows = reliability([0.2, 0.4, 0.995, 1.0, None], [False, True, True, True, False])
    assert [(row.bucket, row.n, row.accuracy.point) for row in rows] == [
        ("0.00-0.50", 2, 0.5),
        ("0.99-1.00", 2, 1.0),
        ("missing", 1, 0.0),
    ]
    assert rows[0].mean_confidence == pytest.approx(0.3)
    assert rows[2].mean_confidence is None


@settings(deadline=None)
@given(answers)
def test_reliability_puts_every_answer_into_one_bucket(rows: list[tuple[float | None, bool]]) -> None:
    found = reliability(*split(rows))
    assert sum(row.n for row in found) == len(rows)
    assert [row.bucket for row in found] == [name for name in BUCKETS if name in {row.bucket for row in found}]


@pytest.mark.parametrize(
    ("given_confidences", "correct", "error"),
    [
        ([0.75] * 4, [True, True, True, False], 0.0),
        ([0.9] * 2 + [0.1] * 2, [True, False, False, False], 0.25),
        ([1.0, None], [False, True], 1.0),
        ([None], [True], None),
        ([], [], None),
    ],
)
def test_calibration_error(given_confidences: Sequence[float | None], correct: list[bool], error: float | None) -> None:
    found = calibration_error(given_confidences, correct)
    assert found == (None if error is None else pytest.approx(error))
