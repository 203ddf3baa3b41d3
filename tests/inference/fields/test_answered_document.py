from decimal import Decimal

import pytest

from inference.fields.answered_document import AnsweredDocument
from inference.types import DocumentTypeSpec, FieldSpec, GroupSpec, ValueType
from tests.inference.fields.answers import answered
from tests.inference.fields.pages import reading

SPEC = DocumentTypeSpec(
    fields=(FieldSpec("/total", ValueType.AMOUNT, locale="de"), FieldSpec("/name", ValueType.NAME)),
    groups=(GroupSpec("/rows", (FieldSpec("/amount", ValueType.AMOUNT),)),),
)


def test_a_claim_belongs_to_the_page_that_it_was_made_on() -> None:
    pages = [reading(("one", 0, 0)), answered({"total": "8,20"}, ("8,20", 0, 0)), answered({"name": "Acme"})]
    document = AnsweredDocument.of(pages, SPEC)
    said = document.said("/total")
    assert said is not None
    assert (said[0], said[1].layout.page_number) == ("8,20", 2)
    assert said[1] is document.pages[1]
    assert document.said("/rows/0/amount") is None
    assert [layout.page_number for layout in document.layouts] == [1, 2, 3]


def test_tokens_of_a_row_are_found_under_its_number_on_its_page() -> None:
    rows = {"rows": [{"amount": "1.00"}]}
    first, second = (answered(rows, evidence={"/rows/0/amount": {"token_min": p}}) for p in (0.5, 0.25))
    document = AnsweredDocument.of([first, second], SPEC)
    assert document.token_evidence("/rows/0/amount") == {"token_min": 0.5}
    assert document.token_evidence("/rows/1/amount") == {"token_min": 0.25}


def test_values_without_token_evidence_have_none() -> None:
    document = AnsweredDocument.of([answered({"total": "8,20"})], SPEC)
    assert document.token_evidence("/total") == {}


def test_a_repair_is_told_of_the_values_of_its_page_and_of_the_whole() -> None:
    pages = [answered({"total": "8,20"}, repairs=("fence",)), answered({"name": "Acme"})]
    document = AnsweredDocument.of(pages, SPEC)
    assert document.findings("/total") == ("answer_repaired",)
    assert document.findings("/name") == ()
    assert document.is_repaired
    assert not AnsweredDocument.of(pages[1:], SPEC).is_repaired


def test_a_second_look_that_failed_is_told_of_the_values_of_its_page() -> None:
    pages = [answered({"total": "8,20"}, has_second_look_failed=True), answered({"name": "Acme"})]
    document = AnsweredDocument.of(pages, SPEC)
    assert document.findings("/total") == ("second_look_failed",)
    assert document.findings("/name") == ()
    assert not document.is_repaired


def test_pages_that_disagree_are_told_of_the_field() -> None:
    document = AnsweredDocument.of([answered({"total": "8,20"}), answered({"total": "9,20"})], SPEC)
    assert document.findings("/total") == ("pages_disagree",)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.234, "1.2340"), (12.5, "12.5"), (7, "7"), (1e21, "1000000000000000000000"), (Decimal("0.125"), "0.1250")],
)
def test_a_number_is_written_so_that_its_point_is_no_thousands_mark(number: object, text: str) -> None:
    document = AnsweredDocument.of([answered({"total": number, "rows": [{"amount": number}]})], SPEC)
    for path in ("/total", "/rows/0/amount"):
        said = document.said(path)
        assert said is not None
        assert said[0] == text
