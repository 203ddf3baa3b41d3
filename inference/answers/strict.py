"""JSON read as RFC 8259 says, and more strictly where parsers are lax: what is read here was not touched."""

import json
from typing import Any


class NotStrictError(ValueError):
    """The text is no JSON, or JSON that two readers may understand differently. The message repeats no text."""


def read_strictly(text: str) -> Any:  # noqa: ANN401
    """Parse JSON; raise NotStrictError for anything else, for a key that stands twice and for NaN and Infinity.

    Numbers come back as the text that stands there: "12.50" is what was printed, 12.5 is not.
    """
    stripped = text.strip()
    value, end = read_strictly_at(stripped, 0)
    if end < len(stripped):
        raise NotStrictError(f"is not JSON: extra data at character {end}")
    return value


def read_strictly_at(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON value that begins at `start`; return it and where it ends. Raise NotStrictError."""
    try:
        return DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotStrictError(f"is not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise NotStrictError("is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise DuplicateKeyError
    return found


def _refuse_constant(name: str) -> None:
    raise NotStrictError(f"holds {name}, which is no JSON")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=_refuse_constant)


class DuplicateKeyError(NotStrictError):
    """One object says two things under one name. Nobody can know which one was meant, so no repair is tried."""

    def __init__(self) -> None:
        super().__init__("has the same key twice in one object")
