import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.answers.repetition import is_printed_so, repeats
from tests.inference.answers.broken import whole, written


@pytest.mark.parametrize(
    "loop",
    [
        "0",
        "ab",
        " \n\t",
        "合计",
        "12.50 ",
        "The total is. ",
        "| --- ",
        '{"text": "tea", "amount": "1.00"}, ',
        "<td></td>",
    ],
)
def test_a_loop_is_seen_whatever_it_repeats_and_wherever_it_is_cut(loop: str) -> None:
    text = '{"seller": "ACME", "items": "' + loop * 200
    assert repeats(text)
    assert repeats(text[: -max(1, len(loop) // 2)])


def test_a_loop_that_a_grammar_has_closed_is_seen_in_the_value() -> None:
    assert repeats('{"seller": "ACME", "total": "' + "12" * 100 + '"}')
    assert repeats('{"seller": "' + "ACME " * 40 + '", "total": "1.00", "buyer": {"phone": "007"}}')


def test_rows_that_go_round_are_seen_between_the_rest() -> None:
    rows = [{"text": "tea", "amount": "1.00"}, {"text": "milk", "amount": "2.00"}] * 30
    assert repeats(json.dumps({"seller": "ACME", "items": rows, "total": "90.00"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        json.dumps({"items": [{"text": "tea", "amount": "1.00"}] * 6}),
        json.dumps({"line": "-" * 80}),
        json.dumps({"phone": "00000000000000", "id": "1111-1111-1111-1111"}),
        json.dumps(dict.fromkeys("abcdefghijklmnopqrstuvwxyz"), indent=4),
        json.dumps({"items": [{"text": str(n), "amount": None} for n in range(100)]}, indent=2),
    ],
)
def test_what_people_print_is_no_loop(text: str) -> None:
    assert not repeats(text)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6))
def test_no_answer_of_the_usual_kind_is_a_loop(seed: int) -> None:
    rng = random.Random(seed)
    assert not repeats(written(whole(rng), rng))


@given(st.text(min_size=1, max_size=60), st.text(max_size=40))
def test_any_period_is_found_at_the_end(period: str, before: str) -> None:
    assert repeats(before + period * max(12, 240 // len(period) + 1))


def rows(n: int, text: str = "KOPI O AIS", amount: str = "2.20") -> str:
    return json.dumps({"seller": "ACME", "items": [{"text": text, "amount": amount}] * n, "total": "24.20"})


@pytest.mark.parametrize("indent", [None, 2])
def test_rows_that_the_page_has_as_often_are_printed_so(indent: int | None) -> None:
    text = json.dumps(json.loads(rows(11)), indent=indent)
    assert repeats(text)
    assert is_printed_so(text, "ACME " + "Kopi O Ais 2.20 " * 11 + "TOTAL 24.20")
    assert is_printed_so(f"```json\n{text}\n```", "Kopi O Ais " * 11)


def test_a_reader_that_missed_some_of_the_rows_bears_the_others_out() -> None:
    assert is_printed_so(rows(12), "KOPI O AIS 2.20 " * 6)
    assert not is_printed_so(rows(12), "KOPI O AIS 2.20 " * 5)


def test_rows_are_believed_where_nobody_read_the_page_for_they_came_to_an_end() -> None:
    assert is_printed_so(rows(11), "")


def test_rows_that_the_page_has_once_are_a_loop_that_a_grammar_has_closed() -> None:
    assert not is_printed_so(rows(40), "ACME KOPI O AIS 2.20 TOTAL 24.20")


@pytest.mark.parametrize("printed", ["", "ACME KOPI O AIS 2.20 " * 40])
@pytest.mark.parametrize(
    "loop",
    [
        rows(40)[:-30],
        json.dumps({"seller": "ACME " * 40}),
        json.dumps({"items": [{"text": "KOPI " * 60, "amount": "2.20"}] * 11}),
        json.dumps({"items": [{"text": "KOPI O AIS"}, {"text": "ACME"}] * 20}),
        '{"total": "1"}' + " I am done." * 40,
        "ACME " * 40 + '{"total": "1"}',
        "ACME " * 40,
        "{" * 200,
    ],
    ids=lambda text: text[:40],
)
def test_nothing_but_equal_rows_that_came_to_an_end_is_believed(loop: str, printed: str) -> None:
    assert repeats(loop)
    assert not is_printed_so(loop, printed)


def test_rows_that_say_nothing_are_on_no_page() -> None:
    text = json.dumps({"items": [{"text": None, "amount": None}] * 11})
    assert not is_printed_so(text, "ACME KOPI O AIS")
