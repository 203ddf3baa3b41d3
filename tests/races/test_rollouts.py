"""Two move a roll-out at the same moment; a set is frozen at the moment at which something begins to learn."""

import functools
from collections.abc import Callable

import pytest

from inference.types import FieldReading, parse_document_type
from review.actions import regression_sets, rollouts, shadows
from review.actions.reading import rerun_document
from review.actions.regression_sets import ImportedSet, freeze_documents
from review.actions.rollouts import promote_rollout, roll_back
from review.actions.shadows import claim_shadow, complete_shadow
from review.actions.training import claim_training, request_training, settle_snapshot
from review.exceptions import ConflictError
from review.models import (
    AuditEntry,
    DocumentType,
    EngineVersion,
    EvaluationComparison,
    EvaluationRun,
    ExtractionRun,
    ModelKind,
    RegressionSet,
    ReviewTask,
    Rollout,
    RolloutStage,
    ShadowRead,
    TaskState,
    TrainedModel,
    TrainingRun,
    User,
)
from review.selectors.access import SYSTEM
from review.selectors.gate import n_that_taught
from review.selectors.rollouts import access_rollout
from review.selectors.training import documents_to_learn_from
from tests import factories
from tests.races.threads import Halfway, all_at_once
from tests.review.taught import teach

ROUNDS = pytest.mark.parametrize("round_number", range(3))


def let_pass(document_type: DocumentType, champion: EngineVersion, challenger: EngineVersion) -> None:
    """On the type's regression set the challenger is no worse than the champion."""
    kept = RegressionSet.objects.filter(document_type=document_type).first() or RegressionSet.objects.create(
        project=document_type.project, document_type=document_type, name="test", number=1, digest="d"
    )
    runs = [
        EvaluationRun.objects.create(regression_set=kept, engine_version=version, results={})
        for version in (champion, challenger)
    ]
    EvaluationComparison.objects.create(
        regression_set=kept, run_a=runs[0], run_b=runs[1], results={}, is_whole=True, is_blocked=False
    )


@pytest.fixture
def champion(document_type: DocumentType) -> EngineVersion:
    factories.make_routed(document_type)
    return factories.make_engine_version()


def on_its_way(
    document_type: DocumentType, champion: EngineVersion, stage: RolloutStage = RolloutStage.SHADOW, name: str = "new"
) -> Rollout:
    version = factories.make_engine_version(name)
    let_pass(document_type, champion, version)
    return Rollout.objects.create(document_type=document_type, engine_version=version, stage=stage, salt=name)


def promoting(rollout: Rollout) -> Callable[[], object]:
    seen = access_rollout(rollout.document_type, rollout.pk)
    return functools.partial(promote_rollout, actor=SYSTEM, rollout=seen)


def rolling_back(rollout: Rollout) -> Callable[[], object]:
    seen = access_rollout(rollout.document_type, rollout.pk)
    return functools.partial(roll_back, actor=SYSTEM, rollout=seen, reason="why")


def conflicts(answers: list[object]) -> int:
    """Return how many were told that somebody else was faster; nothing else may go wrong."""
    assert [one for one in answers if isinstance(one, Exception) and not isinstance(one, ConflictError)] == []
    return sum(isinstance(one, ConflictError) for one in answers)


@ROUNDS
def test_promoted_by_two_it_goes_one_stage_on(
    document_type: DocumentType, champion: EngineVersion, round_number: int
) -> None:
    rollout = on_its_way(document_type, champion)
    assert conflicts(all_at_once([promoting(rollout), promoting(rollout)])) == 1
    rollout.refresh_from_db()
    assert rollout.stage == RolloutStage.CANARY
    assert AuditEntry.objects.filter(action="rollout.promoted").count() == 1


@ROUNDS
def test_promoted_and_rolled_back_at_once_one_of_both_is_done(
    document_type: DocumentType, champion: EngineVersion, round_number: int
) -> None:
    rollout = on_its_way(document_type, champion)
    answers = all_at_once([promoting(rollout), rolling_back(rollout)])
    assert conflicts(answers) == 1
    is_promoted = not isinstance(answers[0], ConflictError)
    rollout.refresh_from_db()
    assert rollout.stage == (RolloutStage.CANARY if is_promoted else RolloutStage.RETIRED)
    (entry,) = AuditEntry.objects.filter(action__in=["rollout.promoted", "rollout.rolled_back"])
    assert entry.action == ("rollout.promoted" if is_promoted else "rollout.rolled_back")


