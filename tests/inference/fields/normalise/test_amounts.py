from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.amounts import (
    find_amounts,
    find_numbers,
    normalise_amount,
    normalise_number,
    parse_decimal,
)
from inference.fields.normalise.outcome import Normalised

AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("9999999.99"), places=2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.50", "0.50"),
        (".50", "0.50"),
        ("12.5", "12.50"),
        ("5", "5.00"),
        ("0", "0.00"),
        ("1234.50", "1234.50"),
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"),
        ("1 234,56", "1234.56"),
        ("1'234.50", "1234.50"),
        ("1,000,000", "1000000.00"),
        ("12.345.678", "12345678.00"),
        ("1,234", "1234.00"),
        ("12,50", "12.50"),
        ("0.1250", "0.125"),
        ("31 .00", "31.00"),
        ("80. 90", "80.90"),
        ("007.10", "7.10"),
    ],
)
def test_marks_and_spaces_are_read(text: str, value: str) -> None:
    assert normalise_amount(text, "en-MY") == Normalised(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("RM 12.00", "12.00"),
        ("RM12.00", "12.00"),
        ("RM. 12.00", "12.00"),
        ("rm 12.00", "12.00"),
        ("$ 8.20", "8.20"),
        ("US$8.20", "8.20"),
        ("￥1,200.00", "1200.00"),
        ("¥1200", "1200.00"),
        ("€5,00", "5.00"),
        ("12.50 元", "12.50"),
        ("12.50 EUR", "12.50"),
        ("Rp 12.000", "12000.00"),
        ("人民币 88.00", "88.00"),
        ("１２．５０", "12.50"),
        ("Total: RM 33.90", "33.90"),
    ],
)
def test_currency_marks_do_not_matter(text: str, value: str) -> None:
    locale = "id-ID" if text.startswith("Rp") else "en-MY"
    assert normalise_amount(text, locale).value == value


@pytest.mark.parametrize(
    "text", ["-12.00", "12.00-", "(12.00)", "- 12.00", "RM-12.00", "-RM 12.00", "−12.00", "(RM 12.00)"]
)
def test_each_way_to_print_a_minus_is_read(text: str) -> None:
    assert normalise_amount(text) == Normalised("-12.00")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1200元整", "1200.00"),
        ("￥1,200.00元整", "1200.00"),
        ("合计1200.50元税额", "1200.50"),
        ("合计1200.00", "1200.00"),
        ("(12.00元)", "-12.00"),
        ("3.5万元", "35000.00"),
        ("50万", "500000.00"),
        ("1.2亿元", "120000000.00"),
        ("88圓", "88.00"),
    ],
)
def test_amounts_stand_in_chinese_without_spaces(text: str, value: str) -> None:
    assert normalise_amount(text, "zh-CN") == Normalised(value)


@pytest.mark.parametrize("text", ["第3页", "2024年03月05日", "12.00元/吨", "3楼", "A12元"])
def test_numbers_of_other_things_are_no_amounts_in_chinese_either(text: str) -> None:
    assert normalise_amount(text, "zh-CN").value is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("1,23,456.78", "en-IN", "123456.78"),
        ("12,34,567", "hi", "1234567.00"),
        ("1,234.50", "en-IN", "1234.50"),
        ("1’234.50", "de-CH", "1234.50"),
        ("1\u202f234,56 €", "fr-FR", "1234.56"),
        ("12,-", "de-DE", "12.00"),
        ("12.-", "de-CH", "12.00"),
    ],
)
def test_thousands_are_grouped_as_the_place_does(text: str, locale: str, value: str) -> None:
    assert normalise_amount(text, locale) == Normalised(value)


def test_elsewhere_groups_of_two_are_a_finding() -> None:
    assert normalise_amount("1,23,456.78", "en-MY") == Normalised("123456.78", ("amount_marks_mixed",))


@pytest.mark.parametrize("text", ["(12.00", "12.00)", "+12.00"])
def test_half_a_bracket_or_a_plus_is_no_minus(text: str) -> None:
    assert normalise_amount(text).value == "12.00"


@pytest.mark.parametrize("text", ["-0.00", "(0.00)", "0.00-"])
def test_zero_has_no_sign(text: str) -> None:
    assert normalise_amount(text).value == "0.00"


@pytest.mark.parametrize(
    "text",
    ["", "   ", "SOLO", "abc", "12/03/2018", "20:49:59", "10.00%", "A04079", "07-3507405", "1.2.3.4.5", "---", "RM"],
)
def test_what_is_no_amount_has_no_value(text: str) -> None:
    assert normalise_amount(text).value is None


@pytest.mark.parametrize("text", ["1 X 19.00", "12.00 13.00", "106.10 6.37"])
def test_several_amounts_are_no_amount(text: str) -> None:
    assert normalise_amount(text) == Normalised(None, ("number_several",))


