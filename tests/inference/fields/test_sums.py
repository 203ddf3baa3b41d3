"""What is printed around an amount speaks for it: cash less change, and what adds up."""

import pytest

from inference.fields.sums import REACH, Printed, Support, support


def printed(*rows: list[int], page: int = 1) -> list[Printed]:
    return [Printed(cents, (page, number)) for number, row in enumerate(rows) for cents in row]


def of(cents: int, *rows: list[int]) -> Support:
    found = support(printed(*rows))
    (one,) = (said for amount, said in found.items() if amount.cents == cents)
    return one


@pytest.mark.parametrize(
    "rows",
    [
        ([900], [1000], [100]),
        ([900], [1000, 100]),
        # Something else between, and exactly what was due.
        ([900], [17], [1000], [3], [100]),
        ([900], [901], [1]),
    ],
)
def test_what_was_given_less_the_change_speaks_for_what_was_due(rows: tuple[list[int], ...]) -> None:
    assert of(900, *rows).is_paid


@pytest.mark.parametrize(
    "rows",
    [
        # The change before what was given, above the amount, or of something else.
        ([900], [100], [1000]),
        ([1000], [100], [900]),
        ([900], [1000], [101]),
        ([900], [1000]),
        # One amount in one place is not both.
        ([900], [1800]),
        # Too far off.
        ([900], *([5000 + n] for n in range(REACH)), [1000], [100]),
    ],
)
def test_other_amounts_say_nothing_of_what_was_due(rows: tuple[list[int], ...]) -> None:
    assert not of(900, *rows).is_paid


def test_the_exact_sum_given_and_no_change_speak_for_it() -> None:
    found = support(printed([900], [900], [0]))
    assert found[Printed(900, (1, 0))].is_paid
    assert not found[Printed(900, (1, 1))].is_paid


@pytest.mark.parametrize(
    ("rows", "is_sum"),
    [
        (([849], [51], [900]), True),
        (([902], [-2], [900]), True),
        (([849], [51], [7], [900]), True),
        (([900], [849], [51]), False),
        (([849, 51], [900]), False),
        (([900], [0], [900]), False),
        (([849], [50], [900]), False),
        (([849], [51], *([5000 + n] for n in range(REACH)), [900]), False),
    ],
)
def test_two_amounts_above_in_rows_of_their_own_add_up(rows: tuple[list[int], ...], is_sum: bool) -> None:
    found = support(printed(*rows))
    assert any(said.is_sum for amount, said in found.items() if amount.cents == 900) == is_sum


def test_another_page_says_nothing() -> None:
    found = support([*printed([900]), *printed([1000], [100], page=2)])
    assert found[Printed(900, (1, 0))] == Support(is_paid=False, is_sum=False)


def test_nothing_speaks_for_nothing() -> None:
    assert support(printed([0], [-5], [5])) == {Printed(5, (1, 2)): Support(is_paid=False, is_sum=False)}
