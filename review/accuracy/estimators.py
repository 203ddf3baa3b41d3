"""How accurate a field is in a population, from a sample whose parts were looked at with very different chances.

A person looks at every doubtful field, at few of the sampled band and at very few of the automatic one. The plain mean
of what was looked at therefore says how good the *doubtful* are. Each examined field i had a known probability
pi_i > 0 of being examined (`review.routing.decide`); it stands for 1/pi_i fields like it.

**Two populations.** `reader`: every field that was read, weight w = 1/pi. `unseen`: the values that were stored without
a look. A field escapes the look with probability 1 - pi, so the expected unseen total of any y is the sum of
(1 - pi) y over all fields, which the examined estimate with w = (1 - pi)/pi. A field with pi = 1 is never stored
unseen: its weight is 0, and it is no part of that sample.

**Point.** The Hájek estimator (Särndal, Swensson & Wretman 1992, chapter 5), a ratio of two estimated totals:
p = sum(w y) / sum(w), y = 1 where the reader was right. Dividing by the estimated instead of the known number of fields
costs a small bias and removes most of the variance that a random sample size brings.

**Interval.** Linearised (ibid.), p varies like the sum of w (y - p)/sum(w), so with fields included independently

    v = sum(w² (y - p)²) / sum(w)² = ((1 - 2p) sum(w² y) + p² sum(w²)) / sum(w)²        since y² = y.

This is the variance with replacement; without, each term would carry a factor 1 - pi. We keep the larger one: it also
holds for the accuracy of the process behind the fields, not only for these fields.
A normal interval p ± 1.96 sqrt(v) fails where we need it: with accuracies near 1 a small sample often holds no error
at all of a band with a heavy weight, and v is then nearly 0. Korn & Graubard (1998, Survey Methodology 24, 193-201)
put the effective sample size p (1 - p)/v into the Clopper-Pearson interval; that repairs p = 1 but not the case above,
where the many light errors of the doubtful hide that the heavy band was hardly looked at. We therefore apply the idea
behind Clopper-Pearson to the weighted sample itself: *the lower limit supposes that the next field turns out wrong, the
upper limit that it turns out right*. One imagined field of weight W = sum(w²)/sum(w) is added (the weight that a field
carries on average where weight matters: the mean of w, weighted by w; Fay & Feuer 1997, Statistics in Medicine 16,
791-801, do so with the greatest weight for sums of Poisson counts), p and v are computed anew, and the limit is the
quantile of the beta distribution with that mean and variance.

With equal weights this is exactly Clopper-Pearson, and with everything right it is Clopper-Pearson for the effective
size sum(w)²/sum(w²). W needs no moment beyond those in v, so all five sums roll up by adding: over days, buckets,
engine versions and policies, since a weight is a number of fields whatever policy gave it.

**What it assumes.** Fields are examined independently of each other. One field path of many documents is; the fields of
one document are drawn together, so for a pool of several paths, or the rows of one table, the interval is too narrow.
And every drawn field gets its verdict: an illegible field without one is left out as if chance had done it.
`tests/review/accuracy/test_estimators_coverage.py` measures the coverage.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from review.accuracy.intervals import AccuracyEstimate, checked_level


def reader_weight(inclusion_probability: float) -> float:
    """Return 1/pi, the fields that an examined one stands for among all read; ValueError unless 0 < pi <= 1."""
    return 1 / _checked(inclusion_probability)


def unseen_weight(inclusion_probability: float) -> float:
    """Return (1 - pi)/pi, the fields that it stands for among those stored unseen; ValueError unless 0 < pi <= 1."""
    return (1 - _checked(inclusion_probability)) / inclusion_probability


WEIGHTS: Mapping[str, Callable[[float], float]] = {"reader": reader_weight, "unseen": unseen_weight}
"""The weight of an examined field by population, as a function of its inclusion probability."""


@dataclass(frozen=True, slots=True)
class Moments:
    """What an estimate needs to know of a weighted sample; adds up over any partition of it.

    `n` fields with a positive weight w; the sums of w, w y, w² and w² y, where y is 1 for right and 0 for wrong.
    """

    n: int = 0
    sum_w: float = 0.0
    sum_wy: float = 0.0
    sum_w2: float = 0.0
    sum_w2y: float = 0.0

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.n + other.n,
            self.sum_w + other.sum_w,
            self.sum_wy + other.sum_wy,
            self.sum_w2 + other.sum_w2,
            self.sum_w2y + other.sum_w2y,
        )

    @classmethod
    def of(cls, weights: npt.ArrayLike, correct: npt.ArrayLike) -> "Moments":
        """Return the moments of fields with `weights` >= 0 and `correct` booleans, both of shape (n,).

        Fields of weight 0 are no part of the sample. Raise ValueError for other shapes or weights.
        """
        w = np.asarray(weights, dtype=np.float64)
        y = np.asarray(correct)
        if w.ndim != 1 or w.shape != y.shape:
            raise ValueError("weights and correct must be two sequences of one length")
        if not np.all(np.isfinite(w) & (w >= 0)):
            raise ValueError("weights must be finite and not negative")
        if not np.all((y == 0) | (y == 1)):
            raise ValueError("correct must hold nothing but true and false")
        right = w[y.astype(bool)]
        return cls(
            int(np.count_nonzero(w)),
            float(w.sum()),
            float(right.sum()),
            float((w * w).sum()),
            float((right * right).sum()),
        )

    @property
    def effective_n(self) -> float:
        """Kish's effective sample size sum(w)²/sum(w²): how many equally weighted fields would say as much."""
        return self.sum_w * self.sum_w / self.sum_w2 if self.n else 0.0


