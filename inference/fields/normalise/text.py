"""White space, width and dashes made uniform; names, addresses and other text cleaned."""

import re
import unicodedata

from inference.fields.normalise.outcome import NOTHING, Normalised

SAME_AS = str.maketrans({"\u2212": "-", "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-"})
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
SPACE = re.compile(r"\s+")
EDGES = " \t,;:：，；、|_~*="


def clean_text(text: str) -> str:
    """Return NFKC text with plain dashes, no invisible characters and single spaces."""
    plain = text if text.isascii() else INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(SAME_AS)
    return SPACE.sub(" ", plain).strip()


def normalise_text(text: str) -> Normalised:
    """Clean running text; nothing but white space is no value."""
    cleaned = clean_text(text)
    return Normalised(cleaned) if cleaned else NOTHING


def normalise_name(text: str) -> Normalised:
    """Clean a name or an address: separators at either end go, and at least one letter or digit must be left."""
    cleaned = clean_text(text).strip(EDGES)
    return Normalised(cleaned) if any(character.isalnum() for character in cleaned) else NOTHING
