"""Which characters are taken for which: what a reader gave beside what stands on the page."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

LONGEST = 3
"""A difference of more characters than this is another value, not characters taken for others."""
_MOST_CHANGED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Confusion:
    """`read` was given where `truth` stands, `n` times; either may be empty (left out, or made up)."""

    read: str
    truth: str
    n: int


def confusions(read: str, truth: str) -> Iterator[tuple[str, str]]:
    """Yield (read, truth) for each place where the two texts differ; nothing where they are different values.

    Neighbouring edits are one place: "rn" for "m" is one confusion and not a substitution and a deletion. Texts that
    share less than half of their characters, or a place longer than LONGEST, say nothing about characters.
    """
    longest = max(len(read), len(truth))
    if not read or not truth or Levenshtein.distance(read, truth) > _MOST_CHANGED_SHARE * longest:
        return
    start_read = start_truth = end_read = end_truth = -1
    for edit in [*Levenshtein.opcodes(read, truth)]:
        if edit.tag == "equal":
            yield from _place(read[start_read:end_read], truth[start_truth:end_truth]) if start_read >= 0 else ()
            start_read = -1
            continue
        if start_read < 0:
            start_read, start_truth = edit.src_start, edit.dest_start
        end_read, end_truth = edit.src_end, edit.dest_end
    if start_read >= 0:
        yield from _place(read[start_read:end_read], truth[start_truth:end_truth])


def most_frequent(pairs: Iterable[tuple[str, str]], limit: int = 20) -> list[Confusion]:
    """Count the confusions of (read, truth) texts; return the `limit` most frequent, of equals in their order."""
    counts: Counter[tuple[str, str]] = Counter()
    for read, truth in pairs:
        counts.update(confusions(read, truth))
    ranked = sorted(counts.items(), key=lambda found: (-found[1], found[0]))
    return [Confusion(read, truth, n) for (read, truth), n in ranked[:limit]]


def _place(read: str, truth: str) -> Iterator[tuple[str, str]]:
    if max(len(read), len(truth)) <= LONGEST:
        yield read, truth
