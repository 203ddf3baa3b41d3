"""A classifier learns which document type a first page belongs to, from documents that people reviewed (R6)."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from inference.classify import TypeClassifier, page_features
from inference.types import PageReading

LEAST_DOCUMENTS = 10
"""A type with fewer reviewed documents is not learned: nothing is ever suggested to be one."""
N_FOLDS = 5
_SOFTNESS = 10.0


class TooFewTypesError(ValueError):
    """There are no two types with enough documents to tell apart."""


@dataclass(frozen=True, slots=True)
class TypedPage:
    """A reviewed document: its name for ever, its first page, and the id of its type."""

    document: str
    reading: PageReading
    document_type: int


def fit_classifier(pages: Sequence[TypedPage], seed: int) -> tuple[TypeClassifier, dict[str, Any]]:
    """Return a classifier and how often it was right on documents left out; the same pages and seed give the same.

    Raise TooFewTypesError.
    """
    known = Counter(page.document_type for page in pages)
    enough = {label for label, n in known.items() if n >= LEAST_DOCUMENTS}
    if len(enough) < 2:
        raise TooFewTypesError
    kept = sorted((page for page in pages if page.document_type in enough), key=lambda page: _place(page.document))
    rows = np.vstack([page_features(page.reading) for page in kept])
    labels = np.array([page.document_type for page in kept])
    right = np.zeros(len(kept), dtype=bool)
    for fold in range(N_FOLDS):
        is_left_out = np.arange(len(kept)) % N_FOLDS == fold
        model = _fit(rows[~is_left_out], labels[~is_left_out], seed)
        right[is_left_out] = model.predict(rows[is_left_out]) == labels[is_left_out]
    metrics = {
        "n_documents": len(kept),
        "n_by_type": {str(label): n for label, n in sorted(known.items())},
        "right": float(right.mean()),
        "right_by_type": {str(label): float(right[labels == label].mean()) for label in sorted(enough)},
    }
    return _linear(_fit(rows, labels, seed)), metrics


def _place(document: str) -> bytes:
    return hashlib.sha256(document.encode()).digest()


def _fit(rows: npt.NDArray[np.float64], labels: npt.NDArray[np.int64], seed: int) -> LogisticRegression:
    return LogisticRegression(C=_SOFTNESS, max_iter=1000, class_weight="balanced", random_state=seed).fit(rows, labels)


def _linear(model: LogisticRegression) -> TypeClassifier:
    """Return the model with a row for each type; of two types scikit-learn keeps the difference only."""
    weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(weights) == 1:
        weights, bias = np.vstack([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return TypeClassifier(tuple(int(label) for label in model.classes_), weights, bias)
