"""How well readings match the truth, and how well confidence tells the right from the wrong ones.

A confidence of None, NaN or outside 0-1 is missing everywhere here: legal, and trusted least.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from review.accuracy.intervals import AccuracyEstimate, wilson

MISSING_BUCKET = "missing"
BUCKET_EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
# The edges never move: a roll-up keeps only the bucket's name.
BUCKETS = (
    *(f"{low:.2f}-{high:.2f}" for low, high in pairwise(BUCKET_EDGES)),
    MISSING_BUCKET,
)
"""Names of the confidence buckets, low to high, then the one for a missing confidence."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The most that can be stored unseen at a precision: the `share` of documents with confidence >= `threshold`.

    `threshold` is None when no document qualifies, or when all do, those without a confidence included.
    `precision` is what the chosen documents reach, None when there are none.
    """

    share: float
    threshold: float | None
    precision: float | None


@dataclass(frozen=True, slots=True)
class BucketReliability:
    """What one confidence bucket promises (`mean_confidence`, None in the bucket `missing`) and keeps (`accuracy`)."""

    bucket: str
    n: int
    mean_confidence: float | None
    accuracy: AccuracyEstimate


def confidence_bucket(confidence: float | None) -> str:
    """Return the name of the bucket; a lower edge belongs to it, an upper edge to the next, 1.0 to the last."""
    if confidence is None or not 0 <= confidence <= 1:
        return MISSING_BUCKET
    position = int(np.searchsorted(BUCKET_EDGES, confidence, side="right")) - 1
    return BUCKETS[min(position, len(BUCKET_EDGES) - 2)]


def exact_match(correct: Sequence[bool], level: float = 0.95) -> AccuracyEstimate:
    """Return the share of `correct` with Wilson's interval, for a set in which every document was examined."""
    return wilson(sum(map(bool, correct)), len(correct), level)


def character_error_rate(truths: Sequence[str], predictions: Sequence[str | None]) -> float | None:
    """Return edits (insert, delete, substitute one code point) over characters of truth; it may exceed 1.

    A missing prediction costs every character of its truth. None without any character of truth; ValueError when the
    lengths differ.
    """
    n_edits = sum(
        Levenshtein.distance(truth, prediction or "") for truth, prediction in zip(truths, predictions, strict=True)
    )
    n_characters = sum(map(len, truths))
    return n_edits / n_characters if n_characters else None


def missing_share(truths: Sequence[object | None], predictions: Sequence[object | None]) -> float | None:
    """Return the share of fields with a truth for which nothing was read; None when no field has a truth."""
    present = [prediction is None for truth, prediction in zip(truths, predictions, strict=True) if truth is not None]
    return sum(present) / len(present) if present else None


def coverage_at_precision(
    confidences: Sequence[float | None], correct: Sequence[bool], precision: float = 0.99
) -> Coverage:
    """Return the largest share of documents, most confident first, of which at least `precision` are right.

    Documents of one confidence stand or fall together, since no threshold separates them; those without one come
    last, as one group. Nothing given is a share of 0. Raise ValueError when the lengths differ.
    """
    confidence, right = _arrays(confidences, correct)
    if not len(right):
        return Coverage(0.0, None, None)
    keys = np.where(np.isnan(confidence), -np.inf, confidence)
    order = np.argsort(-keys, kind="stable")
    keys, n_right = keys[order], np.cumsum(right[order])
    n_taken = np.arange(1, len(keys) + 1)
    is_end_of_ties = np.append(keys[:-1] != keys[1:], True)
    # The slack keeps 99 right of 100 at a precision of 0.99, whatever the product rounds to.
    possible = n_taken[is_end_of_ties & (n_right >= precision * n_taken - 1e-9)]
    if not len(possible):
        return Coverage(0.0, None, None)
    n = int(possible[-1])
    threshold = float(keys[n - 1])
    return Coverage(n / len(keys), threshold if threshold >= 0 else None, float(n_right[n - 1] / n))


def brier_score(confidences: Sequence[float | None], correct: Sequence[bool]) -> float | None:
    """Return the mean squared distance of confidence from the truth (0 is best); None without any confidence."""
    confidence, right = _arrays(confidences, correct)
    known = ~np.isnan(confidence)
    return float(np.mean((confidence[known] - right[known]) ** 2)) if known.any() else None


def reliability(
    confidences: Sequence[float | None], correct: Sequence[bool], level: float = 0.95
) -> tuple[BucketReliability, ...]:
    """Return each bucket that holds anything, low to high, `missing` last."""
    confidence, right = _arrays(confidences, correct)
    names = np.array([confidence_bucket(one) for one in confidence])
    rows = []
    for bucket in BUCKETS:
        inside = names == bucket
        n = int(inside.sum())
        if n:
            mean = None if bucket == MISSING_BUCKET else float(confidence[inside].mean())
            rows.append(BucketReliability(bucket, n, mean, wilson(int(right[inside].sum()), n, level)))
    return tuple(rows)


def calibration_error(confidences: Sequence[float | None], correct: Sequence[bool]) -> float | None:
    """Return the expected calibration error over the buckets: mean |promise - accuracy|, weighted by size."""
    rows = [row for row in reliability(confidences, correct) if row.mean_confidence is not None]
    n = sum(row.n for row in rows)
    if not n:
        return None
    return sum(row.n * abs((row.mean_confidence or 0.0) - (row.accuracy.point or 0.0)) for row in rows) / n


def _arrays(
    confidences: Sequence[float | None], correct: Sequence[bool]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    if len(confidences) != len(correct):
        raise ValueError("confidences and correct must have one length")
    confidence = np.array(confidences, dtype=np.float64)
    confidence[~((confidence >= 0) & (confidence <= 1))] = np.nan
    return confidence, np.array(correct, dtype=bool)
