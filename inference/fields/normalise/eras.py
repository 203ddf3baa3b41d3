"""Which year is meant: two digits, and the calendars of Thailand, Taiwan and Japan beside the common one."""

from inference.fields.normalise.locales import split_locale

CENTURY_PIVOT = 70
BUDDHIST_OFFSET = -543
FIRST_BUDDHIST_YEAR = 2400
ROC_OFFSET = 1911
# The first year of an era is written 元 instead of 1.
ERAS = {
    "中华民国": ROC_OFFSET,
    "中華民國": ROC_OFFSET,
    "民国": ROC_OFFSET,
    "民國": ROC_OFFSET,
    "令和": 2018,
    "平成": 1988,
    "昭和": 1925,
    "大正": 1911,
    "พ.ศ.": BUDDHIST_OFFSET,
    "พ.ศ": BUDDHIST_OFFSET,
    "ค.ศ.": 0,
}
"""Era as printed before a year -> what to add to the year."""
# A year of two digits counts in the national calendar only from here on; before, nobody would mean it today.
FIRST_SHORT_ROC_YEAR = 70


def is_thai(locale: str) -> bool:
    """Return whether years may be Buddhist ones: 2569 is 2026."""
    language, region = split_locale(locale)
    return region == "TH" or (not region and language == "th")


def is_taiwanese(locale: str) -> bool:
    """Return whether years may be counted from the founding of the republic: 115 is 2026."""
    return split_locale(locale)[1] == "TW"


def possible_years(digits: str, locale: str, era: str | None = None) -> tuple[int, ...]:
    """Return the years of the common calendar that a printed year may mean; several where nothing on it decides.

    An era printed before the year decides. Else four digits are a common year, or a Buddhist one in Thailand, three
    digits a year of the republic in Taiwan, and two digits are short for a year of either calendar.
    """
    year = 1 if digits == "元" else int(digits)
    if era is not None:
        return (_short_buddhist(year) if ERAS[era] == BUDDHIST_OFFSET else year + ERAS[era],)
    match len(digits):
        case 4:
            return (year + BUDDHIST_OFFSET if is_thai(locale) and year >= FIRST_BUDDHIST_YEAR else year,)
        case 3 if is_taiwanese(locale):
            return (year + ROC_OFFSET,)
        case 2:
            return _short_years(year, locale)
    return ()


def _short_years(year: int, locale: str) -> tuple[int, ...]:
    common = year + (2000 if year < CENTURY_PIVOT else 1900)
    if is_thai(locale):
        return common, _short_buddhist(year)
    if is_taiwanese(locale) and year >= FIRST_SHORT_ROC_YEAR:
        return common, year + ROC_OFFSET
    return (common,)


def _short_buddhist(year: int) -> int:
    return (year + 2500 if year < 100 else year) + BUDDHIST_OFFSET
