"""Identifiers, phone numbers and currencies."""

import re

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


def normalise_phone(text: str) -> Normalised:
    """Return the digits of a telephone number, with "+" kept in front; 6 to 15 digits."""
    cleaned = clean_text(text)
    digits = re.sub(r"\D", "", cleaned)
    if not digits:
        return NOTHING
    if not 6 <= len(digits) <= 15:
        return Normalised(None, ("phone_implausible",))
    is_international = re.search(r"\d", cleaned) is not None and "+" in cleaned.split(digits[0])[0]
    return Normalised(("+" if is_international else "") + digits)


def normalise_currency(text: str, locale: str = "en") -> Normalised:
    """Return an ISO 4217 code; "$" alone is ambiguous and ¥ follows the locale's language."""
    match = CURRENCY_MARK.search(clean_text(text))
    if match is None:
        return NOTHING
    mark = match[0].upper()
    if mark == "¥":
        code = BY_LANGUAGE.get(split_locale(locale)[0])
        return Normalised(code) if code else Normalised("CNY", ("currency_ambiguous",))
    if mark == "$":
        is_american = locale == "en-US"
        return Normalised("USD", () if is_american else ("currency_ambiguous",))
    return Normalised(CODES.get(mark, mark))


def find_ids(text: str) -> list[Found]:
    """Return each run of letters, digits and inner marks that has a digit in it."""
    return [Found(*match.span(), normalise_id(match[0])) for match in ID.finditer(text)]


def find_phones(text: str) -> list[Found]:
    """Return each plausible telephone number in cleaned text."""
    found = [Found(*match.span(), normalise_phone(match[0])) for match in PHONE.finditer(text)]
    return [item for item in found if item.normalised.value is not None]


def find_currencies(text: str, locale: str = "en") -> list[Found]:
    """Return each currency mark or code in cleaned text."""
    return [Found(*match.span(), normalise_currency(match[0], locale)) for match in CURRENCY_MARK.finditer(text)]
