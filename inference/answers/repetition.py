"""Runaway repetition: a model that has lost its way writes the same period again and again (B7)."""

from collections.abc import Sequence

MAX_PERIOD = 200
MIN_REPEATS = 8
MIN_CHARACTERS = 120


def repeats(text: str) -> bool:
    """Whether the text ends in one period that comes at least MIN_REPEATS times over at least MIN_CHARACTERS."""
    return _tail_period(text) is not None


def _tail_period(text: Sequence[str]) -> int | None:
    length = len(text)
    for period in range(1, min(MAX_PERIOD, length // MIN_REPEATS) + 1):
        n_same = 0
        while n_same < length - period and text[length - 1 - n_same] == text[length - 1 - n_same - period]:
            n_same += 1
        if n_same + period >= max(MIN_REPEATS * period, MIN_CHARACTERS):
            return period
    return None
