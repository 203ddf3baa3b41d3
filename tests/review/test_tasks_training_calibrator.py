"""A calibrator is trained from examined values, frozen, bound to the evidence it saw, and speaks before routing."""

import json

import pytest

from inference.types import FieldReading
from review.actions.targets import draft_from_targets
from review.actions.training import request_training
from review.exceptions import ConflictError
from review.models import EngineVersion, FieldPrediction, ModelKind, Rollout, RolloutStage, TrainedModel, TrainingRun
from review.selectors.access import SYSTEM, Actor
from review.selectors.calibration import READER_CONFIDENCE, calibrated_paths
from review.selectors.engines import evidence_version
from review.selectors.targets import examined_fields
from review.selectors.training import composed_with
from review.tasks_models import calibrate_of, forget_models
from review.tasks_training import train
from tests import factories
from tests.conftest import Cast
from tests.review.calibration_room import CLAIMED, overconfident, to_learn_from
from tests.review.targets_room import examine, promise, set_audits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget_models()


def learned(cast: Cast) -> TrainingRun:
    run = request_training(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, kind=ModelKind.CALIBRATOR
    )
    train(run.pk)
    run.refresh_from_db()
    return run


def composed(run: TrainingRun) -> EngineVersion:
    version = composed_with(run.trained_model)
    assert version is not None
    return version


def make_live(cast: Cast, version: EngineVersion) -> None:
    Rollout.objects.create(
        document_type=cast.document_type, engine_version=version, stage=RolloutStage.LIVE, salt="x", champion=None
    )


def test_a_reader_that_promises_too_much_is_put_right(cast: Cast) -> None:
    overconfident(cast.document_type, 400)
    run = learned(cast)
    assert (run.state, run.n_done, run.n_steps) == ("done", 2, 2)
    version = composed(run)
    calibrate = calibrate_of(version)
    assert calibrate is not None
    (field,) = calibrate([FieldReading("/total", "9.00", "9.00", CLAIMED, evidence={"ocr_score": 0.9})])
    assert field.confidence == pytest.approx(0.6, abs=0.12)
    assert field.evidence[READER_CONFIDENCE] == CLAIMED
    figures = run.metrics["fields"]["/total"]
    for name in ("brier", "log_loss", "calibration_error"):
        assert figures["after"][name] < figures["before"][name]
    assert figures["before"]["reliability"]
    assert figures["before"]["coverage_at_99"]["share"] == 0.0
    assert figures["n_labels"] == figures["n_documents"] == len(to_learn_from(cast.document_type))
    assert run.trained_model.metrics == run.metrics


def test_it_learns_from_its_part_of_the_documents_only_and_says_what_was_left_out(cast: Cast) -> None:
    overconfident(cast.document_type, 200)
    run = learned(cast)
    n_own = len(to_learn_from(cast.document_type))
    assert 0 < n_own < 100
    assert len(run.snapshot["labels"]) == n_own
    assert run.snapshot["left_out"] == {"held_out": 0, "for_certificates": 200 - n_own}


def test_the_same_labels_make_the_same_bytes(cast: Cast) -> None:
    overconfident(cast.document_type, 200)
    first, again = learned(cast), learned(cast)
    assert first.trained_model.sha256 == again.trained_model.sha256
    assert composed(first).calibrator_id is not None


def test_few_labels_teach_nothing(cast: Cast) -> None:
    overconfident(cast.document_type, 10)
    run = learned(cast)
    assert (run.state, run.error_code) == ("failed", "few_labels")
    assert not TrainedModel.objects.exists()


def test_what_was_never_read_cannot_be_calibrated(cast: Cast) -> None:
    with pytest.raises(ConflictError) as refused:
        learned(cast)
    assert refused.value.code == "nothing_read"


def test_a_calibrator_is_bound_to_the_evidence_that_it_saw(cast: Cast) -> None:
    overconfident(cast.document_type, 300)
    run = learned(cast)
    version = composed(run)
    assert version.base == factories.make_engine_version() == evidence_version(version)
    payload = json.loads(bytes(run.trained_model.payload))
    assert payload["/total"]["engine_version"] == evidence_version(version).digest
    # Another version with the same calibrator stays as it is, and starts uncalibrated.
    other = factories.make_engine_version("other")
    stranger = EngineVersion.objects.create(
        name="x", spec={}, digest="y" * 64, base=other, calibrator=run.trained_model
    )
    assert list(calibrated_paths(version)) == ["/total"]
    assert list(calibrated_paths(stranger)) == []
    assert list(calibrated_paths(other)) == []
    calibrate = calibrate_of(stranger)
    assert calibrate is not None
    (field,) = calibrate([FieldReading("/total", "9.00", "9.00", CLAIMED, evidence={})])
    assert field.confidence == CLAIMED


def test_a_calibrated_version_teaches_the_next_by_what_the_reader_said(cast: Cast) -> None:
    overconfident(cast.document_type, 300)
    first = learned(cast)
    version = composed(first)
    make_live(cast, version)
    # What the calibrated version read: its confidence is the calibrated one, the reader's own stands in the evidence.
    examine(cast.document_type, [(0.61, True)] * 3, engine_version=version)
    newest = FieldPrediction.objects.order_by("-id")[:3]
    FieldPrediction.objects.filter(pk__in=[one.pk for one in newest]).update(
        evidence={"ocr_score": 0.9, READER_CONFIDENCE: CLAIMED}
    )
    run = learned(cast)
    assert run.base == evidence_version(version)
    assert len(run.snapshot["labels"]) == len(to_learn_from(cast.document_type))


def test_labels_that_a_calibrator_learned_from_certify_nothing_and_the_others_by_what_it_says(cast: Cast) -> None:
    set_audits(cast.document_type)
    overconfident(cast.document_type, 300)
    _engine, before = examined_fields(cast.document_type)
    assert len(before["/total"].values) == 300
    version = composed(learned(cast))
    make_live(cast, version)
    engine, after = examined_fields(cast.document_type)
    assert engine == version
    values = after["/total"].values
    assert len(values) == 300 - len(to_learn_from(cast.document_type))
    claimed = {one.confidence for one in values}
    assert max(claimed) < 0.75
    promise(cast.document_type, cast.manager, 0.45)
    policy = draft_from_targets(actor=Actor(cast.manager), document_type=cast.document_type)
    certificate = policy.certificates.get()
    assert (certificate.engine_version, certificate.n_examined) == (version, len(values))
