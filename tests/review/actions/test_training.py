"""A training is asked for once, claimed once, cancelled, taken over and closed once; what it made is frozen."""

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from review.actions.recovery import requeue_work
from review.actions.training import (
    cancel_training,
    claim_training,
    fail_training,
    finish_training,
    note_training_step,
    request_due_trainings,
    request_training,
    settle_snapshot,
)
from review.exceptions import ConflictError
from review.models import (
    AuditEntry,
    DocumentType,
    EngineVersion,
    Event,
    ModelKind,
    TrainedModel,
    TrainingRun,
    WorkState,
)
from review.selectors.access import SYSTEM
from review.selectors.training import LEAST_OF_A_TYPE, Taught, TaughtDocument, composed_with
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.dead_claims import DEAD
from tests.review.queueing import queued
from tests.review.taught import teach

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def base() -> EngineVersion:
    return factories.make_engine_version("rapidocr")


@pytest.fixture
def run(cast: Cast, base: EngineVersion) -> TrainingRun:
    teach(cast.document_type, cast.reviewer, 1, base=base)
    return requested(cast)


def requested(cast: Cast) -> TrainingRun:
    return request_training(
        actor=actor(cast.manager), project=cast.project, document_type=cast.document_type, kind=ModelKind.LOCATOR
    )


def claimed(run: TrainingRun) -> TrainingRun:
    claim = claim_training(training_run_id=run.pk)
    assert claim is not None
    return claim


def test_a_training_is_asked_for_and_queued(cast: Cast, run: TrainingRun, base: EngineVersion) -> None:
    assert (run.state, run.base, run.requested_by) == (WorkState.QUEUED, base, cast.manager)
    assert run.snapshot == {"labels_up_to": cast.document_type.training_runs.get().snapshot["labels_up_to"]}
    assert queued() == [("train", run.pk)]
    entry = AuditEntry.objects.get(action="training.requested")
    assert (entry.actor, entry.detail) == (cast.manager, {"kind": "locator", "seed": 0})
    assert Event.objects.get(name="training.requested").payload["training_run_id"] == run.pk


def test_a_second_one_of_the_same_kind_waits_for_the_first(cast: Cast, run: TrainingRun) -> None:
    with pytest.raises(ConflictError) as refused:
        requested(cast)
    assert refused.value.code == "training_under_way"
    cancel_training(actor=SYSTEM, run=run)
    assert requested(cast).pk > run.pk


def test_nothing_is_learned_of_what_nobody_has_read(cast: Cast) -> None:
    with pytest.raises(ConflictError) as refused:
        requested(cast)
    assert refused.value.code == "nothing_read"
    assert not TrainingRun.objects.exists()


def test_one_process_of_two_trains(run: TrainingRun) -> None:
    claim = claimed(run)
    assert claim_training(training_run_id=run.pk) is None
    assert (claim.state, claim.n_attempts) == (WorkState.RUNNING, 1)


def test_what_is_learned_from_is_settled_by_the_first_attempt(run: TrainingRun) -> None:
    first = Taught((TaughtDocument(1, 2, 3, 4),), {"held_out": 5})
    assert settle_snapshot(claim=claimed(run), taught=first, n_steps=3)
    run.refresh_from_db()
    assert run.snapshot["documents"] == [[1, 2, 3, 4]]
    assert run.snapshot["left_out"] == {"held_out": 5}
    assert len(run.snapshot["sha256"]) == 64
    assert "labels_up_to" in run.snapshot
    TrainingRun.objects.update(state=WorkState.QUEUED)
    again = claimed(run)
    assert settle_snapshot(claim=again, taught=Taught((), {}), n_steps=3)
    assert again.snapshot == run.snapshot


def test_a_cancelled_training_stops_before_its_next_step(cast: Cast, run: TrainingRun) -> None:
    claim = claimed(run)
    assert settle_snapshot(claim=claim, taught=Taught((), {}), n_steps=2)
    assert note_training_step(claim=claim, n_done=1)
    assert Event.objects.filter(name="training.progressed").get().payload["n_done"] == 1
    cancel_training(actor=actor(cast.manager), run=run)
    assert not note_training_step(claim=claim, n_done=2)
    assert finish_training(claim=claim, payload=b"x", format_name="onnx", metrics={}) is None
    assert not fail_training(claim=claim, code="training_failed")
    cancel_training(actor=SYSTEM, run=run)
    run.refresh_from_db()
    assert (run.state, TrainedModel.objects.count()) == (WorkState.CANCELLED, 0)
    assert AuditEntry.objects.get(action="training.cancelled").actor == cast.manager


def test_what_was_learned_is_frozen_and_composed_with_its_base(run: TrainingRun, base: EngineVersion) -> None:
    model = finish_training(claim=claimed(run), payload=b"bytes", format_name="onnx", metrics={"a": 1})
    assert model is not None
    assert (model.sha256, model.metrics) == (hashlib.sha256(b"bytes").hexdigest(), {"a": 1})
    composed = composed_with(model)
    assert composed is not None
    assert (composed.base, composed.locator, composed.calibrator) == (base, model, None)
    run.refresh_from_db()
    assert (run.state, run.trained_model, run.metrics) == (WorkState.DONE, model, {"a": 1})
    detail = AuditEntry.objects.get(action="training.done").detail
    assert detail == {"kind": "locator", "sha256": model.sha256, "engine_version": composed.digest}
    with pytest.raises(ConflictError):
        cancel_training(actor=SYSTEM, run=run)


