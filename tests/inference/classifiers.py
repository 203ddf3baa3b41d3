"""Classifiers that are small enough to see through: each type's weights are those of one page."""

import numpy as np

from inference.classify import N_BUCKETS, N_FEATURES, TypeClassifier, page_features
from inference.types import PageReading


def telling_apart(
    *examples: tuple[int, PageReading], familiar: float = 0.0, sure: float = 0.9, n_documents: int = 24
) -> TypeClassifier:
    """A classifier of these (label, page): a page is one if it shares its words, and strange below `familiar`."""
    features = np.vstack([page_features(page) for _, page in examples])
    return TypeClassifier(
        tuple(label for label, _ in examples),
        features * 30,
        np.zeros(len(examples)),
        features[:, :N_BUCKETS],
        (familiar,) * len(examples),
        sure,
        n_documents,
    )


def sure_of(label: int, other_than: int, *, chance: float = 0.999) -> TypeClassifier:
    """A classifier that takes any page for `label`, with this chance."""
    bias = np.array([0.0, np.log(chance / (1 - chance))])
    empty = np.zeros((2, N_BUCKETS))
    return TypeClassifier((other_than, label), np.zeros((2, N_FEATURES)), bias, empty, (0.0, 0.0), 0.9, 24)
