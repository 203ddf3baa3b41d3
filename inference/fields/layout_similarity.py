"""Whether two pages come from the same form or till: what stands on both, in the same columns."""

import re
import sys
from collections import Counter
from collections.abc import Iterable

from inference.types import BBox, Word

SAME_LAYOUT = 0.5
"""From this share on two pages are of one layout: see `tests/inference/fields/test_layout_similarity.py`."""
_COLUMNS = 12
_LEAST_LETTERS = 2
_NOT_LETTERS = re.compile(r"[\W\d_]+")

Mark = tuple[str, int]
Layout = Counter[Mark]
"""How often each printed word stands in each column: all of a page that its likeness to another goes by."""


def layout_similarity(first: Iterable[Word], second: Iterable[Word]) -> float:
    """Return the share (0-1) of printed words that stand on both pages in about the same column.

    Digits do not count, since those are what differs between two pages of one form; nor does how far down a word
    stands, since that depends on how many rows are above it. 0 for a page without words.
    """
    return likeness(layout_of(first), layout_of(second))


def likeness(one: Layout, other: Layout) -> float:
    """Return `layout_similarity` of two pages of which only the layouts were kept."""
    n_all = one.total() + other.total()
    if not n_all:
        return 0.0
    n_both = sum(_shared(one, other).values())
    return min(1.0, 2 * n_both / n_all)


def layout_of(words: Iterable[Word]) -> Layout:
    """Return the layout of a page: each word of at least two letters, without its digits, and its column."""
    parts = [part for word in words for part in word.parts()]
    if not parts:
        return Counter()
    printed = BBox.around(part.bbox for part in parts)
    marks: Counter[Mark] = Counter()
    for part in parts:
        text = _NOT_LETTERS.sub("", part.text).casefold()
        if len(text) >= _LEAST_LETTERS:
            # The same text on many pages is kept once.
            text = sys.intern(text)
            share = (part.bbox.center[0] - printed.x0) / max(printed.width, 1e-6)
            marks[text, min(int(share * _COLUMNS), _COLUMNS - 1)] += 1
    return marks


def _shared(one: Layout, other: Layout) -> Layout:
    """Return what both have; a word may stand one column further left or right."""
    left = other.copy()
    shared: Counter[Mark] = Counter()
    for (text, column), n in one.items():
        for near in (column, column - 1, column + 1):
            taken = min(n - shared[text, column], left[text, near])
            if taken > 0:
                shared[text, column] += taken
                left[text, near] -= taken
    return shared
