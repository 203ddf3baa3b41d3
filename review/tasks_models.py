"""What was learned, loaded where it is used: checked against its SHA-256, once a process for each model."""

import functools
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import structlog

from inference.classify import TypeClassifier, TypeGuess
from inference.errors import ModelDamagedError
from inference.fields.learned import LearnedScorer
from inference.fields.prior import Scorer
from inference.types import FieldReading, PageReading
from review.accuracy.calibrators import Calibrator, CalibratorError, calibrator_from_json
from review.actions.reading import TypeSuggestion
from review.models import Document, EngineVersion
from review.routing.paths import column_path
from review.selectors.calibration import READER_CONFIDENCE
from review.selectors.engines import evidence_version
from review.selectors.trained_models import classifier_id, trained_model, type_slug

LOADED = 8
"""So many models stay loaded: a few types, each with the one that reads and the one that wants to."""

UNLIKELY = 0.02
"""A page belongs to another type when the classifier is sure of that one and its own is so unlikely."""
log = structlog.get_logger(__name__)

Calibrate = Callable[[Sequence[FieldReading]], tuple[FieldReading, ...]]
"""Puts what was learned of a reader's confidence in its place, between reading and routing."""


def load_models(version: EngineVersion) -> None:
    """Load what a version was composed of; raise ModelDamagedError where it cannot be used."""
    scorer_of(version)
    calibrate_of(version)


def scorer_of(version: EngineVersion | None) -> Scorer | None:
    """Return the learned scorer of a version, None where the prior scores; raise ModelDamagedError."""
    if version is None or version.locator_id is None:
        return None
    return _scorer(os.getpid(), version.locator_id)


def calibrate_of(version: EngineVersion | None) -> Calibrate | None:
    """Return what a version's calibrator makes of confidences, None without one; raise ModelDamagedError."""
    if version is None or version.calibrator_id is None:
        return None
    calibrations = _calibrations(os.getpid(), version.calibrator_id)
    return functools.partial(_calibrated, calibrations=calibrations, digest=evidence_version(version).digest)


def suggested_type(document: Document, reading: PageReading) -> TypeSuggestion | None:
    """Return another type that a document's first page looks like, None where its own will do.

    What is not learned is not doubted: neither a type that the classifier does not know nor one that it is unsure of,
    nor a page that is like none of the types that it has seen.
    """
    guessed = guessed_type(document, reading)
    if guessed is None or not guessed.is_sure:
        return None
    is_doubtful = guessed.chances.get(document.document_type_id, 1.0) <= UNLIKELY
    return suggestion_of(document, guessed) if is_doubtful else None


def guessed_type(document: Document, reading: PageReading) -> TypeGuess | None:
    """Return what the classifier of a document's project makes of its first page, None where it can say nothing."""
    classifier = _classifier_of(document)
    return classifier.guess(reading) if classifier is not None else None


def suggestion_of(document: Document, guessed: TypeGuess) -> TypeSuggestion | None:
    """Return a guess as it is kept with a document; None for a type that is no more, or has no schema."""
    classifier, slug = _classifier_of(document), type_slug(document.project_id, guessed.label)
    if classifier is None or not slug:
        return None
    return TypeSuggestion(guessed.label, slug, guessed.chance, classifier.n_documents)


def _classifier_of(document: Document) -> TypeClassifier | None:
    model_id = classifier_id(document.project_id)
    if model_id is None:
        return None
    try:
        return _classifier(os.getpid(), model_id)
    except ModelDamagedError as error:
        log.warning("classifier cannot be had", reason=error.code)
        return None


def payload_of(model_id: int) -> bytes:
    """Return the bytes of a trained model; raise ModelDamagedError where they are not those that were stored."""
    model = trained_model(model_id)
    payload = bytes(model.payload)
    if hashlib.sha256(payload).hexdigest() != model.sha256:
        raise ModelDamagedError(f"the bytes of the trained model {model_id} are not those that were stored")
    return payload


# By process: a native session does not survive a fork.
@functools.lru_cache(maxsize=LOADED)
def _scorer(_pid: int, model_id: int) -> LearnedScorer:
    return LearnedScorer(payload_of(model_id))


@functools.lru_cache(maxsize=LOADED)
def _classifier(_pid: int, model_id: int) -> TypeClassifier:
    return TypeClassifier.from_bytes(payload_of(model_id))


@functools.lru_cache(maxsize=LOADED)
def _calibrations(_pid: int, model_id: int) -> Mapping[str, tuple[str, Calibrator]]:
    """Return by field path, rows as `*`, whose evidence was seen and the map: what `Calibration.as_json` says of both.

    The class itself comes with scikit-learn, which is not loaded for that.
    """
    try:
        stored = json.loads(payload_of(model_id))
        return {
            path: (str(data["engine_version"]), calibrator_from_json(data["calibrator"]))
            for path, data in stored.items()
        }
    except (AttributeError, CalibratorError, KeyError, TypeError, ValueError) as error:
        raise ModelDamagedError(f"the trained model {model_id} is no calibrator") from error


def forget_models() -> None:
    """Drop what is loaded in this process (tests)."""
    _scorer.cache_clear()
    _classifier.cache_clear()
    _calibrations.cache_clear()


def _calibrated(
    fields: Sequence[FieldReading], calibrations: Mapping[str, tuple[str, Calibrator]], digest: str
) -> tuple[FieldReading, ...]:
    """Return the fields with calibrated confidences; one that no calibration speaks of keeps its own."""
    return tuple(_calibrated_field(field, calibrations.get(column_path(field.field_path)), digest) for field in fields)


def _calibrated_field(field: FieldReading, found: tuple[str, Calibrator] | None, digest: str) -> FieldReading:
    if found is None or found[0] != digest or field.confidence is None:
        return field
    # What the reader itself said is kept: the next calibrator learns from that, and not from what this one makes of it.
    evidence = {**field.evidence, READER_CONFIDENCE: field.confidence}
    return replace(field, confidence=found[1].probability(field.confidence, field.evidence), evidence=evidence)
