"""Runaway repetition: a model that has lost its way writes the same period again and again (B7).

Penalties at decoding do not help against it, and a limit on the length only ends it. It is seen in the text, since a
period of characters is a period whatever it is made of: digits, words, rows of a table, white space between fields.
"""

import numpy as np

MAX_PERIOD = 400
MIN_REPEATS = 10
MIN_CHARACTERS = 120


def repeats(text: str) -> bool:
    """Whether a period of at most MAX_PERIOD characters comes MIN_REPEATS times in a row, anywhere in the text.

    The run must be MIN_CHARACTERS long: people print rules of dashes and ids of zeros.
    """
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    longest = min(MAX_PERIOD, len(characters) // MIN_REPEATS)
    return any(
        _longest_run(characters[period:] == characters[:-period]) + period >= max(MIN_REPEATS * period, MIN_CHARACTERS)
        for period in range(1, longest + 1)
    )


def _longest_run(is_same: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """Return the length of the longest run of True."""
    breaks = np.flatnonzero(~is_same)
    edges = np.concatenate(([-1], breaks, [len(is_same)]))
    return int(np.diff(edges).max()) - 1
