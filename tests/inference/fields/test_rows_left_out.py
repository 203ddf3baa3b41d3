"""A row that the words print and the answer lacks is never passed over."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from inference.document_types import shipped_document_type
from inference.fields.answered import read_fields
from inference.fields.rows_left_out import ROWS_LEFT_OUT, has_rows_left_out
from inference.fields.score import CAPPED_BY_FINDING
from inference.types import BBox, FieldReading, FieldSpec, GroupSpec, PageAnswer, PageReading, ValueType
from tests.inference.fields.answers import answered
from tests.inference.fields.invoices import INVOICES, Invoice
from tests.inference.fields.pages import Line

SPEC = shipped_document_type("invoice")
TEXT, COUNT, AMOUNT = (
    FieldSpec("/text", ValueType.TEXT, is_required=True),
    FieldSpec("/count", ValueType.NUMBER),
    FieldSpec("/amount", ValueType.AMOUNT, is_required=True),
)
GROUP = GroupSpec("/rows", (TEXT, COUNT, AMOUNT))
TEA, PEN, INK = ("Tea", "2", "10.00"), ("Pen", "1", "20.00"), ("Ink", "1", "10.00")
NOWHERE = None


def cell(row: int, column: FieldSpec, text: str, y: float | None, page_number: int = 1) -> FieldReading:
    box = None if y is None else BBox(0.1, y, 0.2, y + 0.02)
    return FieldReading(f"/rows/{row}{column.path}", text, text, 0.99, {}, (), page_number, box)


def cells(*rows: tuple[Sequence[str | None], float | None], page_number: int = 1) -> list[FieldReading]:
    """Return rows given as (texts of the columns, y); a column without a text has no cell."""
    return [
        cell(number, column, text, y, page_number)
        for number, (texts, y) in enumerate(rows)
        for column, text in zip(GROUP.columns, texts, strict=True)
        if text is not None
    ]


PRINTED = cells((TEA, 0.3), (PEN, 0.4), (INK, 0.5))


def is_lacking(*answered: tuple[Sequence[str | None], float | None], printed: Sequence[FieldReading] = PRINTED) -> bool:
    return has_rows_left_out(GROUP, cells(*answered), printed)


@pytest.mark.parametrize("left_out", range(3))
def test_any_row_that_has_no_answered_row_is_left_out(left_out: int) -> None:
    rows = [(TEA, 0.3), (PEN, 0.4), (INK, 0.5)]
    assert not is_lacking(*rows)
    assert is_lacking(*rows[:left_out], *rows[left_out + 1 :])


def test_no_answered_row_at_all_leaves_all_out_and_no_table_leaves_none_out() -> None:
    assert is_lacking()
    assert not is_lacking(printed=[])
    assert not is_lacking((TEA, 0.3), printed=[])


def test_rows_in_another_order_are_the_same_rows() -> None:
    assert not is_lacking((INK, 0.5), (TEA, 0.3), (PEN, 0.4))


def test_a_row_that_is_said_twice_stands_for_one() -> None:
    assert is_lacking((TEA, 0.3), (TEA, 0.3), (PEN, 0.4))
    assert is_lacking((TEA, NOWHERE), (TEA, NOWHERE), (PEN, 0.4))


def test_of_rows_that_are_alike_each_has_to_be_there() -> None:
    alike = cells((TEA, 0.3), (TEA, 0.4), (TEA, 0.5))
    assert not is_lacking((TEA, 0.3), (TEA, 0.4), (TEA, 0.5), printed=alike)
    assert not is_lacking(*[(TEA, NOWHERE)] * 3, printed=alike)
    assert is_lacking((TEA, 0.3), (TEA, 0.4), printed=alike)
    assert is_lacking(*[(TEA, NOWHERE)] * 2, printed=alike)


def test_an_invented_row_stands_for_none() -> None:
    assert is_lacking((TEA, 0.3), (PEN, 0.4), (("Golden pen", "7", "777.00"), NOWHERE))


def test_a_row_that_was_misread_but_stands_in_its_place_is_there() -> None:
    assert not is_lacking((TEA, 0.3), (PEN, 0.4), (("Inc", "1", "19.00"), 0.5))


def test_a_row_that_was_found_elsewhere_is_there_if_it_says_the_same() -> None:
    assert not is_lacking((TEA, 0.3), (PEN, 0.4), (("INK", "1", "10.0"), 0.9))
    assert is_lacking((TEA, 0.3), (PEN, 0.4), (("Ink", "2", "10.00"), 0.9))


def test_a_place_on_another_page_is_not_level() -> None:
    printed = [
        *cells((TEA, 0.3)),
        *(replace(one, field_path="/rows/1/" + one.field_path[8:], page_number=2) for one in cells((PEN, 0.3))),
    ]
    assert is_lacking((TEA, 0.3), (("Pencil", "1", "21.00"), 0.3), printed=printed)


def test_half_of_the_cells_in_their_place_are_enough() -> None:
    rows = [*cells((TEA, 0.3), (PEN, 0.4)), cell(2, TEXT, "Inc", 0.5), cell(2, AMOUNT, "20.00", 0.4)]
    assert not has_rows_left_out(GROUP, rows, PRINTED)
    assert has_rows_left_out(GROUP, [*rows, cell(2, COUNT, "3", 0.4)], PRINTED)


@pytest.mark.parametrize(
    "texts",
    [("Delivered in 2 days", None, None), (None, "3", "10.00"), ("Bank", "x", None)],
)
def test_a_line_without_what_each_row_needs_is_no_row(texts: Sequence[str | None]) -> None:
    assert not is_lacking((TEA, 0.3), printed=cells((TEA, 0.3), (texts, 0.4)))


def test_a_line_without_any_number_is_no_row_and_one_with_a_garbled_number_is() -> None:
    words = [cell(1, TEXT, "Paid", 0.4), replace(cell(1, AMOUNT, "thank you", 0.4), value=None)]
    assert not is_lacking((TEA, 0.3), printed=[*cells((TEA, 0.3)), *words])
    garbled = [*words[:1], cell(1, COUNT, "1", 0.4), *words[1:]]
    assert is_lacking((TEA, 0.3), printed=[*cells((TEA, 0.3)), *garbled])


def test_a_group_of_one_column_and_one_of_texts_have_rows_too() -> None:
    for group in (GroupSpec("/rows", (AMOUNT,)), GroupSpec("/rows", (TEXT, FieldSpec("/more", ValueType.TEXT)))):
        printed = [cell(0, column, "10.00", 0.3) for column in group.columns]
        assert has_rows_left_out(group, [], printed)
        assert not has_rows_left_out(group, printed, printed)


def test_cells_without_a_text_and_of_other_groups_count_for_nothing() -> None:
    empty = [FieldReading("/rows/2/text", None, None, None, {}, ("not_found",)), *cells((TEA, 0.3), (PEN, 0.4))]
    assert has_rows_left_out(GROUP, empty, PRINTED)
    others = [replace(one, field_path=one.field_path.replace("/rows", "/rowsets")) for one in PRINTED]
    assert not has_rows_left_out(GROUP, [], others)
    assert has_rows_left_out(GROUP, others, PRINTED)


def answer_to(invoice: Invoice, *left_out: int) -> PageReading:
    """Return the page with its true answer, some rows left out."""
    rows: dict[int, dict[str, str]] = {}
    values: dict[str, Any] = {}
    for path, value in invoice.expected.items():
        match path.split("/")[1:]:
            case [name]:
                values[name] = value
            case [_, row, name]:
                rows.setdefault(int(row), {})[name] = value
    kept = [row for number, row in rows.items() if number not in left_out]
    return replace(invoice.reading(), answer=PageAnswer({**values, "line_items": kept}))


def lines_of(page: PageReading) -> list[FieldReading]:
    return [one for one in read_fields([page], SPEC) if one.field_path.startswith("/line_items")]


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda one: one.name)
def test_a_whole_answer_has_no_finding_and_one_that_lacks_a_row_is_doubted_in_every_cell(invoice: Invoice) -> None:
    whole = lines_of(answer_to(invoice))
    assert {one.findings for one in whole} == {()}
    for left_out in range(len(whole) // 4):
        found = lines_of(answer_to(invoice, left_out))
        assert 0 < len(found) < len(whole)
        assert {one.findings for one in found} == {(ROWS_LEFT_OUT,)}
        assert all(one.confidence is not None and one.confidence <= CAPPED_BY_FINDING for one in found)


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda one: one.name)
def test_where_no_cell_is_left_the_group_itself_says_so(invoice: Invoice) -> None:
    (found,) = lines_of(answer_to(invoice, 0, 1, 2))
    assert found == FieldReading("/line_items", None, None, None, {}, (ROWS_LEFT_OUT,))


def test_single_fields_are_as_sure_as_before() -> None:
    whole, lacking = (
        {one.field_path: one for one in read_fields([answer_to(INVOICES[0], *left_out)], SPEC)}
        for left_out in ((), (1,))
    )
    assert all(lacking[field.path] == whole[field.path] for field in SPEC.fields)


def test_a_row_on_a_later_page_is_looked_for_too() -> None:
    header: tuple[Line, ...] = (("Description", 100, 300), ("Qty", 500, 300), ("Amount", 700, 300))
    rows = [{"description": "Steel bolts", "quantity": "2", "amount": "10.00"}]
    first, second = (
        answered({"line_items": said}, *header, ("Steel bolts", 100, 330), ("2", 500, 330), ("10.00", 700, 330))
        for said in (rows, [])
    )
    found = [one for one in read_fields([first, second], SPEC) if one.field_path.startswith("/line_items")]
    assert {one.findings for one in found} == {(ROWS_LEFT_OUT,)}
    both = [one for one in read_fields([first, first], SPEC) if one.field_path.startswith("/line_items")]
    assert {one.findings for one in both} == {()}
