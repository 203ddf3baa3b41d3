"""What a verdict means: input checked, and the verdict made to agree with what the reader gave."""

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from unicodedata import category

from django.utils.translation import gettext_lazy as _

from inference.fields.normalise import normalise
from inference.types import FieldSpec, ValueType
from review.exceptions import InvalidInputError
from review.models import Verdict
from review.selectors.review_tasks import TaskField

MAX_VALUE_LENGTH = 10_000
MAX_REASON_LENGTH = 500
_LARGEST_NUMBER = 10**30
# A person's spelling of a name is the truth; it is not cleaned up behind their back.
_AS_TYPED = frozenset({ValueType.TEXT, ValueType.NAME, ValueType.ADDRESS})
_UNREADABLE_AS = {
    ValueType.AMOUNT: _("This is not an amount. Write it in digits, such as 1234.50."),
    ValueType.NUMBER: _("This is not a number. Write it in digits, such as 12.5."),
    ValueType.DATE: _("This is not a date. Write it as on the page, or as year-month-day, such as 2018-12-25."),
}
# What is typed in must be one value: nobody guesses for a person what they meant.
_AMBIGUOUS_AS = {
    "date_ambiguous": _("Day and month could be the other way round. Write it as year-month-day, such as 2018-12-25."),
    "date_era_ambiguous": _("The year could be of another calendar. Write it as year-month-day, such as 2018-12-25."),
}


@dataclass(frozen=True, slots=True)
class FieldVerdict:
    """A person's answer for one field, as it came in. `value` is a string, a number or null.

    `verdict` None takes back what was saved before: the field is not decided.
    """

    field_path: str
    verdict: str | None
    value: object = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A verdict that agrees with the prediction: `value` is what the page shows, None for nothing or illegible."""

    verdict: Verdict
    value: str | None

    @property
    def is_correct(self) -> bool | None:
        """Whether the reader was right; None where nobody can tell."""
        return None if self.verdict is Verdict.ILLEGIBLE else self.verdict is Verdict.CONFIRMED


def withdraws(answer: FieldVerdict) -> bool:
    """Whether an answer takes a decision back; raise InvalidInputError at its path where it has a value."""
    if answer.verdict is None and answer.value is not None:
        raise InvalidInputError.at(answer.field_path, _("A field that is not decided has no value; leave it empty."))
    return answer.verdict is None


def settle(field: TaskField, answer: FieldVerdict) -> Settled:
    """Return the verdict that follows from what the reader gave and what the person says the page shows.

    "corrected" and "missing" both say "the page shows `value`", "spurious" says "the page shows nothing": which of
    the verdicts it is follows from the prediction, so that a label never contradicts itself (a "correction" to the
    same value is a confirmation). "confirmed" without a value confirms what the reader gave, be it nothing.

    Raise InvalidInputError at the field's path: an unknown verdict, no value where one is needed or the other way
    round, a confirmation of another value than the one given, an amount, number or date that is none.
    """
    try:
        verdict = Verdict(answer.verdict or "")
    except ValueError:
        raise InvalidInputError.at(answer.field_path, _("This verdict is unknown.")) from None
    value = canonical_value(typed_value(answer.value, answer.field_path), answer.field_path, field.spec)
    predicted = _predicted(field)
    if verdict is Verdict.CONFIRMED:
        if value is not None and not _is_same(field.spec.value_type, value, predicted):
            raise InvalidInputError.at(
                answer.field_path, _("A confirmed field keeps the value that was read; to change it, correct it.")
            )
        return Settled(verdict, predicted)
    if verdict in {Verdict.CORRECTED, Verdict.MISSING}:
        if value is None:
            raise InvalidInputError.at(answer.field_path, _("Enter the value that the page shows."))
        if _is_same(field.spec.value_type, value, predicted):
            return Settled(Verdict.CONFIRMED, predicted)
        return Settled(Verdict.MISSING if predicted is None else Verdict.CORRECTED, value)
    if value is not None:
        raise InvalidInputError.at(answer.field_path, _("With this verdict the field has no value; leave it empty."))
    if verdict is Verdict.SPURIOUS and predicted is None:
        return Settled(Verdict.CONFIRMED, None)
    return Settled(verdict, None)


def typed_value(value: object, field_path: str) -> str | None:
    """Return a value as it is kept: stripped text, numbers written out, None for nothing or only white space.

    Raise InvalidInputError at the path for anything that is not a string, a finite number or null, for text that is
    too long and for characters that no keyboard types and no database keeps.
    """
    match value:
        case None:
            return None
        case bool():
            pass
        case int() | float() if math.isfinite(value) and abs(value) < _LARGEST_NUMBER:
            return f"{Decimal(repr(value)):f}"
        case str():
            return _clean(value, field_path, MAX_VALUE_LENGTH) or None
    raise InvalidInputError.at(field_path, _("Enter a text or a number."))


def canonical_value(value: str | None, field_path: str, spec: FieldSpec) -> str | None:
    """Return a typed-in value in the form in which readers give it: "25/12/2018" in a date becomes "2018-12-25".

    Raise InvalidInputError at the path for an amount, a number or a date that is none; other text that its type's
    normaliser does not know stays as it was typed, for the page may well show it.
    """
    if value is None:
        return None
    outcome = normalise(value, spec.value_type, spec.locale)
    known = outcome.value
    if known is None and spec.value_type in _UNREADABLE_AS:
        said = (_AMBIGUOUS_AS[finding] for finding in outcome.findings if finding in _AMBIGUOUS_AS)
        raise InvalidInputError.at(field_path, next(said, _UNREADABLE_AS[spec.value_type]))
    return value if known is None or spec.value_type in _AS_TYPED else known


def reason_text(reason: str) -> str:
    """Return a person's reason, stripped; raise InvalidInputError at /reason when there is none or it is too long."""
    if not (text := _clean(reason, "/reason", MAX_REASON_LENGTH)):
        raise InvalidInputError.at("/reason", _("Say why, in a few words."))
    return text


def _clean(text: str, pointer: str, max_length: int) -> str:
    text = text.strip()
    if len(text) > max_length:
        message = _("This is too long; at most %(n)s characters are kept.") % {"n": max_length}
        raise InvalidInputError.at(pointer, message)
    if any(category(character) == "Cs" or (character < " " and character not in "\t\r\n") for character in text):
        raise InvalidInputError.at(pointer, _("This contains characters that cannot be kept."))
    return text


def _predicted(field: TaskField) -> str | None:
    value = field.prediction.value if field.prediction is not None else None
    return None if value is None else str(value)


def _is_same(value_type: ValueType, value: str, predicted: str | None) -> bool:
    if predicted is None or value == predicted:
        return value == predicted
    if value_type not in {ValueType.AMOUNT, ValueType.NUMBER}:
        return False
    try:
        one, other = Decimal(value), Decimal(predicted)
    except InvalidOperation:
        return False
    return one.is_finite() and other.is_finite() and one == other
