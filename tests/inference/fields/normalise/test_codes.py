import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.codes import (
    find_currencies,
    find_ids,
    find_phones,
    normalise_currency,
    normalise_id,
    normalise_phone,
)
from inference.fields.normalise.outcome import NOTHING, Normalised


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("inv-2024-0117", "INV-2024-0117"),
        (" # CS 00031663 ", "CS00031663"),
        ("A10493.", "A10493"),
        ("２４３１２", "24312"),
        ("cs1801/26874", "CS1801/26874"),
    ],
)
def test_ids_lose_spaces_and_case(text: str, value: str) -> None:
    assert normalise_id(text) == Normalised(value)


@pytest.mark.parametrize("text", ["", "  ", "***", "-/-"])
def test_marks_alone_are_no_id(text: str) -> None:
    assert normalise_id(text) == NOTHING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("07-355 2616", "073552616"),
        ("+60 3-7731 8169", "+60377318169"),
        ("(03) 3362 4395", "0333624395"),
        ("Tel:03-3362 4395", "0333624395"),
        ("+44 (0)117 496 0123", "+441174960123"),
        ("+86 138 0013 8000", "+8613800138000"),
        ("＋６０ ３ ７７３１ ８１６９", "+60377318169"),
    ],
)
def test_phones_become_digits(text: str, value: str) -> None:
    assert normalise_phone(text) == Normalised(value)


@pytest.mark.parametrize("text", ["123", "12345", "1234567890123456"])
def test_too_few_or_too_many_digits_are_no_phone(text: str) -> None:
    assert normalise_phone(text) == Normalised(None, ("phone_implausible",))


@pytest.mark.parametrize(
    ("text", "locale", "findings"),
    [
        ("07-355 2616", "en-MY", ()),
        ("138 0013 8000", "zh-CN", ()),
        ("010-6552 9988", "zh-CN", ()),
        ("355 261", "en-US", ("phone_implausible",)),
        ("138 0013 8000 123", "zh-CN", ("phone_implausible",)),
        ("+999 123 4567", "en-MY", ("phone_implausible",)),
        ("+1 23 4567", "en-MY", ("phone_implausible",)),
        ("355 2616", "en", ()),
    ],
)
def test_a_number_that_is_too_short_or_too_long_for_its_country_is_kept_and_reported(
    text: str, locale: str, findings: tuple[str, ...]
) -> None:
    outcome = normalise_phone(text, locale)
    assert outcome.value is not None
    assert outcome.findings == findings


def test_words_are_no_phone() -> None:
    assert normalise_phone("call us") == NOTHING


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("RM 5.00", "MYR"),
        ("€", "EUR"),
        ("in EUR", "EUR"),
        ("US$ 5", "USD"),
        ("S$5", "SGD"),
        ("人民币", "CNY"),
        ("Rp 5", "IDR"),
        ("myr", "MYR"),
    ],
)
def test_currency_marks_become_codes(text: str, code: str) -> None:
    assert normalise_currency(text) == Normalised(code)


def test_a_dollar_or_yen_sign_follows_the_locale_or_is_ambiguous() -> None:
    assert normalise_currency("$5", "en-US") == Normalised("USD")
    assert normalise_currency("$5", "en-MY") == Normalised("USD", ("currency_ambiguous",))
    assert normalise_currency("$5", "en-SG") == Normalised("SGD")
    assert normalise_currency("$5", "zh-TW") == Normalised("TWD")
    assert normalise_currency("$5", "es-MX") == Normalised("MXN")
    assert normalise_currency("$5", "de-DE") == Normalised("USD", ("currency_ambiguous",))
    assert normalise_currency("$5", "en") == Normalised("USD", ("currency_ambiguous",))
    assert normalise_currency("¥5", "zh-CN") == Normalised("CNY")
    assert normalise_currency("¥5", "ja-JP") == Normalised("JPY")
    assert normalise_currency("¥5", "en") == Normalised("CNY", ("currency_ambiguous",))


@pytest.mark.parametrize("code", ["SEK", "nok", "PLN", "ZAR", "BRL", " XAF. "])
def test_any_code_of_the_standard_is_known_where_it_stands_alone(code: str) -> None:
    assert normalise_currency(code) == Normalised(code.strip(" .").upper())


@pytest.mark.parametrize("text", ["", "12.00", "ARMOUR", "FARM", "ALL goods", "ABC", "TOP 5"])
def test_no_currency_is_read_into_words(text: str) -> None:
    assert normalise_currency(text) == NOTHING


def test_ids_are_found_with_their_place() -> None:
    text = "Invoice No: INV-2024-0117 of ACME"
    (found,) = find_ids(text)
    assert text[found.start : found.end] == "INV-2024-0117"
    assert found.normalised.value == "INV-2024-0117"


def test_ids_need_a_digit() -> None:
    assert find_ids("INVOICE NUMBER") == []


def test_phones_are_found_with_their_place() -> None:
    text = "Tel: 07-355 2616 Fax: 07-355 2617"
    assert [item.normalised.value for item in find_phones(text)] == ["073552616", "073552617"]


def test_currencies_are_found_with_their_place() -> None:
    text = "Amt (RM) or EUR"
    found = find_currencies(text)
    assert [text[item.start : item.end] for item in found] == ["RM", "EUR"]


@given(st.text())
def test_ids_are_fixed_points(text: str) -> None:
    once = normalise_id(text).value
    assert once is None or normalise_id(once).value == once


@given(st.from_regex(r"\A\+?\d{6,15}\Z"))
def test_canonical_phones_are_fixed_points(digits: str) -> None:
    once = normalise_phone(digits, "en-MY").value
    assert once is not None
    assert normalise_phone(once, "en-MY").value == once


@given(st.text(alphabet="+0123456789 ()-.x", max_size=24), st.sampled_from(["en", "en-MY", "zh-CN", "en-XX"]))
def test_no_text_breaks_the_reading_of_phones(text: str, locale: str) -> None:
    value = normalise_phone(text, locale).value
    assert value is None or value.removeprefix("+").isdigit()
