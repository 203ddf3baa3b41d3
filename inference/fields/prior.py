"""The scorer that needs no training data: fixed, readable weights over features built from the schema's hints."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from inference.types import FieldSpec, ValueType

Weights = Mapping[str, float]


class Scorer(Protocol):
    """Says how likely each candidate is the value of a field."""

    def score(self, spec: FieldSpec, candidates: Sequence[Mapping[str, float]]) -> list[float]:
        """Return one log-odds-like number a candidate (any real; 0 is as likely right as wrong)."""


NEAR_KEYWORDS: Weights = {
    "keyword_left": 5.0,
    "keyword_row": 1.5,
    "keyword_above": 2.0,
    "against_left": -4.0,
    "against_row": -1.0,
    "against_above": -1.5,
    "region": 2.0,
    "ocr_score": 1.0,
    "has_value": 4.0,
    "findings": -2.0,
    "pattern": 3.0,
}
BY_TYPE: Mapping[ValueType, Weights] = {
    ValueType.AMOUNT: {
        "bias": -13.0, "decimals": 2.0, "rank": 1.0, "near_largest": 3.0, "later": 2.5, "shares_row": -2.0,
        "repeated": 0.5, "above_zero": 1.0, "against_above": -0.5, "paid": 2.0, "adds_up": 1.5,
    },
    ValueType.NUMBER: {"bias": -10.0, "fills_run": 1.0},
    ValueType.DATE: {"bias": -5.5, "repeated": 1.0, "top": 1.0},
    ValueType.ID: {"bias": -12.0, "digits": 2.0, "fills_run": 0.5},
    ValueType.PHONE: {"bias": -8.0, "digits": 1.0},
    ValueType.CURRENCY: {"bias": -6.0, "repeated": 1.0},
    ValueType.TEXT: {"bias": -10.0},
    ValueType.NAME: {
        "bias": -13.0, "inside_any": 3.0, "plain_lines": -4.0, "against_lines": -24.0, "bare_keyword": -5.0,
        "top": 5.0, "letters": 3.0, "text_size": 1.0, "inside_last": 0.5, "inside_before": -1.0, "inside_after": -1.5,
        "ends_open": -2.0, "centred": 1.0, "size_spread": -4.0, "against_above": -0.5,
    },
    ValueType.ADDRESS: {
        "bias": -15.0, "inside_lines": 10.0, "plain_lines": -6.0, "against_lines": -24.0, "inside_first": 1.0,
        "inside_last": 1.5, "inside_before": -1.5, "inside_after": -1.5, "starts_late": -2.0, "ends_open": -2.0,
        "top": 6.0, "region": 5.0, "against_above": 0.0, "bare_keyword": -2.0, "size_spread": -1.0,
    },
}  # fmt: skip


class PriorScorer:
    """A weighted sum of features, the same for every document type; what differs is in the hints."""

    def weights(self, spec: FieldSpec) -> Weights:
        """Return the weights for a field's value type."""
        return {**NEAR_KEYWORDS, **BY_TYPE[spec.value_type]}

    def score(self, spec: FieldSpec, candidates: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the weighted sum for each candidate."""
        weights = self.weights(spec)
        bias = weights.get("bias", 0.0)
        return [
            bias + sum(weights[name] * value for name, value in features.items() if name in weights)
            for features in candidates
        ]
