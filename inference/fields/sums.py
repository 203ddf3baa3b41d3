"""Which amounts of a page others speak for by arithmetic: what was paid less the change, and what adds up above."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

REACH = 8
"""How many rows with amounts below or above an amount are asked: farther off a sum that fits is mere chance."""


class Printed(NamedTuple):
    """An amount in hundredths, and its row: (page, number from the top)."""

    cents: int
    row: tuple[int, int]


class Support(NamedTuple):
    """What speaks for an amount: `is_paid` by cash less change below it, `is_sum` of two amounts above it."""

    is_paid: bool
    is_sum: bool


NO_SUPPORT = Support(is_paid=False, is_sum=False)


def support(amounts: Iterable[Printed]) -> Mapping[Printed, Support]:
    """Return what speaks for each amount above 0, within its page.

    Paid: below it stand what was given and, in that row or below, the change, and they differ by this amount. Sum: of
    two amounts above 0 in different rows above it, or of one and an adjustment below 0 (rounding, a discount).
    """
    by_row: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for one in amounts:
        by_row[one.row].add(one.cents)
    rows = sorted(by_row)
    found = {}
    for place, row in enumerate(rows):
        below = [by_row[other] for other in rows[place + 1 : place + 1 + REACH] if other[0] == row[0]]
        above = [by_row[other] for other in rows[max(place - REACH, 0) : place] if other[0] == row[0]]
        for cents in by_row[row]:
            if cents > 0:
                found[Printed(cents, row)] = Support(_is_paid(cents, below), _is_sum(cents, above))
    return found


def _is_paid(cents: int, below: Sequence[set[int]]) -> bool:
    """Whether some amount given, in a row below, less the change in its row or a later one, leaves this amount."""
    for place, row in enumerate(below):
        for given in row:
            change = given - cents
            if change >= 0 and any(change in later for later in (row - {given}, *below[place + 1 :])):
                return True
    return False


def _is_sum(cents: int, above: Sequence[set[int]]) -> bool:
    """Whether two amounts, each in a row of its own above, make this one; neither of them is nothing."""
    for place, row in enumerate(above):
        for one in row:
            other = cents - one
            if one and other and any(other in later for later in above[place + 1 :]):
                return True
    return False
