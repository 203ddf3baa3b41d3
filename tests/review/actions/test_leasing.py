from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from review.actions.leasing import (
    Lease,
    lease_next_task,
    lease_task,
    release_task,
    release_task_for_manager,
    renew_lease,
)
from review.actions.submitting import skip_task
from review.exceptions import ConflictError, ForbiddenError, LeaseLostError
from review.models import AuditEntry, ReviewTask, TaskState
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor, announced, audited, let_lease_lapse, make_open_task


def lease(cast: Cast) -> Lease:
    taken = lease_next_task(actor=actor(cast.reviewer), project=cast.project)
    assert taken is not None
    return taken


def test_a_lease_names_its_task_its_holder_and_its_end(cast: Cast, task: ReviewTask, settings: Settings) -> None:
    settings.STET_LEASE_SECONDS = 90
    taken = lease(cast)
    assert (taken.task, taken.task.lease_holder, taken.task.lease_token) == (task, cast.reviewer, taken.token)
    assert len(taken.token) == 32
    left = (taken.expires_at - timezone.now()).total_seconds()
    assert left == pytest.approx(90, abs=15)
    assert (audited(task), announced(task)) == (["review_task.leased"], [("review_task.leased", "rui")])


def test_an_empty_queue_gives_nothing_and_leaves_no_trace(cast: Cast) -> None:
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    assert not AuditEntry.objects.exists()


def test_the_most_important_then_the_oldest_task_is_given(cast: Cast) -> None:
    low, high, high_too = (make_open_task(cast.document_type, priority=priority) for priority in (0, 3, 3))
    people = [cast.reviewer, cast.manager, cast.admin]
    given = [lease_next_task(actor=actor(person), project=cast.project) for person in people]
    assert [one.task for one in given if one] == [high, high_too, low]


def test_a_type_can_be_asked_for(cast: Cast, task: ReviewTask) -> None:
    slip_type = factories.make_document_type(cast.project, "slip")
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project, document_type=slip_type) is None
    slip = make_open_task(slip_type)
    given = lease_next_task(actor=actor(cast.reviewer), project=cast.project, document_type=slip_type)
    assert given is not None
    assert given.task == slip


def test_another_projects_tasks_are_never_given(cast: Cast) -> None:
    make_open_task(cast.other_document_type, priority=9)
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None


def test_a_reload_gives_the_same_task_under_the_same_token(cast: Cast) -> None:
    for _ in range(2):
        make_open_task(cast.document_type)
    first, second = lease(cast), lease(cast)
    assert (second.task, second.token) == (first.task, first.token)
    assert second.expires_at > first.expires_at
    assert ReviewTask.objects.exclude(lease_token="").count() == 1


def test_whoever_comes_back_late_goes_on_where_they_were(cast: Cast) -> None:
    make_open_task(cast.document_type)
    first = lease(cast)
    let_lease_lapse(first.task)
    make_open_task(cast.document_type, priority=9)
    again = lease(cast)
    assert (again.task, again.token) == (first.task, first.token)
    assert again.expires_at > timezone.now()


def test_second_reviewer_cannot_take_a_leased_task(cast: Cast, task: ReviewTask) -> None:
    taken = lease(cast)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None
    with pytest.raises(ConflictError) as caught:
        lease_task(actor=actor(cast.manager), task=task)
    assert caught.value.code == "task_held"
    assert caught.value.details["holder"] == "rui"
    assert caught.value.details["expires_at"] == taken.expires_at


def test_a_lapsed_lease_can_be_taken_over_and_the_first_token_is_void(cast: Cast, task: ReviewTask) -> None:
    first = lease(cast)
    let_lease_lapse(task)
    second = lease_next_task(actor=actor(cast.manager), project=cast.project)
    assert second is not None
    assert (second.task, second.task.lease_holder) == (task, cast.manager)
    assert second.token != first.token
    with pytest.raises(LeaseLostError) as caught:
        renew_lease(actor=actor(cast.reviewer), task=task, lease_token=first.token)
    assert caught.value.details == {"state": "open", "holder": "mia"}


def test_a_heartbeat_prolongs_a_lease_without_a_trace(cast: Cast, task: ReviewTask) -> None:
    first = lease(cast)
    renewed = renew_lease(actor=actor(cast.reviewer), task=task, lease_token=first.token)
    assert renewed.token == first.token
    assert renewed.expires_at > first.expires_at
    assert (len(audited(task)), len(announced(task))) == (1, 1)


def test_a_lapsed_lease_that_nobody_took_over_can_be_renewed(cast: Cast, task: ReviewTask) -> None:
    first = lease(cast)
    let_lease_lapse(task)
    renewed = renew_lease(actor=actor(cast.reviewer), task=task, lease_token=first.token)
    assert renewed.expires_at > timezone.now()


@pytest.mark.parametrize("token", ["", "0" * 32, "x"])
def test_a_wrong_token_renews_and_releases_nothing(cast: Cast, task: ReviewTask, token: str) -> None:
    lease(cast)
    for act in (renew_lease, release_task):
        with pytest.raises(LeaseLostError):
            act(actor=actor(cast.reviewer), task=task, lease_token=token)


