"""Runaway repetition: a model that has lost its way writes the same period again and again (B7).

Penalties at decoding do not help against it, and a limit on the length only ends it. It is seen in the text, since a
period of characters is a period whatever it is made of: digits, words, rows of a table, white space between fields.
Only one kind may be right: rows, for a receipt may have the same line eleven times.
"""

import json
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from inference.answers.leaves import leaves
from inference.answers.strict import NotStrictError, read_strictly_at

MAX_PERIOD = 400
MIN_REPEATS = 10
MIN_CHARACTERS = 120


def repeats(text: str) -> bool:
    """Whether a period of at most MAX_PERIOD characters comes MIN_REPEATS times in a row, anywhere in the text.

    The run must be MIN_CHARACTERS long: people print rules of dashes and ids of zeros.
    """
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    longest = min(MAX_PERIOD, len(characters) // MIN_REPEATS)
    for period in range(1, longest + 1):
        is_same = characters[period:] == characters[:-period]
        needed = max(MIN_REPEATS * period, MIN_CHARACTERS) - period
        # To count them is cheap, and settles nearly every period of nearly every text.
        if np.count_nonzero(is_same) >= needed and _longest_run(is_same) >= needed:
            return True
    return False


def is_printed_so(text: str, printed: str) -> bool:
    """Whether nothing in an answer repeats but equal rows, one after the other, that the page bears out.

    The answer must be JSON that was brought to its end: a loop is not. Of the rows, the page's words (`printed`, ""
    where there are none) must have at least half: the OCR reader may miss some.
    """
    start = text.find("{")
    try:
        answer, end = read_strictly_at(text, start) if start >= 0 else ({}, 0)
    except NotStrictError:
        return False
    once = json.dumps(_each_row_once(answer), ensure_ascii=False)
    if not answer or repeats(once) or repeats(text[:start]) or repeats(text[end:]):
        return False
    page = _plain(printed)
    return not page or all(2 * page.count(row) >= n for row, n in _equal_rows(answer))


def _each_row_once(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _each_row_once(inner) for key, inner in value.items()}
    return [_each_row_once(row) for row, _ in groupby(value)] if isinstance(value, list) else value


def _equal_rows(value: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401
    """Yield how often a row comes after itself, more than once, and its longest text: the least found by chance.

    The text of a row that says nothing is one that no page has.
    """
    if isinstance(value, dict):
        for inner in value.values():
            yield from _equal_rows(inner)
    elif isinstance(value, list):
        for row, same in groupby(value):
            n = len(list(same))
            if n > 1:
                texts = [_plain(str(leaf)) for _, leaf in leaves(row) if leaf is not None]
                yield max(texts, key=len, default="") or "\0", n


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _longest_run(is_same: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """Return the length of the longest run of True."""
    breaks = np.flatnonzero(~is_same)
    edges = np.concatenate(([-1], breaks, [len(is_same)]))
    return int(np.diff(edges).max()) - 1
