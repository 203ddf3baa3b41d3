"""Names of months: English and Malay wherever the page comes from, and those of the locale's own language (CLDR)."""

import re
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from dateutil.parser import parserinfo

from inference.fields.normalise.locales import split_locale
from inference.fields.normalise.text import clean_text

ENGLISH = {name.lower(): number for number, names in enumerate(parserinfo.MONTHS, 1) for name in names}
MALAY = {"januari": 1, "februari": 2, "mac": 3, "mei": 5, "jun": 6, "julai": 7, "ogos": 8, "ogo": 8, "oktober": 10}
MALAY |= {"okt": 10, "dis": 12, "disember": 12}


@lru_cache(maxsize=64)
def month_names(locale: str) -> dict[str, int]:
    """Return the names of months that a page in this locale may use, in lower case, with the month's number."""
    return {**_in_language(split_locale(locale)[0]), **ENGLISH, **MALAY}


def _in_language(language: str) -> dict[str, int]:
    try:
        forms = Locale.parse(language).months
    except (UnknownLocaleError, ValueError):
        return {}
    named = {
        clean_text(name).lower().rstrip("."): number
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in forms[context][width].items()
    }
    # "11月" and 十一月 are numbers, which the patterns of dates read by themselves.
    return {name: number for name, number in named.items() if not re.search(r"[\d月]", name)}


@lru_cache(maxsize=64)
def month_pattern(locale: str) -> str:
    """Return a regular expression for any of the names, the longest first."""
    return "|".join(map(re.escape, sorted(month_names(locale), key=len, reverse=True)))