def test_the_empty_token_of_a_free_task_opens_nothing(cast: Cast, task: ReviewTask) -> None:
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(cast.reviewer), task=task, lease_token="")


def test_somebody_elses_token_is_of_no_use(cast: Cast, task: ReviewTask) -> None:
    token = lease(cast).token
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(cast.manager), task=task, lease_token=token)
    with pytest.raises(LeaseLostError):
        release_task(actor=actor(cast.manager), task=task, lease_token=token)


def test_a_released_task_is_there_for_others_at_once(cast: Cast, task: ReviewTask) -> None:
    taken = lease(cast)
    release_task(actor=actor(cast.reviewer), task=task, lease_token=taken.token)
    task.refresh_from_db()
    assert (task.lease_holder, task.lease_token, task.lease_expires_at) == (None, "", None)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is not None
    assert announced(task)[1] == ("review_task.released", "")
    with pytest.raises(LeaseLostError):
        release_task(actor=actor(cast.reviewer), task=task, lease_token=taken.token)


def test_a_manager_frees_a_task_and_the_trail_names_who_held_it(cast: Cast, task: ReviewTask) -> None:
    taken = lease(cast)
    release_task_for_manager(actor=actor(cast.manager), task=task)
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(cast.reviewer), task=task, lease_token=taken.token)
    entry = AuditEntry.objects.get(action="review_task.released")
    assert (entry.actor, entry.detail) == (cast.manager, {"holder": "rui"})
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is not None


def test_freeing_a_free_task_changes_nothing(cast: Cast, task: ReviewTask) -> None:
    release_task_for_manager(actor=actor(cast.manager), task=task)
    assert audited(task) == []


def test_a_chosen_task_can_be_taken_again_by_its_holder_and_by_the_next_after_it_lapsed(
    cast: Cast, task: ReviewTask
) -> None:
    first = lease_task(actor=actor(cast.reviewer), task=task)
    assert lease_task(actor=actor(cast.reviewer), task=task).token == first.token
    let_lease_lapse(task)
    second = lease_task(actor=actor(cast.manager), task=task)
    assert second.token != first.token
    assert second.task.lease_holder == cast.manager


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.UNUSABLE, TaskState.CANCELLED])
def test_a_finished_task_is_never_leased(cast: Cast, task: ReviewTask, state: TaskState) -> None:
    taken = lease(cast)
    ReviewTask.objects.filter(pk=task.pk).update(state=state)
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    for act in (lease_task, release_task_for_manager):
        with pytest.raises(ConflictError) as caught:
            act(actor=actor(cast.manager), task=task)
        assert caught.value.code == "task_finished"
    with pytest.raises(LeaseLostError) as lost:
        renew_lease(actor=actor(cast.reviewer), task=task, lease_token=taken.token)
    assert lost.value.details["state"] == state


def test_a_skipped_task_comes_back_only_when_asked_for(cast: Cast, task: ReviewTask) -> None:
    taken = lease(cast)
    skip_task(actor=actor(cast.reviewer), task=task, lease_token=taken.token, reason="I cannot read Thai")
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    assert lease_task(actor=actor(cast.reviewer), task=task).task == task


def test_stet_itself_holds_no_tasks(cast: Cast, task: ReviewTask) -> None:
    with pytest.raises(ForbiddenError):
        lease_next_task(actor=SYSTEM, project=cast.project)
    with pytest.raises(ForbiddenError):
        lease_task(actor=SYSTEM, task=task)


def test_a_renewal_after_the_look_keeps_the_task_from_being_taken(
    cast: Cast, task: ReviewTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder of a lapsed lease saves between another's look at the queue and their try to take the task."""
    first = lease(cast)
    let_lease_lapse(task)
    seen = [(task.pk, first.token)]
    monkeypatch.setattr("review.actions.leasing.waiting_tasks", lambda *args, **kwargs: _Seen(seen))
    renew_lease(actor=actor(cast.reviewer), task=task, lease_token=first.token)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None
    task.refresh_from_db()
    assert task.lease_holder == cast.reviewer


class _Seen:
    """A queue that was looked at once, and is empty at the second look."""

    def __init__(self, rows: list[tuple[int, str]]) -> None:
        self.rows = rows

    def values_list(self, *_names: str) -> "_Seen":
        return self

    def __getitem__(self, _slice: slice) -> list[tuple[int, str]]:
        rows, self.rows = self.rows, []
        return rows


@pytest.mark.parametrize("n_waiting", [1, 60])
def test_the_next_task_costs_the_same_number_of_queries_however_many_wait(
    cast: Cast, n_waiting: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(n_waiting):
        make_open_task(cast.document_type)
    with django_assert_num_queries(9):  # two of them are the savepoint, which is BEGIN and COMMIT outside a test
        assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is not None


def test_a_lease_ends_when_the_settings_say(cast: Cast, task: ReviewTask, settings: Settings) -> None:
    settings.STET_LEASE_SECONDS = 10
    first = lease(cast)
    ReviewTask.objects.filter(pk=task.pk).update(lease_expires_at=first.expires_at - timedelta(seconds=11))
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is not None
