"""White space, width and dashes made uniform; names, addresses and other text cleaned."""

import re
import unicodedata
from functools import lru_cache

from inference.fields.normalise.locales import split_locale
from inference.fields.normalise.outcome import NOTHING, Normalised

SAME_AS = str.maketrans({"\u2212": "-", "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-"})
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
SPACE = re.compile(r"\s+")
WITHOUT_ACCENTS = frozenset({"en", "ms"})
EDGES = " \t,;:：，；、|_~*="


@lru_cache(maxsize=4096)
def clean_text(text: str) -> str:
    """Return NFKC text with plain dashes, no invisible characters and single spaces."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).translate(SAME_AS)
    return SPACE.sub(" ", plain).strip()


def plain_digits(text: str) -> str:
    """Return the text, character for character, with the decimal digits of every script as 0 to 9 (๒๕๖๙ as 2569)."""
    if text.isascii():
        return text
    digits = ((character, unicodedata.decimal(character, None)) for character in text)
    return "".join(character if digit is None else str(digit) for character, digit in digits)


def without_accents(text: str, locale: str) -> str:
    """Drop accents where the locale's language has none: there they are specks on the scan, read as accents."""
    if text.isascii() or split_locale(locale)[0] not in WITHOUT_ACCENTS:
        return text
    parts = (unicodedata.normalize("NFD", character) for character in text)
    return "".join(part[0] if part[0].isascii() else part for part in parts)


def normalise_text(text: str, locale: str = "en") -> Normalised:
    """Clean running text; nothing but white space is no value. Dropped accents are a finding ("accents_dropped")."""
    cleaned = clean_text(text)
    plain = without_accents(cleaned, locale)
    if not plain:
        return NOTHING
    return Normalised(plain, () if plain == cleaned else ("accents_dropped",))


def normalise_name(text: str, locale: str = "en") -> Normalised:
    """Clean a name or an address: separators at either end go, and at least one letter or digit must be left."""
    outcome = normalise_text(clean_text(text).strip(EDGES), locale)
    return outcome if outcome.value is not None and any(letter.isalnum() for letter in outcome.value) else NOTHING
