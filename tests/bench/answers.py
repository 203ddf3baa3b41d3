"""Broken answers: how many are read, refused and read wrongly, by this product and by json-repair alone."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import json_repair

from inference.answers.fit import fit
from inference.answers.parse import understand
from inference.errors import AnswerError
from inference.types import RawAnswer
from tests.bench.report import Budget, finish, ratio
from tests.inference.answers.broken import B1, SCHEMA, Broken, corpus

LIMIT = 0.95
Values = Mapping[str, Any] | None
COLUMNS = ("readable", "read", "refused", "wrong", "unreadable", "refused", "wrong")


def main(arguments: Sequence[str]) -> int:
    """Count, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="answers", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="corpora of 1,000 answers each")
    options = parser.parse_args(arguments)
    answers = [one for seed in range(options.seeds) for one in corpus(seed)]
    ours, library = counts(answers, by_product), counts(answers, by_library)
    rows = [
        (f"{kind}: {who}", *figures[kind])
        for kind in ours
        for who, figures in (("Stet", ours), ("json-repair", library))
    ]
    readable, read, _, wrong, _, _, invented = ours["all"]
    return finish(
        "answers",
        ("kind", *COLUMNS),
        rows,
        [
            Budget("read of those that a person could read", ratio(read, readable), LIMIT, is_floor=True),
            Budget("read wrongly", wrong + invented, 0),
        ],
        {"stet": ours["all"], "json_repair": library["all"]},
    )


def by_product(text: str) -> Values:
    """Return what the product understands, or None."""
    try:
        return understand(RawAnswer(text, "stop"), SCHEMA, may_be_empty=True).values
    except AnswerError:
        return None


def by_library(text: str) -> Values:
    """Return what json-repair makes of a text, fitted to the document type like ours; None where nothing fits."""
    try:
        fitted = fit(_as_texts(json_repair.loads(text)), SCHEMA)
    except (ValueError, RecursionError):
        return None
    return None if fitted.misfits or fitted.not_text or not fitted.values else fitted.values


def _as_texts(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {key: _as_texts(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_as_texts(value) for value in answer]
    return answer if answer is None else str(answer)


def counts(answers: Sequence[Broken], read: Callable[[str], Values]) -> dict[str, list[int]]:
    """Return by group, and for all, the numbers that COLUMNS names."""
    found: dict[str, list[int]] = {}
    for one in answers:
        values = read(one.text)
        start = 4 if one.truth is None else 0
        if values is None:
            outcome = 1 if one.truth is None else 2
        elif one.truth is not None and values == one.truth:
            outcome = 1
        else:
            outcome = 2 if one.truth is None else 3
        for group in (_group(one), "all"):
            row = found.setdefault(group, [0] * len(COLUMNS))
            row[start] += 1
            row[start + outcome] += 1
    return found


def _group(one: Broken) -> str:
    if one.truth is None:
        return "nobody can read"
    parts = one.kind.split("+")
    if len(parts) > 1:
        return "two kinds at once"
    return one.kind if one.kind in B1 else "other kinds"
