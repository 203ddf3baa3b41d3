"""A classifier learns which document type a first page belongs to, from documents that people reviewed (R6).

All that it says of itself comes from pages that it had not learned when it was asked: how often it is right, what its
chances are worth (one number, the heat, makes them true), from which chance on it may be believed, and how unlike the
others of its type a page may be.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from inference.classify import N_BUCKETS, TypeClassifier, page_features
from inference.types import PageReading

LEAST_DOCUMENTS = 10
"""A type with fewer reviewed documents is not learned: nothing is ever suggested to be one."""
LIKELY = 0.9
PRECISION = 0.99
"""From that chance on it is believed from which it was so often right; never below `LIKELY`."""
STRANGE_SHARE = 0.02
"""So many pages of a type are as unlike its centre as one that is called strange."""
N_FOLDS = 5
NEVER = 2.0
_SOFTNESS = 10.0
_HEATS = np.geomspace(0.1, 30.0, 200)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class TooFewTypesError(ValueError):
    """There are no two types with enough documents to tell apart."""


@dataclass(frozen=True, slots=True)
class TypedPage:
    """A reviewed document: its name for ever, its first page, and the id of its type."""

    document: str
    reading: PageReading
    document_type: int


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """What was said of pages left out: scores and likeness to each type's centre, both (pages x types)."""

    scores: Floats
    likeness: Floats


def fit_classifier(pages: Sequence[TypedPage], seed: int) -> tuple[TypeClassifier, dict[str, Any]]:
    """Return a classifier and how it did on documents left out; the same pages and seed give the same.

    `right` is how often the likeliest type was the type; `decided` which share of pages it was sure of, and
    `decided_right` how often it was right on those; `familiar` which share of pages it took for one of the types.
    Raise TooFewTypesError.
    """
    known = Counter(page.document_type for page in pages)
    labels = sorted(label for label, n in known.items() if n >= LEAST_DOCUMENTS)
    if len(labels) < 2:
        raise TooFewTypesError
    kept = sorted((page for page in pages if page.document_type in labels), key=lambda page: _place(page.document))
    rows = np.vstack([page_features(page.reading) for page in kept])
    truth = np.searchsorted(np.array(labels), np.array([page.document_type for page in kept]))
    left_out = _leave_out(rows, truth, seed)
    heat = _heat(left_out.scores, truth)
    chances = _softmax(left_out.scores * heat)
    guessed = chances.argmax(axis=1)
    is_right = guessed == truth
    least = [
        float(np.quantile(left_out.likeness[truth == place, place], STRANGE_SHARE)) for place in range(len(labels))
    ]
    # As a page of which nobody knows the type is asked: is it like those of the type that it is taken for?
    is_familiar = left_out.likeness[np.arange(len(kept)), guessed] >= np.array(least)[guessed]
    sure = _sure(chances.max(axis=1), is_right)
    is_decided = (chances.max(axis=1) >= sure) & is_familiar
    metrics = {
        "n_documents": len(kept),
        "n_by_type": {str(label): n for label, n in sorted(known.items())},
        "right": float(is_right.mean()),
        "right_by_type": {str(label): float(is_right[truth == place].mean()) for place, label in enumerate(labels)},
        "decided": float(is_decided.mean()),
        "decided_right": float(is_right[is_decided].mean()) if is_decided.any() else None,
        "familiar": float(is_familiar.mean()),
        "sure": sure,
    }
    weights, bias = _fit(rows, truth, seed)
    centres = _centres(rows, truth)
    model = TypeClassifier(tuple(labels), weights * heat, bias * heat, centres, tuple(least), sure, len(kept))
    return model, metrics


def _place(document: str) -> bytes:
    return hashlib.sha256(document.encode()).digest()


def _leave_out(rows: Floats, truth: Ints, seed: int) -> _LeftOut:
    """Ask of each page what is learned without its fold; a fold has its share of every type."""
    scores, likeness = (np.zeros((len(rows), int(truth.max()) + 1)) for _ in range(2))
    fold_of = np.zeros(len(rows), dtype=np.int64)
    for label in np.unique(truth):
        fold_of[truth == label] = np.arange((truth == label).sum()) % N_FOLDS
    for fold in range(N_FOLDS):
        is_out = fold_of == fold
        weights, bias = _fit(rows[~is_out], truth[~is_out], seed)
        scores[is_out] = rows[is_out] @ weights.T + bias
        likeness[is_out] = rows[is_out, :N_BUCKETS] @ _centres(rows[~is_out], truth[~is_out]).T
    return _LeftOut(scores, likeness)


def _fit(rows: Floats, truth: Ints, seed: int) -> tuple[Floats, Floats]:
    """Return weights with a row for each type, and biases; of two types scikit-learn keeps the difference only."""
    model = LogisticRegression(C=_SOFTNESS, max_iter=1000, class_weight="balanced", random_state=seed).fit(rows, truth)
    weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(weights) == 1:
        weights, bias = np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return weights, bias


def _centres(rows: Floats, truth: Ints) -> Floats:
    means = np.vstack([rows[truth == label, :N_BUCKETS].mean(axis=0) for label in np.unique(truth)])
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    return means / np.where(lengths > 0, lengths, 1.0)


def _heat(scores: Floats, truth: Ints) -> float:
    """Return the factor of the scores that makes chances true on the pages left out.

    As if one page more had been seen that was not what it seemed (Platt): where nothing was wrong, it stays finite.
    """
    n_pages, n_types = scores.shape
    doubt = 1 / (n_pages + 2)
    wanted = np.full(scores.shape, doubt / (n_types - 1))
    wanted[np.arange(n_pages), truth] = 1 - doubt
    losses = [-float((wanted * np.log(_softmax(scores * heat) + 1e-300)).sum()) for heat in _HEATS]
    return float(_HEATS[int(np.argmin(losses))])


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _sure(chance: Floats, is_right: npt.NDArray[np.bool_]) -> float:
    """Return the least chance, `LIKELY` or more, from which on pages left out were right as often as `PRECISION`.

    `NEVER` where there is none.
    """
    order = np.argsort(-chance, kind="stable")
    shares = np.cumsum(is_right[order]) / np.arange(1, len(order) + 1)
    # Pages of one chance are believed together, or not at all.
    is_last = np.append(chance[order][1:] != chance[order][:-1], True)
    fits = is_last & (shares >= PRECISION) & (chance[order] >= LIKELY)
    return float(chance[order][fits].min()) if fits.any() else NEVER
