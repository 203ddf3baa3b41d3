"""The relay's cursor: every committed row once, in whatever order commits become visible."""

from hypothesis import given
from hypothesis import strategies as st

from review.live.cursor import MAX_MISSING, Cursor
from review.selectors.events import COMMIT_LAG, EventRow

LAG = COMMIT_LAG.total_seconds()


def rows(*ids: int) -> list[EventRow]:
    return [EventRow(id=number, project_id=1, name="document.routed", payload={}) for number in ids]


def ids(found: list[EventRow]) -> list[int]:
    return [row.id for row in found]


def test_rows_after_the_highest_are_new() -> None:
    cursor = Cursor(4, [], now=0.0)
    assert ids(cursor.advance(rows(5, 6), now=0.0)) == [5, 6]
    assert cursor.highest == 6
    assert cursor.missing == []


def test_a_row_is_handed_out_once() -> None:
    cursor = Cursor(4, [], now=0.0)
    cursor.advance(rows(5, 6), now=0.0)
    assert cursor.advance(rows(5, 6), now=0.1) == []


def test_a_row_committed_late_is_not_missed() -> None:
    cursor = Cursor(10, [], now=0.0)
    assert ids(cursor.advance(rows(12), now=0.0)) == [12]
    assert cursor.missing == [11]
    assert ids(cursor.advance(rows(11), now=1.0)) == [11]
    assert cursor.missing == []


def test_an_id_drawn_before_the_start_is_waited_for() -> None:
    cursor = Cursor(10, [7, 9], now=0.0)
    assert cursor.missing == [7, 9]
    assert ids(cursor.advance(rows(9, 11), now=0.5)) == [9, 11]
    assert cursor.missing == [7]


def test_an_id_that_was_rolled_back_is_forgotten() -> None:
    cursor = Cursor(10, [], now=0.0)
    cursor.advance(rows(12), now=0.0)
    cursor.advance([], now=LAG - 1)
    assert cursor.missing == [11]
    cursor.advance([], now=LAG + 1)
    assert cursor.missing == []


def test_a_leap_of_ids_keeps_only_the_newest_missing() -> None:
    cursor = Cursor(0, [], now=0.0)
    cursor.advance(rows(10 * MAX_MISSING), now=0.0)
    assert len(cursor.missing) == MAX_MISSING
    assert cursor.missing[-1] == 10 * MAX_MISSING - 1


@given(st.permutations(list(range(1, 13))), st.lists(st.integers(0, 12), max_size=6), st.sets(st.integers(1, 12)))
def test_whatever_the_commit_order_every_commit_is_seen_once(
    order: list[int], polls_after: list[int], rolled_back: set[int]
) -> None:
    cursor = Cursor(0, [], now=0.0)
    seen: list[int] = []
    visible: set[int] = set()
    for step, number in enumerate(order):
        if number not in rolled_back:
            visible.add(number)
        if step in polls_after or step == len(order) - 1:
            wanted = sorted(one for one in visible if one > cursor.highest or one in cursor.missing)
            seen += ids(cursor.advance(rows(*wanted), now=float(step) / 10))
    assert sorted(seen) == sorted(visible)
