"""Tasks whose answer is known are strewn in, and say who was right."""

import pytest
from django.conf import settings

from review.actions.leasing import Lease, lease_next_task, release_task
from review.actions.submitting import mark_unusable, skip_task
from review.models import (
    DocumentStatus,
    FieldReview,
    RegressionItem,
    RegressionSet,
    ReviewTask,
    TaskKind,
    TaskState,
    User,
)
from review.routing.sampling import Purpose, draw
from review.selectors.records import current_record
from review.selectors.review_tasks import task_detail
from tests.conftest import Cast
from tests.review.actions.review_room import actor, audited
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    TOTAL,
    answer,
    checks,
    dispute,
    draw_all,
    finish,
    make_first_task,
    second_of,
    truth,
)

# Seeded tasks


@pytest.fixture
def seed(cast: Cast, second: User, drawn: ReviewTask) -> ReviewTask:
    """A document whose values are agreed, and one more that waits; every task is preceded by a seeded one."""
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, TOTAL)
    draw_all(cast, second=0.0, seeded=1.0)
    return drawn


def next_task(user: User, cast: Cast) -> Lease:
    lease = lease_next_task(actor=actor(user), project=cast.project)
    assert lease is not None
    return lease


def test_a_seeded_task_comes_before_the_next_one_and_only_once(cast: Cast, seed: ReviewTask, third: User) -> None:
    waiting = make_first_task(cast)
    lease = next_task(third, cast)
    assert (lease.task.kind, lease.task.document, lease.task.run) == (TaskKind.SEEDED, seed.document, seed.run)
    assert (lease.task.created_at, lease.task.priority) == (waiting.created_at, waiting.priority)
    finish(third, lease, COMPANY, OTHER_TOTAL)
    assert next_task(third, cast).task == waiting


def test_a_seeded_task_looks_like_a_first_one(cast: Cast, seed: ReviewTask, third: User) -> None:
    make_first_task(cast)
    lease = next_task(third, cast)
    detail = task_detail(lease.task)
    assert [field.edit for field in detail.fields] == [None, None, None]
    assert [field.is_to_examine for field in detail.fields] == [True, False, True]
    finish(third, lease, COMPANY, OTHER_TOTAL)
    assert audited(lease.task) == audited(seed)


def test_a_seeded_task_says_who_was_right_and_changes_nothing(cast: Cast, seed: ReviewTask, third: User) -> None:
    make_first_task(cast)
    before = current_record(seed.document)
    lease = next_task(third, cast)
    told = finish(third, lease, COMPANY, OTHER_TOTAL, ("/date", "corrected", "2018-12-24"))
    assert told.values == {"/company": "BOOK TA K", "/date": "2018-12-24", "/total": "8.80"}
    assert checks(lease.task) == {"/company": (None, True), "/total": (None, False)}
    assert current_record(seed.document) == before
    assert truth(seed.document)["/total"] == ("8.00", "agreed")
    assert not FieldReview.objects.filter(task=lease.task, is_in_sample=True).exists()
    assert not ReviewTask.objects.filter(kind=TaskKind.SECOND_REVIEW, first_task=lease.task).exists()


def test_labels_of_a_regression_set_judge_by_value_not_by_spelling(cast: Cast, drawn: ReviewTask, third: User) -> None:
    draw_all(cast, second=0.0, seeded=0.0)
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    regression_set = RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name="labelled", digest="d"
    )
    labels = {"/company": "BOOK TA K", "/total": "RM 8.80"}
    RegressionItem.objects.create(
        regression_set=regression_set, name="a.jpg", sha256=drawn.document.sha256, truth=labels
    )
    draw_all(cast, second=0.0, seeded=1.0)
    make_first_task(cast)
    lease = next_task(third, cast)
    assert lease.task.document == drawn.document
    finish(third, lease, ("/company", "corrected", "BOOK TAX"), OTHER_TOTAL)
    assert checks(lease.task) == {"/company": (None, False), "/total": (None, True)}


def test_with_nothing_waiting_no_seeded_task_appears(cast: Cast, seed: ReviewTask, third: User) -> None:
    assert lease_next_task(actor=actor(third), project=cast.project) is None


def test_whoever_worked_on_the_document_is_not_seeded_with_it(cast: Cast, second: User, seed: ReviewTask) -> None:
    waiting = make_first_task(cast)
    for user in (cast.reviewer, second):
        lease = next_task(user, cast)
        assert lease.task == waiting
        release_task(actor=actor(user), task=lease.task, lease_token=lease.token)


def test_a_document_in_dispute_seeds_nobody(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    _, adjudication = dispute(cast, cast.reviewer, second)
    draw_all(cast, second=0.0, seeded=1.0)
    assert next_task(third, cast).task == adjudication


def test_a_seeded_task_that_is_given_back_waits_for_the_same_person(cast: Cast, seed: ReviewTask, third: User) -> None:
    waiting = make_first_task(cast)
    lease = next_task(third, cast)
    release_task(actor=actor(third), task=lease.task, lease_token=lease.token)
    assert next_task(cast.admin, cast).task == waiting
    assert next_task(third, cast).task == lease.task


def test_a_skipped_seeded_task_is_over(cast: Cast, seed: ReviewTask, third: User) -> None:
    waiting = make_first_task(cast)
    lease = next_task(third, cast)
    skip_task(actor=actor(third), task=lease.task, lease_token=lease.token, reason="too hard")
    lease.task.refresh_from_db()
    assert lease.task.state == TaskState.CANCELLED
    assert next_task(third, cast).task == waiting


def test_to_call_a_seeded_document_unusable_is_wrong_on_every_field(cast: Cast, seed: ReviewTask, third: User) -> None:
    make_first_task(cast)
    lease = next_task(third, cast)
    mark_unusable(actor=actor(third), task=lease.task, lease_token=lease.token, reason="too dark")
    assert checks(lease.task) == {"/company": (None, False), "/total": (None, False)}
    seed.document.refresh_from_db()
    assert seed.document.status == DocumentStatus.STORED


def test_a_share_of_the_tasks_is_preceded(cast: Cast, seed: ReviewTask, third: User) -> None:
    draw_all(cast, second=0.0, seeded=0.5)
    waiting = [make_first_task(cast) for _ in range(8)]
    kinds = []
    while (lease := lease_next_task(actor=actor(third), project=cast.project)) is not None:
        kinds.append(lease.task.kind)
        finish(third, lease, COMPANY, TOTAL)
    drawn = [draw(str(task.pk), str(third.pk), settings.SECRET_KEY, Purpose.SEEDED) < 0.5 for task in waiting]
    # There is one document to be seeded with, and nobody is given it twice.
    assert kinds.count(TaskKind.SEEDED) == min(1, sum(drawn))
    assert kinds.count(TaskKind.REVIEW) == 8
