"""Where in a JSON text each value stands."""

import json
import re

from inference.types.hints import pointer

SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
BARE = re.compile(r"[^\s,}\]]+")


def value_spans(text: str) -> dict[str, tuple[int, int]]:
    """Map the path of each leaf to (start, end) in `text`, the quotes of a string left out.

    Empty where the text holds no JSON object that is well formed.
    """
    spans: dict[str, tuple[int, int]] = {}
    start = text.find("{")
    if start < 0:
        return {}
    try:
        _value(text, start, "", spans)
    except (ValueError, IndexError, RecursionError):
        return {}
    return spans


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
