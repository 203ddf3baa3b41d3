"""How each field of each document of a test set came out, small enough to be kept with every run over the set.

Kept as {"paths": [field paths], "items": {document key: one character a path}}: "1" right, "0" wrong, "-" not judged,
since the document has no truth for that field. 10,000 documents of five fields are some 150 kB.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from review.accuracy.comparison import PairedField

_RIGHT, _WRONG, _NOT_JUDGED = "1", "0", "-"


def packed(is_correct: Mapping[str, Mapping[str, bool]]) -> dict[str, Any]:
    """Return the outcomes by document key, then field path, in the form that is kept."""
    paths = sorted({path for fields in is_correct.values() for path in fields})
    return {"paths": paths, "items": {key: _line(fields, paths) for key, fields in is_correct.items()}}


def _line(fields: Mapping[str, bool], paths: Sequence[str]) -> str:
    return "".join(_NOT_JUDGED if path not in fields else _RIGHT if fields[path] else _WRONG for path in paths)


def unpacked(outcomes: Mapping[str, Any]) -> dict[tuple[str, str], bool]:
    """Return which judged fields are right, by document key and field path."""
    return {
        (key, path): mark == _RIGHT
        for key, line in outcomes.get("items", {}).items()
        for path, mark in zip(outcomes["paths"], line, strict=True)
        if mark != _NOT_JUDGED
    }


def paired(outcomes_a: Mapping[str, Any], outcomes_b: Mapping[str, Any]) -> Iterator[PairedField]:
    """Yield each field of each document that both runs were judged on."""
    is_correct_b = unpacked(outcomes_b)
    for (key, path), is_correct in unpacked(outcomes_a).items():
        if (key, path) in is_correct_b:
            yield PairedField(key, path, is_correct, is_correct_b[key, path])
