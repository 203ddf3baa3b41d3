"""The next task is kept ready while one works on another: one at most, alive as long as the first is."""

from datetime import timedelta

import pytest
from django.utils import timezone

from review.actions.leasing import (
    Lease,
    lease_next_task,
    lease_task,
    release_task,
    release_task_for_manager,
    renew_lease,
)
from review.actions.submitting import FieldVerdict, skip_task, submit_task
from review.exceptions import LeaseLostError
from review.models import ReviewTask
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor, announced, audited, let_lease_lapse, make_open_task


def take(cast: Cast, besides: ReviewTask | None = None) -> Lease:
    lease = lease_next_task(actor=actor(cast.reviewer), project=cast.project, besides=besides)
    assert lease is not None
    return lease


@pytest.fixture
def tasks(cast: Cast) -> list[ReviewTask]:
    return [make_open_task(cast.document_type) for _ in range(4)]


def held(cast: Cast) -> set[int]:
    return set(ReviewTask.objects.filter(lease_holder=cast.reviewer).values_list("pk", flat=True))


def test_the_task_after_the_one_at_hand_is_kept_ready(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    assert [first.task.pk, ready.task.pk] == [tasks[0].pk, tasks[1].pk]
    assert first.token != ready.token
    assert ready.expires_at > timezone.now()
    assert audited(tasks[1]) == ["review_task.leased"]
    assert announced(tasks[1]) == [("review_task.leased", "rui")]


def test_asking_often_keeps_one_task_ready(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = {(lease.task.pk, lease.token) for lease in (take(cast, besides=first.task) for _ in range(3))}
    assert len(ready) == 1
    assert held(cast) == {tasks[0].pk, tasks[1].pk}


def test_nobody_else_gets_what_is_kept_ready(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    take(cast, besides=first.task)
    other = lease_next_task(actor=actor(cast.manager), project=cast.project)
    assert other is not None
    assert other.task.pk == tasks[2].pk


def test_a_reload_gives_the_task_at_hand_and_not_the_one_kept_ready(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    take(cast, besides=first.task)
    # The one kept ready was leased last and so ends last.
    again = take(cast)
    assert (again.task.pk, again.token) == (first.task.pk, first.token)


def test_after_a_submit_the_ready_task_comes_next_under_its_token(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    verdicts = [FieldVerdict("/total", "confirmed")]
    submit_task(actor=actor(cast.reviewer), task=first.task, lease_token=first.token, verdicts=verdicts)
    following = take(cast)
    assert (following.task.pk, following.token) == (ready.task.pk, ready.token)
    ReviewTask.objects.get(pk=ready.task.pk, lease_behind=None)


def test_after_a_skip_the_ready_task_comes_next(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    skip_task(actor=actor(cast.reviewer), task=first.task, lease_token=first.token, reason="blurred")
    assert take(cast).task.pk == ready.task.pk


def test_a_chain_moves_on_one_by_one(cast: Cast, tasks: list[ReviewTask]) -> None:
    lease = take(cast)
    for expected in tasks[1:]:
        ready = take(cast, besides=lease.task)
        assert ready.task.pk == expected.pk
        verdicts = [FieldVerdict("/total", "confirmed")]
        submit_task(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, verdicts=verdicts)
        lease = ready
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project, besides=lease.task) is None


def test_the_chain_survives_a_reload_in_its_middle(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    second = take(cast, besides=first.task)
    verdicts = [FieldVerdict("/total", "confirmed")]
    submit_task(actor=actor(cast.reviewer), task=first.task, lease_token=first.token, verdicts=verdicts)
    # The desk goes on with what it has, without asking for it, and has the third kept ready.
    third = take(cast, besides=second.task)
    assert third.task.pk == tasks[2].pk
    assert take(cast).task.pk == second.task.pk


def test_a_heartbeat_keeps_both(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    soon = timezone.now() + timedelta(seconds=5)
    ReviewTask.objects.update(lease_expires_at=soon)
    renew_lease(actor=actor(cast.reviewer), task=first.task, lease_token=first.token)
    for lease in (first, ready):
        lease.task.refresh_from_db()
        assert lease.task.lease_expires_at is not None
        assert lease.task.lease_expires_at > soon + timedelta(seconds=60)
    tasks[2].refresh_from_db()
    assert tasks[2].lease_expires_at == soon


def test_without_heartbeats_both_are_free_again(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    for lease in (first, ready):
        let_lease_lapse(lease.task)
    for expected in (first, ready):
        taken = lease_task(actor=actor(cast.manager), task=expected.task)
        assert taken.task.lease_holder == cast.manager
        assert taken.task.lease_behind is None
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(cast.reviewer), task=first.task, lease_token=first.token)


def test_a_heartbeat_renews_no_task_that_somebody_took_over(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    let_lease_lapse(ready.task)
    theirs = lease_task(actor=actor(cast.manager), task=ready.task)
    renew_lease(actor=actor(cast.reviewer), task=first.task, lease_token=first.token)
    ready.task.refresh_from_db()
    assert (ready.task.lease_holder, ready.task.lease_expires_at) == (cast.manager, theirs.expires_at)


def test_giving_the_first_back_gives_back_both(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    release_task(actor=actor(cast.reviewer), task=first.task, lease_token=first.token)
    assert held(cast) == set()
    for lease in (first, ready):
        assert audited(lease.task)[-1] == "review_task.released"
        assert announced(lease.task)[-1] == ("review_task.released", "")


def test_a_manager_who_takes_the_first_away_ends_the_second_in_time(cast: Cast, tasks: list[ReviewTask]) -> None:
    first = take(cast)
    ready = take(cast, besides=first.task)
    release_task_for_manager(actor=actor(cast.manager), task=first.task)
    with pytest.raises(LeaseLostError):
        renew_lease(actor=actor(cast.reviewer), task=first.task, lease_token=first.token)
    ready.task.refresh_from_db()
    assert ready.task.lease_expires_at is not None
    assert ready.task.lease_expires_at <= ready.expires_at


def test_an_old_unfinished_task_is_what_is_kept_ready(cast: Cast, tasks: list[ReviewTask]) -> None:
    forgotten = lease_task(actor=actor(cast.reviewer), task=tasks[3])
    let_lease_lapse(forgotten.task)
    first = lease_task(actor=actor(cast.reviewer), task=tasks[0])
    ready = take(cast, besides=first.task)
    assert (ready.task.pk, ready.token) == (tasks[3].pk, forgotten.token)


@pytest.mark.parametrize("state", ["nobody", "somebody", "finished"])
def test_a_task_that_one_does_not_hold_has_none_behind_it(cast: Cast, tasks: list[ReviewTask], state: str) -> None:
    if state == "somebody":
        lease_task(actor=actor(cast.manager), task=tasks[0])
    if state == "finished":
        first = take(cast)
        verdicts = [FieldVerdict("/total", "confirmed")]
        submit_task(actor=actor(cast.reviewer), task=first.task, lease_token=first.token, verdicts=verdicts)
    with pytest.raises(LeaseLostError):
        take(cast, besides=tasks[0])
    assert not ReviewTask.objects.filter(lease_holder=cast.reviewer, state="open").exists()


def test_a_kind_of_task_is_kept_to(cast: Cast) -> None:
    slip = factories.make_document_type(cast.project, "slip")
    make_open_task(cast.document_type)
    first = lease_task(actor=actor(cast.reviewer), task=make_open_task(cast.document_type))
    wanted = make_open_task(slip)
    ready = lease_next_task(actor=actor(cast.reviewer), project=cast.project, document_type=slip, besides=first.task)
    assert ready is not None
    assert ready.task.pk == wanted.pk
