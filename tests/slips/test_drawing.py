"""A slip is the same each time, its values are printed on it, and it is as worn as was asked for."""

from decimal import Decimal

import numpy as np
import pytest

from inference.imaging.quality import measure
from tests.slips.drawing import COLUMNS, LABELS, LEFT, LINE, PITCH, ROWS, TOP, draw, make_slip

NUMBERS = range(40)


def test_the_same_number_makes_and_draws_the_same_slip() -> None:
    assert make_slip(7) == make_slip(7)
    assert np.array_equal(draw(make_slip(7)).pixels, draw(make_slip(7)).pixels)
    assert not np.array_equal(draw(make_slip(7)).pixels, draw(make_slip(8)).pixels)


@pytest.mark.parametrize("number", NUMBERS)
def test_values_stand_on_the_slip_and_add_up(number: int) -> None:
    slip = make_slip(number)
    printed = dict(zip(LABELS, (line[6:] for line in slip.lines[1:]), strict=True))
    assert slip.lines[0] == slip.values["company"]
    assert {name: slip.values[name] for name in ("date", "net", "tax", "total")} == {
        name: printed[name.upper()] for name in ("date", "net", "tax", "total")
    }
    amounts = {name: Decimal(text) for name, text in printed.items() if "." in text}
    assert amounts["NET"] + amounts["TAX"] == amounts["TOTAL"] <= amounts["CASH"]
    assert amounts["BACK"] == amounts["CASH"] - amounts["TOTAL"]
    assert all(LEFT + len(line) < COLUMNS for line in slip.lines)
    assert TOP + len(slip.lines) < ROWS


def test_amounts_have_different_lengths() -> None:
    assert {len(make_slip(number).values["tax"]) for number in NUMBERS} == {4, 5}


def test_what_is_worn_more_is_drawn_worse() -> None:
    new, worn = (draw(make_slip(3, (wear, wear))) for wear in (0.0, 1.0))
    assert new.size == worn.size == (COLUMNS * PITCH, ROWS * LINE)
    assert measure(new)["contrast"] > 1.5 * measure(worn)["contrast"]
    assert new.pixels[:LINE].std() < worn.pixels[:LINE].std()
