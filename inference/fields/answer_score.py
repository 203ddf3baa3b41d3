"""Confidence of a value that a language model claims, from named evidence: not calibrated, readable, monotone (B6).

The weights were fitted on planted errors over the training part of the receipts and rounded; `tests.bench.planted` says
what they reach on the other part. Those of the tokens and of the vote are set by hand, and so small that grounding
decides: the only log-probabilities at hand are of a made-up model's (`tests.bench.recorded`).
"""

import math
from collections.abc import Mapping, Sequence

from inference.fields.ground import Place
from inference.fields.normalise import TYPED
from inference.fields.score import CAPPED_BY_FINDING, KEYWORD_FEATURES, SOFTNESS, image_quality
from inference.fields.scored import ScoredField
from inference.fields.spans import TRAILING_CODE
from inference.types import FieldSpec, ValueType

NOT_GROUNDED = "not_grounded"
CAPPED_WHERE_NOT_GROUNDED = 0.3
# Log-odds where all evidence is there and no token's probability is known: 0.985.
FULL = 4.2

SHARED_WEIGHTS: Mapping[str, float] = {
    "grounding": 2.0,
    "digits": 10.0,
    "edges": 9.0,
    "readers_agree": 4.5,
    "ocr_score": 1.0,
    "quality": 2.0,
    "token_min": 1.5,
    "token_mean": 0.5,
    "token_margin": 1.0,
    "vote_agreement": 6.0,
}
FIELD_WEIGHTS: Mapping[str, float] = {**SHARED_WEIGHTS, "share": 2.5, "boundary": 1.5, "region": 0.5}
CELL_WEIGHTS: Mapping[str, float] = {**SHARED_WEIGHTS, "in_row": 2.5}
# What counts where a piece of evidence is absent; the others count as 0. Nothing about tokens is neither good nor bad.
UNMEASURED: Mapping[str, float] = {
    "digits": 1.0,
    "edges": 1.0,
    "boundary": 1.0,
    "quality": 1.0,
    "vote_agreement": 1.0,
    "readers_agree": 0.5,
    "in_row": 0.5,
    "region": 0.5,
    "token_min": 0.5,
    "token_mean": 0.5,
    "token_margin": 0.5,
}


def answer_confidence(evidence: Mapping[str, float], findings: Sequence[str], weights: Mapping[str, float]) -> float:
    """Turn evidence into a number in 0-1; a finding caps it at 0.5, a value that is not on the page at 0.3."""
    confidence = 1.0 / (1.0 + math.exp(sum(losses(evidence, weights).values()) - FULL))
    if NOT_GROUNDED in findings:
        return min(confidence, CAPPED_WHERE_NOT_GROUNDED)
    return min(confidence, CAPPED_BY_FINDING) if findings else confidence


def losses(evidence: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """Return what each piece of evidence takes from the log-odds of a value that has everything on its side.

    Tokens that are surer than unknown ones give something back: their loss is below 0.
    """
    lost = {}
    for name, weight in weights.items():
        unmeasured = UNMEASURED.get(name, 0.0)
        best = unmeasured if name.startswith("token_") else 1.0
        lost[name] = weight * (best - evidence.get(name, unmeasured))
    return lost


def place_evidence(place: Place | None, spec: FieldSpec) -> dict[str, float]:
    """Name what the place itself says, each in 0-1; a typed value stands there whole or not at all.

    "grounding": how far the value is printed there. "digits": 1 less 0.5 for each digit printed otherwise. "edges": 1
    less 0.5 for each end at which the line goes on; what goes on after a name may be its registration number.
    """
    if place is None:
        return {"grounding": 0.0}
    span = place.span
    evidence = {"grounding": place.similarity, "ocr_score": span.ocr_score}
    if spec.value_type not in TYPED:
        before, after = span.run.text[: span.start], span.runs[-1].text[span.end :]
        if spec.value_type is ValueType.NAME:
            after = TRAILING_CODE.sub("", after)
        evidence["digits"] = 1.0 - min(place.n_digit_errors, 2) / 2.0
        evidence["edges"] = 1.0 - (_is_wordy(before) + _is_wordy(after)) / 2.0
    if span.page.reading.quality:
        evidence["quality"] = image_quality(span.page.reading.quality)
    return evidence


def _is_wordy(text: str) -> bool:
    return any(character.isalnum() for character in text)


def standing_evidence(place: Place, field: ScoredField) -> dict[str, float]:
    """Name what the locator sees in the place (which is one of the field's spans), each in 0-1.

    "share": belief in the value by its surroundings; "keyword", "region": as for a value that the locator finds;
    "boundary": 0 where the lines before or after are made of the field's words too, or the text ends openly.
    """
    row = next(number for number, span in enumerate(field.spans) if span is place.span)
    features = field.features[row]
    evidence = {
        "keyword": max((features.get(name, 0.0) for name in KEYWORD_FEATURES), default=0.0),
        "region": features.get("region", 0.5),
        "share": _share_of_value(row, field) if field.spec.value_type in TYPED else _share_of_place(row, field),
    }
    if field.spec.value_type not in TYPED:
        goes_on = ("inside_before", "inside_after", "ends_open", "starts_late")
        evidence["boundary"] = 1.0 - max(features.get(name, 0.0) for name in goes_on)
    return evidence


def _share_of_value(row: int, field: ScoredField) -> float:
    """Return the share of belief of all spans with the same value, against all others and against none of them."""
    keys = field.keys()
    highest = max(0.0, *field.scores)
    weights = [math.exp((score - highest) / SOFTNESS) for score in field.scores]
    same = sum(weight for weight, key in zip(weights, keys, strict=True) if key == keys[row])
    return same / (sum(weights) + math.exp(-highest / SOFTNESS))


def _share_of_place(row: int, field: ScoredField) -> float:
    """Return the belief in running text by itself, less what it falls behind the best: spans of it overlap."""
    score = field.scores[row]
    alone = 1.0 / (1.0 + math.exp(-score / SOFTNESS)) if score > -100 else 0.0
    return alone * math.exp((score - field.scores[0]) / (2.0 * SOFTNESS))
