"""The queue as its page shows it: figures over all of it, rows a page at a time, the same on both databases."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.models import DocumentType, ReviewTask, Role, TaskState, User
from review.selectors.queue import (
    AGES,
    PAGE_SIZE,
    QueueFilter,
    queue_figures,
    queue_rows,
    reviewers_of,
    tasks_to_change,
)
from tests import factories
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def waiting(
    document_type: DocumentType, *reasons: str, age: timedelta = timedelta(minutes=5), priority: int = 0
) -> ReviewTask:
    """An open task whose document has these reasons and that has waited so long."""
    document = factories.make_routed(document_type, reasons=list(reasons), priority=priority)
    ReviewTask.objects.filter(document=document).update(created_at=timezone.now() - age)
    return ReviewTask.objects.get(document=document)


def hold(task: ReviewTask, user: User, *, seconds: int = 300) -> None:
    ReviewTask.objects.filter(pk=task.pk).update(
        lease_holder=user, lease_token="t", lease_expires_at=timezone.now() + timedelta(seconds=seconds)
    )


def ids(cast: Cast, chosen: QueueFilter) -> list[int]:
    return [row.task.pk for row in queue_rows(cast.project, chosen)[0]]


def test_an_empty_queue_has_no_oldest_and_nobody_at_work(cast: Cast) -> None:
    figures = queue_figures(cast.project)
    assert (figures.n_open, figures.n_held, figures.n_free, figures.oldest_age_seconds) == (0, 0, 0, None)
    assert figures.by_reason == ()
    assert figures.presence == ()
    assert dict(figures.by_age) == dict.fromkeys(AGES, 0)


def test_each_document_counts_under_each_of_its_reasons_once_most_first(cast: Cast) -> None:
    waiting(cast.document_type, "low_confidence", "rule_failed")
    waiting(cast.document_type, "low_confidence", "low_confidence")
    waiting(cast.document_type, "audit_auto")
    assert queue_figures(cast.project).by_reason == (("low_confidence", 2), ("audit_auto", 1), ("rule_failed", 1))


@pytest.mark.parametrize(
    ("age", "name"),
    [
        (timedelta(minutes=1), "hour"),
        (timedelta(minutes=59), "hour"),
        (timedelta(minutes=61), "day"),
        (timedelta(hours=25), "week"),
        (timedelta(days=6, hours=23), "week"),
        (timedelta(days=8), "older"),
    ],
)
def test_waiting_work_is_of_exactly_one_age(cast: Cast, age: timedelta, name: str) -> None:
    task = waiting(cast.document_type, age=age)
    assert dict(queue_figures(cast.project).by_age) == dict.fromkeys(AGES, 0) | {name: 1}
    for other in AGES:
        assert ids(cast, QueueFilter(age=other)) == ([task.pk] if other == name else [])


def test_the_oldest_is_the_oldest_whatever_its_priority(cast: Cast) -> None:
    waiting(cast.document_type, age=timedelta(hours=3))
    waiting(cast.document_type, age=timedelta(minutes=1), priority=5)
    oldest = queue_figures(cast.project).oldest_age_seconds
    assert oldest is not None
    assert 3 * 3600 <= oldest < 3 * 3600 + 60


def test_presence_names_live_holders_and_what_they_hold(cast: Cast) -> None:
    tasks = [waiting(cast.document_type) for _ in range(4)]
    hold(tasks[0], cast.reviewer, seconds=500)
    hold(tasks[1], cast.reviewer, seconds=100)
    hold(tasks[2], cast.manager)
    hold(tasks[3], cast.admin, seconds=-1)
    figures = queue_figures(cast.project)
    assert [(one.username, one.n_tasks) for one in figures.presence] == [("mia", 1), ("rui", 2)]
    assert figures.presence[1].first_end < timezone.now() + timedelta(seconds=101)
    assert (figures.n_open, figures.n_held, figures.n_free) == (4, 3, 1)


def test_finished_work_and_other_projects_are_not_counted(cast: Cast) -> None:
    waiting(cast.other_document_type, "low_confidence")
    done = waiting(cast.document_type, "low_confidence")
    ReviewTask.objects.filter(pk=done.pk).update(state=TaskState.DONE)
    assert queue_figures(cast.project).n_open == 0
    assert queue_rows(cast.project, QueueFilter()) == ([], False)


def test_rows_come_most_important_then_oldest_first(cast: Cast) -> None:
    first, second = waiting(cast.document_type), waiting(cast.document_type)
    urgent = waiting(cast.document_type, priority=3)
    assert ids(cast, QueueFilter()) == [urgent.pk, first.pk, second.pk]


def test_a_reason_is_found_whole_and_not_as_part_of_another(cast: Cast) -> None:
    audit = waiting(cast.document_type, "audit_sampled", "duplicate")
    waiting(cast.document_type, "low_confidence")
    assert ids(cast, QueueFilter(reason="audit_sampled")) == [audit.pk]
    assert ids(cast, QueueFilter(reason="audit")) == []


def test_a_type_is_looked_at_alone(cast: Cast) -> None:
    invoice = factories.make_document_type(cast.project, "invoice")
    waiting(cast.document_type)
    wanted = waiting(invoice)
    assert ids(cast, QueueFilter(document_type=invoice)) == [wanted.pk]


def test_free_held_and_kept_tasks_are_told_apart(cast: Cast) -> None:
    free, held, kept, lapsed = (waiting(cast.document_type) for _ in range(4))
    hold(held, cast.reviewer)
    hold(lapsed, cast.reviewer, seconds=-1)
    ReviewTask.objects.filter(pk=kept.pk).update(assignee=cast.reviewer)
    assert ids(cast, QueueFilter(holding="held")) == [held.pk]
    assert ids(cast, QueueFilter(holding="assigned")) == [kept.pk]
    assert ids(cast, QueueFilter(holding="free")) == [free.pk, kept.pk, lapsed.pk]
    rows = {row.task.pk: row for row in queue_rows(cast.project, QueueFilter())[0]}
    assert rows[held.pk].holder == cast.reviewer
    assert rows[lapsed.pk].holder is None
    assert queue_figures(cast.project).n_assigned == 1


def test_pages_follow_one_another_without_a_gap_or_a_repeat(cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    task = ReviewTask.objects.get()
    run = task.run
    others = [factories.make_document(cast.document_type) for _ in range(PAGE_SIZE + 4)]
    ReviewTask.objects.bulk_create(
        ReviewTask(
            project=cast.project, document_type=cast.document_type, document=one, run=run, priority=number % 3 - 1
        )
        for number, one in enumerate(others)
    )
    seen: list[int] = []
    after = None
    has_more = True
    while has_more:
        rows, has_more = queue_rows(cast.project, QueueFilter(after=after))
        seen += [row.task.pk for row in rows]
        priority, pk = rows[-1].key.split(":")
        after = (int(priority), int(pk))
    assert len(seen) == len(set(seen)) == PAGE_SIZE + 5
    assert document.review_tasks.get().pk in seen


def test_only_open_tasks_of_the_project_can_be_changed(cast: Cast) -> None:
    mine, done = waiting(cast.document_type), waiting(cast.document_type)
    foreign = waiting(cast.other_document_type)
    ReviewTask.objects.filter(pk=done.pk).update(state=TaskState.UNUSABLE)
    assert tasks_to_change(cast.project, [mine.pk, done.pk, foreign.pk, 10**12]) == [mine]


def test_work_is_given_to_members_who_may_review(cast: Cast) -> None:
    factories.make_member(cast.project, Role.REVIEWER, "gone").__class__.objects.filter(username="gone").update(
        is_active=False
    )
    assert [member.user.username for member in reviewers_of(cast.project)] == ["ada", "mia", "rui"]


def test_figures_and_rows_cost_the_same_queries_for_more_tasks(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    hold(waiting(cast.document_type, "low_confidence"), cast.reviewer)
    for _ in range(2):
        with django_assert_num_queries(3):
            queue_figures(cast.project)
        with django_assert_num_queries(1):
            rows, _more = queue_rows(cast.project, QueueFilter(reason="low_confidence"))
            assert [(row.task.document.filename, row.task.assignee, row.holder) for row in rows]
        for _ in range(5):
            hold(waiting(cast.document_type, "low_confidence", "rule_failed"), cast.manager)
