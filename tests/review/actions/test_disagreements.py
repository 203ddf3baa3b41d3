"""Where two readers differ a person is asked, blind: for those fields only, outside every estimate, told of nothing."""

import pytest
from django.test import Client

from review.actions.leasing import lease_task
from review.actions.reading import rerun_document
from review.actions.submitting import FieldVerdict, mark_unusable, submit_task
from review.exceptions import InvalidInputError
from review.models import FieldReview, Project, Record, ReviewTask, RolloutStage, TaskKind, TaskState
from review.selectors.access import SYSTEM
from review.selectors.review_tasks import task_detail
from review.selectors.rollout_figures import rollout_detail
from review.selectors.second_looks import shown_kind
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.conftest import Script
from tests.review.queueing import work_off
from tests.review.rollout_room import TWO_AMOUNTS, rolled_out, send, worse

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(cast: Cast, script: Script) -> ReviewTask:
    """A document stored unseen, on whose total champion (9.00) and challenger (10.00) differ."""
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    policy = cast.document_type.policies.get()
    policy.rules = policy.rules | {"default": {"auto": 0.0, "review": 0.0}}
    policy.save()
    rolled_out(cast, worse(cast))
    return ReviewTask.objects.get(document=send(cast))


def answer(cast: Cast, task: ReviewTask, value: str) -> Record:
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    verdicts = [FieldVerdict("/total", "corrected", value)]
    return submit_task(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, verdicts=verdicts)


def test_only_the_fields_that_differ_are_asked_for(cast: Cast, task: ReviewTask) -> None:
    assert [field.path for field in task_detail(task).fields if field.is_to_examine] == ["/total"]
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    with pytest.raises(InvalidInputError) as raised:
        submit_task(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token)
    assert [problem["pointer"] for problem in raised.value.details["problems"]] == ["/total"]


def test_the_reviewer_sees_a_plain_review_and_nothing_of_the_challenger(
    cast: Cast, task: ReviewTask, client: Client
) -> None:
    assert task.kind == TaskKind.DISAGREEMENT
    assert shown_kind(task, viewer=cast.reviewer, is_manager=False) == TaskKind.REVIEW
    client.force_login(cast.reviewer)
    shown = client.get(f"/api/v1/projects/receipts/review-tasks/{task.pk}/").json()
    assert shown["kind"] == "review"
    total = next(field for field in shown["fields"] if field["field_path"] == "/total")
    assert total["prediction"]["value"] == "9.00"
    assert "disagreement" not in str(shown)
    assert worse(cast).digest not in str(shown)


def test_what_the_person_says_is_stored_and_no_part_of_an_estimate(cast: Cast, task: ReviewTask) -> None:
    record = answer(cast, task, "10.00")
    assert record.values["/total"] == "10.00"
    assert record.provenance["/total"]["source"] == "person"
    label = FieldReview.objects.get()
    assert (label.field_path, label.is_in_sample, label.is_correct) == ("/total", False, False)
    task.refresh_from_db()
    assert task.state == TaskState.DONE
    assert task.document.status == "stored"


def test_no_second_review_follows(cast: Cast, task: ReviewTask) -> None:
    Project.objects.filter(pk=cast.project.pk).update(second_review_share=1.0)
    answer(cast, task, "10.00")
    assert ReviewTask.objects.count() == 1


@pytest.mark.parametrize(("value", "counted"), [("9.00", (1, 0, 0)), ("10.00", (0, 1, 0)), ("11.00", (0, 0, 1))])
def test_who_was_right_is_counted(cast: Cast, task: ReviewTask, value: str, counted: tuple[int, int, int]) -> None:
    rollout = cast.document_type.rollouts.get()
    before = {one.field_path: one.n_examined for one in rollout_detail(rollout).agreement}
    assert before == {"/company": 0, "/date": 0, "/total": 0}
    answer(cast, task, value)
    total = next(one for one in rollout_detail(rollout).agreement if one.field_path == "/total")
    assert (total.n_champion, total.n_challenger, total.n_neither) == counted
    assert (total.n, total.agreement.point, total.n_examined) == (1, 0.0, 1)


def test_an_unusable_document_is_given_up_as_in_any_review(cast: Cast, task: ReviewTask) -> None:
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    mark_unusable(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, reason="torn")
    task.refresh_from_db()
    assert (task.state, task.document.status) == (TaskState.UNUSABLE, "unreadable")


def test_a_rerun_by_the_challenger_touches_nothing_that_the_person_confirmed(cast: Cast, task: ReviewTask) -> None:
    answer(cast, task, "9.00")
    cast.document_type.rollouts.update(stage=RolloutStage.LIVE)
    document = rerun_document(actor=SYSTEM, document=task.document)
    work_off()
    run = document.runs.get(is_current=True)
    assert run.engine_version == worse(cast)
    assert run.predictions.get(field_path="/total").value == "10.00"
    record = Record.objects.get(document=document, is_current=True)
    assert record.values["/total"] == "9.00"
    assert record.provenance["/total"]["source"] == "person"