def test_the_same_amount_twice_is_one() -> None:
    assert normalise_amount("12.00 RM12.00").value == "12.00"


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("1.234", "en-MY", Normalised("1.234", ("amount_ambiguous",))),
        ("1.234", "de-DE", Normalised("1234.00")),
        ("1,234", "de-DE", Normalised("1.234", ("amount_ambiguous",))),
        ("1,234", "en-MY", Normalised("1234.00")),
        ("0.125", "en-MY", Normalised("0.125")),
        ("1.234", "es-MX", Normalised("1.234", ("amount_ambiguous",))),
    ],
)
def test_three_digits_behind_one_mark_follow_the_locale(text: str, locale: str, expected: Normalised) -> None:
    assert normalise_amount(text, locale) == expected


@pytest.mark.parametrize(("text", "value"), [("1,234,56", "1234.56"), ("1.234.56", "1234.56"), ("12,34.50", "1234.50")])
def test_marks_that_contradict_each_other_are_a_finding(text: str, value: str) -> None:
    assert normalise_amount(text) == Normalised(value, ("amount_marks_mixed",))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.OO", "12.00"),
        ("O.90", "0.90"),
        ("RM 1O.50", "10.50"),
        ("l2.00", "12.00"),
        ("1S.50", "15.50"),
        ("-5.3O", "-5.30"),
        ("S.00", "5.00"),
    ],
)
def test_letters_that_can_only_be_digits_are_repaired_and_reported(text: str, value: str) -> None:
    assert normalise_amount(text) == Normalised(value, ("ocr_digit_repaired",))


@pytest.mark.parametrize("text", ["SOLO", "OO.OO", "BOB.5O", "12O", "lOO", "IS.SO"])
def test_words_are_never_turned_into_amounts(text: str) -> None:
    assert normalise_amount(text).value is None


def test_endless_digits_are_no_amount() -> None:
    assert normalise_amount("1" * 16) == Normalised(None, ("number_too_long",))
    assert normalise_amount("9" * 15).value == "9" * 15 + ".00"


@pytest.mark.parametrize(
    ("text", "value"),
    [("2.0", "2"), ("1,000", "1000"), ("3.50", "3.5"), ("10", "10"), ("100", "100"), ("0.00", "0"), ("-3", "-3")],
)
def test_numbers_lose_trailing_zeros(text: str, value: str) -> None:
    assert normalise_number(text).value == value


@given(AMOUNTS)
def test_grouped_amounts_round_trip_in_both_conventions(amount: Decimal) -> None:
    english = f"{amount:,.2f}"
    german = english.replace(",", "_").replace(".", ",").replace("_", ".")
    swiss = english.replace(",", "'")
    french = german.replace(".", " ")
    assert {normalise_amount(text).value for text in (english, german, swiss, french)} == {f"{amount:.2f}"}


@given(AMOUNTS, st.sampled_from(["RM", "RM ", "$", "US$", "¥", "€ ", "MYR ", ""]), st.booleans())
def test_currency_and_sign_never_change_the_digits(amount: Decimal, mark: str, is_negative: bool) -> None:
    printed = f"-{mark}{amount}" if is_negative else f"{mark}{amount}"
    assert normalise_amount(printed).value == f"{-amount if is_negative else amount:.2f}"


@given(AMOUNTS.map(lambda amount: f"{amount:,.2f}"))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_amount(text).value
    assert once is not None
    assert normalise_amount(once) == Normalised(once)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4))
def test_canonical_numbers_are_fixed_points(number: Decimal) -> None:
    once = normalise_number(f"{number:.4f}").value
    assert once is not None
    assert Decimal(once) == number
    again = normalise_number(once)
    assert again.value == once


@given(st.text())
def test_any_text_gives_a_decimal_or_nothing(text: str) -> None:
    value = normalise_amount(text).value
    assert value is None or Decimal(value).is_finite()


def test_found_amounts_keep_their_place() -> None:
    text = "2 x RM 4.50 = RM 9.00 SR"
    found = find_amounts(text)
    assert [item.normalised.value for item in found] == ["2.00", "4.50", "9.00"]
    assert [text[item.start : item.end].strip() for item in found] == ["2", "RM 4.50", "RM 9.00"]


@pytest.mark.parametrize(
    "text", ["18/01/2018", "10:27:03", "2018-03-04", "6%", "U13/X", "81100-J", "ABC123", "03-3362", "1.2.3.4"]
)
def test_parts_of_codes_dates_and_times_are_not_found(text: str) -> None:
    assert find_numbers(text) == []


def test_amounts_in_a_row_are_found_one_by_one() -> None:
    values = [item.normalised.value for item in find_amounts("106.10 6.37 (3.00) 1,000.00")]
    assert values == ["106.10", "6.37", "-3.00", "1000.00"]


@pytest.mark.parametrize(
    ("digits", "expected"), [("12", Decimal(12)), ("1,5", Decimal("1.5")), ("1 000.25", Decimal("1000.25"))]
)
def test_parse_decimal_reads_plain_digits(digits: str, expected: Decimal) -> None:
    assert parse_decimal(digits, "en")[0] == expected
