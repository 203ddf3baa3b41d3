"""Confidence intervals for a plain proportion, and the one shape in which every accuracy is reported."""

import math
from dataclasses import dataclass

from scipy.special import betaincinv, ndtri


@dataclass(frozen=True, slots=True)
class AccuracyEstimate:
    """Accuracy of a field in a population: `point` with the interval `lower`-`upper`, all in 0-1.

    `level` is the interval's confidence (0.95), `estimator` the method's name, `n` how many fields were examined.
    With n = 0 nothing is known: `point` is None and the interval is 0-1.
    """

    point: float | None
    lower: float
    upper: float
    level: float
    estimator: str
    n: int


def checked_level(level: float) -> float:
    """Return `level`; raise ValueError unless it lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError("level must lie between 0 and 1")
    return level


def wilson(n_correct: int, n: int, level: float = 0.95) -> AccuracyEstimate:
    """Estimate a proportion from a plain sample with Wilson's score interval: right on average, for reports.

    Raise ValueError unless 0 <= n_correct <= n.
    """
    _check_counts(n_correct, n)
    z = float(ndtri((1 + checked_level(level)) / 2))
    if n == 0:
        return AccuracyEstimate(None, 0.0, 1.0, level, "wilson", 0)
    point = n_correct / n
    center = (n_correct + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(n * point * (1 - point) + z * z / 4)
    # The ends are exact where the formula only reaches them up to rounding.
    lower = 0.0 if n_correct == 0 else max(0.0, center - half)
    upper = 1.0 if n_correct == n else min(1.0, center + half)
    return AccuracyEstimate(point, lower, upper, level, "wilson", n)


def clopper_pearson(n_correct: int, n: int, level: float = 0.95) -> AccuracyEstimate:
    """Estimate a proportion from a plain sample with the exact interval, which never covers less than `level`.

    Raise ValueError unless 0 <= n_correct <= n.
    """
    _check_counts(n_correct, n)
    tail = (1 - checked_level(level)) / 2
    if n == 0:
        return AccuracyEstimate(None, 0.0, 1.0, level, "clopper_pearson", 0)
    lower = 0.0 if n_correct == 0 else float(betaincinv(n_correct, n - n_correct + 1, tail))
    upper = 1.0 if n_correct == n else float(betaincinv(n_correct + 1, n - n_correct, 1 - tail))
    return AccuracyEstimate(n_correct / n, lower, upper, level, "clopper_pearson", n)


def _check_counts(n_correct: int, n: int) -> None:
    if not 0 <= n_correct <= n:
        raise ValueError("n_correct must lie between 0 and n")
