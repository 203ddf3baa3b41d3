import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise.outcome import NOTHING, Normalised
from inference.fields.normalise.text import clean_text, normalise_name, normalise_text, plain_digits, without_accents


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  a \t b\nc ", "a b c"),
        ("ＡＢＣ１２３", "ABC123"),
        ("（ＲＭ）：", "(RM):"),
        ("a\u200bb\ufeffc", "abc"),
        ("2018\u201303\u201404", "2018-03-04"),
        ("\u2212 5", "- 5"),
        ("上海　公司", "上海 公司"),
        ("", ""),
    ],
)
def test_width_space_and_dashes_become_uniform(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once


@given(st.text())
def test_clean_text_has_no_edges_or_double_spaces(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (", ACME LTD;", "ACME LTD"),
        ("ACME  LTD.", "ACME LTD."),
        ("：北京公司，", "北京公司"),
        ("*** SHOP ***", "SHOP"),
        ("ACME (M) BHD", "ACME (M) BHD"),
    ],
)
def test_names_lose_separators_at_the_ends_only(text: str, value: str) -> None:
    assert normalise_name(text) == Normalised(value)


@pytest.mark.parametrize("text", ["", " ", "---", "***", ". . ."])
def test_a_name_needs_a_letter_or_a_digit(text: str) -> None:
    assert normalise_name(text) == NOTHING


def test_text_keeps_its_marks() -> None:
    assert normalise_text(" * a, ") == Normalised("* a,")
    assert normalise_text(" \n ") == NOTHING


def test_specks_read_as_accents_are_dropped_and_reported_where_the_language_has_none() -> None:
    assert normalise_name("RESTÄURANTS HARDWÀRE", "en-MY") == Normalised("RESTAURANTS HARDWARE", ("accents_dropped",))
    assert normalise_text("Ágain", "ms-MY") == Normalised("Again", ("accents_dropped",))


@pytest.mark.parametrize("locale", ["de-DE", "fr-FR", "vi-VN", "zh-CN"])
def test_accents_stay_where_the_language_has_them(locale: str) -> None:
    assert normalise_name("Café Müller", locale) == Normalised("Café Müller")


@pytest.mark.parametrize("text", ["北京蓝天", "ß", "Ωmega", "plain"])
def test_other_scripts_are_no_accents(text: str) -> None:
    assert without_accents(text, "en") == text


@given(st.text(), st.sampled_from(["en", "de", "zh-CN"]))
def test_names_are_fixed_points(text: str, locale: str) -> None:
    once = normalise_name(text, locale).value
    assert once is None or normalise_name(once, locale).value == once


@pytest.mark.parametrize(
    ("text", "plain"), [("๒๕๖๙/๑๑", "2569/11"), ("٢٠٢٦", "2026"), ("2026 年", "2026 年"), ("²", "²")]
)
def test_digits_of_every_script_become_plain_one_for_one(text: str, plain: str) -> None:
    assert plain_digits(text) == plain
