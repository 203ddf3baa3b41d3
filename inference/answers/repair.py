"""What stands between a text that is nearly JSON and its object: each repair has a name and is checked (B1)."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import json_repair

from inference.answers.strict import DuplicateKeyError, NotStrictError, read_strictly

FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n(.*?)```", re.DOTALL)
STRUCTURE = re.compile(r"[^\w]+")


class Repaired(NamedTuple):
    """The object and the names of what was mended on the way to it."""

    answer: Any
    repairs: tuple[str, ...]


def repair(text: str) -> Repaired:
    """Return the object that the text means; raise NotStrictError when it is not beyond doubt."""
    names: list[str] = []
    for name, mend in STEPS:
        mended = mend(text)
        if mended != text:
            names.append(name)
            text = mended
            try:
                return Repaired(read_strictly(text), tuple(names))
            except DuplicateKeyError:
                raise
            except NotStrictError:
                continue
    return Repaired(_by_library(text), (*names, "json_repair"))


def _unfenced(text: str) -> str:
    blocks = FENCE.findall(text)
    return blocks[0] if len(blocks) == 1 else text


def _without_prose(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (("unfenced", _unfenced), ("prose_removed", _without_prose))


def _by_library(text: str) -> Any:  # noqa: ANN401
    try:
        answer = json_repair.loads(text, skip_json_loads=True, strict=True)
    except (ValueError, RecursionError):
        raise NotStrictError("is not JSON and cannot be mended beyond doubt") from None
    answer = _as_texts(answer)
    if STRUCTURE.sub("", "".join(_contents(answer))) != STRUCTURE.sub("", text):
        raise NotStrictError("cannot be mended without inventing or dropping something")
    return answer


def _as_texts(answer: Any) -> Any:  # noqa: ANN401
    if isinstance(answer, dict):
        return {key: _as_texts(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_as_texts(value) for value in answer]
    return answer if answer is None or isinstance(answer, str | bool) else str(answer)


def _contents(answer: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield key
            yield from _contents(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from _contents(value)
    else:
        yield "null" if answer is None else str(answer)
