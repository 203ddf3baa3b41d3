"""How well one field was read on a set of documents whose truth is known: every document counts once, no sampling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from review.accuracy.intervals import AccuracyEstimate
from review.accuracy.metrics import (
    Coverage,
    calibration_error,
    character_error_rate,
    coverage_at_precision,
    exact_match,
    missing_share,
)


@dataclass(frozen=True, slots=True)
class FieldCase:
    """One field of one document: the truth and what was read, both made comparable, and the confidence.

    None as the truth: the page shows no value. None as the prediction: nothing was read.
    """

    truth: str | None
    prediction: str | None
    confidence: float | None

    @property
    def is_correct(self) -> bool:
        """Whether what was read is what the page shows; reading nothing where nothing is printed is right."""
        return self.truth == self.prediction


@dataclass(frozen=True, slots=True)
class FieldResult:
    """What `manage.py evaluate` says of one field over `n` documents; a figure of nothing is None."""

    n: int
    exact_match: AccuracyEstimate
    cer: float | None
    missing_share: float | None
    coverage_at_99: Coverage
    calibration_error: float | None

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "n": self.n,
            "exact_match": {
                "point": self.exact_match.point,
                "lower": self.exact_match.lower,
                "upper": self.exact_match.upper,
            },
            "cer": self.cer,
            "missing_share": self.missing_share,
            "coverage_at_99": self.coverage_at_99.share,
            "threshold_at_99": self.coverage_at_99.threshold,
            "calibration_error": self.calibration_error,
        }


def field_result(cases: Sequence[FieldCase]) -> FieldResult:
    """Return the figures of one field.

    The character error rate is over documents that have a truth, on what is compared: for free text letters and
    digits alone, for amounts and dates their canonical form.
    """
    correct = [case.is_correct for case in cases]
    confidences = [case.confidence for case in cases]
    printed = [case for case in cases if case.truth is not None]
    return FieldResult(
        n=len(cases),
        exact_match=exact_match(correct),
        cer=character_error_rate([case.truth or "" for case in printed], [case.prediction for case in printed]),
        missing_share=missing_share([case.truth for case in cases], [case.prediction for case in cases]),
        coverage_at_99=coverage_at_precision(confidences, correct, 0.99),
        calibration_error=calibration_error(confidences, correct),
    )
