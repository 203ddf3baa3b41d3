"""Second looks when many act at the same moment."""

import functools

import pytest

from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.actions.leasing import Lease, lease_next_task, lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.exceptions import LeaseLostError
from review.models import (
    AccuracyRollup,
    DocumentType,
    FieldReview,
    GroundTruth,
    Project,
    Record,
    ReviewerCheck,
    ReviewTask,
    TaskKind,
    TaskState,
    User,
)
from tests import factories
from tests.races.threads import all_at_once
from tests.review.actions.review_room import actor, task_of

CONFIRMED = [FieldVerdict("/total", "confirmed")]
CORRECTED = [FieldVerdict("/total", "corrected", "8.00")]


@pytest.fixture
def drawn(project: Project) -> Project:
    Project.objects.update(second_review_share=1.0)
    project.refresh_from_db()
    return project


def submit(user: User, task: ReviewTask, verdicts: list[FieldVerdict]) -> None:
    lease = lease_task(actor=actor(user), task=task)
    submit_task(actor=actor(user), task=task, lease_token=lease.token, verdicts=verdicts)


def second_review(document_type: DocumentType, first: User) -> ReviewTask:
    task = task_of(factories.make_routed(document_type))
    submit(first, task, CONFIRMED)
    return ReviewTask.objects.get(first_task=task, kind=TaskKind.SECOND_REVIEW)


@pytest.mark.parametrize("round_number", range(3))
def test_of_sixteen_who_ask_at_once_one_other_than_the_first_gets_the_second_review(
    drawn: Project, document_type: DocumentType, reviewers: list[User], round_number: int
) -> None:
    first = reviewers[round_number]
    look = second_review(document_type, first)
    answers = all_at_once([functools.partial(lease_next_task, actor=actor(one), project=drawn) for one in reviewers])
    assert [one for one in answers if isinstance(one, Exception)] == []
    leases = [one for one in answers if isinstance(one, Lease)]
    assert [lease.task.pk for lease in leases] == [look.pk]
    assert leases[0].task.lease_holder != first


def test_two_second_reviewers_leave_one_answer(
    drawn: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    """The second of the two took the task over; the first one's late submit changes nothing."""
    first, late, quick = reviewers[:3]
    for _ in range(5):
        look = second_review(document_type, first)
        lease = lease_task(actor=actor(late), task=look)
        ReviewTask.objects.filter(pk=look.pk).update(lease_expires_at=look.created_at)

        def take_over(look: ReviewTask = look) -> None:
            submit(quick, look, CORRECTED)

        answers = all_at_once(
            [
                functools.partial(
                    submit_task, actor=actor(late), task=look, lease_token=lease.token, verdicts=CONFIRMED
                ),
                take_over,
            ]
        )
        assert sum(isinstance(one, Exception) for one in answers) == 1
        assert ReviewerCheck.objects.filter(task=look).count() == 1
        assert FieldReview.objects.filter(task=look).count() == 1
        is_late = isinstance(answers[1], Exception)
        assert isinstance(answers[0], LeaseLostError) != is_late
        adjudications = ReviewTask.objects.filter(document=look.document, kind=TaskKind.ADJUDICATION)
        assert adjudications.count() == (0 if is_late else 1)
        assert Record.objects.filter(document=look.document).count() == 1


def test_a_second_review_sent_sixteen_times_is_compared_once(
    drawn: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    first, second = reviewers[:2]
    look = second_review(document_type, first)
    lease = lease_task(actor=actor(second), task=look)
    call = functools.partial(submit_task, actor=actor(second), task=look, lease_token=lease.token, verdicts=CORRECTED)
    answers = all_at_once([call] * 16)
    assert [one for one in answers if not isinstance(one, Record)] == []
    assert {one.values["/total"] for one in answers if isinstance(one, Record)} == {"8.00"}
    assert ReviewerCheck.objects.count() == 2
    assert ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION).count() == 1


def test_labels_are_counted_once_while_disputes_are_settled(
    drawn: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    first, second, third, *_ = reviewers
    adjudications = []
    for _ in range(6):
        look = second_review(document_type, first)
        submit(second, look, CORRECTED)
        adjudications.append(ReviewTask.objects.get(document=look.document, kind=TaskKind.ADJUDICATION))
    leases = [(task, lease_task(actor=actor(third), task=task).token) for task in adjudications]
    settle = [
        functools.partial(submit_task, actor=actor(third), task=task, lease_token=token, verdicts=CORRECTED)
        for task, token in leases
    ]
    answers = all_at_once([*settle, *[functools.partial(roll_up_reviews, limit=2)] * 4])
    assert [one for one in answers if isinstance(one, Exception)] == []
    roll_up_reviews()
    total = AccuracyRollup.objects.get(field_path="/total", day=None)
    assert (total.n, total.n_correct) == (6, 0)
    assert rebuild_rollups(actor=actor(third), project=drawn) == []
    assert GroundTruth.objects.filter(value="8.00").count() == 6


def test_two_who_are_seeded_at_once_get_no_document_twice(
    drawn: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    first, second, *others = reviewers
    for _ in range(2):
        submit(second, second_review(document_type, first), CONFIRMED)
    Project.objects.update(second_review_share=0.0, seeded_share=1.0)
    drawn.refresh_from_db()
    for _ in others:
        factories.make_routed(document_type)
    answers = all_at_once([functools.partial(lease_next_task, actor=actor(one), project=drawn) for one in others])
    assert [one for one in answers if not isinstance(one, Lease)] == []
    seeded = ReviewTask.objects.filter(kind=TaskKind.SEEDED, state=TaskState.OPEN)
    assert 1 <= seeded.count() <= 2
    assert len(set(seeded.values_list("document", flat=True))) == seeded.count()
    assert len({one.task.pk for one in answers if isinstance(one, Lease)}) == len(others)
