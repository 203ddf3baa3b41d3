"""A model is trained by a worker, step by step, from a frozen snapshot; what comes of it is frozen too."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._compositions import ensure_composed_version
from review.actions._work import GAVE_UP, cancel, end, find_free, is_worn_out, queue, step, take
from review.exceptions import ConflictError
from review.live.events import TrainingEvent, TrainingEventName, publish
from review.models import (
    DocumentType,
    EngineVersion,
    ModelKind,
    Project,
    TrainedModel,
    TrainingRun,
    WorkState,
)
from review.selectors.access import SYSTEM, Actor
from review.selectors.calibration import LabelsToCalibrate, evidence_to_calibrate, types_to_calibrate
from review.selectors.engines import base_of
from review.selectors.training import (
    Taught,
    base_to_learn_on,
    is_training,
    newest_label_id,
    projects_with_new_labels,
    types_with_new_labels,
)


def request_training(
    *, actor: Actor, project: Project, document_type: DocumentType | None, kind: ModelKind, seed: int = 0
) -> TrainingRun:
    """Queue a training: of a locator or a calibrator for one type, or of the classifier of a project's types (no type).

    Raise ConflictError where one of the same kind is under way ("training_under_way"), and where nothing of the type
    has been read yet ("nothing_read").
    """
    base = _version_to_learn_on(kind, document_type) if document_type is not None else None
    if document_type is not None and base is None:
        message = _("No document of this type has been read yet: there is nothing to learn from.")
        raise ConflictError(message, code="nothing_read")
    try:
        with transaction.atomic(durable=True):
            run = _queue(actor, project, document_type, kind=kind, base=base, seed=seed)
    except IntegrityError:
        message = _("Such a training is under way already. Wait until it is done, or cancel it.")
        raise ConflictError(message, code="training_under_way") from None
    return run


def _queue(
    actor: Actor,
    project: Project,
    document_type: DocumentType | None,
    *,
    kind: ModelKind,
    base: EngineVersion | None,
    seed: int = 0,
) -> TrainingRun:
    # A set that is being frozen at this moment is frozen before: the gate goes by which of both was first.
    _lock(project)
    run = TrainingRun.objects.create(
        project=project,
        document_type=document_type,
        kind=kind,
        base=base,
        seed=seed,
        snapshot={"labels_up_to": newest_label_id(project, document_type)},
        requested_by=actor.user,
    )
    queue(run)
    record_audit(actor, "training.requested", run, project=project, detail={"kind": str(kind), "seed": seed})
    _publish(run, "training.requested")
    return run


def _lock(project: Project) -> None:
    Project.objects.select_for_update(no_key=True).only("pk").get(pk=project.pk)


def _version_to_learn_on(kind: ModelKind, document_type: DocumentType) -> EngineVersion | None:
    """Return whose words a locator learns on, or whose evidence a calibrator sees."""
    of_kind = evidence_to_calibrate if kind == ModelKind.CALIBRATOR else base_to_learn_on
    return of_kind(document_type)


def request_due_trainings() -> int:
    """Queue what is due of each type and project, one training of a type at a time; return how many.

    A locator is due when STET_TRAIN_EVERY verdicts have come since the last one, a calibrator when so many values were
    examined on the evidence of the version that reads now. The locator goes first: once it reads, that evidence is
    another. The classifier of a project that has types to tell apart is due as a locator is.
    """
    at_least = settings.STET_TRAIN_EVERY
    if not at_least:
        return 0
    due = [(one, ModelKind.LOCATOR) for one in types_with_new_labels(at_least)]
    due += [(one, ModelKind.CALIBRATOR) for one in types_to_calibrate(at_least)]
    n_of_types = sum(_request_alone(document_type, kind) for document_type, kind in due)
    return n_of_types + sum(_request_classifier(project) for project in projects_with_new_labels(at_least))


def _request_classifier(project: Project) -> bool:
    try:
        request_training(actor=SYSTEM, project=project, document_type=None, kind=ModelKind.CLASSIFIER)
    except ConflictError:
        # Another host was first.
        return False
    return True


def _request_alone(document_type: DocumentType, kind: ModelKind) -> bool:
    """Queue a training that nobody asked for, unless another one of the type is under way; whether it was queued."""
    base = _version_to_learn_on(kind, document_type)
    if base is None:
        return False
    with transaction.atomic(durable=True):
        # Every host looks for what is due, and people ask for trainings: whoever comes second sees what the first one
        # has queued.
        _lock(document_type.project)
        if is_training(document_type):
            return False
        _queue(SYSTEM, document_type.project, document_type, kind=kind, base=base)
    return True


def cancel_training(*, actor: Actor, run: TrainingRun) -> TrainingRun:
    """Stop a training that is not finished: its worker stops before its next step. Twice is once.

    Raise ConflictError where it is finished.
    """
    with transaction.atomic(durable=True):
        if cancel(run):
            record_audit(actor, "training.cancelled", run, project=run.project_id)
            _publish(run, "training.cancelled")
        elif run.state != WorkState.CANCELLED:
            raise ConflictError(_("This training is finished already and cannot be cancelled."))
    return run


def claim_training(*, training_run_id: int) -> TrainingRun | None:
    """Claim a training for this process and count the attempt; None when there is nothing to do.

    One that has ended STET_MAX_ATTEMPTS workers fails. No audit row: nothing has happened yet.
    """
    runs = TrainingRun.objects.select_related(
        "project", "document_type__active_version", "document_type__project", "base__base", "base__locator"
    )
    run = find_free(runs, training_run_id)
    if run is None:
        return None
    if is_worn_out(run):
        fail_training(claim=run, code=GAVE_UP)
        return None
    with transaction.atomic(durable=True):
        return run if take(run, n_done=0) else None


def settle_snapshot(*, claim: TrainingRun, taught: Taught, n_steps: int) -> bool:
    """Freeze what a training learns from, once: a later attempt learns from the same. False when it is not ours.

    No audit row: the snapshot is part of the run.
    """
    documents = [one.as_json() for one in taught.documents]
    return _settle(claim, "documents", documents, taught.left_out, n_steps)


def settle_labels(*, claim: TrainingRun, labels: LabelsToCalibrate, n_steps: int) -> bool:
    """Freeze which labels a calibrator learns from, as `settle_snapshot` does with documents."""
    return _settle(claim, "labels", list(labels.label_ids), labels.left_out, n_steps)


def _settle(claim: TrainingRun, name: str, rows: Sequence[Any], left_out: Mapping[str, int], n_steps: int) -> bool:
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    settled = {name: rows, "left_out": dict(left_out), "sha256": digest}
    snapshot = claim.snapshot if name in claim.snapshot else claim.snapshot | settled
    with transaction.atomic(durable=True):
        return step(claim, snapshot=snapshot, n_steps=n_steps)


def note_training_step(*, claim: TrainingRun, n_done: int) -> bool:
    """Tell how many steps are done; false when it was cancelled or taken over, and must stop. No audit row."""
    with transaction.atomic(durable=True):
        if not step(claim, n_done=n_done):
            return False
        _publish(claim, "training.progressed")
    return True


def finish_training(
    *, claim: TrainingRun, payload: bytes, format_name: str, metrics: Mapping[str, Any]
) -> TrainedModel | None:
    """Freeze what was learned and close the run; None when it is no longer ours.

    A locator is composed with the base it learned on, a calibrator with the version whose evidence it saw
    (`review.selectors.training.composed_with`). Nothing reads with it until it is rolled out.
    """
    with transaction.atomic(durable=True):
        if not end(claim, WorkState.DONE, metrics=dict(metrics), n_done=claim.n_steps):
            return None
        model = TrainedModel.objects.create(
            project=claim.project,
            document_type=claim.document_type,
            kind=claim.kind,
            format=format_name,
            sha256=hashlib.sha256(payload).hexdigest(),
            payload=payload,
            metrics=dict(metrics),
            training_run=claim,
        )
        composed = _composed(claim, model)
        detail = {"kind": claim.kind, "sha256": model.sha256, "engine_version": composed.digest if composed else ""}
        record_audit(SYSTEM, "training.done", claim, project=claim.project_id, detail=detail)
        _publish(claim, "training.done")
    return model


def _composed(run: TrainingRun, model: TrainedModel) -> EngineVersion | None:
    if run.base is None or run.kind not in (ModelKind.LOCATOR, ModelKind.CALIBRATOR):
        return None
    if run.kind == ModelKind.LOCATOR:
        return ensure_composed_version(run.base, locator=model)
    return ensure_composed_version(base_of(run.base), locator=run.base.locator, calibrator=model)


def fail_training(*, claim: TrainingRun, code: str, metrics: Mapping[str, Any] | None = None) -> bool:
    """Close a training that came to nothing; `code` says why.

    "nothing_learned" (the prior is better, `metrics` say why), "too_few_types" and "types_too_alike" for
    a classifier, "training_failed", GAVE_UP.
    """
    with transaction.atomic(durable=True):
        mine = end(claim, WorkState.FAILED, error_code=code, metrics=dict(metrics or {}))
        if mine:
            detail = {"kind": claim.kind, "error": code}
            record_audit(SYSTEM, "training.failed", claim, project=claim.project_id, detail=detail)
            _publish(claim, "training.failed")
    return mine


def _publish(run: TrainingRun, name: TrainingEventName) -> None:
    publish(TrainingEvent(name, run.project_id, run.pk, run.kind, run.state, run.n_done, run.n_steps))