def test_one_that_goes_live_while_the_live_one_is_rolled_back_never_brings_that_one_back(
    document_type: DocumentType, champion: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The monitor stops the version that reads, at the moment at which somebody promotes the next one."""
    first = on_its_way(document_type, champion, RolloutStage.RETIRED, "first")
    bad = on_its_way(document_type, champion, RolloutStage.LIVE, "bad")
    Rollout.objects.filter(pk=bad.pk).update(replaced=first)
    third = on_its_way(document_type, bad.engine_version, RolloutStage.CANARY, "third")
    let_pass(document_type, first.engine_version, third.engine_version)
    halfway = Halfway(monkeypatch, rollouts, "_record", lambda args: args[1] == "rollout.rolled_back")
    answers = all_at_once([rolling_back(bad), halfway.then(promoting(third))])
    assert conflicts(answers) == 0
    stages = dict(Rollout.objects.values_list("salt", "stage"))
    assert stages == {"first": RolloutStage.RETIRED, "bad": RolloutStage.RETIRED, "third": RolloutStage.LIVE}
    third.refresh_from_db()
    assert third.replaced == first


def test_what_is_frozen_while_a_training_begins_is_not_learned_or_the_gate_knows(
    document_type: DocumentType, reviewers: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = factories.make_engine_version("rapidocr")
    documents = [teach(document_type, reviewers[0], number, base=base) for number in range(3)]
    for document, look in zip(documents, ("0" * 16, "f" * 16, "0f" * 8), strict=True):
        document.pages.update(perceptual_hash=look)
    halfway = Halfway(monkeypatch, regression_sets, "record_audit")

    def learn() -> TrainingRun:
        run = request_training(
            actor=SYSTEM, project=document_type.project, document_type=document_type, kind=ModelKind.LOCATOR
        )
        claim = claim_training(training_run_id=run.pk)
        assert claim is not None
        assert settle_snapshot(claim=claim, taught=documents_to_learn_from(document_type, base), n_steps=1)
        return claim

    freeze = functools.partial(
        freeze_documents, actor=SYSTEM, document_type=document_type, name="test", documents=documents[:1]
    )
    frozen, run = all_at_once([freeze, halfway.then(learn)])
    assert isinstance(frozen, ImportedSet)
    assert isinstance(run, TrainingRun)
    learned = {row[0] for row in run.snapshot["documents"]}
    locator = TrainedModel.objects.create(
        project=run.project,
        document_type=document_type,
        kind=run.kind,
        format="json",
        sha256="s",
        training_run=run,
        payload=b"",
    )
    version = EngineVersion.objects.create(name="new", spec={}, digest="new", base=base, locator=locator)
    assert learned >= {documents[1].pk, documents[2].pk}
    assert (documents[0].pk in learned) <= (n_that_taught(frozen.regression_set, version) == 1)


def test_a_disagreement_is_not_put_before_a_person_while_its_document_begins_anew(
    document_type: DocumentType, champion: EngineVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open task on it would hold up the next one, when it is routed."""
    rollout = on_its_way(document_type, champion)
    Rollout.objects.filter(pk=rollout.pk).update(disagreement_share=1.0)
    document = factories.make_routed(document_type, band="auto", is_selected=False)
    document.pages.all().delete()
    run = ExtractionRun.objects.get(document=document)
    shadow = claim_shadow(shadow_id=ShadowRead.objects.create(rollout=rollout, document=document, champion_run=run).pk)
    assert shadow is not None
    other = [FieldReading("/total", "77.00", "77.00", 0.9, evidence={})]
    spec = parse_document_type(factories.SCHEMA)
    keeping = functools.partial(complete_shadow, actor=SYSTEM, shadow=shadow, spec=spec, fields=other, reading_ids=[])
    again = functools.partial(rerun_document, actor=SYSTEM, document=document)
    answers = all_at_once([keeping, Halfway(monkeypatch, shadows, "confirmed_record").then(again)])
    assert answers == [True, document]
    assert [one.state for one in ReviewTask.objects.filter(document=document)] == [TaskState.CANCELLED]
