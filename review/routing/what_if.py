"""What other thresholds would have made of what was already routed, by the rules of `review.routing.decide`.

A field's stored decision holds everything that the thresholds do not touch: a field that a person had to look at for
another reason than its confidence (a broken rule, a missing value, a document at fault) stays with that person
whatever the thresholds; a field without a confidence keeps its band. Only what confidence alone decided moves.

The interest of a document does not depend on thresholds either. So where rules direct their audits each document is
reckoned with the chance that it would have had under them, never with the mean.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from review.routing.bands import Band
from review.routing.decide import document_share
from review.routing.paths import column_path
from review.routing.policy import PolicyRules, Thresholds
from review.routing.reasons import Reason


@dataclass(frozen=True, slots=True)
class RoutedField:
    """One field as it was routed: its band then and the reasons, and the confidence that stood behind it.

    `interest` in 0-1 is that of its document, None where it is not known.
    """

    field_path: str
    confidence: float | None
    band: Band
    reasons: tuple[str, ...]
    interest: float | None = None


@dataclass(frozen=True, slots=True)
class BandCounts:
    """How many fell into each band."""

    n_auto: int = 0
    n_sampled: int = 0
    n_review: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.n_auto + self.n_sampled + self.n_review

    @property
    def n_stored(self) -> int:
        """How many are stored without waiting for a person."""
        return self.n_auto + self.n_sampled

    @classmethod
    def of(cls, bands: Iterable[Band]) -> "BandCounts":
        """Count bands."""
        counts = dict.fromkeys(Band, 0)
        for band in bands:
            counts[band] += 1
        return cls(counts[Band.AUTO], counts[Band.SAMPLED], counts[Band.REVIEW])


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Documents and fields by band, as rules would have them.

    `n_looked_at` is how many of the documents a person would have been asked to look at, on average over the draws.
    """

    documents: BandCounts
    fields: Mapping[str, BandCounts]
    n_looked_at: float


def reband(field: RoutedField, limits: Thresholds) -> Band:
    """Return the band that the field would have had under other thresholds, everything else being as it was."""
    others = set(field.reasons) - BY_CONFIDENCE
    is_doubted = field.band is Band.REVIEW and bool(others)
    confidence = field.confidence
    if is_doubted or confidence is None or not 0 <= confidence <= 1:
        return field.band
    if limits.is_doubtful(confidence):
        return Band.REVIEW
    is_auto = limits.auto is not None and confidence >= limits.auto and Reason.ENGINE_NOT_PROVEN not in field.reasons
    return Band.AUTO if is_auto else Band.SAMPLED


BY_CONFIDENCE = frozenset({Reason.LOW_CONFIDENCE, Reason.ENGINE_NOT_PROVEN, Reason.NOT_CERTIFIED})
"""Reasons that leave a value to its confidence; a certificate that comes makes the last one go."""


def is_decided_by_confidence(field: RoutedField) -> bool:
    """Whether nothing but its confidence stood between the value and being stored, a monitor's stop aside."""
    confidence = field.confidence
    is_known = confidence is not None and 0 <= confidence <= 1
    return is_known and not set(field.reasons) - BY_CONFIDENCE - {Reason.STOPPED_BY_MONITOR}


def what_if(
    documents: Iterable[Sequence[RoutedField]], rules: PolicyRules, required_paths: Iterable[str] = ()
) -> WhatIf:
    """Return the bands that documents and their fields would have had under `rules`.

    A document has the worst band of its required fields, of all where it has none. Fields of one column of a table
    count together under the path with `*`.
    """
    required = frozenset(required_paths)
    whole: list[Band] = []
    looks: list[float] = []
    by_path: dict[str, list[Band]] = {}
    for fields in documents:
        bands = [(field.field_path, reband(field, rules.thresholds_for(field.field_path))) for field in fields]
        deciding = [band for path, band in bands if column_path(path) in required] or [band for _, band in bands]
        whole.append(Band.worst(deciding))
        looks.append(_look_probability(whole[-1], rules, fields))
        for path, band in bands:
            by_path.setdefault(column_path(path), []).append(band)
    of_fields = {path: BandCounts.of(bands) for path, bands in by_path.items()}
    return WhatIf(BandCounts.of(whole), of_fields, math.fsum(looks))


def _look_probability(band: Band, rules: PolicyRules, fields: Sequence[RoutedField]) -> float:
    """Return the probability that a person is asked to look at a document of `band`."""
    if band is Band.REVIEW:
        return 1.0
    return document_share(band, rules, fields[0].interest if fields else None)


def unseen_weight_under(rules: PolicyRules, field: RoutedField, inclusion_probability: float) -> float:
    """Return how many values stored unseen under `rules` an examined field stands for; 0 when a person would look.

    It stands for 1/pi fields like it (`review.accuracy.estimators`), pi being the chance that its own document had; of
    these the share that the rules' audits of such a document leave out would be stored unseen. The document is taken
    to fall into the field's band. Raise ValueError unless 0 < pi <= 1.
    """
    if not 0 < inclusion_probability <= 1:
        raise ValueError("an inclusion probability lies above 0 and is at most 1")
    band = reband(field, rules.thresholds_for(field.field_path))
    return 0.0 if band is Band.REVIEW else (1 - document_share(band, rules, field.interest)) / inclusion_probability
