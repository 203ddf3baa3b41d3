"""What begins by itself: a locator, then a calibrator of what reads now, one training of a type at a time."""

import pytest
from pytest_django import Settings

from review.actions._compositions import ensure_composed_version
from review.actions.training import _request_alone, request_due_trainings
from review.models import (
    DocumentType,
    EngineVersion,
    FieldReview,
    ModelKind,
    RolloutStage,
    TrainedModel,
    TrainingRun,
    WorkState,
)
from review.tasks_training import train
from tests import factories
from tests.conftest import Cast
from tests.review.calibration_room import overconfident, to_learn_from
from tests.review.queueing import queued
from tests.review.rollout_room import rolled_out
from tests.review.targets_room import examine
from tests.review.taught import teach
from tests.review.trained import make_locator

pytestmark = pytest.mark.django_db

EVERY = 30


@pytest.fixture(autouse=True)
def _often(settings: Settings) -> None:
    settings.STET_TRAIN_EVERY = EVERY


def end(state: WorkState = WorkState.CANCELLED) -> None:
    """Whatever is under way has ended."""
    TrainingRun.objects.filter(state=WorkState.QUEUED).update(state=state)


def asked() -> list[str]:
    return list(TrainingRun.objects.order_by("pk").values_list("kind", flat=True))


def without_locator(document_type: DocumentType) -> None:
    """No verdict is new to a locator: what is due then is due for another reason."""
    newest = FieldReview.objects.order_by("-pk").values_list("pk", flat=True)[0]
    TrainingRun.objects.create(
        project=document_type.project,
        document_type=document_type,
        kind=ModelKind.LOCATOR,
        state=WorkState.DONE,
        snapshot={"labels_up_to": newest},
    )


def test_a_calibrator_begins_when_enough_was_examined_and_again_after_as_many_more(cast: Cast) -> None:
    overconfident(cast.document_type, EVERY - 1)
    without_locator(cast.document_type)
    assert request_due_trainings() == 0
    examine(cast.document_type, [(0.9, True)])
    assert request_due_trainings() == 1
    run = TrainingRun.objects.get(kind=ModelKind.CALIBRATOR)
    assert (run.requested_by, run.document_type, run.base) == (
        None,
        cast.document_type,
        factories.make_engine_version(),
    )
    assert queued() == [("train", run.pk)]
    train(run.pk)
    run.refresh_from_db()
    assert run.finished_at is not None
    assert len(run.snapshot["labels"]) == len(to_learn_from(cast.document_type))
    assert request_due_trainings() == 0
    examine(cast.document_type, [(0.9, True)] * EVERY)
    without_locator(cast.document_type)
    assert request_due_trainings() == 1


def test_the_locator_goes_first_and_the_calibrator_waits_until_it_is_done(cast: Cast) -> None:
    teach(cast.document_type, cast.reviewer, 1, base=factories.make_engine_version())
    overconfident(cast.document_type, EVERY)
    assert request_due_trainings() == 1
    assert asked() == ["locator"]
    assert request_due_trainings() == 0
    TrainingRun.objects.update(state=WorkState.RUNNING)
    assert request_due_trainings() == 0
    TrainingRun.objects.update(state=WorkState.QUEUED)
    end()
    assert request_due_trainings() == 1
    assert asked() == ["locator", "calibrator"]
    assert request_due_trainings() == 0
    end()
    assert request_due_trainings() == 0


def test_of_two_hosts_at_the_same_moment_one_queues_it(cast: Cast) -> None:
    overconfident(cast.document_type, 1)
    assert _request_alone(cast.document_type, ModelKind.CALIBRATOR)
    for kind in (ModelKind.CALIBRATOR, ModelKind.LOCATOR):
        assert not _request_alone(cast.document_type, kind)
    assert asked() == ["calibrator"]


@pytest.mark.parametrize("changes", [{"is_in_sample": False}, {"is_correct": None}, {"confidence": None}])
def test_what_teaches_a_calibrator_nothing_does_not_begin_one(cast: Cast, changes: dict[str, object]) -> None:
    overconfident(cast.document_type, EVERY)
    without_locator(cast.document_type)
    FieldReview.objects.update(**changes)
    assert request_due_trainings() == 0


def test_counting_begins_anew_once_another_evidence_reads(cast: Cast) -> None:
    base = factories.make_engine_version()
    overconfident(cast.document_type, EVERY)
    without_locator(cast.document_type)
    located = ensure_composed_version(base, make_locator(cast.document_type, {"/total": {"top": 1.0}}))
    rolled_out(cast, located, RolloutStage.LIVE)
    assert request_due_trainings() == 0
    examine(cast.document_type, [(0.9, True)] * EVERY, engine_version=located)
    without_locator(cast.document_type)
    assert request_due_trainings() == 1
    assert TrainingRun.objects.get(kind=ModelKind.CALIBRATOR).base == located


def test_what_another_type_was_trained_on_since_is_no_training_of_this_one(cast: Cast) -> None:
    overconfident(cast.document_type, EVERY)
    without_locator(cast.document_type)
    newest = FieldReview.objects.order_by("-pk").values_list("pk", flat=True)[0]
    TrainingRun.objects.create(
        project=cast.project,
        document_type=factories.make_document_type(cast.project, "invoice"),
        kind=ModelKind.CALIBRATOR,
        base=factories.make_engine_version(),
        state=WorkState.DONE,
        snapshot={"labels_up_to": newest},
    )
    assert request_due_trainings() == 1
    assert TrainingRun.objects.latest("pk").document_type == cast.document_type


def test_what_a_calibrated_version_read_counts_for_the_evidence_beneath_it(cast: Cast) -> None:
    overconfident(cast.document_type, EVERY)
    calibrated = calibrated_version(cast)
    rolled_out(cast, calibrated, RolloutStage.LIVE)
    FieldReview.objects.update(engine_version=calibrated)
    without_locator(cast.document_type)
    assert request_due_trainings() == 1
    assert TrainingRun.objects.get(kind=ModelKind.CALIBRATOR).base == factories.make_engine_version()


def calibrated_version(cast: Cast) -> EngineVersion:
    model = TrainedModel.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        kind=ModelKind.CALIBRATOR,
        sha256="1" * 64,
        payload=b"{}",
    )
    return ensure_composed_version(factories.make_engine_version(), calibrator=model)