def test_a_classifier_is_composed_with_nothing(cast: Cast) -> None:
    run = request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER)
    model = finish_training(claim=claimed(run), payload=b"{}", format_name="json", metrics={})
    assert model is not None
    assert (run.base, composed_with(model), EngineVersion.objects.count()) == (None, None, 0)
    request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER)
    with pytest.raises(ConflictError):
        request_training(actor=SYSTEM, project=cast.project, document_type=None, kind=ModelKind.CLASSIFIER)


def test_a_failed_training_says_why(run: TrainingRun) -> None:
    assert fail_training(claim=claimed(run), code="nothing_learned", metrics={"fields": {}})
    run.refresh_from_db()
    assert (run.state, run.error_code, run.metrics) == (WorkState.FAILED, "nothing_learned", {"fields": {}})
    assert claim_training(training_run_id=run.pk) is None


def test_a_training_whose_worker_died_goes_on_at_once(run: TrainingRun) -> None:
    claim = claimed(run)
    assert requeue_work() == {}
    TrainingRun.objects.update(claim_token=DEAD)
    assert requeue_work() == {"trainingrun": 1}
    assert not note_training_step(claim=claim, n_done=1)
    again = claimed(run)
    assert again.n_attempts == 2
    assert queued() == [("train", run.pk)] * 2


def test_a_silent_training_is_taken_over_after_a_while(run: TrainingRun, settings: Settings) -> None:
    claim = claimed(run)
    # One step may take minutes: longer than other work is silent.
    TrainingRun.objects.update(touched_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    assert requeue_work() == {}
    TrainingRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    assert requeue_work() == {"trainingrun": 1}
    run.refresh_from_db()
    assert (run.state, run.claim_token) == (WorkState.QUEUED, "")
    assert finish_training(claim=claim, payload=b"x", format_name="onnx", metrics={}) is None


def test_a_training_that_kills_its_workers_ends(run: TrainingRun, settings: Settings) -> None:
    settings.STET_MAX_ATTEMPTS = 2
    for _ in range(2):
        claimed(run)
        TrainingRun.objects.update(claim_token=DEAD)
        requeue_work()
    assert claim_training(training_run_id=run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.error_code) == (WorkState.FAILED, "gave_up")


def test_a_type_is_trained_by_itself_when_enough_was_settled(
    cast: Cast, base: EngineVersion, settings: Settings
) -> None:
    settings.STET_TRAIN_EVERY = 3
    for number in range(2):
        teach(cast.document_type, cast.reviewer, number, base=base)
    assert request_due_trainings() == 0
    teach(cast.document_type, cast.reviewer, 3, base=base, verdict="illegible")
    assert request_due_trainings() == 0
    teach(cast.document_type, cast.reviewer, 4, base=base)
    assert request_due_trainings() == 1
    assert request_due_trainings() == 0
    run = TrainingRun.objects.get()
    assert (run.requested_by, run.document_type, run.kind) == (None, cast.document_type, "locator")
    cancel_training(actor=SYSTEM, run=run)
    # What it has seen is not new any more.
    assert request_due_trainings() == 0
    for number in range(5, 8):
        teach(cast.document_type, cast.reviewer, number, base=base)
    assert request_due_trainings() == 1


def test_nothing_is_trained_by_itself_where_that_is_off(cast: Cast, base: EngineVersion, settings: Settings) -> None:
    settings.STET_TRAIN_EVERY = 0
    teach(cast.document_type, cast.reviewer, 1, base=base)
    assert request_due_trainings() == 0
    settings.STET_TRAIN_EVERY = 1
    assert request_due_trainings() == 1


def review_types(cast: Cast, n_each: int) -> None:
    other = DocumentType.objects.filter(project=cast.project, slug="invoice").first()
    other = other or factories.make_document_type(cast.project, "invoice")
    for number in range(n_each):
        for document_type in (cast.document_type, other):
            teach(document_type, cast.reviewer, number)


def due_classifiers() -> list[TrainingRun]:
    request_due_trainings()
    return list(TrainingRun.objects.filter(kind=ModelKind.CLASSIFIER).order_by("pk"))


def test_the_classifier_is_trained_by_itself_when_two_types_have_been_reviewed_enough(
    cast: Cast, settings: Settings
) -> None:
    settings.STET_TRAIN_EVERY = 6
    review_types(cast, LEAST_OF_A_TYPE - 1)
    assert due_classifiers() == []
    review_types(cast, 1)
    (run,) = due_classifiers()
    assert (run.project, run.document_type, run.requested_by) == (cast.project, None, None)
    # One at a time, and what it has seen is not new any more.
    assert due_classifiers() == [run]
    cancel_training(actor=SYSTEM, run=run)
    assert due_classifiers() == [run]
    review_types(cast, 2)
    assert due_classifiers() == [run]
    review_types(cast, 1)
    assert len(due_classifiers()) == 2
    settings.STET_TRAIN_EVERY = 0
    review_types(cast, 6)
    assert len(due_classifiers()) == 2


def test_a_project_of_one_type_has_none_to_tell_apart(cast: Cast, settings: Settings) -> None:
    settings.STET_TRAIN_EVERY = 1
    for number in range(2 * LEAST_OF_A_TYPE):
        teach(cast.document_type, cast.reviewer, number)
    assert due_classifiers() == []
