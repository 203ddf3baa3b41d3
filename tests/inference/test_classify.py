"""Which type a page looks like: by pieces of its words and its layout; what is stored is numbers."""

import json

import numpy as np
import pytest

from inference.classify import N_BUCKETS, N_FEATURES, TypeClassifier, page_features
from inference.errors import ModelDamagedError
from tests.inference.classifiers import telling_apart
from tests.inference.fields.pages import reading

RECEIPT = reading(("CASH RECEIPT", 100, 100), ("TOTAL 9.00", 100, 200))
INVOICE = reading(("TAX INVOICE", 100, 100), ("AMOUNT DUE 9.00", 100, 200))


def model(familiar: float = 0.0, sure: float = 0.9) -> TypeClassifier:
    return telling_apart((3, RECEIPT), (7, INVOICE), familiar=familiar, sure=sure)


def test_a_page_looks_like_what_shares_its_words() -> None:
    chances = model().chances(reading(("CASH RECElPT", 150, 130), ("TOTAL 12.50", 100, 200)))
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
    chances = model().chances(reading())
    assert sum(chances.values()) == pytest.approx(1.0)


def test_a_page_that_is_like_neither_is_none_of_them_however_sure_the_chances_are() -> None:
    strange = reading(("THE SEA IN WINTER", 100, 100), ("a poem about WAVES, TOTAL nothing", 100, 200))
    told_apart = model(familiar=0.4).guess(strange)
    assert told_apart is not None
    assert (told_apart.is_familiar, told_apart.is_sure) == (False, False)
    known = model(familiar=0.4).guess(RECEIPT)
    assert known is not None
    assert (known.label, known.is_familiar, known.is_sure) == (3, True, True)


def test_what_is_less_than_sure_is_said_and_not_believed() -> None:
    hardly = model(sure=1.1).guess(RECEIPT)
    assert hardly is not None
    assert (hardly.label, hardly.is_familiar, hardly.is_sure) == (3, True, False)
    assert hardly.chance == hardly.chances[3]


def test_a_page_without_words_looks_like_nothing() -> None:
    assert model().guess(reading()) is None


def test_what_is_stored_says_the_same() -> None:
    made = model(familiar=0.25, sure=0.95)
    again = TypeClassifier.from_bytes(made.as_bytes())
    assert (again.labels, again.familiar, again.sure, again.n_documents) == ((3, 7), (0.25, 0.25), 0.95, 24)
    assert again.chances(RECEIPT)[3] == pytest.approx(made.chances(RECEIPT)[3], abs=1e-4)
    assert again.as_bytes() == made.as_bytes()
    guessed, said = again.guess(RECEIPT), made.guess(RECEIPT)
    assert guessed is not None
    assert said is not None
    assert (guessed.label, guessed.is_familiar, guessed.is_sure) == (said.label, said.is_familiar, said.is_sure)


def test_bytes_that_are_no_classifier_are_refused() -> None:
    stored = json.loads(model().as_bytes())
    others = [
        {**stored, "format": 1},
        {**stored, "labels": [3]},
        {**stored, "labels": [], "weights": [], "bias": []},
        {**stored, "weights": [[1.0], [2.0]]},
        {**stored, "bias": None},
        {**stored, "centres": [[1.0], [2.0]]},
        {**stored, "familiar": [0.5]},
        {**stored, "sure": "often"},
        {name: value for name, value in stored.items() if name != "bias"},
        [],
    ]
    for payload in (b"", b"\xff", *(json.dumps(other).encode() for other in others)):
        with pytest.raises(ModelDamagedError):
            TypeClassifier.from_bytes(payload)
