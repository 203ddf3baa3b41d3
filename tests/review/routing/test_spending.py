"""An allowance of error that is spread over looks without end adds up to what was allowed."""

import itertools
import math

import pytest

from review.routing.spending import share_of_attempt, share_of_look


def test_the_shares_of_the_first_looks_and_of_all_others_make_one() -> None:
    n = 100_000
    first = math.fsum(map(share_of_look, range(1, n + 1)))
    # What is left telescopes to ln 2/ln(n + 2).
    assert first + math.log(2) / math.log(n + 2) == pytest.approx(1, abs=1e-9)


def test_later_looks_get_less_and_the_first_over_a_third() -> None:
    shares = [share_of_look(look) for look in range(1, 200)]
    assert shares[0] == pytest.approx(1 - math.log(2) / math.log(3))
    assert all(early > late > 0 for early, late in itertools.pairwise(shares))


def test_late_looks_keep_more_than_squares_would_leave_them() -> None:
    for look in (1_000, 1_000_000, 10**9):
        assert 1 / look**2 < share_of_look(look) < 1 / look


@pytest.mark.parametrize("look", [0, -1])
def test_looks_are_counted_from_one(look: int) -> None:
    with pytest.raises(ValueError, match="from 1"):
        share_of_look(look)


def test_the_shares_of_the_first_attempts_and_of_all_others_make_one() -> None:
    n = 100_000
    first = math.fsum(map(share_of_attempt, range(1, n + 1)))
    assert first + 0.2 * math.log(2) / math.log(n + 1) == pytest.approx(1, abs=1e-9)


def test_the_first_attempt_gets_most_and_later_ones_less_and_less() -> None:
    shares = [share_of_attempt(attempt) for attempt in range(1, 200)]
    assert shares[0] == 0.8
    assert all(early > late > 0 for early, late in itertools.pairwise(shares))


@pytest.mark.parametrize("attempt", [0, -1])
def test_attempts_are_counted_from_one(attempt: int) -> None:
    with pytest.raises(ValueError, match="from 1"):
        share_of_attempt(attempt)
