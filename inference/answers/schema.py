"""The document type's schema as a server can hold a model to it, and what is said to a model that broke it."""

from collections.abc import Mapping, Sequence
from typing import Any

from inference.types import SchemaProblem
from inference.types.constrainable import unsupported_keywords
from inference.types.hints import Problem

# Keywords that describe; they constrain nothing and only lengthen the prompt.
ANNOTATIONS = frozenset(
    {"$schema", "$id", "$comment", "title", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
# How many rows a document must have says nothing of one page: a model held to it would invent some.
COUNTS = frozenset({"minItems"})


def constrained(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema for constrained decoding: without hints, every property asked for, nothing else allowed.

    With every property required, a model says null for what is not printed instead of leaving it out; a property that
    may not be null in the document type may be null on one page of a document. What a server cannot constrain
    (`inference.types.unsupported`) is left out.
    """
    return _constrained_object(schema)


def _constrained_object(node: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: _constrained(child) for name, child in node["properties"].items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _constrained(node: Mapping[str, Any]) -> dict[str, Any]:
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if "object" in types:
        return _constrained_object(node)
    dropped = {*ANNOTATIONS, *COUNTS, *unsupported_keywords(node)}
    kept = {key: value for key, value in node.items() if not key.startswith("x-") and key not in dropped}
    if "array" in types:
        return {**kept, "type": "array", "items": _constrained_object(node["items"])}
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    if "enum" in kept and None not in kept["enum"]:
        kept["enum"] = [*kept["enum"], None]
    return {**kept, "type": [*types, *([] if "null" in types else ["null"])]}


def validation_message(problems: Sequence[SchemaProblem] | Sequence[Problem]) -> str:
    """Return what the one retry says to the model: each problem with its path, none of the values."""
    lines = [f"- {problem[0] or '/'} {problem[-1]}" for problem in problems]
    return "\n".join(
        ["The last answer did not keep to the schema:", *lines, "Answer again, with the JSON object only."]
    )
