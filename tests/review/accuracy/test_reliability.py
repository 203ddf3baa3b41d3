"""Promise and what was kept, by bucket: weighted as the population is, and honest about what has no confidence."""

import numpy as np
import pytest

from review.accuracy.metrics import reliability
from review.accuracy.reliability import weighted_reliability


def test_with_equal_weights_it_is_the_plain_diagram() -> None:
    confidences = [0.3, 0.4, 0.85, 0.96, 0.97, 1.0]
    correct = [False, True, True, True, False, True]
    plain = reliability(confidences, correct)
    weighted = weighted_reliability(confidences, correct, [1.0] * 6)
    assert [row.bucket for row in weighted] == [row.bucket for row in plain]
    for one, other in zip(weighted, plain, strict=True):
        assert one.mean_confidence == pytest.approx(other.mean_confidence)
        assert one.accuracy.point == pytest.approx(other.accuracy.point)


def test_an_examined_field_counts_as_often_as_it_stands_for_others() -> None:
    (row,) = weighted_reliability([0.91, 0.94], [True, False], [9.0, 1.0])
    assert row.bucket == "0.90-0.95"
    assert row.mean_confidence == pytest.approx(0.913)
    assert row.accuracy.point == pytest.approx(0.9)
    assert row.accuracy.n == 2
    assert row.accuracy.lower < 0.9 < row.accuracy.upper


def test_a_missing_confidence_promised_nothing() -> None:
    assert weighted_reliability([None, float("nan"), 2.0], [True, True, False], [1.0, 1.0, 1.0]) == []


def test_a_field_that_is_never_stored_unseen_is_no_part_of_it() -> None:
    assert weighted_reliability([0.3], [False], [0.0]) == []
    (row,) = weighted_reliability([0.3, 0.4], [False, True], [0.0, 2.0])
    assert (row.mean_confidence, row.accuracy.point, row.accuracy.n) == (0.4, 1.0, 1)


def test_nothing_examined_draws_nothing() -> None:
    assert weighted_reliability([], [], []) == []


@pytest.mark.parametrize("lengths", [(1, 2, 2), (2, 1, 2), (2, 2, 1)])
def test_lengths_that_differ_are_refused(lengths: tuple[int, int, int]) -> None:
    c, y, w = lengths
    with pytest.raises(ValueError, match="one length"):
        weighted_reliability([0.5] * c, [True] * y, [1.0] * w)


def test_negative_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        weighted_reliability([0.5], [True], [-1.0])


def test_a_calibrated_reader_drawn_unevenly_lies_on_the_diagonal() -> None:
    generator = np.random.default_rng(11)
    confidence = generator.uniform(0.5, 1, 40_000)
    correct = generator.random(40_000) < confidence
    probability = np.where(correct, 0.1, 0.5)
    drawn = generator.random(40_000) < probability
    rows = weighted_reliability(confidence[drawn].tolist(), correct[drawn].tolist(), (1 / probability[drawn]).tolist())
    assert len(rows) == 5
    for row in rows:
        assert row.accuracy.lower - 0.01 <= row.mean_confidence <= row.accuracy.upper + 0.01
