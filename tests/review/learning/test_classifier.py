"""A classifier learns types from reviewed first pages; a type with few of them is not learned."""

from random import Random

import pytest

from review.learning.classifier import LEAST_DOCUMENTS, TooFewTypesError, TypedPage, fit_classifier
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
    assert metrics["n_documents"] == 30


@pytest.mark.parametrize("made", [[], pages(30, (3,)), [*pages(30, (3,)), *pages(3, (7,))]])
def test_there_must_be_two_types_to_tell_apart(made: list[TypedPage]) -> None:
    with pytest.raises(TooFewTypesError):
        fit_classifier(made, 0)


def test_pages_without_sense_are_told_apart_no_better_than_by_chance() -> None:
    mixed = [TypedPage(page.document, page.reading, (3, 7)[number % 2]) for number, page in enumerate(pages(40, (3,)))]
    assert fit_classifier(mixed, 0)[1]["right"] < 0.75
