"""Which type a page looks like: by pieces of its words and its layout; what is stored is numbers."""

import json

import numpy as np
import pytest

from inference.classify import N_BUCKETS, N_FEATURES, TypeClassifier, page_features
from inference.errors import ModelDamagedError
from tests.inference.fields.pages import reading

RECEIPT = reading(("CASH RECEIPT", 100, 100), ("TOTAL 9.00", 100, 200))
INVOICE = reading(("TAX INVOICE", 100, 100), ("AMOUNT DUE 9.00", 100, 200))


def telling_apart() -> TypeClassifier:
    """Each type's weights are its own page."""
    return TypeClassifier((3, 7), np.vstack([page_features(RECEIPT), page_features(INVOICE)]) * 20, np.zeros(2))


def test_a_page_looks_like_what_shares_its_words() -> None:
    chances = telling_apart().chances(reading(("CASH RECElPT", 150, 130), ("TOTAL 12.50", 100, 200)))
    assert set(chances) == {3, 7}
    assert sum(chances.values()) == pytest.approx(1.0)
    assert chances[3] > 0.9


def test_a_page_is_seen_the_same_whatever_case_and_marks_its_words_have() -> None:
    shouted, spoken = (page_features(reading((text, 100, 100))) for text in ("CASH-RECEIPT", "Cash Receipt"))
    assert shouted[:N_BUCKETS] == pytest.approx(spoken[:N_BUCKETS])


def test_the_pieces_have_one_length_and_the_layout_lies_in_0_1() -> None:
    features = page_features(RECEIPT)
    assert features.shape == (N_FEATURES,)
    assert np.linalg.norm(features[:N_BUCKETS]) == pytest.approx(1.0)
    assert ((features[N_BUCKETS:] >= 0) & (features[N_BUCKETS:] <= 1)).all()
    assert features[N_BUCKETS] == 0.5


def test_an_empty_page_has_a_chance_of_each_type_too() -> None:
    chances = telling_apart().chances(reading())
    assert sum(chances.values()) == pytest.approx(1.0)


def test_what_is_stored_says_the_same() -> None:
    model = telling_apart()
    again = TypeClassifier.from_bytes(model.as_bytes())
    assert again.labels == model.labels
    assert again.chances(RECEIPT)[3] == pytest.approx(model.chances(RECEIPT)[3], abs=1e-4)
    assert again.as_bytes() == model.as_bytes()


def test_bytes_that_are_no_classifier_are_refused() -> None:
    stored = json.loads(telling_apart().as_bytes())
    others = [
        {**stored, "format": 2},
        {**stored, "labels": [3]},
        {**stored, "labels": [], "weights": [], "bias": []},
        {**stored, "weights": [[1.0], [2.0]]},
        {**stored, "bias": None},
        {name: value for name, value in stored.items() if name != "bias"},
        [],
    ]
    for payload in (b"", b"\xff", *(json.dumps(other).encode() for other in others)):
        with pytest.raises(ModelDamagedError):
            TypeClassifier.from_bytes(payload)
