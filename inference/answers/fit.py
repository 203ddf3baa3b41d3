"""A parsed answer fitted to the form that the schema describes: every leaf a text or None."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inference.answers.tables import TableError, rows_of_table
from inference.types.hints import Problem, pointer

PLAIN = re.compile(r"[\w $./()-]{1,60}")
# Half a surrogate pair is no text in UTF-8, a database keeps no NUL, and of controls only tab and newline are printed.
NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


@dataclass(slots=True)
class Fitted:
    """What fitted. `misfits` are places without a usable value; `unknown` are names that nobody asked for.

    `not_text` are places whose value or name holds what cannot be kept as text: the answer is not to be used.
    """

    values: dict[str, Any] = field(default_factory=dict)
    misfits: list[Problem] = field(default_factory=list)
    unknown: list[Problem] = field(default_factory=list)
    not_text: list[Problem] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)


def fit(answer: object, schema: Mapping[str, Any]) -> Fitted:
    """Fit an answer (numbers as texts, see `inference.answers.strict`) to the schema of a document type.

    White space alone is None. Null in the place of an object or of rows stands for nothing in it.
    """
    fitted = Fitted()
    if isinstance(answer, Mapping):
        fitted.values = _object(answer, schema, "", fitted)
    else:
        fitted.misfits.append(("", "must be an object"))
    return fitted


def _object(answer: Mapping[str, Any], node: Mapping[str, Any], base: str, fitted: Fitted) -> dict[str, Any]:
    properties = node["properties"]
    if any(NO_TEXT.search(name) for name in answer):
        # Not at its own pointer: this is told to the model and to engineers, and cannot be written down.
        fitted.not_text.append((base, "has a name with a character that is no text"))
        return {}
    unknown = [(pointer(base, name), "is not asked for") for name in answer if name not in properties]
    # Where one name is absent and another one stands there, the other may be it: its value must not get lost. A name
    # with marks in it is no name, but a piece of the answer that has slipped into quotes.
    is_beside = properties.keys() <= answer.keys() and all(PLAIN.fullmatch(name) for name in answer.keys() - properties)
    (fitted.unknown if is_beside else fitted.misfits).extend(unknown)
    return {
        name: _any(answer[name], child, pointer(base, name), fitted)
        for name, child in properties.items()
        if name in answer
    }


def _any(answer: object, node: Mapping[str, Any], base: str, fitted: Fitted) -> Any:  # noqa: ANN401
    kinds = {node["type"]} if isinstance(node["type"], str) else set(node["type"])
    if "object" in kinds:
        return _nested(answer, node, base, fitted)
    if "array" in kinds:
        return _rows(answer, node, base, fitted)
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        return None
    if not isinstance(answer, str):
        fitted.misfits.append((base, "must be a single value"))
        return None
    return answer if _is_text(answer, base, fitted) else None


def _is_text(answer: str, base: str, fitted: Fitted) -> bool:
    if NO_TEXT.search(answer):
        fitted.not_text.append((base, "holds a character that is no text"))
        return False
    return True


def _nested(answer: object, node: Mapping[str, Any], base: str, fitted: Fitted) -> dict[str, Any]:
    if isinstance(answer, Mapping):
        return _object(answer, node, base, fitted)
    if answer is not None:
        fitted.misfits.append((base, "must be an object"))
    return {}


def _rows(answer: object, node: Mapping[str, Any], base: str, fitted: Fitted) -> list[dict[str, Any]]:
    if answer is None:
        return []
    if isinstance(answer, str):
        # Before it is cut into lines: some controls end one.
        if not _is_text(answer, base, fitted):
            return []
        answer = _table_rows(answer, node, fitted)
    if not isinstance(answer, list):
        fitted.misfits.append((base, "must be an array of objects"))
        return []
    return [_nested(row, node["items"], pointer(base, position), fitted) for position, row in enumerate(answer)]


def _table_rows(answer: str, node: Mapping[str, Any], fitted: Fitted) -> object:
    """Return the rows of a table in a text, where rows were asked for; the text itself where there is none (B5)."""
    try:
        rows = rows_of_table(answer, node["items"])
    except TableError:
        return answer
    fitted.repairs.append("table_read")
    return rows
