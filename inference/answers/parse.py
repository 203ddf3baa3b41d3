"""A model's text becomes the values of one page, or a failure with its own reason (B1, B2, B7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.answers.fit import fit
from inference.answers.leaves import leaves
from inference.answers.repair import Repaired, repair, unwrapped
from inference.answers.repetition import is_printed_so, repeats
from inference.answers.schema import constrained
from inference.answers.strict import DuplicateKeyError, NotStrictError, read_strictly
from inference.errors import AnswerError
from inference.types import RawAnswer, SchemaProblem, validate_values


@dataclass(frozen=True, slots=True)
class Understood:
    """What one raw answer says.

    `values` is nested as the schema says; each leaf is the text that the model wrote (numbers too: "12.50" stays as it
    is) or None. `repairs` names what was mended to get there, `is_repaired` says whether there was anything. `problems`
    are values that break the schema: worth one retry; if they stay, the values are still what the model read.
    """

    values: Mapping[str, Any]
    is_repaired: bool = False
    repairs: tuple[str, ...] = ()
    problems: tuple[SchemaProblem, ...] = ()


def understand(
    raw: RawAnswer,
    schema: Mapping[str, Any],
    *,
    may_be_empty: bool,
    printed: str = "",
    held_to: Mapping[str, Any] | None = None,
) -> Understood:
    """Return what an answer says about one page, or raise AnswerError with the reason, `raw` being its one attempt.

    `may_be_empty` says whether the page may hold none of the fields (a page on which the OCR reader found nothing).
    `printed` is what that reader found: it bears out rows that repeat, or does not. `held_to` is `constrained(schema)`
    where that is at hand. Nothing is guessed: a repair after which a value might be missing, invented or cut is
    refused.
    """
    if repeats(raw.text) and not (raw.finish_reason == "stop" and is_printed_so(raw.text, printed)):
        raise _failure("answer_repeats", raw, "runs on in a loop")
    if raw.finish_reason == "length":
        raise _failure("answer_cut_short", raw, "was cut short by the limit on its length")
    if not raw.text.strip():
        raise _failure("answer_empty", raw, "is empty")
    read = _read(raw, schema)
    fitted = fit(read.answer, schema)
    if fitted.not_text:
        raise AnswerError("answer_unreadable", fitted.not_text, (raw,))
    if fitted.misfits:
        raise AnswerError("answer_invalid", fitted.misfits, (raw,))
    if not may_be_empty and all(value is None for _, value in leaves(fitted.values)):
        raise _failure("answer_empty", raw, "has no value, though the page has text")
    repairs = (*read.repairs, *dict.fromkeys(fitted.repairs), *(["unknown_names_dropped"] if fitted.unknown else []))
    return Understood(
        values=fitted.values,
        is_repaired=bool(repairs),
        repairs=repairs,
        problems=_problems(held_to or constrained(schema), fitted.values, fitted.unknown),
    )


def _failure(code: str, raw: RawAnswer, message: str) -> AnswerError:
    return AnswerError(code, [("", message)], (raw,))


def _read(raw: RawAnswer, schema: Mapping[str, Any]) -> Repaired:
    text = raw.text.strip()
    try:
        return unwrapped(read_strictly(text), schema)
    except DuplicateKeyError as error:
        raise _failure("answer_unreadable", raw, str(error)) from None
    except NotStrictError as error:
        first = str(error)
    try:
        return repair(text, schema)
    except DuplicateKeyError as error:
        raise _failure("answer_unreadable", raw, str(error)) from None
    except NotStrictError:
        raise _failure("answer_unreadable", raw, first) from None


def _problems(
    held_to: Mapping[str, Any], values: Mapping[str, Any], unknown: list[tuple[str, str]]
) -> tuple[SchemaProblem, ...]:
    """Return what one retry may mend. What one page lacks another may have: absence is no problem here."""
    found = [problem for problem in validate_values(held_to, values) if problem.code != "required"]
    return (*(SchemaProblem(path, "additionalProperties", message) for path, message in unknown), *found)
