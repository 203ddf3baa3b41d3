"""A model is trained by a worker, step by step, from a frozen snapshot; what comes of it is frozen too."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._claims import is_of_dead_process, new_claim_token
from review.actions._compositions import ensure_composed_version
from review.actions._enqueue import TRAIN, TRAINING_TIMEOUT_SECONDS, enqueue
from review.exceptions import ConflictError
from review.live.events import TrainingEvent, TrainingEventName, publish
from review.models import (
    DocumentType,
    EngineVersion,
    ModelKind,
    Project,
    TrainedModel,
    TrainingRun,
    TrainingState,
)
from review.selectors.access import SYSTEM, Actor
from review.selectors.calibration import LabelsToCalibrate, evidence_to_calibrate, types_to_calibrate
from review.selectors.engines import base_of
from review.selectors.training import Taught, base_to_learn_on, is_training, newest_label_id, types_with_new_labels

UNFINISHED = (TrainingState.QUEUED, TrainingState.RUNNING)
GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True)
class ClaimedTraining:
    """A training that this process does now; `token` proves it."""

    run: TrainingRun
    token: str


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
    run = TrainingRun.objects.create(
        project=project,
        document_type=document_type,
        kind=kind,
        base=base,
        seed=seed,
        snapshot={"labels_up_to": newest_label_id(project, document_type)},
        requested_by=actor.user,
    )
    enqueue(TRAIN, run.pk, timeout_seconds=TRAINING_TIMEOUT_SECONDS)
    record_audit(actor, "training.requested", run, project=project, detail={"kind": str(kind), "seed": seed})
    _publish(run, "training.requested")
    return run


def _version_to_learn_on(kind: ModelKind, document_type: DocumentType) -> EngineVersion | None:
    """Return whose words a locator learns on, or whose evidence a calibrator sees."""
    of_kind = evidence_to_calibrate if kind == ModelKind.CALIBRATOR else base_to_learn_on
    return of_kind(document_type)


def request_due_trainings() -> int:
    """Queue what is due of each type, one training of a type at a time; return how many.

    A locator is due when STET_TRAIN_EVERY verdicts have come since the last one, a calibrator when so many values were
    examined on the evidence of the version that reads now. The locator goes first: once it reads, that evidence is
    another.
    """
    at_least = settings.STET_TRAIN_EVERY
    if not at_least:
        return 0
    due = [(one, ModelKind.LOCATOR) for one in types_with_new_labels(at_least)]
    due += [(one, ModelKind.CALIBRATOR) for one in types_to_calibrate(at_least)]
    return sum(_request_alone(document_type, kind) for document_type, kind in due)


def _request_alone(document_type: DocumentType, kind: ModelKind) -> bool:
    """Queue a training that nobody asked for, unless another one of the type is under way; whether it was queued."""
    base = _version_to_learn_on(kind, document_type)
    if base is None:
        return False
    with transaction.atomic(durable=True):
        # Every host looks for what is due: of two at the same moment the second one sees what the first one queued.
        DocumentType.objects.select_for_update(no_key=True).only("pk").get(pk=document_type.pk)
        if is_training(document_type):
            return False
        _queue(SYSTEM, document_type.project, document_type, kind=kind, base=base)
    return True


def cancel_training(*, actor: Actor, run: TrainingRun) -> TrainingRun:
    """Stop a training that is not finished: its worker stops before its next step. Twice is once.

    Raise ConflictError where it is finished.
    """
    with transaction.atomic(durable=True):
        now = timezone.now()
        mine = TrainingRun.objects.filter(pk=run.pk, state__in=UNFINISHED)
        is_cancelled = mine.update(state=TrainingState.CANCELLED, claim_token="", finished_at=now, touched_at=now)
        run.refresh_from_db()
        if is_cancelled:
            record_audit(actor, "training.cancelled", run, project=run.project_id)
            _publish(run, "training.cancelled")
        elif run.state != TrainingState.CANCELLED:
            raise ConflictError(_("This training is finished already and cannot be cancelled."))
    return run


def claim_training(*, training_run_id: int) -> ClaimedTraining | None:
    """Claim a queued training for this process and count the attempt; None when there is nothing to do.

    One that has ended STET_MAX_ATTEMPTS workers fails. No audit row: nothing has happened yet.
    """
    run = TrainingRun.objects.select_related(
        "project", "document_type__active_version", "document_type__project", "base__base", "base__locator"
    ).filter(pk=training_run_id, state=TrainingState.QUEUED)
    found = run.first()
    if found is None:
        return None
    if found.n_attempts >= settings.STET_MAX_ATTEMPTS:
        fail_training(claim=ClaimedTraining(found, found.claim_token), code=GAVE_UP)
        return None
    token = new_claim_token()
    with transaction.atomic(durable=True):
        same = run.filter(n_attempts=found.n_attempts)
        mine = same.update(
            state=TrainingState.RUNNING,
            claim_token=token,
            n_attempts=F("n_attempts") + 1,
            n_done=0,
            touched_at=timezone.now(),
        )
    found.refresh_from_db(fields=["state", "claim_token", "n_attempts", "n_done", "touched_at", "snapshot"])
    return ClaimedTraining(found, token) if mine else None


def settle_snapshot(*, claim: ClaimedTraining, taught: Taught, n_steps: int) -> bool:
    """Freeze what a training learns from, once: a later attempt learns from the same. False when it is not ours.

    No audit row: the snapshot is part of the run.
    """
    documents = [one.as_json() for one in taught.documents]
    return _settle(claim, "documents", documents, taught.left_out, n_steps)


def settle_labels(*, claim: ClaimedTraining, labels: LabelsToCalibrate, n_steps: int) -> bool:
    """Freeze which labels a calibrator learns from, as `settle_snapshot` does with documents."""
    return _settle(claim, "labels", list(labels.label_ids), labels.left_out, n_steps)


def _settle(claim: ClaimedTraining, name: str, rows: Sequence[Any], left_out: Mapping[str, int], n_steps: int) -> bool:
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    settled = {name: rows, "left_out": dict(left_out), "sha256": digest}
    snapshot = claim.run.snapshot if name in claim.run.snapshot else claim.run.snapshot | settled
    with transaction.atomic(durable=True):
        now = timezone.now()
        mine = _claimed(claim).update(snapshot=snapshot, n_steps=n_steps, touched_at=now)
    claim.run.snapshot, claim.run.n_steps = snapshot, n_steps
    return bool(mine)


def note_training_step(*, claim: ClaimedTraining, n_done: int) -> bool:
    """Tell how many steps are done; false when it was cancelled or taken over, and must stop. No audit row."""
    with transaction.atomic(durable=True):
        if not _claimed(claim).update(n_done=n_done, touched_at=timezone.now()):
            return False
        claim.run.n_done = n_done
        _publish(claim.run, "training.progressed")
    return True


def finish_training(
    *, claim: ClaimedTraining, payload: bytes, format_name: str, metrics: Mapping[str, Any]
) -> TrainedModel | None:
    """Freeze what was learned and close the run; None when it is no longer ours.

    A locator is composed with the base it learned on, a calibrator with the version whose evidence it saw
    (`review.selectors.training.composed_with`). Nothing reads with it until it is rolled out.
    """
    with transaction.atomic(durable=True):
        if not _close(claim, TrainingState.DONE, metrics=dict(metrics), n_done=F("n_steps")):
            return None
        run = claim.run
        model = TrainedModel.objects.create(
            project=run.project,
            document_type=run.document_type,
            kind=run.kind,
            format=format_name,
            sha256=hashlib.sha256(payload).hexdigest(),
            payload=payload,
            metrics=dict(metrics),
            training_run=run,
        )
        composed = _composed(run, model)
        detail = {"kind": run.kind, "sha256": model.sha256, "engine_version": composed.digest if composed else ""}
        record_audit(SYSTEM, "training.done", run, project=run.project_id, detail=detail)
        _publish(run, "training.done")
    return model


def _composed(run: TrainingRun, model: TrainedModel) -> EngineVersion | None:
    if run.base is None or run.kind not in (ModelKind.LOCATOR, ModelKind.CALIBRATOR):
        return None
    if run.kind == ModelKind.LOCATOR:
        return ensure_composed_version(run.base, locator=model)
    return ensure_composed_version(base_of(run.base), locator=run.base.locator, calibrator=model)


def fail_training(*, claim: ClaimedTraining, code: str, metrics: Mapping[str, Any] | None = None) -> bool:
    """Close a training that came to nothing; `code` says why.

    "nothing_learned" (the prior is better, `metrics` say why), "too_few_types" and "types_too_alike" for
    a classifier, "training_failed", GAVE_UP.
    """
    with transaction.atomic(durable=True):
        mine = _close(claim, TrainingState.FAILED, error_code=code, metrics=dict(metrics or {}))
        if mine:
            detail = {"kind": claim.run.kind, "error": code}
            record_audit(SYSTEM, "training.failed", claim.run, project=claim.run.project_id, detail=detail)
            _publish(claim.run, "training.failed")
    return mine


def requeue_trainings() -> int:
    """Queue trainings again whose worker died or has not been heard of; return how many.

    The silent one, should it live, finds that the training is no longer its own; whoever takes it over learns from the
    same snapshot.
    """
    unfinished = TrainingRun.objects.filter(state__in=UNFINISHED).values_list("pk", "claim_token", "touched_at")
    n_queued = 0
    for pk, token, touched_at in unfinished:
        if touched_at >= _silent_before() and not is_of_dead_process(token):
            continue
        with transaction.atomic(durable=True):
            same = TrainingRun.objects.filter(pk=pk, state__in=UNFINISHED, claim_token=token, touched_at=touched_at)
            if same.update(state=TrainingState.QUEUED, claim_token="", touched_at=timezone.now()):
                enqueue(TRAIN, pk, timeout_seconds=TRAINING_TIMEOUT_SECONDS)
                n_queued += 1
    return n_queued


def _silent_before() -> datetime:
    # One step, a field of 2,000 documents, may take minutes on a machine that is busy.
    return timezone.now() - timedelta(seconds=max(settings.STET_CLAIM_SECONDS, TRAINING_TIMEOUT_SECONDS / 2))


def _claimed(claim: ClaimedTraining) -> QuerySet[TrainingRun]:
    return TrainingRun.objects.filter(pk=claim.run.pk, state=TrainingState.RUNNING, claim_token=claim.token)


def _close(claim: ClaimedTraining, state: TrainingState, **values: object) -> bool:
    now = timezone.now()
    mine = TrainingRun.objects.filter(pk=claim.run.pk, state__in=UNFINISHED, claim_token=claim.token)
    is_closed = mine.update(state=state, finished_at=now, touched_at=now, **values)
    claim.run.refresh_from_db(fields=["state", "error_code", "metrics", "n_done", "finished_at", "touched_at"])
    return bool(is_closed)


def _publish(run: TrainingRun, name: TrainingEventName) -> None:
    publish(TrainingEvent(name, run.project_id, run.pk, run.kind, run.state, run.n_done, run.n_steps))
