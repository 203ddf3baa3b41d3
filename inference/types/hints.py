"""The `x-` hints of a document type's schema: which exist where, and whether a given one makes sense."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rapidfuzz import fuzz, process

from inference.types.fields import ValueType
from inference.types.id_schemes import known_schemes, scheme_module

Problem = tuple[str, str]

LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?")


def pointer(base: str, *keys: str | int) -> str:
    """Append `keys` to the JSON Pointer `base`, escaped as RFC 6901 says."""
    return base + "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_label(value: object) -> str | None:
    """Return what is wrong with a text by language, or None."""
    if not isinstance(value, Mapping):
        return "must be an object of language code to text"
    wrong = sorted(str(key) for key, text in value.items() if not isinstance(text, str) or not text.strip())
    if wrong:
        return f"has no text for: {', '.join(wrong)}"
    return None if "en" in value else "needs a text for: en"


def _check_value_type(value: object) -> str | None:
    names = [str(member) for member in ValueType]
    if isinstance(value, str) and value in names:
        return None
    return f"unknown value type {value!r}{did_you_mean(value, names)}; known: {', '.join(names)}"


def _check_words(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        return None
    return "must be a list of non-empty strings"


def _check_region(value: object) -> str | None:
    if not isinstance(value, list) or len(value) != 4 or not all(_is_number(part) for part in value):
        return "must be four numbers [x0, y0, x1, y1]"
    x0, y0, x1, y1 = value
    if not all(0 <= part <= 1 for part in value):
        return "numbers must be between 0 and 1 (shares of the printed area)"
    return None if x0 < x1 and y0 < y1 else "must have x0 < x1 and y0 < y1"


def check_regex(value: object) -> str | None:
    """Return what is wrong with a regular expression, or None."""
    if not isinstance(value, str):
        return "must be a string"
    try:
        re.compile(value)
    except re.error as error:
        return f"is not a regular expression: {error}"
    return None


def _check_positive(value: object) -> str | None:
    return None if _is_number(value) and value > 0 else "must be a number above 0"  # type: ignore[operator]


def check_count(value: object) -> str | None:
    """Return what is wrong with a number of things, or None."""
    return None if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else "must be an integer >= 1"


def _check_flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _check_locale(value: object) -> str | None:
    if isinstance(value, str) and LOCALE.fullmatch(value):
        return None
    return 'must be a language tag such as "en-MY" or "zh-CN"'


def _check_scheme(value: object) -> str | None:
    if isinstance(value, str) and scheme_module(value) is not None:
        return None
    near = did_you_mean(value, known_schemes())
    return f'unknown scheme {value!r}{near}; schemes are the modules of python-stdnum, such as "cn.uscc" or "eu.vat"'


Check = Callable[[object], str | None]

LEAF_HINTS: Mapping[str, Check] = {
    "x-label": check_label,
    "x-value-type": _check_value_type,
    "x-error-cost": _check_positive,
    "x-high-value": _check_flag,
    "x-personal": _check_flag,
    "x-keywords": _check_words,
    "x-keywords-against": _check_words,
    "x-keywords-inside": _check_words,
    "x-region": _check_region,
    "x-pattern": check_regex,
    "x-max-lines": check_count,
    "x-id-scheme": _check_scheme,
}
CONTAINER_HINTS: Mapping[str, Check] = {"x-label": check_label}
TYPE_HINTS: Mapping[str, Check] = {
    "x-label": check_label,
    "x-locale": _check_locale,
    "x-output-limit": check_count,
    # Looked into by `rule_problems`, which knows the fields.
    "x-rules": lambda _value: None,
}


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return ' (did you mean …?)' with the nearest of `known`, or nothing when none is near."""
    found = process.extractOne(str(word), list(known), scorer=fuzz.ratio, score_cutoff=60)
    return f" (did you mean {found[0]!r}?)" if found else ""


def hint_problems(node: Mapping[str, Any], base: str, allowed: Mapping[str, Check]) -> list[Problem]:
    """Return what is wrong with the hints at one node of the schema, each with its JSON Pointer."""
    problems = []
    for key, value in node.items():
        if not key.startswith("x-"):
            continue
        if key not in allowed:
            known_elsewhere = key in LEAF_HINTS or key in TYPE_HINTS
            why = "has no effect here" if known_elsewhere else f"unknown hint{did_you_mean(key, allowed)}"
            problems.append((pointer(base, key), f"{key}: {why}; allowed here: {', '.join(sorted(allowed))}"))
        elif (message := allowed[key](value)) is not None:
            problems.append((pointer(base, key), f"{key} {message}"))
    return problems
