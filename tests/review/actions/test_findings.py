"""What the schema says about the values becomes findings, and what routing may know of a field."""

from typing import Any

import pytest

from inference.fields.rows_left_out import ROWS_LEFT_OUT
from inference.types import FieldReading, parse_document_type
from review.actions._findings import evidence_of, with_schema_findings, without_groups
from review.routing.reasons import Reason

INVOICE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "x-label": {"en": "Invoice"},
    "required": ["total", "line_items"],
    "properties": {
        "number": {"type": "string", "x-label": {"en": "Number"}, "pattern": "^[A-Z]{2}[0-9]+$"},
        "total": {"type": "number", "x-label": {"en": "Total"}, "x-value-type": "amount", "minimum": 0},
        "note": {"type": "string", "x-label": {"en": "Note"}, "maxLength": 3},
        "line_items": {
            "type": "array",
            "minItems": 1,
            "x-label": {"en": "Items"},
            "items": {
                "type": "object",
                "required": ["amount"],
                "properties": {
                    "amount": {"type": "number", "x-label": {"en": "Amount"}, "x-value-type": "amount"},
                    "name": {"type": "string", "x-label": {"en": "Name"}},
                },
            },
        },
        "taxes": {
            "type": "array",
            "x-label": {"en": "Taxes"},
            "items": {
                "type": "object",
                "required": ["rate"],
                "properties": {"rate": {"type": "number", "x-label": {"en": "Rate"}}},
            },
        },
    },
}
SPEC = parse_document_type(INVOICE)


def reading(path: str, value: str | None, *findings: str, confidence: float | None = 0.9) -> FieldReading:
    return FieldReading(path, value, value, confidence, {}, findings)


GOOD = [reading("/number", "AB12"), reading("/total", "9.00"), reading("/line_items/0/amount", "9.00")]


def test_good_values_have_no_findings() -> None:
    checked, reasons = with_schema_findings(GOOD, INVOICE)
    assert [field.findings for field in checked] == [(), (), ()]
    assert reasons == ()


@pytest.mark.parametrize(
    ("path", "value", "finding"),
    [
        ("/number", "12", "schema_pattern"),
        ("/total", "-1", "schema_minimum"),
        ("/total", "nine", "schema_type"),
        ("/note", "long", "schema_max_length"),
        ("/line_items/0/amount", "x", "schema_type"),
    ],
)
def test_a_value_that_breaks_its_schema_says_so(path: str, value: str, finding: str) -> None:
    fields = [field for field in GOOD if field.field_path != path] + [reading(path, value, "seen_before")]
    checked, reasons = with_schema_findings(fields, INVOICE)
    assert {field.field_path: field.findings for field in checked if field.findings} == {path: ("seen_before", finding)}
    assert reasons == ()


def test_an_absent_value_is_no_broken_rule() -> None:
    fields = [GOOD[0], reading("/total", None), GOOD[2]]
    checked, reasons = with_schema_findings(fields, INVOICE)
    assert all(field.findings == () for field in checked)
    assert reasons == ()


def test_a_required_group_without_rows_is_the_documents_fault() -> None:
    assert with_schema_findings(GOOD[:2], INVOICE)[1] == (Reason.SCHEMA_INVALID,)


def test_what_is_said_of_a_group_without_cells_is_the_documents_fault_and_no_field() -> None:
    said = FieldReading("/taxes", None, None, None, {}, (ROWS_LEFT_OUT,))
    fields, reasons = without_groups([GOOD[0], said, *GOOD[1:]], SPEC)
    assert fields == GOOD
    assert reasons == (Reason.ROWS_LEFT_OUT,)
    assert all(reason.is_fault for reason in reasons)


def test_cells_bear_what_is_said_of_their_group_themselves() -> None:
    fields = [*GOOD[:2], reading("/line_items/0/amount", "9.00", ROWS_LEFT_OUT)]
    assert without_groups(fields, SPEC) == (fields, ())


def test_a_field_that_nobody_asked_for_is_no_fault_of_the_others() -> None:
    checked, _ = with_schema_findings(GOOD, INVOICE)
    assert [field.field_path for field in checked] == [field.field_path for field in GOOD]


@pytest.mark.parametrize(
    ("path", "is_required"),
    [
        ("/total", True),
        ("/number", False),
        ("/line_items/4/amount", True),
        ("/line_items/4/name", False),
        # Needed in each row, but rows are not needed.
        ("/taxes/0/rate", False),
        ("/unknown", False),
    ],
)
def test_what_is_required(path: str, is_required: bool) -> None:
    assert evidence_of(reading(path, "1"), SPEC).is_required is is_required


def test_evidence_never_holds_the_value() -> None:
    evidence = evidence_of(reading("/total", "secret", "pattern_mismatch"), SPEC)
    assert "secret" not in repr(evidence)
    assert (evidence.confidence, evidence.has_value, evidence.findings) == (0.9, True, ("pattern_mismatch",))


def test_absence_alone_is_no_failed_rule() -> None:
    evidence = evidence_of(reading("/note", None, "not_found", confidence=None), SPEC)
    assert (evidence.has_value, evidence.findings) == (False, ())
