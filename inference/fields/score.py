"""Confidence of a field from named evidence: not calibrated yet, but more evidence never lowers it."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

KEYWORD_FEATURES = ("keyword_left", "keyword_above", "keyword_row", "inside_lines")
CAPPED_BY_FINDING = 0.5
MAX_MARGIN = 6.0
NO_CANDIDATE = 0.0
SOFTNESS = 1.5

WEIGHTS: Mapping[str, float] = {
    "margin": 0.4,
    "share": 2.0,
    "keyword": 1.0,
    "agreement": 0.5,
    "pattern": 0.5,
    "region": 1.0,
    "boundary": 1.5,
    "ocr_score": 10.0,
    "quality": 1.0,
}
BIAS = -15.0


class Choice(NamedTuple):
    """The value that won: the candidate that stands for it, its share of belief, its lead over the next value."""

    position: int
    share: float
    margin: float
    supporters: int


def choose(scores: Sequence[float], keys: Sequence[str]) -> Choice | None:
    """Add up what candidates of the same value (`keys`) weigh and return the heaviest value; None without candidates.

    "None of them" competes with a score of 0. Equal values found twice support each other.
    """
    if not scores:
        return None
    weights: dict[str, float] = {}
    for score, key in zip(scores, keys, strict=True):
        weights[key] = weights.get(key, 0.0) + math.exp(score / SOFTNESS)
    best = max(weights, key=weights.__getitem__)
    others = [weight for key, weight in weights.items() if key != best]
    nothing = math.exp(NO_CANDIDATE)
    share = weights[best] / (sum(weights.values()) + nothing)
    margin = math.log(weights[best] / max([nothing, *others]))
    members = [position for position, key in enumerate(keys) if key == best]
    position = max(members, key=lambda member: scores[member])
    return Choice(position, share, margin, len(members) - 1)


def evidence_for(features: Mapping[str, float], choice: Choice, quality: Mapping[str, float]) -> dict[str, float]:
    """Name the evidence for a chosen candidate, each piece a number in 0-1 (margin: 0-6)."""
    evidence = {
        "share": choice.share,
        "margin": min(max(choice.margin, 0.0), MAX_MARGIN),
        "keyword": max((features.get(name, 0.0) for name in KEYWORD_FEATURES), default=0.0),
        "agreement": min(choice.supporters, 2) / 2.0,
        "pattern": features.get("pattern", 0.5),
        "ocr_score": features.get("ocr_score", 0.0),
        "region": features.get("region", 0.5),
        "boundary": 1.0 - max(features.get("inside_before", 0.0), features.get("inside_after", 0.0)),
    }
    if "score" in quality:
        evidence["quality"] = quality["score"]
    return evidence


def confidence_from(evidence: Mapping[str, float], findings: Sequence[str]) -> float:
    """Turn evidence into a number in 0-1; any finding caps it at 0.5. Unknown image quality counts as good."""
    total = BIAS + sum(weight * evidence.get(name, float(name == "quality")) for name, weight in WEIGHTS.items())
    confidence = 1.0 / (1.0 + math.exp(-total))
    return min(confidence, CAPPED_BY_FINDING) if findings else confidence
