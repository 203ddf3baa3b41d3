import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.serving.vote import VOTE_ERROR_COST, is_high_value, vote
from inference.types import parse_document_type
from tests.inference.serving.asking import SCHEMA, VALUES, high_value_schema

TEXTS = st.dictionaries(st.sampled_from(["company", "total"]), st.none() | st.text(max_size=12))


@given(TEXTS)
def test_a_reading_agrees_wholly_with_itself(values: dict[str, str | None]) -> None:
    assert set(vote(values, values).values()) <= {1.0}


@given(TEXTS, TEXTS)
def test_agreement_is_a_share_and_takes_no_sides(one: dict[str, str | None], other: dict[str, str | None]) -> None:
    there, back = vote(one, other), vote(other, one)
    assert there == back
    assert all(0.0 <= share <= 1.0 for share in there.values())


def test_one_digit_of_six_costs_a_sixth() -> None:
    assert vote({"total": "123.50"}, {"total": "123.60"}) == {"/total": pytest.approx(5 / 6)}


def test_a_lost_digit_shifts_nothing_after_it() -> None:
    assert vote({"total": "1234567890"}, {"total": "234567890"})["/total"] == pytest.approx(0.9)


def test_a_value_that_one_reading_lacks_agrees_with_nothing() -> None:
    assert vote({"total": "12.50", "company": None}, {"total": None, "company": None}) == {"/total": 0.0}
    assert vote(VALUES, {})["/items/1/amount"] == 0.0


def test_white_space_and_width_are_no_difference() -> None:
    assert vote({"company": "ACME  SDN BHD"}, {"company": "ＡＣＭＥ SDN\nBHD"}) == {"/company": 1.0}


def test_rows_are_compared_by_their_place() -> None:
    swapped = {**VALUES, "items": VALUES["items"][::-1]}
    agreement = vote(VALUES, swapped)
    assert agreement["/total"] == 1.0
    assert agreement["/items/0/amount"] < 1.0


def test_a_type_without_a_mark_is_read_once() -> None:
    assert not is_high_value(parse_document_type(SCHEMA))


def test_one_marked_field_makes_a_type_high_value() -> None:
    assert is_high_value(parse_document_type(high_value_schema()))


@pytest.mark.parametrize(("cost", "expected"), [(VOTE_ERROR_COST, True), (VOTE_ERROR_COST - 1, False)])
def test_so_does_a_column_whose_errors_cost_enough(cost: float, expected: bool) -> None:
    rows = SCHEMA["properties"]["items"]
    columns = rows["items"]["properties"]
    column = {**columns["amount"], "x-error-cost": cost}
    items = {**rows, "items": {**rows["items"], "properties": {**columns, "amount": column}}}
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "items": items}}
    assert is_high_value(parse_document_type(schema)) is expected
