import random

import pytest

from inference.engines.reading_order import in_reading_order
from inference.types import BBox, Word


def word(text: str, x0: float, y0: float, x1: float, y1: float) -> Word:
    return Word(text, BBox(x0, y0, x1, y1), 0.9)


def texts(words: list[Word]) -> list[str]:
    return [member.text for member in in_reading_order(words)]


RECEIPT = [
    word("SHOP", 0.3, 0.00, 0.7, 0.04),
    word("TEA", 0.1, 0.10, 0.3, 0.13),
    word("2 x", 0.5, 0.105, 0.6, 0.135),
    word("4.00", 0.8, 0.098, 0.9, 0.128),
    word("TOTAL", 0.1, 0.14, 0.3, 0.17),
    word("4.00", 0.8, 0.142, 0.9, 0.172),
]


def test_lines_go_down_and_words_go_right() -> None:
    assert texts(RECEIPT) == ["SHOP", "TEA", "2 x", "4.00", "TOTAL", "4.00"]


@pytest.mark.parametrize("seed", range(8))
def test_order_does_not_depend_on_the_order_of_detection(seed: int) -> None:
    shuffled = list(RECEIPT)
    random.Random(seed).shuffle(shuffled)
    assert in_reading_order(shuffled) == in_reading_order(RECEIPT)


@pytest.mark.parametrize("slope", [-0.012, 0.012])
def test_slightly_sloping_line_stays_one_line(slope: float) -> None:
    def row(names: str, top: float) -> list[Word]:
        return [
            word(name, 0.2 * i, top + slope * i, 0.2 * i + 0.15, top + 0.03 + slope * i) for i, name in enumerate(names)
        ]

    assert texts(row("abcd", 0.2) + row("efgh", 0.26)) == list("abcdefgh")


def test_words_over_each_other_are_two_lines_though_their_boxes_touch() -> None:
    upper = word("upper", 0.1, 0.10, 0.5, 0.15)
    lower = word("lower", 0.08, 0.124, 0.5, 0.17)
    assert texts([lower, upper]) == ["upper", "lower"]


def test_tall_stamp_does_not_swallow_the_lines_beside_it() -> None:
    stamp = word("PAID", 0.6, 0.1, 0.9, 0.3)
    lines = [word(name, 0.1, 0.1 + 0.05 * i, 0.4, 0.13 + 0.05 * i) for i, name in enumerate("abcd")]
    order = texts([stamp, *lines])
    assert [name for name in order if name != "PAID"] == list("abcd")


def test_nothing_is_lost_or_doubled_in_a_page_of_noise() -> None:
    draw = random.Random(3)
    words = []
    for i in range(300):
        x, y = draw.random() * 0.9, draw.random() * 0.9
        words.append(word(str(i), x, y, x + draw.random() * 0.1, y + draw.random() * 0.1))
    assert sorted(texts(words), key=int) == [str(i) for i in range(300)]


def test_empty_page_has_an_empty_order() -> None:
    assert in_reading_order([]) == ()
