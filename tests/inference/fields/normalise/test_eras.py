import pytest

from inference.fields.normalise.eras import ERAS, is_taiwanese, is_thai, possible_years


@pytest.mark.parametrize(
    ("digits", "locale", "era", "years"),
    [
        ("2026", "en-MY", None, (2026,)),
        ("26", "en-MY", None, (2026,)),
        ("99", "en-MY", None, (1999,)),
        ("69", "en-MY", None, (2069,)),
        ("70", "en-MY", None, (1970,)),
        ("2569", "th-TH", None, (2026,)),
        ("2569", "en-MY", None, (2569,)),
        ("2026", "th-TH", None, (2026,)),
        ("69", "th-TH", None, (2069, 2026)),
        ("115", "zh-TW", None, (2026,)),
        ("115", "zh-CN", None, ()),
        ("26", "zh-TW", None, (2026,)),
        ("99", "zh-TW", None, (1999, 2010)),
        ("5", "en-MY", None, ()),
        ("115", "zh-CN", "民国", (2026,)),
        ("8", "ja-JP", "令和", (2026,)),
        ("元", "ja-JP", "令和", (2019,)),
        ("69", "en-MY", "พ.ศ.", (2026,)),
        ("2026", "th-TH", "ค.ศ.", (2026,)),
    ],
)
def test_a_printed_year_means_these_years(digits: str, locale: str, era: str | None, years: tuple[int, ...]) -> None:
    assert possible_years(digits, locale, era) == years


@pytest.mark.parametrize(
    ("locale", "thai", "taiwanese"),
    [
        ("th", True, False),
        ("th-TH", True, False),
        ("en-TH", True, False),
        ("th-US", False, False),
        ("zh-TW", False, True),
    ],
)
def test_the_place_decides_the_calendar_and_the_language_where_no_place_is_known(
    locale: str, thai: bool, taiwanese: bool
) -> None:
    assert (is_thai(locale), is_taiwanese(locale)) == (thai, taiwanese)


@pytest.mark.parametrize("era", sorted(ERAS))
def test_an_era_leaves_no_doubt(era: str) -> None:
    assert len(possible_years("30", "th-TH", era)) == 1
