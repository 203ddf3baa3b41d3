"""A settled value is held against the candidates: right, read wrongly, not among them, or not on the page."""

from typing import Any

import pytest

from inference.fields.learned import PROPOSED
from inference.types import FieldSpec, ValueType
from review.learning.examples import FieldExample, Outcome, field_example
from tests.inference.fields.pages import field
from tests.review.taught import candidate

TOTAL = field(ValueType.AMOUNT, path="/total", keywords=("total",))
COMPANY = field(ValueType.NAME, path="/company")
DATE = field(ValueType.DATE, path="/date")


def held(spec: FieldSpec, truth: str | None, *stored: dict[str, Any]) -> FieldExample:
    return field_example("7", spec, stored, truth)


def test_what_is_right_is_found_however_it_is_written() -> None:
    one = held(TOTAL, "RM 1,234.50", candidate("1234.50", 1), candidate("9.00", 2))
    assert (one.outcome, one.is_right.tolist(), one.is_taught.tolist()) == (
        Outcome.MATCHED,
        [True, False],
        [True, False],
    )
    name = held(COMPANY, "Book Ta.K  (Sdn) BHD", candidate("BOOK TA K (SDN BHD)", 1))
    assert name.outcome is Outcome.MATCHED


def test_equal_values_at_several_places_are_all_right_and_support_each_other() -> None:
    one = held(TOTAL, "9.00", candidate("9.00", 1), candidate("8.00", 2), candidate("9.00", 3))
    assert sorted(one.is_right.tolist()) == [False, True, True]
    assert len(set(one.keys)) == 2


def test_text_that_is_nearly_right_was_read_wrongly_and_teaches_the_place() -> None:
    near, far = candidate("B00K TA K SDN BHD", 1), candidate("TAMAN DAYA", 2)
    one = held(COMPANY, "BOOK TA K SDN BHD", far, near)
    assert one.outcome is Outcome.READ_WRONG
    assert not one.is_right.any()
    assert [key for key, is_taught in zip(one.keys, one.is_taught, strict=True) if is_taught] == ["b00ktaksdnbhd"]


def test_an_amount_that_is_nearly_right_teaches_nothing() -> None:
    one = held(TOTAL, "1234.50", candidate("1284.50", 1))
    assert (one.outcome, one.is_taught.tolist()) == (Outcome.READ_WRONG, [False])


@pytest.mark.parametrize("stored", [(), (candidate("TAMAN DAYA", 1),)])
def test_what_no_candidate_resembles_was_never_one(stored: tuple[dict[str, Any], ...]) -> None:
    one = held(COMPANY, "BOOK TA K SDN BHD", *stored)
    assert one.outcome is Outcome.NO_CANDIDATE
    assert not one.is_right.any()
    assert not one.is_taught.any()


@pytest.mark.parametrize("truth", [None, ""])
def test_of_a_field_that_the_page_does_not_show_every_candidate_is_wrong(truth: str | None) -> None:
    one = held(TOTAL, truth, candidate("9.00", 1))
    assert (one.outcome, one.is_right.tolist(), one.is_taught.tolist()) == (Outcome.ABSENT, [False], [False])


def test_several_meanings_of_one_text_are_one_candidate_that_was_not_chosen() -> None:
    both = [{**candidate("03/04/2018", 1), "value": value} for value in ("2018-04-03", "2018-03-04")]
    one = held(DATE, "2018-04-03", *both)
    assert one.keys == ["?03/04/2018"]
    # The reader would have given no value, which is not right, but here it stands.
    assert one.outcome is Outcome.READ_WRONG


def test_candidates_stand_in_the_order_of_the_prior_and_no_more_than_it_proposes() -> None:
    stored = [candidate(f"{number}.00", number, keyword_left=number / 100) for number in range(PROPOSED + 10)]
    one = held(TOTAL, "0.00", *stored)
    assert len(one.keys) == PROPOSED
    assert one.keys[0] == f"{PROPOSED + 9}.00"
    assert one.prior.tolist() == sorted(one.prior.tolist(), reverse=True)
    # What the prior does not propose, the trees will never see.
    assert not one.is_right.any()
