"""Where in a JSON text each value stands."""

import json
import re
from collections.abc import Mapping
from typing import Any

from inference.answers.leaves import leaves
from inference.types.hints import pointer

SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
BARE = re.compile(r"[^\s,}\]]+")


def value_spans(text: str, values: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Map the path of each leaf of `values` to (start, end) in `text`, the quotes of a string left out.

    The text may have prose around the object. Empty where it holds no well-formed object with just these values.
    """
    wanted = {path: value for path, value in leaves(dict(values)) if value is not None}
    for opening in re.finditer(r"\{", text):
        spans: dict[str, tuple[int, int]] = {}
        try:
            _value(text, opening.start(), "", spans)
        except (ValueError, IndexError, RecursionError):
            continue
        if all(path in spans and _says(text, spans[path], value) for path, value in wanted.items()):
            return spans
    return {}


def _says(text: str, span: tuple[int, int], value: str) -> bool:
    written = text[slice(*span)]
    try:
        return written == value or json.loads(f'"{written}"', strict=False) == value
    except ValueError:
        return False


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, path: str, spans: dict[str, tuple[int, int]]) -> int:
    """Note the spans below `path` of the value that begins at `at`; return where it ends."""
    match text[at]:
        case "{" | "[":
            return _container(text, at, path, spans)
        case '"':
            found = _match(STRING, text, at)
            spans[path] = found.span(1)
            return found.end()
        case _:
            found = _match(BARE, text, at)
            spans[path] = found.span()
            return found.end()


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"nothing of the kind at character {at}")
    return found


def _container(text: str, at: int, path: str, spans: dict[str, tuple[int, int]]) -> int:
    closing = "}" if text[at] == "{" else "]"
    position = 0
    at = _skip(text, at + 1)
    while text[at] != closing:
        key: str | int = position
        if closing == "}":
            name = _match(STRING, text, at)
            key = json.loads(name[0], strict=False)
            at = _skip(text, _skip(text, name.end()) + 1)
        at = _skip(text, _value(text, at, pointer(path, key), spans))
        if text[at] == ",":
            at = _skip(text, at + 1)
        position += 1
    return at + 1
