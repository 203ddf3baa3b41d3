from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from inference.document_types import shipped_document_type
from inference.fields.answered import read_fields
from inference.types import DocumentTypeSpec, FieldReading, FieldSpec, GroupSpec, PageReading, ValueType
from tests.inference.fields.answers import answered
from tests.inference.fields.pages import Line

INVOICE = shipped_document_type("invoice")
# The same lines without words that name the columns: there the locator makes no table of them.
UNNAMED = DocumentTypeSpec(
    fields=(),
    groups=(
        GroupSpec(
            "/line_items",
            (
                FieldSpec("/description", ValueType.TEXT, is_required=True),
                FieldSpec("/quantity", ValueType.NUMBER),
                FieldSpec("/amount", ValueType.AMOUNT, is_required=True),
            ),
        ),
    ),
)
HEADER: tuple[Line, ...] = (("Description", 100, 300), ("Qty", 500, 300), ("Amount", 700, 300))
TABLE: tuple[Line, ...] = (
    ("Steel bolts", 100, 330), ("2", 500, 330), ("10.00", 700, 330),
    ("Copper wire", 100, 360), ("1", 500, 360), ("20.00", 700, 360),
    ("Steel nuts", 100, 390), ("1", 500, 390), ("10.00", 700, 390),
)  # fmt: skip
ROWS: Sequence[Mapping[str, Any]] = (
    {"description": "Steel bolts", "quantity": "2", "amount": "10.00"},
    {"description": "Copper wire", "quantity": "1", "amount": "20.00"},
    {"description": "Steel nuts", "quantity": "1", "amount": "10.00"},
)


def read(*pages: PageReading, spec: DocumentTypeSpec = UNNAMED) -> dict[str, FieldReading]:
    return {one.field_path: one for one in read_fields(pages, spec) if one.field_path.startswith("/line_items/")}


def with_rows(*rows: Mapping[str, Any], lines: Sequence[Line] = TABLE, **options: Any) -> PageReading:
    return answered({"line_items": list(rows)}, *lines, **options)


def top(found: FieldReading) -> float:
    assert found.bbox is not None
    return round(found.bbox.y0, 3)


def confidence(found: FieldReading) -> float:
    assert found.confidence is not None
    return found.confidence


def test_cells_come_row_by_row_in_the_order_of_the_columns() -> None:
    found = read(with_rows(*ROWS))
    assert list(found) == [
        f"/line_items/{row}/{column}" for row in range(3) for column in ("description", "quantity", "amount")
    ]
    assert [found[f"/line_items/{row}/amount"].value for row in range(3)] == ["10.00", "20.00", "10.00"]


def test_a_value_that_is_printed_in_several_rows_is_grounded_in_its_own() -> None:
    found = read(with_rows(*ROWS))
    for row, y in enumerate((0.33, 0.36, 0.39)):
        assert {top(found[f"/line_items/{row}/{name}"]) for name in ("description", "quantity", "amount")} == {y}
        assert found[f"/line_items/{row}/amount"].evidence["in_row"] == 1.0


def test_rows_that_are_alike_come_down_the_page() -> None:
    lines = tuple(cell for n in range(3) for cell in (("Pen", 100, 300 + 30 * n), ("5.00", 700, 300 + 30 * n)))
    found = read(with_rows(*[{"description": "Pen", "amount": "5.00"}] * 3, lines=lines))
    assert [top(found[f"/line_items/{row}/amount"]) for row in range(3)] == [0.3, 0.33, 0.36]
    assert [top(found[f"/line_items/{row}/description"]) for row in range(3)] == [0.3, 0.33, 0.36]


def test_a_value_from_another_row_is_doubted() -> None:
    swapped = [{**ROWS[0], "amount": "20.00"}, *ROWS[1:]]
    right, wrong = (read(with_rows(*rows))["/line_items/0/amount"] for rows in (ROWS, swapped))
    assert wrong.evidence["in_row"] < right.evidence["in_row"]
    assert confidence(wrong) < confidence(right)


def test_a_value_that_is_not_printed_is_not_grounded() -> None:
    found = read(with_rows({**ROWS[0], "amount": "10.80"}))["/line_items/0/amount"]
    assert found.findings == ("not_grounded",)
    assert confidence(found) <= 0.3


def test_a_row_of_invented_values_has_no_place() -> None:
    found = read(with_rows({"description": "Golden fountain pen", "amount": "777.00"}, *ROWS))
    assert found["/line_items/0/amount"].bbox is None
    assert found["/line_items/0/amount"].page_number == 1
    assert top(found["/line_items/1/description"]) == 0.33


def test_a_required_column_that_is_empty_is_reported_and_another_is_left_out() -> None:
    found = read(with_rows({"description": "Steel bolts", "quantity": None, "amount": None}))
    assert list(found) == ["/line_items/0/description", "/line_items/0/amount"]
    assert found["/line_items/0/amount"].findings == ("not_found",)


def test_rows_of_later_pages_are_counted_on_and_found_on_their_own_page() -> None:
    found = read(with_rows(*ROWS[:2]), with_rows(ROWS[2], lines=TABLE[6:]))
    assert found["/line_items/2/amount"].page_number == 2
    assert found["/line_items/2/amount"].findings == ()


def test_a_repaired_answer_marks_its_cells() -> None:
    found = read(with_rows(*ROWS, repairs=("bracket",)))
    assert {one.findings for one in found.values()} == {("answer_repaired",)}


def test_the_tokens_of_a_cell_are_its_evidence() -> None:
    unsure = {"/line_items/1/amount": {"token_min": 0.3, "token_mean": 0.4, "token_margin": 0.0}}
    found = read(with_rows(*ROWS, evidence=unsure))
    assert found["/line_items/1/amount"].evidence["token_min"] == 0.3
    assert confidence(found["/line_items/1/amount"]) < confidence(found["/line_items/0/amount"])


def test_the_table_that_the_words_make_is_a_second_opinion() -> None:
    right = read(with_rows(*ROWS, lines=(*HEADER, *TABLE)), spec=INVOICE)
    assert all(one.evidence["readers_agree"] == 1.0 for one in right.values())
    assert all(confidence(one) > 0.9 for one in right.values())
    assert "readers_agree" not in read(with_rows(*ROWS))["/line_items/0/amount"].evidence


@pytest.mark.parametrize(("column", "value"), [("amount", "2"), ("description", "10.00")])
def test_a_value_from_another_column_disagrees_with_the_table(column: str, value: str) -> None:
    rows = [{**ROWS[0], column: value}, *ROWS[1:]]
    found = read(with_rows(*rows, lines=(*HEADER, *TABLE)), spec=INVOICE)[f"/line_items/0/{column}"]
    assert found.evidence.get("readers_agree", 0.0) < 0.5
    assert confidence(found) < 0.5


def test_a_cut_description_has_loose_edges() -> None:
    found = read(with_rows({**ROWS[1], "description": "Copper"}))["/line_items/0/description"]
    assert found.evidence["edges"] == 0.5
    assert confidence(found) < 0.2
