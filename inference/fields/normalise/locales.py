"""What a document type's locale decides: the order of a date's parts and the decimal mark."""

from typing import Literal

DateOrder = Literal["dmy", "mdy", "ymd"]

YEAR_FIRST = frozenset({"zh", "ja", "ko", "hu", "lt", "mn"})
MONTH_FIRST_REGIONS = frozenset({"US", "PH", "FM", "MH", "PW"})
DECIMAL_COMMA_LANGUAGES = (
    "af az be bg bs ca cs da de el es et eu fi fo fr gl hr hu hy id is it ka kk ky lt lv mk nb nl nn no pl pt ro ru "
    "sk sl sq sr sv tr uk uz vi"
)
GROUPED_BY_TWO_REGIONS = frozenset({"IN", "PK", "BD", "NP"})
GROUPED_BY_TWO_LANGUAGES = frozenset({"hi", "bn", "ta", "te", "mr", "gu", "kn", "ml", "pa", "ne"})
DECIMAL_POINT_REGIONS = frozenset({"MX", "GT", "HN", "NI", "PA", "PE", "SV", "DO", "PR", "CH", "LI"})


def split_locale(locale: str) -> tuple[str, str]:
    """Return (language, region) of a language tag; the region is empty where the tag has none."""
    parts = locale.replace("_", "-").split("-")
    region = next((part for part in parts[1:] if len(part) in (2, 3) and part.upper() == part), "")
    return parts[0].lower(), region


def date_order(locale: str) -> DateOrder | None:
    """Return the order in which the locale writes numeric dates, or None where it doesn't decide (plain "en")."""
    language, region = split_locale(locale)
    if language in YEAR_FIRST:
        return "ymd"
    if region in MONTH_FIRST_REGIONS:
        return "mdy"
    if language == "en" and not region:
        return None
    return "dmy"


def decimal_mark(locale: str) -> str:
    """Return "," or "."."""
    language, region = split_locale(locale)
    return "," if language in DECIMAL_COMMA_LANGUAGES.split() and region not in DECIMAL_POINT_REGIONS else "."


def is_grouped_by_two(locale: str) -> bool:
    """Return whether thousands are grouped as in India: 12,34,567.00."""
    language, region = split_locale(locale)
    return region in GROUPED_BY_TWO_REGIONS or (not region and language in GROUPED_BY_TWO_LANGUAGES)
