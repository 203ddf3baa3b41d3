"""When two values count as the same: amounts as numbers, dates as dates, words without case, space and marks."""

import re
import unicodedata
from functools import lru_cache

from inference.fields.normalise.text import clean_text
from inference.fields.normalise.values import TYPED, normalise
from inference.types import ValueType

MARKS = re.compile(r"[^a-z0-9]+")


# The same lines and keywords are folded again and again while one document is searched; the bound keeps little of it.
@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return letters and digits only, without case or width."""
    plain = clean_text(clean_text(text).casefold())
    if plain.isascii():
        return MARKS.sub("", plain)
    kept = "".join(character for character in plain if unicodedata.category(character)[0] in "LNM")
    return unicodedata.normalize("NFKC", kept)


def comparable(value: str, value_type: ValueType, locale: str = "en") -> str:
    """Return a string that is equal for equal values, printed or canonical; "" where nothing is left to compare."""
    if value_type not in TYPED:
        return folded(value)
    normalised = normalise(value, value_type, locale).value
    return folded(value) if normalised is None else normalised
