"""Calibrating a field: from what a reader claims to how often it is right, learned from reviewed values (B6).

**From which labels.** Examined values with a known inclusion probability, each weighted by 1/pi
(`review.accuracy.estimators`): reviewers see the doubtful ones, and a map fitted to what they saw would take everything
for doubtful. Weights are brought to the effective number of labels they are worth.

**Few labels.** The other fields of the document type speak along with the voice of at most 50 labels: a field with none
of its own gets the pooled map, one with ten is pulled far towards it, one with a thousand hardly at all. (Shrinkage by
borrowed data, as a prior worth 50 observations.)

**Which map.** Identity, logistic on the evidence, isotonic and Venn-Abers (`review.accuracy.calibrators`) are fitted
with documents in five folds, so that the fields of one document are never on both sides, and judged by the log-loss of
what was left out, under the same weights. The best one is fitted again to everything; of equals the plainest wins, so
that nothing is changed where nothing is gained.

**What it holds for.** Evidence means something else to another engine version, so a calibration answers for the one
that it learned from and says None for any other: that one starts uncalibrated. Values a calibration learned from must
not certify its thresholds (`review.routing.targets`); a draw for `Purpose.CALIBRATION` (`review.routing.sampling`)
divides the documents.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from review.accuracy.calibrator_fitting import METHODS, Labels, effective_n, in_labels
from review.accuracy.calibrators import Calibrator, CalibratorError, Identity, calibrator_from_json
from review.accuracy.probability_scores import ProbabilityScores, log_loss, probability_scores

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
BORROWED_LABELS = 50.0
_FORMAT = 1
_NO_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class LabelledField:
    """One examined value: its document for ever, its field (rows as `*`), what the reader claimed, and whether rightly.

    `confidence` is in 0-1; `evidence` holds numbers by name; `weight` above 0 is how many values it stands for.
    """

    document: str
    field_path: str
    confidence: float
    evidence: Mapping[str, float]
    is_correct: bool
    weight: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A frozen map for one field as one engine version reads it, and how it was come by.

    `n_labels` of the field itself, in `n_documents`, and of others that were borrowed from. `before` and `after` judge
    confidence and the map on labels of this field that the map judged had not seen; `log_losses` are those of all
    methods that could be fitted, by which this one was chosen.
    """

    engine_version: str
    field_path: str
    calibrator: Calibrator
    n_labels: int
    n_documents: int
    n_borrowed: int
    log_losses: Mapping[str, float]
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    def probability(self, engine_version: str, confidence: float | None, evidence: Mapping[str, float]) -> float | None:
        """Return the chance that a value is right; None for another engine version or a missing confidence."""
        if engine_version != self.engine_version or confidence is None or not 0 <= confidence <= 1:
            return None
        return self.calibrator.probability(confidence, evidence)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `from_json` is its inverse."""
        return {
            "format": _FORMAT,
            "engine_version": self.engine_version,
            "field_path": self.field_path,
            "calibrator": self.calibrator.as_json(),
            "n_labels": self.n_labels,
            "n_documents": self.n_documents,
            "n_borrowed": self.n_borrowed,
            "log_losses": dict(self.log_losses),
            "before": dict(self.before),
            "after": dict(self.after),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Calibration":
        """Return the calibration of stored data; raise CalibratorError where it is none."""
        try:
            if data["format"] != _FORMAT:
                raise CalibratorError(f"calibrations of format {data['format']!r} are not known here")
            values = {name: value for name, value in data.items() if name != "format"}
            return cls(**{**values, "calibrator": calibrator_from_json(data["calibrator"])})
        except (KeyError, TypeError) as error:
            raise CalibratorError("this is no calibration") from error


def calibrate(labels: Sequence[LabelledField], field_path: str, engine_version: str) -> Calibration:
    """Return the calibration of one field, from labels of all fields of its document type by one engine version.

    The same labels in any order give the same map. Raise ValueError for a weight that is not above 0.
    """
    ordered = sorted(labels, key=lambda one: (one.document, one.field_path, one.confidence, one.is_correct))
    if any(not 0 < one.weight < np.inf for one in ordered):
        raise ValueError("a label stands for more than no value")
    is_own = np.array([one.field_path == field_path for one in ordered], dtype=bool)
    everything = Labels(
        np.array([one.confidence for one in ordered], dtype=np.float64),
        [one.evidence for one in ordered],
        np.array([one.is_correct for one in ordered], dtype=bool),
        _weights(np.array([one.weight for one in ordered], dtype=np.float64), is_own),
    )
    folds = folds_by_document([one.document for one in ordered])
    left_out = {name: found for name in METHODS if (found := _left_out(name, everything, folds)) is not None}
    losses = {name: log_loss(found, everything.correct, everything.weights) for name, found in left_out.items()}
    chosen = _best(losses)
    own = [one.document for one, is_it in zip(ordered, is_own, strict=True) if is_it]

    def judged(name: str) -> ProbabilityScores:
        found = left_out.get(name, np.empty(0))
        return probability_scores(found[is_own], everything.correct[is_own], everything.weights[is_own])

    return Calibration(
        engine_version=engine_version,
        field_path=field_path,
        calibrator=METHODS[chosen](everything) or Identity(),
        n_labels=len(own),
        n_documents=len(set(own)),
        n_borrowed=len(ordered) - len(own),
        log_losses=losses,
        before=judged(Identity.method).as_json() if ordered else {},
        after=judged(chosen).as_json() if ordered else {},
    )


def folds_by_document(documents: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the fold (0-4) of each label: that of its document, of equal numbers of documents, in order of a hash."""
    by_hash = sorted(set(documents), key=lambda document: hashlib.sha256(document.encode()).digest())
    fold = {document: place % N_FOLDS for place, document in enumerate(by_hash)}
    return np.array([fold[document] for document in documents], dtype=np.int64)


def _weights(weights: Floats, is_own: npt.NDArray[np.bool_]) -> Floats:
    """Return weights in labels: the field's own at what they are worth, all others together at 50 labels at most."""
    combined = np.zeros(len(weights))
    combined[is_own] = in_labels(weights[is_own])
    others = in_labels(weights[~is_own])
    worth = effective_n(weights[~is_own])
    combined[~is_own] = others * (min(worth, BORROWED_LABELS) / worth if worth > 0 else 0.0)
    return combined


def _left_out(method: str, labels: Labels, folds: npt.NDArray[np.int64]) -> Floats | None:
    """Return for every label what the method says of it, fitted to the other folds; None where it cannot be fitted."""
    found = np.empty(len(folds))
    for fold in np.unique(folds):
        is_out = folds == fold
        fitted = METHODS[method](_part(labels, ~is_out))
        if fitted is None:
            return None
        for place in np.flatnonzero(is_out).tolist():
            found[place] = fitted.probability(float(labels.confidences[place]), labels.evidence[place])
    return found if len(folds) else None


def _part(labels: Labels, chosen: npt.NDArray[np.bool_]) -> Labels:
    evidence = [one for one, is_in in zip(labels.evidence, chosen, strict=True) if is_in]
    return Labels(labels.confidences[chosen], evidence, labels.correct[chosen], labels.weights[chosen])


def _best(losses: Mapping[str, float]) -> str:
    """Return the method with the least loss, the plainest of equals; METHODS is in that order."""
    best = Identity.method
    for name, loss in losses.items():
        if loss < losses[best] - _NO_GAIN:
            best = name
    return best
