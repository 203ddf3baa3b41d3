import pytest

from inference.fields.normalise.locales import date_order, decimal_mark, is_grouped_by_two, split_locale


@pytest.mark.parametrize(
    ("locale", "parts"),
    [
        ("en", ("en", "")),
        ("en-MY", ("en", "MY")),
        ("zh_CN", ("zh", "CN")),
        ("zh-Hant-TW", ("zh", "TW")),
        ("es-419", ("es", "419")),
        ("", ("", "")),
    ],
)
def test_language_and_region_are_told_apart(locale: str, parts: tuple[str, str]) -> None:
    assert split_locale(locale) == parts


@pytest.mark.parametrize(
    ("locale", "order"),
    [
        ("en-US", "mdy"),
        ("en-PH", "mdy"),
        ("en-GB", "dmy"),
        ("en-MY", "dmy"),
        ("ms", "dmy"),
        ("de-DE", "dmy"),
        ("es-US", "mdy"),
        ("zh-CN", "ymd"),
        ("zh-Hant-TW", "ymd"),
        ("ja", "ymd"),
        ("en", None),
    ],
)
def test_date_order_follows_the_region_and_plain_english_has_none(locale: str, order: str | None) -> None:
    assert date_order(locale) == order


@pytest.mark.parametrize(
    ("locale", "mark"),
    [
        ("en", "."),
        ("en-MY", "."),
        ("zh-CN", "."),
        ("de-DE", ","),
        ("fr", ","),
        ("id-ID", ","),
        ("es-MX", "."),
        ("es-ES", ","),
        ("de-CH", "."),
        ("pt-BR", ","),
    ],
)
def test_decimal_mark_follows_language_with_exceptions_by_region(locale: str, mark: str) -> None:
    assert decimal_mark(locale) == mark


@pytest.mark.parametrize(
    ("locale", "is_by_two"),
    [
        ("en-IN", True),
        ("hi", True),
        ("hi-IN", True),
        ("ta-LK", False),
        ("en-MY", False),
        ("en", False),
        ("de-DE", False),
    ],
)
def test_india_groups_by_two(locale: str, is_by_two: bool) -> None:
    assert is_grouped_by_two(locale) == is_by_two
