"""Which characters are taken for which: places of difference, not single edits, and only in texts that are alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.confusions import LONGEST, Confusion, confusions, most_frequent


@pytest.mark.parametrize(
    ("read", "truth", "places"),
    [
        ("9.O0", "9.00", [("O", "0")]),
        ("MODEM", "MODEM", []),
        ("corn soup", "com soup", [("rn", "m")]),
        ("com soup", "corn soup", [("m", "rn")]),
        ("B00K TAK", "BOOK TAK", [("00", "OO")]),
        ("1O.5O", "10.50", [("O", "0"), ("O", "0")]),
        ("12.50 ", "12.50", [(" ", "")]),
        ("1250", "12.50", [("", ".")]),
        ("壹万贰仟", "壹万贰千", [("仟", "千")]),
        ("café bar", "cafe bar", [("é", "e")]),
    ],
)
def test_each_place_where_two_texts_differ_is_one_confusion(
    read: str, truth: str, places: list[tuple[str, str]]
) -> None:
    assert list(confusions(read, truth)) == places


@pytest.mark.parametrize(("read", "truth"), [("9.00", "128.35"), ("", "9.00"), ("9.00", ""), ("abc", "xyz")])
def test_other_values_say_nothing_about_characters(read: str, truth: str) -> None:
    assert list(confusions(read, truth)) == []


def test_a_long_gap_is_no_confusion_but_its_neighbours_are() -> None:
    read, truth = "BOOK TAMAN DAYA SDN BH0", "BOOK DAYA SDN BHD"
    assert list(confusions(read, truth)) == [("0", "D")]


@given(st.text(max_size=12), st.text(max_size=12))
def test_places_are_short_differ_and_are_part_of_both_texts(read: str, truth: str) -> None:
    for left, right in confusions(read, truth):
        assert left != right
        assert left in read
        assert right in truth
        assert len(left) <= LONGEST
        assert len(right) <= LONGEST


@given(st.text(max_size=20))
def test_a_text_is_never_confused_with_itself(text: str) -> None:
    assert list(confusions(text, text)) == []


def test_the_most_frequent_come_first_and_equals_in_order() -> None:
    pairs = [("1O", "10"), ("2O", "20"), ("3S", "35"), ("4B", "48"), ("50", "50")]
    assert most_frequent(pairs) == [Confusion("O", "0", 2), Confusion("B", "8", 1), Confusion("S", "5", 1)]
    assert most_frequent(pairs, limit=1) == [Confusion("O", "0", 2)]


def test_nothing_corrected_is_nothing_confused() -> None:
    assert most_frequent([]) == []
