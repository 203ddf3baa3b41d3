"""Identifiers, phone numbers and currencies."""

import re
from functools import lru_cache

import phonenumbers
from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.numbers import get_currency_symbol, get_territory_currencies, list_currencies

from inference.fields.normalise.amounts import CURRENCY
from inference.fields.normalise.locales import split_locale
from inference.fields.normalise.outcome import NOTHING, Found, Normalised
from inference.fields.normalise.text import clean_text

ID = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z/\-.]*\d)[A-Za-z0-9]+(?:[-/.][A-Za-z0-9]+)*(?![A-Za-z0-9])")
PHONE = re.compile(r"(?<![\w.])\(?\+?\(?\d{1,4}\)?(?:[ \-.]?\(?\d{2,5}\)?){1,4}(?![\w.]*\d)")
CURRENCY_MARK = re.compile(rf"(?<![A-Za-z]){CURRENCY}(?![A-Za-z])", re.IGNORECASE)
CODES = {
    "RM": "MYR", "US$": "USD", "S$": "SGD", "HK$": "HKD", "NT$": "TWD", "A$": "AUD", "C$": "CAD", "R$": "BRL",
    "CN¥": "CNY", "JP¥": "JPY", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "฿": "THB", "₫": "VND", "₱": "PHP",
    "RMB": "CNY", "RP": "IDR", "元": "CNY", "圆": "CNY", "人民币": "CNY",
}  # fmt: skip
BY_LANGUAGE = {"zh": "CNY", "ja": "JPY"}
EDGES = " \t.,;:，；。*#|"


def normalise_id(text: str) -> Normalised:
    """Return an identifier in capitals without spaces; it needs a letter or a digit."""
    compact = clean_text(clean_text(text).replace(" ", "").upper()).strip(EDGES)
    return Normalised(compact) if any(character.isalnum() for character in compact) else NOTHING


def normalise_phone(text: str, locale: str = "en") -> Normalised:
    """Return the digits of a telephone number as it is dialled at home, or as E.164 where it has a "+".

    6 to 15 digits; a number that is too short or too long for its country, or for the locale's, is a finding.
    """
    cleaned = clean_text(text)
    digits = re.sub(r"\D", "", cleaned)
    if not digits:
        return NOTHING
    if not 6 <= len(digits) <= 15:
        return Normalised(None, ("phone_implausible",))
    is_international = "+" in cleaned[: re.search(r"\d", cleaned).start()]  # type: ignore[union-attr]  # it has digits
    region = None if is_international else split_locale(locale)[1] or None
    plain = f"+{digits}" if is_international else digits
    if region is None and not is_international:
        return Normalised(plain)
    try:
        number = phonenumbers.parse(cleaned if is_international else digits, region)
    except phonenumbers.NumberParseException:
        return Normalised(plain, ("phone_implausible",))
    findings = () if phonenumbers.is_possible_number(number) else ("phone_implausible",)
    if is_international:
        plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return Normalised(plain, findings)


@lru_cache(maxsize=256)
def _dollar_of(locale: str) -> str | None:
    """Return the currency that is written "$" where the locale is at home, or None where none is."""
    language, region = split_locale(locale)
    if region not in get_global("territory_currencies"):
        return None
    try:
        home = Locale.parse(f"{language}_{region}")
    except (UnknownLocaleError, ValueError):
        return None
    return next((code for code in get_territory_currencies(region) if get_currency_symbol(code, home) == "$"), None)


def normalise_currency(text: str, locale: str = "en") -> Normalised:
    """Return an ISO 4217 code; "$" follows the locale's region and is ambiguous elsewhere, ¥ follows its language."""
    cleaned = clean_text(text)
    match = CURRENCY_MARK.search(cleaned)
    if match is None:
        alone = cleaned.strip(EDGES).upper()
        return Normalised(alone) if alone in list_currencies() else NOTHING
    mark = match[0].upper()
    if mark == "¥":
        code = BY_LANGUAGE.get(split_locale(locale)[0])
        return Normalised(code) if code else Normalised("CNY", ("currency_ambiguous",))
    if mark == "$":
        own = _dollar_of(locale)
        return Normalised(own) if own else Normalised("USD", ("currency_ambiguous",))
    return Normalised(CODES.get(mark, mark))


def find_ids(text: str) -> list[Found]:
    """Return each run of letters, digits and inner marks that has a digit in it."""
    return [Found(*match.span(), normalise_id(match[0])) for match in ID.finditer(text)]


def find_phones(text: str, locale: str = "en") -> list[Found]:
    """Return each plausible telephone number in cleaned text."""
    found = [Found(*match.span(), normalise_phone(match[0], locale)) for match in PHONE.finditer(text)]
    return [item for item in found if item.normalised.value is not None]


def find_currencies(text: str, locale: str = "en") -> list[Found]:
    """Return each currency mark or code in cleaned text."""
    return [Found(*match.span(), normalise_currency(match[0], locale)) for match in CURRENCY_MARK.finditer(text)]
