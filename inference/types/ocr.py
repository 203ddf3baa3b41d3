"""How large an OCR engine sees a page: what a manager may declare of it, and roll out as an engine version."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

BOUNDS: Mapping[str, tuple[float, float]] = {
    "probe_long_side": (320, 2048),
    "comfortable_px": (12, 96),
    "legible_px": (8, 64),
    "max_long_side": (640, 4096),
    "min_text_score": (0, 0.95),
}
_WHOLE = ("probe_long_side", "max_long_side")


class OcrProfileError(ValueError):
    """A profile that cannot be used; `problems` are (key, message)."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{key}: {message}" for key, message in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class OcrProfile:
    """Sides and heights of text in pixels (see `inference.engines.detection_size`).

    What is read with less than `min_text_score` (0-1) is left out.
    """

    probe_long_side: int = 736
    comfortable_px: float = 26.0
    legible_px: float = 16.0
    max_long_side: int = 2048
    min_text_score: float = 0.5

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is the inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "OcrProfile":
        """Return the profile of some keys, the rest as the house reads; raise OcrProfileError, naming each mistake."""
        problems = [(key, f"is no key; known are {', '.join(BOUNDS)}") for key in data if key not in BOUNDS]
        values: dict[str, Any] = {}
        for key, value in data.items():
            least, most = BOUNDS.get(key, (0, 0))
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if key not in BOUNDS:
                continue
            if not is_number or not least <= value <= most or (key in _WHOLE and value != int(value)):
                kind = "whole number" if key in _WHOLE else "number"
                problems.append((key, f"must be a {kind} from {least:g} to {most:g}"))
            else:
                values[key] = int(value) if key in _WHOLE else float(value)
        if problems:
            raise OcrProfileError(problems)
        profile = cls(**values)
        if profile.legible_px > profile.comfortable_px:
            raise OcrProfileError([("legible_px", "must not be above comfortable_px")])
        if profile.probe_long_side > profile.max_long_side:
            raise OcrProfileError([("probe_long_side", "must not be above max_long_side")])
        return profile
