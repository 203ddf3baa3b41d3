from typing import Any

import pytest

from inference.answers.merge import MergedValues, merge_pages
from inference.types import DocumentTypeSpec, parse_document_type

LABEL = {"en": "Field", "zh": "字段"}


def leaf(value_type: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "x-label": LABEL, "x-value-type": value_type}


@pytest.fixture
def spec() -> DocumentTypeSpec:
    return parse_document_type(
        {
            "type": "object",
            "x-label": LABEL,
            "x-locale": "en-GB",
            "properties": {
                "seller": leaf("name"),
                "total": leaf("amount"),
                "date": leaf("date"),
                "buyer": {"type": "object", "properties": {"phone": leaf("phone")}},
                "items": {
                    "type": "array",
                    "x-label": LABEL,
                    "items": {"type": "object", "properties": {"text": leaf("text"), "a/b": leaf("amount")}},
                },
            },
        }
    )


def test_a_single_field_comes_from_the_first_page_that_has_it(spec: DocumentTypeSpec) -> None:
    pages = [{"seller": "ACME", "total": None}, {"seller": None, "total": "12.50"}]
    assert merge_pages(pages, spec).values == {"/seller": ("ACME", 1), "/total": ("12.50", 2)}


def test_a_page_without_an_answer_keeps_its_number(spec: DocumentTypeSpec) -> None:
    assert merge_pages([None, None, {"seller": "ACME"}], spec).values == {"/seller": ("ACME", 3)}


def test_pages_that_say_different_things_are_a_finding_and_the_first_is_kept(spec: DocumentTypeSpec) -> None:
    merged = merge_pages([{"total": "12.50"}, {"total": "12.60"}], spec)
    assert merged.values["/total"] == ("12.50", 1)
    assert merged.findings == {"/total": ("pages_disagree",)}


@pytest.mark.parametrize(
    ("field", "one", "other"),
    [
        ("total", "1,234.50", "GBP 1234.50"),
        ("date", "24/12/2026", "2026-12-24"),
        ("seller", "ACME  Ltd.", "Acme Ltd"),
    ],
)
def test_one_value_printed_in_two_ways_is_no_disagreement(
    spec: DocumentTypeSpec, field: str, one: str, other: str
) -> None:
    assert merge_pages([{field: one}, {field: other}], spec).findings == {}


def test_the_rows_of_a_group_are_counted_on_from_page_to_page(spec: DocumentTypeSpec) -> None:
    pages = [
        {"items": [{"text": "tea", "a/b": "1.00"}, {"text": "milk", "a/b": None}]},
        None,
        {"items": [{"text": "bread", "a/b": "2.00"}]},
    ]
    merged = merge_pages(pages, spec)
    assert merged.values == {
        "/items/0/text": ("tea", 1),
        "/items/0/a~1b": ("1.00", 1),
        "/items/1/text": ("milk", 1),
        "/items/2/text": ("bread", 3),
        "/items/2/a~1b": ("2.00", 3),
    }
    assert merged.page_paths["/items/2/a~1b"] == "/items/0/a~1b"


def test_a_row_without_any_value_is_no_row(spec: DocumentTypeSpec) -> None:
    merged = merge_pages([{"items": [{"text": None}, {}, {"text": "tea"}]}], spec)
    assert merged.values == {"/items/0/text": ("tea", 1)}
    assert merged.page_paths == {"/items/0/text": "/items/2/text"}


def test_two_pages_with_the_same_rows_keep_both(spec: DocumentTypeSpec) -> None:
    page = {"items": [{"text": "tea"}]}
    assert set(merge_pages([page, page], spec).values) == {"/items/0/text", "/items/1/text"}


def test_a_nested_field_is_found(spec: DocumentTypeSpec) -> None:
    assert merge_pages([{"buyer": {"phone": "123"}}], spec).values == {"/buyer/phone": ("123", 1)}


def test_nothing_merges_to_nothing(spec: DocumentTypeSpec) -> None:
    assert merge_pages([], spec) == MergedValues()
    assert merge_pages([None], spec) == MergedValues()
