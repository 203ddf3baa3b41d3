"""What people spent, for the manager's figures: in one query, of one project."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import FieldEdit, ReviewTask, TimeSpent, User
from review.selectors.times import ReviewTime, field_times, has_worked_on, review_time
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import make_open_task


def spend(task: ReviewTask, user: User, seconds: float, path: str = "", key: str = "1") -> TimeSpent:
    return TimeSpent.objects.create(task=task, reviewer=user, client_key=key, field_path=path, seconds=seconds)


def test_seconds_are_those_of_whole_tasks(cast: Cast) -> None:
    first, second = make_open_task(cast.document_type), make_open_task(cast.document_type)
    spend(first, cast.reviewer, 10.0)
    spend(first, cast.reviewer, 5.0, key="2")
    spend(first, cast.reviewer, 4.0, "/total")
    spend(second, cast.manager, 3.0)
    found = review_time(cast.project)
    assert found == ReviewTime(18.0, 2)
    assert found.seconds_per_task == 9.0


def test_nothing_spent_has_no_mean(cast: Cast) -> None:
    assert review_time(cast.project) == ReviewTime(0.0, 0)
    assert review_time(cast.project).seconds_per_task is None


def test_other_projects_types_and_times_are_left_out(cast: Cast) -> None:
    slip = factories.make_document_type(cast.project, "slip")
    spend(make_open_task(cast.document_type), cast.reviewer, 1.0)
    spend(make_open_task(slip), cast.reviewer, 2.0)
    spend(make_open_task(cast.other_document_type), cast.stranger, 4.0)
    old = spend(make_open_task(cast.document_type), cast.reviewer, 8.0)
    TimeSpent.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=9))
    week = timezone.now() - timedelta(days=7)
    assert review_time(cast.project).seconds == 11.0
    assert review_time(cast.project, since=week).seconds == 3.0
    assert review_time(cast.project, since=week, document_type=slip).seconds == 2.0
    assert review_time(cast.other_project).seconds == 4.0


def test_fields_come_longest_first(cast: Cast) -> None:
    task = make_open_task(cast.document_type)
    spend(task, cast.reviewer, 100.0)
    spend(task, cast.reviewer, 4.0, "/date")
    spend(task, cast.reviewer, 3.0, "/total")
    spend(task, cast.reviewer, 3.5, "/total", key="2")
    assert list(field_times(cast.project).items()) == [("/total", 6.5), ("/date", 4.0)]
    assert field_times(cast.project, since=timezone.now() + timedelta(seconds=60)) == {}
    assert field_times(cast.other_project) == {}


@pytest.mark.parametrize("n_tasks", [1, 20])
def test_it_costs_one_query(cast: Cast, n_tasks: int, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(n_tasks):
        spend(make_open_task(cast.document_type), cast.reviewer, 1.0)
    with django_assert_num_queries(1):
        assert review_time(cast.project).n_tasks == n_tasks


@pytest.mark.parametrize("trace", ["lease_holder", "finished_by", "edit"])
def test_every_trace_of_work_counts(cast: Cast, trace: str) -> None:
    task = make_open_task(cast.document_type)
    assert not has_worked_on(task, cast.reviewer)
    if trace == "edit":
        for version in (1, 2):
            FieldEdit.objects.create(
                task=task, field_path="/total", version=version, verdict="confirmed", author=cast.reviewer
            )
    else:
        ReviewTask.objects.filter(pk=task.pk).update(**{trace: cast.reviewer})
    assert has_worked_on(task, cast.reviewer)
    assert not has_worked_on(task, cast.manager)
