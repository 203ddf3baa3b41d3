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
    "only": 2.4,
    "pattern": 0.5,
    "region": 1.0,
    "boundary": 1.5,
    "ocr_score": 10.0,
    "quality": 2.0,
}
BIAS = -16.0
GOOD_CONTRAST, GOOD_SHARPNESS, GOOD_SKEW_DEGREES = 0.3, 800.0, 2.0


class Choice(NamedTuple):
    """The value that won: the candidate that stands for it, its share of belief, its lead over the next value.

    `n_values` is how many different values there were to choose from.
    """

    position: int
    share: float
    margin: float
    supporters: int
    n_values: int = 2


def choose(scores: Sequence[float], keys: Sequence[str]) -> Choice | None:
    """Add up what candidates of the same value (`keys`) weigh and return the heaviest value; None without candidates.

    "None of them" competes with a score of 0. Equal values found twice support each other.
    """
    if not scores:
        return None
    by_value: dict[str, list[float]] = {}
    for score, key in zip(scores, keys, strict=True):
        by_value.setdefault(key, []).append(score / SOFTNESS)
    weights = {key: _log_sum(members) for key, members in by_value.items()}
    best = max(weights, key=weights.__getitem__)
    others = [NO_CANDIDATE, *(weight for key, weight in weights.items() if key != best)]
    members = [position for position, key in enumerate(keys) if key == best]
    return Choice(
        position=max(members, key=lambda member: scores[member]),
        share=math.exp(weights[best] - _log_sum([weights[best], *others])),
        margin=weights[best] - max(others),
        supporters=len(members) - 1,
        n_values=len(weights),
    )


def _log_sum(logs: Sequence[float]) -> float:
    """Return log(sum(exp(...))) without overflow, whatever a scorer's scale."""
    highest = max(logs)
    return highest + math.log(sum(math.exp(log - highest) for log in logs))


def evidence_for(
    features: Mapping[str, float], choice: Choice, quality: Mapping[str, float], *, is_typed: bool = False
) -> dict[str, float]:
    """Name the evidence for a chosen candidate, each piece a number in 0-1 (margin: 0-6).

    "only": the document shows one value of this type and no other, such as a single date, and it was believed before
    that (then its share, else 0). It says nothing of free text (`is_typed` false), where every line is a value.
    """
    evidence = {
        "share": choice.share,
        "margin": min(max(choice.margin, 0.0), MAX_MARGIN),
        "keyword": max((features.get(name, 0.0) for name in KEYWORD_FEATURES), default=0.0),
        "agreement": min(choice.supporters, 2) / 2.0,
        "only": choice.share if is_typed and choice.n_values == 1 and choice.margin > 0 else 0.0,
        "pattern": features.get("pattern", 0.5),
        "ocr_score": features.get("ocr_score", 0.0),
        "region": features.get("region", 0.5),
        "boundary": 1.0 - max(features.get("inside_before", 0.0), features.get("inside_after", 0.0)),
    }
    if quality:
        evidence["quality"] = image_quality(quality)
    return evidence


def image_quality(measures: Mapping[str, float]) -> float:
    """Return how fit for reading a page is, 0-1, from its worst measure (see `inference.imaging.quality`).

    Nearly all ordinary scans reach the bounds; a measure that is absent counts as good.
    """
    contrast = measures.get("contrast", GOOD_CONTRAST) / GOOD_CONTRAST
    sharpness = measures.get("sharpness", GOOD_SHARPNESS) / GOOD_SHARPNESS
    upright = 1.0 - max(abs(measures.get("skew_degrees", 0.0)) - GOOD_SKEW_DEGREES, 0.0) / 8.0
    return min(max(min(contrast, sharpness, upright), 0.0), 1.0)


def confidence_from(evidence: Mapping[str, float], findings: Sequence[str]) -> float:
    """Turn evidence into a number in 0-1; any finding caps it at 0.5. Unknown image quality counts as good."""
    total = BIAS + sum(weight * evidence.get(name, float(name == "quality")) for name, weight in WEIGHTS.items())
    confidence = 1.0 / (1.0 + math.exp(-total))
    return min(confidence, CAPPED_BY_FINDING) if findings else confidence
