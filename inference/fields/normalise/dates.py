"""Dates as printed, to ISO 8601. What can mean two dates is no date but a finding, with both as alternatives."""

import datetime
import re
from collections.abc import Iterable, Sequence

from inference.fields.normalise.date_patterns import patterns
from inference.fields.normalise.eras import possible_years
from inference.fields.normalise.locales import DateOrder, date_order
from inference.fields.normalise.months import month_names
from inference.fields.normalise.numerals import parse_digits, parse_numeral
from inference.fields.normalise.outcome import NOTHING, Found, Normalised
from inference.fields.normalise.text import clean_text, plain_digits

EARLIEST_YEAR, LATEST_YEAR = 1900, 2100
PARTS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")

Dates = list[datetime.date]


def _dates(years: Iterable[int], month: int, day: int) -> Dates:
    """Return the dates that exist among the readings of a year."""
    found = []
    for year in years:
        try:
            found.append(datetime.date(year, month, day))
        except ValueError:
            continue
    return found


def _decided(dates: Sequence[datetime.date], ambiguous: str, *findings: str) -> Normalised:
    """Return the one date that is left, or what is wrong: none exists, none is plausible, or several are."""
    if not dates:
        return Normalised(None, ("date_impossible",))
    plausible = list(dict.fromkeys(date for date in dates if EARLIEST_YEAR <= date.year <= LATEST_YEAR))
    if not plausible:
        return Normalised(None, ("date_implausible",))
    if len(plausible) > 1:
        return Normalised(None, (ambiguous,), tuple(date.isoformat() for date in plausible))
    return Normalised(plausible[0].isoformat(), findings)


def _in_order(parts: tuple[str, str, str], order: DateOrder, locale: str) -> Dates:
    year, month, day = (parts[position] for position in PARTS[order])
    if len(month) > 2 or len(day) > 2:
        return []
    return _dates(possible_years(year, locale), int(month), int(day))


def _numeric(parts: tuple[str, str, str], locale: str) -> Normalised:
    """Read three numbers by the locale's order, else by the only order that makes a date of them."""
    order = date_order(locale)
    orders: list[DateOrder] = ["dmy", "mdy"] if len(parts[2]) == 4 else ["dmy", "mdy", "ymd"]
    readings = {name: dates for name in orders if (dates := _in_order(parts, name, locale))}
    if order in readings:
        return _decided(readings[order], "date_era_ambiguous")
    day_or_month = [date for name in ("dmy", "mdy") for date in readings.get(name, ())]
    left = day_or_month or next(iter(readings.values()), [])
    findings = () if order is None else ("date_order_unusual",)
    return _decided(left, "date_ambiguous", *findings)


def _month_only(year: str, month: int, era: str | None, locale: str) -> Normalised:
    if era is None and len(year) < 3:
        # A length of time: 10年6月 is ten years and six months.
        return NOTHING
    outcome = _decided(_dates(possible_years(year, locale, era), month, 1), "date_era_ambiguous")
    if outcome.value is None:
        return Normalised(None, outcome.findings)
    return Normalised(outcome.value[: len("YYYY-MM")], ("date_without_day",))


def _from_match(match: re.Match[str], locale: str) -> Normalised:
    groups = match.groupdict()
    if "first" in groups:
        return _numeric((groups["first"], groups["second"], groups["third"]), locale)
    if "numeral_year" in groups:
        return _from_numerals(groups, locale)
    era = groups.get("era")
    month = month_names(locale)[groups["name"].lower()] if "name" in groups else int(groups["month"])
    if groups["day"] is None:
        return _month_only(groups["year"], month, era, locale)
    years = possible_years(groups["year"].lstrip("'"), locale, era)
    return _decided(_dates(years, month, int(groups["day"])), "date_era_ambiguous")


def _from_numerals(groups: dict[str, str | None], locale: str) -> Normalised:
    year = parse_digits(groups["numeral_year"] or "")
    month, day = parse_numeral(groups["numeral_month"] or ""), parse_numeral(groups["numeral_day"] or "")
    if year is None or month is None or (day is None and groups["numeral_day"]):
        return Normalised(None, ("date_impossible",))
    if day is None:
        return _month_only(year, month, groups["era"], locale)
    return _decided(_dates(possible_years(year, locale, groups["era"]), month, day), "date_era_ambiguous")


def find_dates(text: str, locale: str = "en") -> list[Found]:
    """Return each date in cleaned text, left to right; spans never overlap."""
    found: list[Found] = []
    plain = plain_digits(text)
    for pattern in patterns(locale):
        for match in pattern.finditer(plain):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            outcome = _from_match(match, locale)
            if outcome != NOTHING:
                found.append(Found(start, end, outcome))
    return sorted(found)


def normalise_date(text: str, locale: str = "en") -> Normalised:
    """Return the one date that `text` holds as "YYYY-MM-DD"; several different ones are none ("date_several").

    Day and month follow the locale, and so does the calendar. Where nothing decides there is no value: the findings
    "date_ambiguous" (day and month) and "date_era_ambiguous" (the calendar of a short year) come with the dates that
    may be meant. A month without a day is "YYYY-MM" ("date_without_day").
    """
    cleaned = clean_text(text)
    if YEAR_MONTH.fullmatch(cleaned):
        return Normalised(cleaned, ("date_without_day",))
    found = [item.normalised for item in find_dates(cleaned, locale)]
    if not found:
        return NOTHING
    certain = {one.value: one for one in found if one.value is not None}
    full = {value: one for value, one in certain.items() if len(value) > len("YYYY-MM")} or certain
    doubtful = [one for one in found if one.alternatives and not full.keys() & set(one.alternatives)]
    if len(full) + len({one.alternatives for one in doubtful}) > 1:
        return Normalised(None, ("date_several",))
    return next(iter([*full.values(), *doubtful]), found[0])
