"""Top to bottom, and left to right within a line."""

from collections.abc import Iterable

from inference.types import Word


def in_reading_order(words: Iterable[Word]) -> tuple[Word, ...]:
    """Return the words in reading order.

    Words share a line when the middle of one lies within the vertical extent of the line's last word to its left or,
    for want of one, of its first word: a slight slope carries along.
    """
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.bbox.center[1], word.bbox.x0)):
        line = _line_of(word, lines)
        if line is None:
            lines.append([word])
        else:
            line.append(word)
            line.sort(key=lambda member: member.bbox.x0)
    lines.sort(key=lambda line: sum(word.bbox.center[1] for word in line) / len(line))
    return tuple(word for line in lines for word in line)


def _line_of(word: Word, lines: list[list[Word]]) -> list[Word] | None:
    """Return the line that `word` continues; only the latest few can be near enough."""
    for line in reversed(lines[-4:]):
        left = [member for member in line if member.bbox.x0 <= word.bbox.x0]
        neighbour = left[-1] if left else line[0]
        if _is_level(neighbour, word) and not _is_above(neighbour, word):
            return line
    return None


def _is_level(first: Word, second: Word) -> bool:
    """Whether each one's middle lies within the other: a tall stamp beside small print is not its line."""
    a, b = first.bbox, second.bbox
    return a.y0 <= b.center[1] <= a.y1 and b.y0 <= a.center[1] <= b.y1


def _is_above(first: Word, second: Word) -> bool:
    """Whether the two lie over each other: mostly the same columns, so they cannot stand side by side."""
    a, b = first.bbox, second.bbox
    shared = min(a.x1, b.x1) - max(a.x0, b.x0)
    return shared > 0.5 * min(a.width, b.width)
