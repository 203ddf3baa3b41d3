"""The audits of stored values are seen once each; a field that turns bad is stopped, and only that field."""

import random

import pytest
from django.utils import timezone

from review.actions._monitors import watch_labels
from review.actions.leasing import lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.targets import resume_field
from review.models import (
    AuditEntry,
    Event,
    FieldDecision,
    FieldMonitor,
    FieldReview,
    ReviewTask,
    Rollout,
    RolloutStage,
)
from review.routing.reasons import Reason
from review.selectors.access import Actor
from review.selectors.review_tasks import task_detail
from review.selectors.rollouts import tripped_rollouts
from review.selectors.targets import stopped_paths
from tests import factories
from tests.conftest import Cast
from tests.factories import FieldPlan
from tests.review.actions.reading_room import routed
from tests.review.targets_room import AUDIT_SHARE, answer, audited, promise, set_audits

pytestmark = pytest.mark.django_db


def monitor() -> FieldMonitor:
    return FieldMonitor.objects.get(ended_at=None)


@pytest.fixture(autouse=True)
def promised(cast: Cast) -> None:
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager)


def test_an_audit_of_a_stored_value_is_seen_once(cast: Cast) -> None:
    document = audited(cast.document_type)
    task = ReviewTask.objects.get()
    lease = lease_task(actor=Actor(cast.reviewer), task=task)
    for _ in range(2):
        submit_task(
            actor=Actor(cast.reviewer),
            task=lease.task,
            lease_token=lease.token,
            verdicts=[FieldVerdict("/total", "corrected", "7.77")],
        )
    state = monitor().state
    assert (state["n_documents"], state["n_wrong"], FieldReview.objects.count()) == (1, 1, 1)
    assert document.records.count() == 1


@pytest.mark.parametrize(
    "plan",
    [
        FieldPlan(confidence=0.4, band="review", reasons=["low_confidence"]),
        FieldPlan(confidence=0.97, band="review", reasons=["rule_failed"]),
        FieldPlan(confidence=None, band="sampled", reasons=["missing_value"], value=None),
    ],
)
def test_what_would_not_have_been_stored_unseen_says_nothing(cast: Cast, plan: FieldPlan) -> None:
    answer(factories.make_routed(cast.document_type, {"/total": plan}), cast.reviewer, is_right=False)
    assert monitor().state["n_documents"] == 0


def test_the_certain_fields_of_a_reviewed_document_are_audits_too(cast: Cast) -> None:
    plans = {
        "/total": FieldPlan(confidence=0.97, band="auto", inclusion_probability=0.2),
        "/date": FieldPlan(value="2018-12-25", confidence=0.2, band="review", reasons=["low_confidence"]),
    }
    task = ReviewTask.objects.get(document=factories.make_routed(cast.document_type, plans))
    lease = lease_task(actor=Actor(cast.reviewer), task=task)
    verdicts = [FieldVerdict("/total", "confirmed"), FieldVerdict("/date", "confirmed")]
    submit_task(actor=Actor(cast.reviewer), task=lease.task, lease_token=lease.token, verdicts=verdicts)
    assert monitor().state["n_documents"] == 1


def test_an_illegible_value_says_nothing(cast: Cast) -> None:
    task = ReviewTask.objects.get(document=audited(cast.document_type))
    lease = lease_task(actor=Actor(cast.reviewer), task=task)
    submit_task(
        actor=Actor(cast.reviewer),
        task=lease.task,
        lease_token=lease.token,
        verdicts=[FieldVerdict("/total", "illegible")],
    )
    assert monitor().state["n_documents"] == 0


def test_a_field_without_a_target_is_not_watched(cast: Cast) -> None:
    FieldMonitor.objects.all().delete()
    answer(audited(cast.document_type), cast.reviewer, is_right=False)
    assert not FieldMonitor.objects.exists()


