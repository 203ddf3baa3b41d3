"""Bulk acts of managers: each changes what it names and nothing else, and each change is audited and announced."""

from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.leasing import lease_next_task, lease_task
from review.actions.queue import assign_tasks, prioritise_tasks, release_tasks
from review.actions.saving import save_field
from review.actions.tenancy import remove_member
from review.exceptions import InvalidInputError, LeaseLostError
from review.models import AuditEntry, ReviewTask, TaskState
from tests.conftest import Cast
from tests.review.actions.review_room import actor, announced, audited, make_open_task

pytestmark = pytest.mark.django_db


def test_released_tasks_can_be_taken_by_the_next(cast: Cast, task: ReviewTask) -> None:
    lease_task(actor=actor(cast.reviewer), task=task)
    assert release_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk]) == 1
    lease = lease_next_task(actor=actor(cast.admin), project=cast.project)
    assert lease is not None
    assert lease.task == task
    assert audited(task) == ["review_task.leased", "review_task.released", "review_task.leased"]
    assert announced(task)[1] == ("review_task.released", "")


def test_what_the_holder_typed_is_kept_when_it_is_taken_away(cast: Cast, task: ReviewTask) -> None:
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    release_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk])
    with pytest.raises(LeaseLostError) as lost:
        save_field(
            actor=actor(cast.reviewer),
            task=task,
            lease_token=lease.token,
            field_path="/total",
            verdict="corrected",
            value="9.10",
            base_version=0,
        )
    assert "9.10" in str(lost.value.details)


def test_releasing_what_nobody_holds_changes_nothing(cast: Cast, task: ReviewTask) -> None:
    assert release_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk]) == 0
    assert audited(task) == []
    assert announced(task) == []


def test_priority_puts_a_task_first_and_leaves_its_holder(cast: Cast, task: ReviewTask) -> None:
    later = make_open_task(cast.document_type)
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    done = prioritise_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk, later.pk], priority=10)
    assert done == 2
    task.refresh_from_db()
    assert (task.priority, task.lease_token) == (10, lease.token)
    assert announced(task)[-1] == ("review_task.prioritised", "rui")
    assert AuditEntry.objects.filter(action="review_task.prioritised").values_list("detail", flat=True)[0] == {
        "priority": 10
    }


def test_the_same_priority_again_is_no_act(cast: Cast, task: ReviewTask) -> None:
    assert prioritise_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], priority=0) == 0
    assert audited(task) == []


@pytest.mark.parametrize("priority", [-101, 101, 10**9])
def test_a_priority_outside_its_range_is_refused(cast: Cast, task: ReviewTask, priority: int) -> None:
    with pytest.raises(InvalidInputError) as refused:
        prioritise_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], priority=priority)
    assert refused.value.details["problems"][0]["pointer"] == "/priority"
    task.refresh_from_db()
    assert task.priority == 0


def test_an_assigned_task_is_given_to_its_reviewer_and_to_nobody_else(cast: Cast, task: ReviewTask) -> None:
    assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], reviewer=cast.reviewer)
    assert lease_next_task(actor=actor(cast.admin), project=cast.project) is None
    lease = lease_next_task(actor=actor(cast.reviewer), project=cast.project)
    assert lease is not None
    assert lease.task == task


def test_assigning_takes_a_task_from_another_holder_but_not_from_its_own(cast: Cast, task: ReviewTask) -> None:
    mine = make_open_task(cast.document_type)
    lease_task(actor=actor(cast.admin), task=task)
    kept = lease_task(actor=actor(cast.reviewer), task=mine)
    done = assign_tasks(
        actor=actor(cast.manager), project=cast.project, task_ids=[task.pk, mine.pk], reviewer=cast.reviewer
    )
    assert done == 2
    task.refresh_from_db()
    mine.refresh_from_db()
    assert task.lease_holder is None
    assert mine.lease_token == kept.token
    assert announced(mine)[-1] == ("review_task.assigned", "rui")


def test_assigning_twice_is_assigning_once(cast: Cast, task: ReviewTask) -> None:
    for expected in (1, 0):
        done = assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], reviewer=cast.reviewer)
        assert done == expected
    assert audited(task) == ["review_task.assigned"]


def test_releasing_ends_an_assignment(cast: Cast, task: ReviewTask) -> None:
    assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], reviewer=cast.reviewer)
    assert release_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk]) == 1
    assert lease_next_task(actor=actor(cast.admin), project=cast.project) is not None


@pytest.mark.parametrize("who", ["viewer", "stranger"])
def test_work_is_not_given_to_somebody_who_may_not_review(cast: Cast, task: ReviewTask, who: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], reviewer=getattr(cast, who))
    assert refused.value.details["problems"][0]["pointer"] == "/reviewer"


def test_what_was_kept_for_a_member_who_leaves_is_everybodys(cast: Cast, task: ReviewTask) -> None:
    assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=[task.pk], reviewer=cast.reviewer)
    remove_member(actor=actor(cast.admin), project=cast.project, user=cast.reviewer)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is not None


@pytest.mark.parametrize("which", ["done", "foreign"])
def test_finished_and_foreign_tasks_are_left_alone(cast: Cast, task: ReviewTask, which: str) -> None:
    foreign = make_open_task(cast.other_document_type)
    ReviewTask.objects.filter(pk=task.pk).update(
        state=TaskState.DONE, lease_token="t", lease_holder=cast.reviewer,
        lease_expires_at=timezone.now() + timedelta(minutes=5),
    )  # fmt: skip
    ids = [task.pk if which == "done" else foreign.pk]
    assert release_tasks(actor=actor(cast.manager), project=cast.project, task_ids=ids) == 0
    assert prioritise_tasks(actor=actor(cast.manager), project=cast.project, task_ids=ids, priority=5) == 0
    assert assign_tasks(actor=actor(cast.manager), project=cast.project, task_ids=ids, reviewer=cast.reviewer) == 0
    assert not ReviewTask.objects.filter(priority=5).exists()
    assert not ReviewTask.objects.filter(assignee=cast.reviewer).exists()
