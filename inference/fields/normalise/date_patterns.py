"""The ways in which dates are printed, as regular expressions; the first that matches a place has it."""

import re
from functools import lru_cache

from inference.fields.normalise.eras import ERAS, is_taiwanese, is_thai
from inference.fields.normalise.months import month_pattern
from inference.fields.normalise.numerals import CHARACTERS

SEPARATOR = r" ?[-/.,' ] ?"
# "3. März", "3 de marzo de 2026", "1er mars", "22nd Sept, 2020".
BETWEEN = rf"(?:{SEPARATOR}|, | de | del )?"
ORDINAL = r"(?:st|nd|rd|th|er|º)?"
ERA = rf"(?:(?P<era>{'|'.join(sorted(map(re.escape, ERAS), key=len, reverse=True))}) ?)?"

CHINESE = re.compile(
    rf"(?<!\d){ERA}(?P<year>(?(era)\d{{1,4}}|\d{{2,4}})|(?<=[国國和成正])元) ?年 ?(?P<month>\d{{1,2}}) ?月"
    r"(?: ?(?P<day>\d{1,2}) ?[日号號]?)?(?!\d)"
)
NUMERALS = re.compile(
    rf"{ERA}(?P<numeral_year>[{CHARACTERS}]{{2,4}}) ?年 ?(?P<numeral_month>[{CHARACTERS}]{{1,4}}) ?月"
    rf"(?: ?(?P<numeral_day>[{CHARACTERS}]{{1,4}}) ?[日号號]?)?"
)
COMPACT = re.compile(
    r"(?<![\w./-])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\w./-])"
)
NUMERIC = re.compile(
    r"(?<![\d./-])(?P<first>\d{1,2}) ?(?P<mark>[-/.]) ?(?P<second>\d{1,2}) ?(?P=mark) ?"
    r"(?P<third>(?:19|20)\d\d|\d\d(?=\d\d?:)|\d{4}(?!\d)|\d\d(?!\d))(?!\d?[-/.]\d)"
)


def _full_year(locale: str) -> str:
    """Return the pattern of a year with all its digits."""
    if is_thai(locale):
        return r"(?:19|20|2[45])\d\d"
    return r"(?:(?:19|20)\d\d|1\d\d(?!\d))" if is_taiwanese(locale) else r"(?:19|20)\d\d"


@lru_cache(maxsize=64)
def patterns(locale: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a locale, the most telling first; each names the parts that it finds."""
    year, name = _full_year(locale), month_pattern(locale)
    year_first = re.compile(
        rf"(?<![\d./-])(?P<year>{year}) ?(?P<mark>[-/.]) ?(?P<month>\d{{1,2}}) ?(?P=mark) ?(?P<day>\d{{1,2}})"
        r"(?!\d|[-/]\d)"
    )
    day_month_name = re.compile(
        rf"(?<![\d])(?P<day>\d{{1,2}}){ORDINAL}{BETWEEN}(?P<name>{name})\.?{BETWEEN}{ERA}(?P<year>{year}|\d\d)(?![\d])",
        re.IGNORECASE,
    )
    month_name_day = re.compile(
        rf"(?<![A-Za-z])(?P<name>{name})\.?{SEPARATOR}(?P<day>\d{{1,2}}){ORDINAL}(?:, ?|{SEPARATOR})"
        rf"(?P<year>{year}|'?\d\d)(?![\d:])",
        re.IGNORECASE,
    )
    return CHINESE, NUMERALS, year_first, day_month_name, month_name_day, NUMERIC, COMPACT
