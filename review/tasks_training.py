"""A training runs outside of requests, step by step: cancelled between steps, begun anew where its worker died.

What it learns from is settled by its first attempt and the same for every other, so that whoever comes to the end
makes the same model.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from review.actions.training import (
    claim_training,
    fail_training,
    finish_training,
    note_training_step,
    settle_labels,
    settle_snapshot,
)
from review.learning.calibrator import ENOUGH, fit_calibrations
from review.learning.classifier import TooFewTypesError, TypedPage, fit_classifier
from review.learning.examples import FieldExample, field_example
from review.learning.graph import bundle
from review.learning.locator import FieldFit, feature_names, fit_field
from review.models import ModelKind, TrainingRun
from review.selectors.calibration import labelled_fields, labels_to_calibrate
from review.selectors.schemas import spec_of
from review.selectors.training import (
    documents_of_all_types,
    documents_to_learn_from,
    first_readings,
    taught_fields,
    taught_from,
)
from review.tasks import NoLongerOursError, task

DECIDED_ENOUGH = 0.5
"""A classifier that is sure of fewer pages that it has not seen would be of little use, or knows nothing at all."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Learned:
    """What a training made: the bytes and their format ("onnx", "json"), and how well it did by its own account."""

    payload: bytes
    format: str
    metrics: dict[str, Any]


class NothingLearnedError(Exception):
    """There is nothing that a model would do better than is done without; `metrics` say of each field why."""

    def __init__(self, code: str, metrics: Mapping[str, Any] | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.metrics = dict(metrics or {})


@task
def train(training_run_id: int) -> None:
    """Do a training that was asked for; delivered again, it does nothing that is done."""
    claim = claim_training(training_run_id=training_run_id)
    if claim is None:
        return
    try:
        learned = LEARN[ModelKind(claim.kind)](claim)
        finish_training(claim=claim, payload=learned.payload, format_name=learned.format, metrics=learned.metrics)
    except NoLongerOursError:
        log.info("training given up: cancelled or taken over")
    except NothingLearnedError as nothing:
        log.info("training came to nothing", reason=nothing.code)
        fail_training(claim=claim, code=nothing.code, metrics=nothing.metrics)
    except Exception:
        fail_training(claim=claim, code="training_failed")
        raise


def _step(run: TrainingRun, n_done: int) -> None:
    if not note_training_step(claim=run, n_done=n_done):
        raise NoLongerOursError


def learn_locator(run: TrainingRun) -> Learned:
    """Learn to find the fields of a document type: a step for the examples, one a field, one for the graph."""
    if run.document_type is None or run.document_type.active_version is None or run.base is None:
        raise NothingLearnedError("nothing_read")
    specs = spec_of(run.document_type.active_version).fields
    taught = documents_to_learn_from(run.document_type, run.base)
    if not settle_snapshot(claim=run, taught=taught, n_steps=len(specs) + 2):
        raise NoLongerOursError
    examples: dict[str, list[FieldExample]] = {spec.path: [] for spec in specs}
    for one in taught_fields(taught_from(run.snapshot)):
        for spec in specs:
            if spec.path in one.values:
                found = one.candidates.get(spec.path, ())
                examples[spec.path].append(field_example(str(one.document_id), spec, found, one.values[spec.path]))
    names = feature_names([one for found in examples.values() for one in found])
    _step(run, 1)
    fits: dict[str, FieldFit] = {}
    for n_done, spec in enumerate(specs, 2):
        fits[spec.path] = fit_field(examples[spec.path], names, run.seed, is_required=spec.is_required)
        _step(run, n_done)
    metrics = {"fields": {path: fit.metrics for path, fit in fits.items()}}
    trees = {path: (fit.trees, fit.prior_share) for path, fit in fits.items() if fit.trees is not None}
    if not trees:
        raise NothingLearnedError("nothing_learned", metrics)
    return Learned(bundle(trees, names, 2 * len(names) + 1), "onnx", metrics)


def learn_classifier(run: TrainingRun) -> Learned:
    """Learn to tell a project's document types apart by the first page."""
    if not settle_snapshot(claim=run, taught=documents_of_all_types(run.project), n_steps=2):
        raise NoLongerOursError
    pages = [
        TypedPage(str(one.document_id), reading, one.document_type_id)
        for one, reading in first_readings(taught_from(run.snapshot))
    ]
    _step(run, 1)
    try:
        classifier, metrics = fit_classifier(pages, run.seed)
    except TooFewTypesError:
        raise NothingLearnedError("too_few_types") from None
    _step(run, 2)
    if metrics["decided"] < DECIDED_ENOUGH:
        raise NothingLearnedError("types_too_alike", metrics)
    return Learned(classifier.as_bytes(), "json", metrics)


def learn_calibrator(run: TrainingRun) -> Learned:
    """Learn what confidence is worth: a step for the labels, one a field."""
    if run.document_type is None or run.base is None:
        raise NothingLearnedError("nothing_read")
    chosen = labels_to_calibrate(run.document_type, run.base, int(run.snapshot.get("labels_up_to", 0)))
    if not settle_labels(claim=run, labels=chosen, n_steps=1):
        raise NoLongerOursError
    labels = list(labelled_fields(run.snapshot["labels"]))
    if len(labels) < ENOUGH:
        raise NothingLearnedError("few_labels", {"n_labels": len(labels), "left_out": run.snapshot["left_out"]})
    # How many fields there are shows only now.
    n_steps = 1 + len({label.field_path for label in labels})
    if not settle_labels(claim=run, labels=chosen, n_steps=n_steps):
        raise NoLongerOursError
    _step(run, 1)
    found, metrics = fit_calibrations(labels, run.base.digest, lambda n_done: _step(run, n_done))
    if not found:
        raise NothingLearnedError("nothing_learned", metrics)
    payload = json.dumps({path: one.as_json() for path, one in found.items()}, sort_keys=True).encode()
    return Learned(payload, "json", metrics)


LEARN: Mapping[ModelKind, Callable[[TrainingRun], Learned]] = {
    ModelKind.LOCATOR: learn_locator,
    ModelKind.CALIBRATOR: learn_calibrator,
    ModelKind.CLASSIFIER: learn_classifier,
}
"""What is learned how; a kind is added here."""
