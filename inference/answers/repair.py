"""What stands between a text that is nearly JSON and its object: each repair has a name and is checked (B1)."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from inference.answers.lenient import Reading, read_leniently
from inference.answers.marks import CLOSE, OPEN_OBJECT, QUOTES
from inference.answers.names import Names
from inference.answers.strict import DuplicateKeyError, NotStrictError, read_strictly_at

THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
END_TOKENS = re.compile(r"(?:\s*(?:</s>|<\|[^|\s]*\|>|<end_of_turn>|<eos>))+\s*\Z")
FENCE = re.compile(r"```|~~~")
ENDS_A_TEXT = re.compile(rf"[{re.escape(QUOTES)}]\s*[{re.escape(CLOSE)}]")


class Repaired(NamedTuple):
    """The object and the names of what was mended on the way to it."""

    answer: Any
    repairs: tuple[str, ...]


def repair(text: str, schema: Mapping[str, Any]) -> Repaired:
    """Return the object that the text means; raise NotStrictError where that is not beyond doubt.

    The text may hold the object several times, if it says the same each time. What stands around it must not look like
    a part of it.
    """
    names = Names(schema)
    body, repairs = _bare_text(text)
    readings: list[Reading] = []
    around: list[str] = []
    at = 0
    while (found := names.anchor.search(body, at)) is not None:
        start = found.start()
        around.append(body[at:start])
        reading = _read_at(body, start, schema, names)
        readings.append(reading)
        at = reading.end
    around.append(body[at:])
    if not readings:
        raise NotStrictError("holds none of the names that were asked for")
    if any(reading.answer != readings[0].answer for reading in readings):
        raise NotStrictError("says two different things")
    outside = "\n".join(around)
    if names.quoted.search(outside):
        raise NotStrictError("goes on after its end")
    if any("brackets_added" in reading.repairs for reading in readings) and ENDS_A_TEXT.search(outside):
        raise NotStrictError("goes on after its end")
    if FENCE.search(outside):
        repairs.append("unfenced")
    if FENCE.sub("", outside).replace("json", "").strip():
        repairs.append("prose_removed")
    for reading in readings:
        repairs += [name for name in reading.repairs if name not in repairs]
    return Repaired(readings[0].answer, tuple(repairs))


def unwrapped(answer: object, schema: Mapping[str, Any]) -> Repaired:
    """Return the object in an answer that is JSON: some models put it into an array or under a name of its own."""
    inner = answer
    while True:
        if isinstance(inner, list) and len(inner) == 1:
            inner = inner[0]
        elif isinstance(inner, dict) and len(inner) == 1 and not inner.keys() & schema["properties"].keys():
            inner = next(iter(inner.values()))
        else:
            break
    if isinstance(answer, str):
        raise NotStrictError("is a text")
    is_wrapped = inner is not answer and isinstance(inner, dict)
    return Repaired(inner, ("unwrapped",)) if is_wrapped else Repaired(answer, ())


def _bare_text(text: str) -> tuple[str, list[str]]:
    """Return the text without a thought before it, end tokens behind it, and quotes around the whole of it."""
    repairs = []
    bare = THOUGHT.sub("", text)
    if bare != text:
        repairs.append("thought_removed")
    without = END_TOKENS.sub("", bare)
    if without != bare:
        repairs.append("end_token_removed")
    unquoted = _unquoted(without.strip())
    if unquoted is not None:
        repairs.append("unquoted")
        return unquoted, repairs
    return without, repairs


def _unquoted(text: str) -> str | None:
    if not (text.startswith('"') and text.endswith('"')) and not re.match(r'[{\[]\s*\\"', text):
        return None
    try:
        inner = json.loads(text if text.startswith('"') else f'"{text}"', strict=False)
    except ValueError:
        return None
    return inner if isinstance(inner, str) else None


def _read_at(text: str, start: int, schema: Mapping[str, Any], names: Names) -> Reading:
    """Read the object at `start`, as JSON where it is JSON."""
    if text[start] in OPEN_OBJECT:
        try:
            answer, end = read_strictly_at(text, start)
        except DuplicateKeyError:
            raise
        except NotStrictError:
            return read_leniently(text, start, schema, names)
        return Reading(answer, end, ())
    return read_leniently(text, start, schema, names)
