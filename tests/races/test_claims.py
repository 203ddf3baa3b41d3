"""Sixteen people ask for work at the same moment."""

import functools
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.leasing import Lease, lease_next_task, lease_task, release_task_for_manager, renew_lease
from review.exceptions import ConflictError, LeaseLostError
from review.models import AuditEntry, DocumentType, Project, ReviewTask, User
from tests.races.threads import all_at_once
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task


def ask(project: Project, people: list[User]) -> list[object]:
    return all_at_once([functools.partial(lease_next_task, actor=actor(one), project=project) for one in people])


@pytest.mark.parametrize("round_number", range(3))
def test_sixteen_claimants_for_one_task_make_one_holder(
    project: Project, document_type: DocumentType, reviewers: list[User], round_number: int
) -> None:
    task = make_open_task(document_type)
    answers = ask(project, reviewers)
    leases = [answer for answer in answers if isinstance(answer, Lease)]
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert len(leases) == 1
    task.refresh_from_db()
    assert (task.lease_token, task.lease_holder) == (leases[0].token, leases[0].task.lease_holder)
    assert AuditEntry.objects.filter(action="review_task.leased").count() == 1


def test_sixteen_claimants_for_sixteen_tasks_get_one_each(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    tasks = [make_open_task(document_type) for _ in range(16)]
    leases = [answer for answer in ask(project, reviewers) if isinstance(answer, Lease)]
    assert sorted(lease.task.pk for lease in leases) == [task.pk for task in tasks]
    holders = ReviewTask.objects.values_list("lease_holder", flat=True)
    assert Counter(holders) == Counter(one.pk for one in reviewers)


def test_more_claimants_than_tasks_leave_no_task_and_get_no_error(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    for _ in range(5):
        make_open_task(document_type)
    answers = ask(project, reviewers)
    assert sum(isinstance(answer, Lease) for answer in answers) == 5
    assert sum(answer is None for answer in answers) == 11
    assert not ReviewTask.objects.filter(lease_token="").exists()


def test_sixteen_claimants_for_one_lapsed_lease_make_one_holder(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    task = make_open_task(document_type)
    *others, first = reviewers
    stale = lease_task(actor=actor(first), task=task)
    let_lease_lapse(task)
    leases = [answer for answer in ask(project, others) if isinstance(answer, Lease)]
    assert len(leases) == 1
    assert leases[0].token != stale.token
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(first), task=task, lease_token=stale.token)


def test_one_reviewer_in_sixteen_tabs_holds_one_task(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    for _ in range(16):
        make_open_task(document_type)
    leases = [answer for answer in ask(project, reviewers[:1] * 16) if isinstance(answer, Lease)]
    assert len(leases) == 16
    assert len({lease.token for lease in leases}) == 1
    assert ReviewTask.objects.exclude(lease_token="").count() == 1


def test_sixteen_who_choose_the_same_task_make_one_holder_and_fifteen_clear_answers(
    document_type: DocumentType, reviewers: list[User]
) -> None:
    task = make_open_task(document_type)
    answers = all_at_once([functools.partial(lease_task, actor=actor(one), task=task) for one in reviewers])
    holder = next(answer for answer in answers if isinstance(answer, Lease)).task.lease_holder
    assert holder is not None
    refused = [answer for answer in answers if isinstance(answer, ConflictError)]
    assert [error.code for error in refused] == ["task_held"] * 15
    assert {error.details["holder"] for error in refused} == {holder.get_username()}


def test_a_late_heartbeat_and_a_takeover_leave_one_holder(document_type: DocumentType, reviewers: list[User]) -> None:
    holder, other, manager = reviewers[:3]
    for _ in range(10):
        task = make_open_task(document_type)
        lease = lease_task(actor=actor(holder), task=task)
        let_lease_lapse(task)
        beat, taken = all_at_once(
            [
                functools.partial(renew_lease, actor=actor(holder), task=task, lease_token=lease.token),
                functools.partial(lease_task, actor=actor(other), task=task),
            ]
        )
        assert isinstance(beat, Lease) != isinstance(taken, Lease)
        task.refresh_from_db()
        assert task.lease_holder == (holder if isinstance(beat, Lease) else other)
        assert task.lease_expires_at is not None
        assert task.lease_expires_at > timezone.now() + timedelta(seconds=5)
        release_task_for_manager(actor=actor(manager), task=task)
