"""What a normaliser answers, and where a typed value stands in a longer text."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Normalised:
    """The canonical `value`, or None where the text has none; `findings` are codes of what is doubtful about it.

    `alternatives` are the values that the text may mean where nothing on it decides between them.
    """

    value: str | None
    findings: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


class Found(NamedTuple):
    """A value found in a text: the half-open span [start, end) of characters and what it normalises to."""

    start: int
    end: int
    normalised: Normalised


NOTHING = Normalised(None)
