import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise import comparable, folded
from inference.types import ValueType


@pytest.mark.parametrize(
    ("one", "other", "value_type"),
    [
        ("RM 3.90", "3.9", ValueType.AMOUNT),
        ("$8.20", "8.20", ValueType.AMOUNT),
        ("1,000.00", "1000", ValueType.AMOUNT),
        ("19/10/2018", "2018-10-19", ValueType.DATE),
        ("10 MAR 2018", "10-03-18", ValueType.DATE),
        ("2.0", "2", ValueType.NUMBER),
        ("MR. D.I.Y. (M) SDN BHD", "mr diy (m) sdn. bhd", ValueType.NAME),
        ("NO.2&4, JALAN HARMONI 3/2,", "No 2 & 4 Jalan Harmoni 3/2", ValueType.ADDRESS),
        ("（北京）公司", "北京 公司", ValueType.NAME),
        ("ＡＢＣ", "abc", ValueType.TEXT),
        ("inv 12", "INV12", ValueType.ID),
        ("07-355 2616", "073552616", ValueType.PHONE),
    ],
)
def test_equal_values_compare_equal(one: str, other: str, value_type: ValueType) -> None:
    assert comparable(one, value_type, "en-MY") == comparable(other, value_type, "en-MY") != ""


@pytest.mark.parametrize(
    ("one", "other", "value_type"),
    [
        ("80.90", "80.91", ValueType.AMOUNT),
        ("-5.00", "5.00", ValueType.AMOUNT),
        ("01/02/2018", "02/01/2018", ValueType.DATE),
        ("ACME", "ACNE", ValueType.NAME),
        ("NO 1", "NO 11", ValueType.ADDRESS),
        ("Café", "Cafe", ValueType.NAME),
    ],
)
def test_different_values_compare_different(one: str, other: str, value_type: ValueType) -> None:
    assert comparable(one, value_type, "en-MY") != comparable(other, value_type, "en-MY")


@pytest.mark.parametrize("value_type", sorted(ValueType))
def test_nothing_compares_as_nothing(value_type: ValueType) -> None:
    assert comparable("", value_type) == ""


def test_a_value_that_does_not_normalise_compares_as_text() -> None:
    assert comparable("see above", ValueType.AMOUNT) == "seeabove"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A-b C!", "abc"),
        ("ÄB", "äb"),
        ("STRASSE ß", "strassess"),
        ("北京, 1号", "北京1号"),
        ("...", ""),
        ("กำ", folded("กำ")),
    ],
)
def test_folding_keeps_letters_and_digits_of_every_script(text: str, expected: str) -> None:
    assert folded(text) == expected


def test_folding_keeps_vowel_marks() -> None:
    assert folded("กี") != folded("กา")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text(alphabet="abc ,.-&()"), st.text(alphabet=" ,.-&()"))
def test_marks_and_case_never_matter_in_names(text: str, noise: str) -> None:
    assert comparable(text.upper() + noise, ValueType.NAME) == comparable(text, ValueType.NAME)


@given(st.sampled_from(["en-MY", "en-US", "zh-CN"]), st.dates())
def test_iso_dates_compare_as_themselves(locale: str, date: object) -> None:
    text = str(date)
    if "1900" <= text[:4] <= "2099":
        assert comparable(text, ValueType.DATE, locale) == text
