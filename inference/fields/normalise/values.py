"""One door to the normalisers, by value type."""

from collections.abc import Callable, Mapping

from inference.fields.normalise.amounts import find_amounts, find_numbers, normalise_amount, normalise_number
from inference.fields.normalise.codes import (
    find_currencies,
    find_ids,
    find_phones,
    normalise_currency,
    normalise_id,
    normalise_phone,
)
from inference.fields.normalise.dates import find_dates, normalise_date
from inference.fields.normalise.outcome import Found, Normalised
from inference.fields.normalise.text import normalise_name, normalise_text
from inference.types import ValueType

NORMALISERS: Mapping[ValueType, Callable[[str, str], Normalised]] = {
    ValueType.AMOUNT: normalise_amount,
    ValueType.NUMBER: normalise_number,
    ValueType.DATE: normalise_date,
    ValueType.CURRENCY: normalise_currency,
    ValueType.ID: lambda text, _locale: normalise_id(text),
    ValueType.PHONE: normalise_phone,
    ValueType.TEXT: normalise_text,
    ValueType.NAME: normalise_name,
    ValueType.ADDRESS: normalise_name,
}
FINDERS: Mapping[ValueType, Callable[[str, str], list[Found]]] = {
    ValueType.AMOUNT: find_amounts,
    ValueType.NUMBER: find_numbers,
    ValueType.DATE: find_dates,
    ValueType.CURRENCY: find_currencies,
    ValueType.ID: lambda text, _locale: find_ids(text),
    ValueType.PHONE: find_phones,
}
TYPED = frozenset(FINDERS)


def normalise(text: str, value_type: ValueType, locale: str = "en") -> Normalised:
    """Return the canonical value of a printed (or typed in) text; canonical values come back unchanged."""
    return NORMALISERS[value_type](text, locale)


def find_values(text: str, value_type: ValueType, locale: str = "en") -> list[Found]:
    """Return the values of a typed field (`TYPED`) inside cleaned text; nothing for free text."""
    return FINDERS[value_type](text, locale) if value_type in TYPED else []
