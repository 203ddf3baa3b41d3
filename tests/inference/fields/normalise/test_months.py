import pytest

from inference.fields.normalise.months import month_names, month_pattern


@pytest.mark.parametrize(
    ("locale", "name", "number"),
    [
        ("en", "september", 9),
        ("en", "sept", 9),
        ("en-MY", "ogos", 8),
        ("de-DE", "märz", 3),
        ("de-AT", "dezember", 12),
        ("fr-FR", "janv", 1),
        ("th-TH", "พฤศจิกายน", 11),
        ("th-TH", "พ.ย", 11),
        ("de-DE", "march", 3),
    ],
)
def test_months_have_the_names_of_the_language_and_of_english(locale: str, name: str, number: int) -> None:
    assert month_names(locale)[name] == number


@pytest.mark.parametrize("locale", ["zh-CN", "ja-JP", "ko-KR", "xx", "", "not a tag"])
def test_a_language_that_numbers_its_months_or_is_unknown_adds_no_name(locale: str) -> None:
    assert month_names(locale) == month_names("en-GB")


@pytest.mark.parametrize("locale", ["en", "de-DE", "th-TH", "zh-CN"])
def test_every_name_stands_in_the_pattern_before_its_own_beginnings(locale: str) -> None:
    names = month_pattern(locale).replace("\\", "").split("|")
    assert set(names) == set(month_names(locale))
    assert [len(name) for name in names] == sorted((len(name) for name in names), reverse=True)
    assert set(month_names(locale).values()) == set(range(1, 13))
