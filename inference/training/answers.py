"""The answer that a page teaches: compact JSON in the form that the grammar demands when the model is asked."""

import json
import re
from collections.abc import Mapping
from typing import Any

from inference.answers.parse import Understood, understand
from inference.errors import AnswerError
from inference.types import RawAnswer

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class NotTeachableError(ValueError):
    """The values cannot be said as the schema demands; the message is a code, and repeats none of them."""


def training_answer(values: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return `values`, each a text as printed or None, as the model must say them; raise NotTeachableError.

    Every property of the schema stands in it, in the schema's order, null for what is not printed: a constrained
    answer has no other form. What is returned is understood without repairs and breaks nothing of the schema.
    """
    text = _said(values, schema)
    if understood_strictly(text, schema).problems:
        raise NotTeachableError("answer_breaks_the_schema")
    return text


def understood_strictly(text: str, schema: Mapping[str, Any]) -> Understood:
    """Return what an answer says when nothing in it has to be mended; raise NotTeachableError."""
    try:
        read = understand(RawAnswer(text, "stop"), schema, may_be_empty=True)
    except AnswerError as failure:
        raise NotTeachableError(failure.code) from None
    if read.is_repaired:
        raise NotTeachableError("answer_needs_repairs")
    return read


def _said(value: Any, node: Mapping[str, Any]) -> str:  # noqa: ANN401 - a tree of mappings, lists and texts
    kinds = {node["type"]} if isinstance(node.get("type"), str) else set(node.get("type", ()))
    if "properties" in node:
        given = value if isinstance(value, Mapping) else {}
        said = (f"{_text(name)}:{_said(given.get(name), child)}" for name, child in node["properties"].items())
        return "{" + ",".join(said) + "}"
    if "array" in kinds:
        return "[" + ",".join(_said(row, node["items"]) for row in value or ()) + "]"
    if value is None:
        return "null"
    if kinds & {"number", "integer"} and "string" not in kinds:
        if not _NUMBER.fullmatch(str(value)):
            raise NotTeachableError("number_not_as_printed")
        # "12.50" stays as it is printed: a float would say 12.5.
        return str(value)
    return _text(str(value))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
