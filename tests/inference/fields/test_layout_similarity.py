"""Pages of one till are alike whatever their digits and however many rows; those of others are not."""

import itertools

import pytest

from inference.fields.layout_similarity import SAME_LAYOUT, layout_similarity
from inference.types import BBox, Word
from tests.bench import stored_readings

HEAD = [("BOOK TA K SDN BHD", 0.2), ("JALAN SAGU", 0.3), ("TAX INVOICE", 0.4), ("DATE", 0.1), ("CASHIER", 0.6)]
FOOT = [("TOTAL SALES", 0.1), ("ROUNDING", 0.1), ("CHANGE", 0.1), ("THANK YOU", 0.4)]


def page(*printed: tuple[str, float], shift: float = 0.0) -> list[Word]:
    return [
        Word(text, BBox(x + shift, 0.02 * row, x + shift + 0.012 * len(text), 0.02 * row + 0.015), 0.9)
        for row, (text, x) in enumerate(printed)
    ]


def receipt(*rows: str, shift: float = 0.0) -> list[Word]:
    return page(*HEAD, *((row, 0.1) for row in rows), *FOOT, shift=shift)


def test_a_page_is_like_itself() -> None:
    assert layout_similarity(receipt("PEN 4.00"), receipt("PEN 4.00")) == 1.0


def test_digits_and_the_number_of_rows_do_not_count() -> None:
    few, many = receipt("123 4.00"), receipt("99 1.50", "88 7.00", "77 2.00", "66 5.00")
    assert layout_similarity(few, many) == 1.0


def test_where_the_page_was_laid_on_the_glass_does_not_count() -> None:
    assert layout_similarity(receipt(), receipt(shift=0.15)) == 1.0


def test_the_same_words_in_other_columns_are_another_form() -> None:
    mirrored = page(*((text, 0.85 - x) for text, x in HEAD + FOOT))
    assert layout_similarity(receipt(), mirrored) < SAME_LAYOUT


def test_other_words_are_another_form() -> None:
    assert layout_similarity(receipt(), page(("PETRON FUEL STATION", 0.2), ("PUMP NOZZLE LITRE", 0.1))) == 0.0


@pytest.mark.parametrize("empty", [[], page(("12345", 0.1), ("x", 0.5))])
def test_a_page_without_words_is_like_nothing(empty: list[Word]) -> None:
    assert layout_similarity(receipt(), empty) == 0.0
    assert layout_similarity(empty, empty) == 0.0


def test_a_word_that_stands_once_counts_once() -> None:
    once, often = page(("TOTAL", 0.1), ("END", 0.9)), page(("TOTAL", 0.1), ("TOTAL", 0.1), ("TOTAL", 0.1), ("END", 0.9))
    assert layout_similarity(once, often) == pytest.approx(4 / 6)
    assert layout_similarity(often, once) == pytest.approx(4 / 6)


def test_real_receipts_of_one_company_are_alike_and_those_of_two_hardly_ever() -> None:
    """Of 100 receipts: all pairs of one company are found; few others, most of them one till under two names."""
    receipts = stored_readings.load()
    same: list[float] = []
    other: list[float] = []
    for one, two in itertools.combinations(receipts, 2):
        is_same = one.values.get("/company", one.name) == two.values.get("/company", two.name)
        (same if is_same else other).append(layout_similarity(one.reading.words, two.reading.words))
    assert len(same) >= 100
    assert min(same) >= SAME_LAYOUT
    assert sum(share >= SAME_LAYOUT for share in other) / len(other) <= 0.015
