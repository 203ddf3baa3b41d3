"""Fitting the three maps of `review.accuracy.calibrators` to weighted labels. Deterministic: no draw is made."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from sklearn.linear_model import LogisticRegression

from review.accuracy.calibrators import LOG_ODDS, Calibrator, Identity, Isotonic, Logistic, VennAbers, log_odds

Floats = npt.NDArray[np.float64]

_MOST_BINS = 100


class Labels(NamedTuple):
    """Labelled values: confidences in 0-1, evidence by name, right or wrong, and weights >= 0; all of length n.

    The unit of the weights is one label (`in_labels`): they add up to the number of labels that they are worth.
    """

    confidences: Floats
    evidence: Sequence[Mapping[str, float]]
    correct: npt.NDArray[np.bool_]
    weights: Floats


def fit_identity(labels: Labels) -> Calibrator | None:  # noqa: ARG001  # a member of METHODS
    """Return the map that changes nothing."""
    return Identity()


def fit_logistic(labels: Labels) -> Calibrator | None:
    """Return the logistic map with the usual ridge penalty on standardised evidence; None where all are right or wrong.

    Evidence that is missing somewhere takes its mean there.
    """
    used = labels.weights > 0
    if len(set(labels.correct[used].tolist())) < 2:
        return None
    names = sorted({name for one in labels.evidence for name in one} - {LOG_ODDS})
    table = np.array(
        [
            [log_odds(confidence), *(one.get(name, np.nan) for name in names)]
            for confidence, one in zip(labels.confidences, labels.evidence, strict=True)
        ]
    )
    weights = labels.weights
    known = np.isfinite(table)
    totals = np.where(known, weights[:, None], 0.0).sum(0)
    means = np.where(known, table * weights[:, None], 0.0).sum(0) / np.where(totals > 0, totals, 1.0)
    table = np.where(known, table, means)
    spread = np.sqrt((weights[:, None] * (table - means) ** 2).sum(0) / weights.sum())
    scale = np.where(spread > 1e-9, spread, np.inf)
    model = LogisticRegression(C=1.0, max_iter=1000).fit((table - means) / scale, labels.correct, weights)
    found = model.coef_[0] / scale
    keys = [LOG_ODDS, *names]
    return Logistic(
        bias=float(model.intercept_[0] - found @ means),
        weights=dict(zip(keys, found.tolist(), strict=True)),
        defaults=dict(zip(keys, means.tolist(), strict=True)),
    )


def fit_isotonic(labels: Labels) -> Calibrator | None:
    """Return the best rising map in weighted squares (pool adjacent violators); None without any weight.

    No probability comes nearer to 0 or 1 than 1/(n + 2), n being the sum of the weights: seeing nothing wrong
    does not prove that nothing is (Laplace's rule of succession).
    """
    confidences, correct, weights = _by_confidence(labels)
    if not len(confidences):
        return None
    fitted = isotonic_regression(correct, weights=weights)
    margin = 1 / (weights.sum() + 2)
    values = np.clip(fitted.x, margin, 1 - margin)
    # The first and the last of each level block carry the line; what lies between them adds nothing.
    ends = np.unique(np.concatenate([fitted.blocks[:-1], fitted.blocks[1:] - 1]))
    return Isotonic(tuple(confidences[ends].tolist()), tuple(values[ends].tolist()))


def fit_venn_abers(labels: Labels) -> Calibrator | None:
    """Return the Venn-Abers intervals of at most 100 bins of confidence; None without any weight.

    The bins hold equal numbers of distinct confidences. The label that is imagined in a bin weighs 1.
    """
    confidences, correct, weights = _by_confidence(labels)
    if not len(confidences):
        return None
    bins = np.arange(len(confidences)) * min(_MOST_BINS, len(confidences)) // len(confidences)
    firsts = np.flatnonzero(np.diff(bins, prepend=-1))
    whole = np.add.reduceat(weights, firsts)
    right = np.add.reduceat(weights * correct, firsts)
    edges = (confidences[firsts[1:] - 1] + confidences[firsts[1:]]) / 2
    lower, upper = np.empty(len(firsts)), np.empty(len(firsts))
    for place in range(len(firsts)):
        one = np.zeros(len(firsts))
        one[place] = 1.0
        lower[place] = isotonic_regression(right / (whole + one), weights=whole + one).x[place]
        upper[place] = isotonic_regression((right + one) / (whole + one), weights=whole + one).x[place]
    # They rise in exact arithmetic; rounding may break that in the last digit.
    lower, upper = np.maximum.accumulate(np.clip(lower, 0, 1)), np.maximum.accumulate(np.clip(upper, 0, 1))
    return VennAbers(tuple(edges.tolist()), tuple(lower.tolist()), tuple(np.maximum(lower, upper).tolist()))


METHODS: Mapping[str, Callable[[Labels], Calibrator | None]] = {
    "identity": fit_identity,
    "logistic": fit_logistic,
    "isotonic": fit_isotonic,
    "venn_abers": fit_venn_abers,
}
"""From the plainest to the most elaborate; of equals the plainest is chosen."""


def effective_n(weights: Floats) -> float:
    """Return Kish's number of equally weighted labels that would say as much: sum(w)²/sum(w²); 0 without weight."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def in_labels(weights: Floats) -> Floats:
    """Return the weights in the unit in which they add up to their effective number of labels."""
    total = float(weights.sum())
    return weights * (effective_n(weights) / total) if total > 0 else weights


def _by_confidence(labels: Labels) -> tuple[Floats, Floats, Floats]:
    """Return distinct confidences with any weight, low to high, the weighted share of right ones and the weight."""
    used = labels.weights > 0
    weights = labels.weights[used]
    confidences, places = np.unique(labels.confidences[used], return_inverse=True)
    whole = np.bincount(places, weights, len(confidences)).astype(np.float64)
    right = np.bincount(places, weights * labels.correct[used], len(confidences)).astype(np.float64)
    return confidences, right / np.where(whole > 0, whole, 1.0), whole
