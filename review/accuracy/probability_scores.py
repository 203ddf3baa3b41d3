"""How good probabilities are, in a population that labelled values stand for by weight.

Brier score (mean squared distance) and log-loss (mean of -ln of the probability given to what happened) are proper: the
true chance, and nothing else, is best on average. The calibration error compares the mean promise of each bucket with
what was kept; coverage says what is gained by it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from review.accuracy.metrics import Coverage
from review.accuracy.reliability import WeightedReliability, weighted_reliability

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ProbabilityScores:
    """The figures of `n` labels: Brier score and log-loss (0 is best), calibration error, coverage at 99 % precision.

    None where no label has any weight.
    """

    n: int
    brier: float | None
    log_loss: float | None
    calibration_error: float | None
    coverage_at_99: Coverage
    reliability: tuple[WeightedReliability, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"reliability": [asdict(row) for row in self.reliability]}


def probability_scores(probabilities: Floats, correct: Bools, weights: Floats) -> ProbabilityScores:
    """Return the figures of probabilities in (0, 1) for values that were right or wrong; all of shape (n,).

    Raise ValueError for other shapes or probabilities.
    """
    if not probabilities.shape == correct.shape == weights.shape or probabilities.ndim != 1:
        raise ValueError("probabilities, correct and weights must have one length")
    if not np.all((probabilities > 0) & (probabilities < 1)):
        raise ValueError("a probability lies strictly between 0 and 1")
    n = int(np.count_nonzero(weights))
    if not n:
        return ProbabilityScores(0, None, None, None, Coverage(0.0, None, None), ())
    rows = tuple(weighted_reliability(probabilities.tolist(), correct.tolist(), weights.tolist()))
    return ProbabilityScores(
        n=n,
        brier=float(np.average((probabilities - correct) ** 2, weights=weights)),
        log_loss=log_loss(probabilities, correct, weights),
        calibration_error=_calibration_error(rows, probabilities, weights),
        coverage_at_99=weighted_coverage(probabilities, correct, weights, 0.99),
        reliability=rows,
    )


def log_loss(probabilities: Floats, correct: Bools, weights: Floats) -> float:
    """Return the weighted mean of -ln(probability of what happened)."""
    return float(np.average(-np.log(np.where(correct, probabilities, 1 - probabilities)), weights=weights))


def weighted_coverage(probabilities: Floats, correct: Bools, weights: Floats, precision: float) -> Coverage:
    """Return the largest share of the population, most probable first, of which at least `precision` is right.

    As `review.accuracy.metrics.coverage_at_precision`, by weight: values of one probability stand or fall together.
    Read off the labels themselves, so a hint and no promise.
    """
    order = np.argsort(-probabilities, kind="stable")
    keys = probabilities[order]
    taken, right = np.cumsum(weights[order]), np.cumsum((weights * correct)[order])
    if not len(keys) or taken[-1] <= 0:
        return Coverage(0.0, None, None)
    is_end_of_ties = np.append(keys[:-1] != keys[1:], True)
    possible = np.flatnonzero(is_end_of_ties & (taken > 0) & (right >= (precision - _ROUNDING) * taken))
    if not len(possible):
        return Coverage(0.0, None, None)
    last = int(possible[-1])
    return Coverage(float(taken[last] / taken[-1]), float(keys[last]), float(right[last] / taken[last]))


def _calibration_error(rows: Sequence[WeightedReliability], probabilities: Floats, weights: Floats) -> float:
    """Return the mean distance of promise and accuracy over buckets, by the weight of each."""
    gaps = np.array([abs(row.mean_confidence - (row.accuracy.point or 0.0)) for row in rows])
    return float(np.average(gaps, weights=[_weight_of(row.bucket, probabilities, weights) for row in rows]))


def _weight_of(bucket: str, probabilities: Floats, weights: Floats) -> float:
    low, high = map(float, bucket.split("-"))
    inside = (probabilities >= low) & (probabilities < high if high < 1 else probabilities <= high)
    return float(weights[inside].sum())
