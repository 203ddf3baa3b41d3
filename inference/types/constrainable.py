"""What a server cannot hold a language model to: keywords that vLLM 0.32 refuses or xgrammar 0.2 quietly ignores."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inference.types.hints import Problem, pointer

FORMATS = frozenset(
    {
        "email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri", "uri-reference",
        "uri-template", "json-pointer", "relative-json-pointer",
    }
)  # fmt: skip
NEVER = (
    "multipleOf", "uniqueItems", "contains", "minContains", "maxContains", "patternProperties", "propertyNames",
    "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "prefixItems",
)  # fmt: skip
PATTERN_PARTS = (
    (re.compile(r"\(\?[=!]"), "a look-ahead"),
    (re.compile(r"\(\?<[=!]"), "a look-behind"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]"), "a back-reference"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\[bB]"), "a word boundary"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\[pP]\{"), "a Unicode class"),
    (re.compile(r"\(\?>|\(\?[a-z-]+[:)]"), "a group with flags"),
)


def unsupported(schema: Mapping[str, Any]) -> list[Problem]:
    """Return (JSON Pointer, message) of each constraint that an answer cannot be held to while it is written.

    vLLM answers 400 to some of these and ignores others: an answer would break the rule and nobody would have said so.
    """
    return list(_problems(schema, ""))


def _problems(node: Mapping[str, Any], base: str) -> Iterator[Problem]:
    for keyword in unsupported_keywords(node):
        yield pointer(base, keyword), f"{keyword} {_why(node, keyword)}"
    for name, child in node.get("properties", {}).items():
        if isinstance(child, Mapping):
            yield from _problems(child, pointer(base, "properties", name))
    if isinstance(node.get("items"), Mapping):
        yield from _problems(node["items"], pointer(base, "items"))


def unsupported_keywords(node: Mapping[str, Any]) -> list[str]:
    """Return the keywords of one node that a server cannot constrain an answer by."""
    found = [keyword for keyword in NEVER if keyword in node]
    if "format" in node and node["format"] not in FORMATS:
        found.append("format")
    if _pattern_part(node):
        found.append("pattern")
    if "pattern" in node or "format" in node:
        found += [keyword for keyword in ("minLength", "maxLength") if keyword in node]
    return found


def _pattern_part(node: Mapping[str, Any]) -> str:
    pattern = node.get("pattern")
    return next((name for part, name in PATTERN_PARTS if isinstance(pattern, str) and part.search(pattern)), "")


def _why(node: Mapping[str, Any], keyword: str) -> str:
    remedy = "take it out of the schema; x-pattern and x-rules check a value after it was read"
    match keyword:
        case "pattern":
            return f"holds {_pattern_part(node)}, which no language model can be held to; {remedy}"
        case "format":
            return (
                f"{node['format']!r} is none that a language model can be held to; known: {', '.join(sorted(FORMATS))}"
            )
        case "minLength" | "maxLength":
            return f"has no effect beside a pattern or a format; put the length into the pattern, or {remedy}"
        case _:
            return f"is nothing that a language model can be held to; {remedy}"
