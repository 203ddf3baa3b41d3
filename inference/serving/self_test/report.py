"""What a self-test found, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """One claim that was tried. `found` holds figures and short words, never a text that a server sent.

    A check that is not required is told and decides nothing: the version does not use what it is about.
    """

    name: str
    is_passed: bool
    found: Mapping[str, Any] = field(default_factory=dict)
    is_required: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "name": self.name,
            "is_passed": self.is_passed,
            "is_required": self.is_required,
            "found": dict(self.found),
        }


@dataclass(frozen=True, slots=True)
class SelfTestReport:
    """All checks of one run, in the order in which they were made. Stored with the engine version."""

    checks: tuple[Check, ...]
    seconds: float

    @property
    def is_passed(self) -> bool:
        """Whether every required check was passed."""
        return all(check.is_passed for check in self.checks if check.is_required)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "is_passed": self.is_passed,
            "seconds": round(self.seconds, 3),
            "checks": [check.as_json() for check in self.checks],
        }
