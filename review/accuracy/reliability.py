"""What confidence promises and what it keeps, in a population that the examined fields stand for by weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from review.accuracy.estimators import Moments, hajek
from review.accuracy.intervals import AccuracyEstimate
from review.accuracy.metrics import BUCKETS, MISSING_BUCKET, confidence_bucket


@dataclass(frozen=True, slots=True)
class WeightedReliability:
    """One confidence bucket: the weighted mean of what was promised, and the accuracy that was kept."""

    bucket: str
    mean_confidence: float
    accuracy: AccuracyEstimate


def weighted_reliability(
    confidences: Sequence[float | None], correct: Sequence[bool], weights: Sequence[float]
) -> list[WeightedReliability]:
    """Return each bucket with a confidence that holds any weight, low to high.

    Raise ValueError when the lengths differ or a weight is negative.
    """
    if not len(confidences) == len(correct) == len(weights):
        raise ValueError("confidences, correct and weights must have one length")
    names = np.array([confidence_bucket(one) for one in confidences])
    w, y = np.asarray(weights, dtype=np.float64), np.asarray(correct, dtype=bool)
    rows = []
    for bucket in BUCKETS:
        inside = names == bucket
        moments = Moments.of(w[inside], y[inside]) if inside.any() and bucket != MISSING_BUCKET else Moments()
        if moments.n:
            known = np.array([one for one, is_in in zip(confidences, inside, strict=True) if is_in], dtype=np.float64)
            mean = float(np.average(known, weights=w[inside]))
            rows.append(WeightedReliability(bucket, mean, hajek(moments)))
    return rows