# Sums that were added in different orders differ by rounding; less weight than this share of the total is none.
_ROUNDING = 1e-9


def hajek(moments: Moments, level: float = 0.95) -> AccuracyEstimate:
    """Estimate the accuracy in the population that the weights stand for; see the module for the method.

    Nothing examined gives point None and the interval 0-1. Raise ValueError for a level outside (0, 1) or for sums that
    no sample has.
    """
    checked_level(level)
    total, right = moments.sum_w, moments.sum_wy
    if moments.n == 0:
        return AccuracyEstimate(None, 0.0, 1.0, level, "hajek", 0)
    slack = _ROUNDING * total
    # Written so that NaN is refused as well.
    if not (moments.n > 0 and 0 < total < math.inf and moments.sum_w2 > 0 and -slack <= right <= total + slack):
        raise ValueError("no sample has these moments")
    point = min(max(right / total, 0.0), 1.0)
    weight = moments.sum_w2 / total
    tail = (1 - level) / 2
    one_wrong = moments + Moments(1, weight, 0.0, weight**2, 0.0)
    one_right = moments + Moments(1, weight, weight, weight**2, weight**2)
    lower = 0.0 if right <= slack else min(_beta_quantile(one_wrong, tail), point)
    upper = 1.0 if total - right <= slack else max(_beta_quantile(one_right, 1 - tail), point)
    return AccuracyEstimate(point, lower, upper, level, "hajek", moments.n)


def _beta_quantile(moments: Moments, probability: float) -> float:
    """Return the quantile of the beta distribution that has the mean and the linearised variance of `moments`."""
    mean = moments.sum_wy / moments.sum_w
    variance = ((1 - 2 * mean) * moments.sum_w2y + mean**2 * moments.sum_w2) / moments.sum_w**2
    size = mean * (1 - mean) / variance
    return float(betaincinv(size * mean, size * (1 - mean), probability))


def _checked(inclusion_probability: float) -> float:
    if not 0 < inclusion_probability <= 1:
        raise ValueError("an inclusion probability lies above 0 and is at most 1")
    return inclusion_probability
