"""Dates as printed, to ISO 8601."""

import datetime
import re

from dateutil.parser import parserinfo

from inference.fields.normalise.locales import DateOrder, date_order
from inference.fields.normalise.outcome import NOTHING, Found, Normalised
from inference.fields.normalise.text import clean_text

EARLIEST_YEAR, LATEST_YEAR = 1900, 2100
CENTURY_PIVOT = 70

MONTHS = {name.lower(): number for number, names in enumerate(parserinfo.MONTHS, 1) for name in names}
MONTHS |= {"mac": 3, "mei": 5, "jun": 6, "julai": 7, "ogos": 8, "ogo": 8, "okt": 10, "oktober": 10, "dis": 12}
MONTHS |= {"januari": 1, "februari": 2, "disember": 12}
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
SEPARATOR = r" ?[-/.,' ] ?"

CHINESE = re.compile(r"(?<!\d)(?P<year>\d{4}|\d{2}) ?年 ?(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]?(?!\d)")
YEAR_FIRST = re.compile(
    r"(?<![\d./-])(?P<year>(?:19|20)\d\d) ?(?P<mark>[-/.]) ?(?P<month>\d{1,2}) ?(?P=mark) ?(?P<day>\d{1,2})"
    r"(?!\d|[-/]\d)"
)
COMPACT = re.compile(
    r"(?<![\w./-])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\w./-])"
)
DAY_MONTH_NAME = re.compile(
    rf"(?<![\d])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:{SEPARATOR}|, )?(?P<name>{MONTH})\.?(?:{SEPARATOR}|, )?"
    r"(?P<year>(?:19|20)\d\d|\d\d)(?![\d])",
    re.IGNORECASE,
)
MONTH_NAME_DAY = re.compile(
    rf"(?<![A-Za-z])(?P<name>{MONTH})\.?{SEPARATOR}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:, ?|{SEPARATOR})"
    r"(?P<year>(?:19|20)\d\d|'?\d\d)(?![\d:])",
    re.IGNORECASE,
)
NUMERIC = re.compile(
    r"(?<![\d./-])(?P<first>\d{1,2}) ?(?P<mark>[-/.]) ?(?P<second>\d{1,2}) ?(?P=mark) ?"
    r"(?P<third>(?:19|20)\d\d|\d\d(?=\d\d?:)|\d{4}(?!\d)|\d\d(?!\d))(?!\d?[-/.]\d)"
)
PARTS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _full_year(text: str) -> int:
    year = int(text.lstrip("'"))
    if len(text.lstrip("'")) > 2:
        return year
    return year + (2000 if year < CENTURY_PIVOT else 1900)


def _checked(date: datetime.date | None, *findings: str) -> Normalised:
    if date is None:
        return Normalised(None, ("date_impossible",))
    if not EARLIEST_YEAR <= date.year <= LATEST_YEAR:
        return Normalised(None, ("date_implausible",))
    return Normalised(date.isoformat(), findings)


def _in_order(parts: tuple[str, str, str], order: DateOrder) -> datetime.date | None:
    year, month, day = (parts[position] for position in PARTS[order])
    if len(year) == 1 or len(month) > 2 or len(day) > 2:
        return None
    return _date(_full_year(year), int(month), int(day))


def _numeric(parts: tuple[str, str, str], locale: str) -> Normalised:
    """Read three numbers by the locale's order, else by the only order that makes a date of them."""
    order = date_order(locale)
    orders: list[DateOrder] = ["dmy", "mdy"] if len(parts[2]) == 4 else ["dmy", "mdy", "ymd"]
    readings = {name: date for name in orders if (date := _in_order(parts, name)) is not None}
    if order in readings:
        return _checked(readings[order])
    if not readings:
        return Normalised(None, ("date_impossible",))
    first = next(iter(readings.values()))
    day_or_month = {readings[name] for name in ("dmy", "mdy") if name in readings}
    if len(day_or_month) > 1:
        return _checked(first, "date_ambiguous")
    return _checked(first) if order is None else _checked(first, "date_order_unusual")


def _from_match(match: re.Match[str], locale: str) -> Normalised:
    groups = match.groupdict()
    if "first" in groups:
        return _numeric((groups["first"], groups["second"], groups["third"]), locale)
    month = MONTHS[groups["name"].lower()] if "name" in groups else int(groups["month"])
    return _checked(_date(_full_year(groups["year"]), month, int(groups["day"])))


def find_dates(text: str, locale: str = "en") -> list[Found]:
    """Return each date in cleaned text, left to right; spans never overlap."""
    found: list[Found] = []
    for pattern in (CHINESE, YEAR_FIRST, DAY_MONTH_NAME, MONTH_NAME_DAY, NUMERIC, COMPACT):
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= other.start or start >= other.end for other in found):
                found.append(Found(start, end, _from_match(match, locale)))
    return sorted(found)


def normalise_date(text: str, locale: str = "en") -> Normalised:
    """Return the one date that `text` holds as "YYYY-MM-DD"; several different ones are none ("date_several").

    Day and month follow the locale. Where the locale doesn't decide and both readings are dates, the day comes first
    and the finding "date_ambiguous" says so.
    """
    found = find_dates(clean_text(text), locale)
    if not found:
        return NOTHING
    values = {item.normalised.value for item in found if item.normalised.value is not None}
    if len(values) > 1:
        return Normalised(None, ("date_several",))
    return next((item.normalised for item in found if item.normalised.value is not None), found[0].normalised)
