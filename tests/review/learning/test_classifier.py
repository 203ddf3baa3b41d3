"""A classifier learns types from reviewed first pages; a type with few of them is not learned."""

from dataclasses import replace
from random import Random

import pytest

from review.learning.classifier import LEAST_DOCUMENTS, NEVER, TooFewTypesError, TypedPage, fit_classifier
from review.selectors.training import LEAST_OF_A_TYPE
from tests.inference.fields.pages import reading

WORDS = {3: "CASH RECEIPT TOTAL CHANGE THANK YOU", 7: "TAX INVOICE AMOUNT DUE BANK ACCOUNT", 9: "DELIVERY NOTE GOODS"}


def pages(n: int, types: tuple[int, ...] = (3, 7), seed: int = 1) -> list[TypedPage]:
    """Pages with a few of the words of their type, and some that all types have."""
    random = Random(seed)
    made = []
    for document_type in types:
        for number in range(n):
            words = [*random.sample(WORDS[document_type].split(), 3), "SDN BHD", str(random.randrange(10_000))]
            lines = [(word, 100, 100 + 40 * line) for line, word in enumerate(words)]
            made.append(TypedPage(f"{document_type}-{seed}-{number}", reading(*lines), document_type))
    return made


@pytest.mark.parametrize("types", [(3, 7), (3, 7, 9)])
def test_types_are_told_apart_on_pages_that_nobody_has_seen(types: tuple[int, ...]) -> None:
    model, metrics = fit_classifier(pages(20, types), 0)
    assert model.labels == types
    for page in pages(10, types, seed=2):
        chances = model.chances(page.reading)
        assert max(chances, key=chances.__getitem__) == page.document_type
    assert metrics["right"] == 1.0
    assert metrics["n_by_type"] == {str(label): 20 for label in types}


def test_the_same_pages_in_any_order_make_the_same_bytes() -> None:
    made = pages(12)
    assert fit_classifier(made, 0)[0].as_bytes() == fit_classifier(made[::-1], 0)[0].as_bytes()


def test_a_type_with_few_pages_is_not_learned() -> None:
    few = pages(LEAST_DOCUMENTS - 1, (9,))
    model, metrics = fit_classifier([*pages(15), *few], 0)
    assert model.labels == (3, 7)
    assert metrics["n_by_type"]["9"] == LEAST_DOCUMENTS - 1
    assert metrics["n_documents"] == model.n_documents == 30


def test_what_is_due_by_itself_is_what_can_be_learned() -> None:
    assert LEAST_OF_A_TYPE == LEAST_DOCUMENTS


@pytest.mark.parametrize("made", [[], pages(30, (3,)), [*pages(30, (3,)), *pages(3, (7,))]])
def test_there_must_be_two_types_to_tell_apart(made: list[TypedPage]) -> None:
    with pytest.raises(TooFewTypesError):
        fit_classifier(made, 0)


def test_wrong_labels_leave_a_classifier_that_is_sure_of_nothing() -> None:
    made = pages(60)
    labels = [page.document_type for page in made]
    Random(4).shuffle(labels)
    model, metrics = fit_classifier(
        [TypedPage(page.document, page.reading, label) for page, label in zip(made, labels, strict=True)], 0
    )
    assert metrics["right"] < 0.7
    assert (metrics["decided"], metrics["decided_right"], model.sure) == (0.0, None, NEVER)
    # The same pages with their own labels.
    assert fit_classifier(made, 0)[1]["decided"] > 0.9


def test_a_page_of_no_type_is_none_of_these() -> None:
    model, metrics = fit_classifier(pages(30), 0)
    assert metrics["familiar"] > 0.9
    other = pages(10, (9,), seed=2)
    guesses = [model.guess(page.reading) for page in other]
    assert not any(guess.is_sure for guess in guesses if guess is not None)
    assert sum(not guess.is_familiar for guess in guesses if guess is not None) >= 9


def test_chances_say_how_often_the_likeliest_type_is_right() -> None:
    """One page in ten bears the wrong label: no chance may say much more than nine of ten."""
    made = pages(100)
    turned = {3: 7, 7: 3}
    noisy = [
        TypedPage(page.document, page.reading, turned[page.document_type] if number % 10 == 0 else page.document_type)
        for number, page in enumerate(made)
    ]
    model, metrics = fit_classifier(noisy, 0)
    assert 0.85 < metrics["right"] < 0.95
    chances = [max(model.chances(page.reading).values()) for page in pages(50, seed=3)]
    assert 0.8 < sum(chances) / len(chances) < 0.97
    assert metrics["decided"] < 0.5


def test_how_often_it_is_right_counts_pages_that_it_surely_takes_for_another_type() -> None:
    """Two pages bear a label that is not theirs: like the other type, and unlike the one whose name they bear."""
    made = pages(150)
    wrong = [replace(page, document_type=7) for page in made[:2]]
    metrics = fit_classifier([*wrong, *made[2:]], 0)[1]
    n_decided = round(metrics["decided"] * len(made))
    assert n_decided > 250
    assert metrics["decided_right"] == pytest.approx((n_decided - len(wrong)) / n_decided)
