"""The three bands (V1) and their order of severity."""

from collections.abc import Iterable
from enum import StrEnum


class Band(StrEnum):
    """What happens with a value: AUTO is stored, SAMPLED is stored and audited at a set rate, REVIEW waits for people.

    Declared from mild to severe, and compared in that order, not by their letters (`max` gives the worst); a plain
    string compares as the band of that value, ValueError when it is none.
    """

    AUTO = "auto"
    SAMPLED = "sampled"
    REVIEW = "review"

    @property
    def severity(self) -> int:
        """0 for AUTO, 1 for SAMPLED, 2 for REVIEW."""
        return _SEVERITY[self]

    def __lt__(self, other: str) -> bool:
        return self.severity < Band(other).severity

    def __le__(self, other: str) -> bool:
        return self.severity <= Band(other).severity

    def __gt__(self, other: str) -> bool:
        return self.severity > Band(other).severity

    def __ge__(self, other: str) -> bool:
        return self.severity >= Band(other).severity

    @classmethod
    def worst(cls, bands: "Iterable[Band]") -> "Band":
        """Return the most severe of `bands`; REVIEW when there are none, since nothing speaks for storing unseen."""
        return max(bands, default=cls.REVIEW)


_SEVERITY = {band: position for position, band in enumerate(Band)}
