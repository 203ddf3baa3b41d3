"""What a language model answered on one page: as it came (`RawAnswer`) and as it was understood (`PageAnswer`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token: its bytes (a token may end inside a character), its log-probability, its alternatives.

    `alternatives` are the likeliest tokens at this place, itself among them, as (bytes, log-probability). Under a
    grammar a forced token has log-probability 0 and what the grammar forbids has -9999.
    """

    data: bytes
    logprob: float
    alternatives: tuple[tuple[bytes, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One attempt, as it came from the model: kept whatever becomes of it.

    `finish_reason` is "stop", or "length" when it was cut short. `tokens` may end with the end token, whose bytes are
    not part of `text`; it is empty where the engine gives no log-probabilities.
    """

    text: str
    finish_reason: str
    tokens: tuple[Token, ...] = ()
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What was understood of a model's answer for one page.

    `values` has the form that the schema describes. `is_repaired`: the text was no JSON until `repairs` (names of what
    was mended) were made; such a reading is never stored unseen. `evidence` maps a field path ("/total",
    "/line_items/0/amount") to named numbers from the tokens of its value: "token_min", "token_mean" (probabilities),
    "token_margin" (smallest lead over the next token, 0-1), "token_entropy" (largest, nats), "n_tokens"; a field whose
    tokens were all forced has none. "vote_agreement" (0-1) is there where a page was read at two scales.
    `attempts` holds the raw answers, the last one being the one understood; they are stored apart.
    `has_second_look_failed`: the page was to be read at two scales, and the second question was refused or its answer
    lost.
    """

    values: Mapping[str, Any]
    is_repaired: bool = False
    repairs: tuple[str, ...] = ()
    evidence: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    attempts: tuple[RawAnswer, ...] = ()
    has_second_look_failed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data without the attempts; `from_json` is its inverse."""
        return {
            "values": dict(self.values),
            "is_repaired": self.is_repaired,
            "repairs": list(self.repairs),
            "evidence": {path: dict(numbers) for path, numbers in self.evidence.items()},
            **({"has_second_look_failed": True} if self.has_second_look_failed else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PageAnswer":
        """Rebuild an answer from what `as_json` returned."""
        return cls(
            values=data["values"],
            is_repaired=data["is_repaired"],
            repairs=tuple(data["repairs"]),
            evidence=data["evidence"],
            has_second_look_failed=data.get("has_second_look_failed", False),
        )
