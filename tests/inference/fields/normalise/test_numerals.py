import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.numerals import CHARACTERS, parse_digits, parse_numeral, plain_numerals
from tests.inference.fields.normalise.capitals import CAPITAL, written


def preprinted(number: int) -> str:
    """As a form prints it: every box filled, zeros too."""
    digits = f"{number:08d}"
    units = ("仟", "佰", "拾", "万", "仟", "佰", "拾", "")
    return "".join(CAPITAL[int(digit)] + unit for digit, unit in zip(digits, units, strict=True))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("零", 0),
        ("伍", 5),
        ("十", 10),
        ("十五", 15),
        ("廿一", 21),
        ("壹拾壹", 11),
        ("贰拾", 20),
        ("壹佰零伍万", 1_050_000),
        ("壹万贰仟叁佰", 12_300),
        ("壹萬貳仟參佰", 12_300),
        ("一万二千三百", 12_300),
        ("两千三百零五", 2_305),
        ("壹万伍佰", 10_500),
        ("壹 万 贰 仟", 12_000),
        ("一亿零三万", 100_030_000),
        ("伍仟零佰零拾零", 5_000),
        ("零万伍仟零佰", 5_000),
        ("零拾伍", 5),
    ],
)
def test_numerals_with_units_are_numbers(text: str, number: int) -> None:
    assert parse_numeral(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "万",
        "百",
        "一百一百",
        "三千四万",
        "五六",
        "一零",
        "二百五",
        "一万二",
        "负五",
        "一点五",
        "12",
        "1万",
        "abc",
        "元",
    ],
)
def test_what_says_no_one_number_is_none(text: str) -> None:
    assert parse_numeral(text) is None


@given(st.integers(0, 10**12 - 1))
def test_every_number_is_read_back_from_its_capitals(number: int) -> None:
    assert parse_numeral(written(number)) == number


@given(st.integers(0, 10**8 - 1))
def test_every_number_is_read_back_from_the_boxes_of_a_form(number: int) -> None:
    assert parse_numeral(preprinted(number)) == number


@given(st.text(alphabet=CHARACTERS + " ", max_size=12))
def test_any_numerals_give_a_number_from_0_on_or_nothing(text: str) -> None:
    number = parse_numeral(text)
    assert number is None or number >= 0


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("二〇二六", "2026"),
        ("二零二六", "2026"),
        ("二○二六", "2026"),
        ("贰零贰陆", "2026"),
        ("一九九八", "1998"),
        ("〇", "0"),
    ],
)
def test_numerals_without_units_are_digits(text: str, digits: str) -> None:
    assert parse_digits(text) == digits


@pytest.mark.parametrize("text", ["", "二十", "十", "2026", "二〇2六", "年"])
def test_units_and_other_characters_are_no_digits(text: str) -> None:
    assert parse_digits(text) is None


@given(st.text(alphabet="0123456789", min_size=1, max_size=8))
def test_digits_are_read_back_one_by_one(digits: str) -> None:
    assert parse_digits("".join(CAPITAL[int(digit)] for digit in digits)) == digits


def test_every_form_of_a_numeral_has_its_everyday_form() -> None:
    assert plain_numerals("貳 拾 叁 萬 〇 ○") == "二十三万零零"