def test_a_transaction_that_fails_leaves_the_monitor_as_it_was(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    document = audited(cast.document_type)

    def killed(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr("review.actions.submitting.draw_second_review", killed)
    with pytest.raises(SystemExit):
        answer(document, cast.reviewer, is_right=False)
    assert (monitor().state["n_documents"], FieldReview.objects.count()) == (0, 0)
    monkeypatch.undo()
    task = ReviewTask.objects.get()
    verdicts = [FieldVerdict("/total", "corrected", "7.77")]
    submit_task(actor=Actor(cast.reviewer), task=task, lease_token=task.lease_token, verdicts=verdicts)
    assert monitor().state["n_documents"] == 1


def test_a_field_that_turns_bad_is_stopped_at_once_and_a_manager_turns_it_on_again(
    cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    """Drift, through the product's own actions: 0.3 % wrong for 150 audits, then 15 %; the target is 1 %."""
    generator = random.Random(5)
    n_before = 150
    for _ in range(n_before):
        answer(audited(cast.document_type), cast.reviewer, is_right=generator.random() >= 0.003)
    assert not monitor().is_tripped
    n_after = 0
    while not monitor().is_tripped and n_after < 200:
        answer(audited(cast.document_type), cast.reviewer, is_right=generator.random() >= 0.15)
        n_after += 1
    with capsys.disabled():
        print(  # noqa: T201
            f"\n  a field that turned bad (0.3 % -> 15 % wrong, target 1 %) was stopped after {n_after} audits, "
            f"of some {round(n_after / AUDIT_SHARE)} documents"
        )
    stopped = monitor()
    assert 5 <= n_after <= 80
    assert stopped.state["tripped_at"] == n_before + n_after
    assert (stopped.policy, stopped.engine_version) == (
        cast.document_type.policies.get(),
        factories.make_engine_version(),
    )
    entry = AuditEntry.objects.get(action="field_monitor.tripped")
    assert (entry.actor, entry.detail["field_path"], entry.detail["n_documents"]) == (
        None,
        "/total",
        n_before + n_after,
    )
    assert Event.objects.get(name="field_monitor.tripped").payload["document_type"] == cast.document_type.slug
    assert stopped_paths(cast.document_type) == {"/total"}

    # It counts on, trips no second time, and a manager ends it.
    answer(audited(cast.document_type), cast.reviewer, is_right=False)
    assert AuditEntry.objects.filter(action="field_monitor.tripped").count() == 1
    resume_field(actor=Actor(cast.manager), monitor=stopped)
    assert stopped_paths(cast.document_type) == frozenset()


def test_a_canary_is_judged_by_what_it_read_itself_and_the_field_goes_on(cast: Cast) -> None:
    """Among all documents it hardly shows: one audit in six is the canary's, and every other one of those is wrong."""
    version = factories.make_engine_version("challenger")
    canary = Rollout.objects.create(
        document_type=cast.document_type, engine_version=version, stage=RolloutStage.CANARY, salt="salt"
    )
    n_wrong = 0
    for number in range(60):
        document = audited(cast.document_type)
        is_canarys = number % 6 == 0
        if is_canarys:
            document.runs.update(engine_version=version)
        is_wrong = is_canarys and number % 12 == 0
        n_wrong += is_wrong
        answer(document, cast.reviewer, is_right=not is_wrong)
        if tripped_rollouts():
            break
    canary.refresh_from_db()
    own = canary.monitors["/total"]
    assert own["tripped_at"] == own["n_documents"] < 10
    assert own["n_wrong"] == n_wrong
    assert tripped_rollouts() == [(canary, "/total")]
    field = monitor()
    assert (field.is_tripped, field.state["n_documents"], field.state["n_wrong"]) == (False, number + 1, n_wrong)
    # A live version has the field's own monitor, and one that was rolled back is judged no more.
    for stage in (RolloutStage.LIVE, RolloutStage.RETIRED):
        Rollout.objects.update(stage=stage)
        assert tripped_rollouts() == []
    # Not even where what another version read has stopped a field since.
    Rollout.objects.update(stage=RolloutStage.LIVE)
    FieldMonitor.objects.update(tripped_at=timezone.now(), engine_version=factories.make_engine_version())
    assert tripped_rollouts() == []


def test_another_target_begins_the_monitor_of_a_canary_anew(cast: Cast) -> None:
    version = factories.make_engine_version("challenger")
    canary = Rollout.objects.create(
        document_type=cast.document_type, engine_version=version, stage=RolloutStage.CANARY, salt="salt"
    )
    for share in (0.01, 0.01, 0.02):
        promise(cast.document_type, cast.manager, share)
        document = audited(cast.document_type)
        document.runs.update(engine_version=version)
        answer(document, cast.reviewer, is_right=True)
    canary.refresh_from_db()
    own = canary.monitors["/total"]
    assert (own["target"], own["n_documents"]) == (0.02, 1)


def test_labels_of_a_document_that_was_never_routed_are_passed_over(cast: Cast) -> None:
    document = audited(cast.document_type)
    task = ReviewTask.objects.get()
    document.decisions.all().delete()
    watch_labels(task_detail(task), document.sha256, [FieldReview(field_path="/total", is_in_sample=True)])
    assert monitor().state["n_documents"] == 0


def test_what_is_routed_after_the_stop_waits_for_a_person_and_before_it_does_not(cast: Cast) -> None:
    # Nothing is drawn for another reason.
    set_audits(cast.document_type, 1e-9)
    assert routed(cast.document_type).band == "auto"
    FieldMonitor.objects.update(tripped_at=timezone.now())
    document = routed(cast.document_type)
    assert (document.band, document.reasons) == ("review", [Reason.STOPPED_BY_MONITOR])
    decided = FieldDecision.objects.get(decision__document=document, field_path="/total")
    assert (decided.reasons, decided.inclusion_probability) == ([Reason.STOPPED_BY_MONITOR], 1.0)
    assert ReviewTask.objects.filter(document=document).exists()
    # Another type's field of the same name goes on.
    other = factories.make_document_type(cast.project, "invoice")
    assert routed(other).band == "auto"
