"""Who is told what of a second look."""

import pytest

from review.models import Document, RegressionItem, RegressionSet, ReviewTask, Role, TaskKind, TaskState, User
from review.selectors.review_tasks import queue_summary, tasks_for, waiting_tasks
from review.selectors.second_looks import (
    has_other_reviewer,
    has_seen_before,
    is_hidden_from,
    known_values,
    seeds_for,
    shown_kind,
    was_preceded,
)
from tests import factories
from tests.conftest import Cast
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    TOTAL,
    answer,
    dispute,
    draw_all,
    make_first_task,
    second_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def look(cast: Cast, second: User) -> ReviewTask:
    """An open second review of what rui did."""
    draw_all(cast)
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    return second_of(task)


def held(look: ReviewTask, user: User) -> ReviewTask:
    ReviewTask.objects.filter(pk=look.pk).update(lease_holder=user)
    look.refresh_from_db()
    return look


def test_the_first_reviewer_is_not_told_of_the_second_review(cast: Cast, second: User, look: ReviewTask) -> None:
    assert is_hidden_from(look, cast.reviewer)
    assert not is_hidden_from(look, second)
    assert list(tasks_for(cast.project, reviewer=cast.reviewer)) == []
    assert list(tasks_for(cast.project, reviewer=second)) == [look]
    assert list(tasks_for(cast.project)) == [look]


def test_the_queue_of_the_first_reviewer_is_empty_and_says_so(cast: Cast, second: User, look: ReviewTask) -> None:
    theirs, others = (queue_summary(cast.project, reviewer=one) for one in (cast.reviewer, second))
    assert (theirs.n_open, theirs.n_leased, theirs.oldest_age_seconds) == (0, 0, None)
    assert others.n_open == 1
    assert others.oldest_age_seconds is not None
    assert queue_summary(cast.project).n_open == 1


def test_a_hidden_task_of_another_type_hides_nothing(cast: Cast, look: ReviewTask) -> None:
    other = factories.make_document_type(cast.project, "bill")
    factories.make_routed(other)
    assert queue_summary(cast.project, reviewer=cast.reviewer, document_type=other).n_open == 1
    assert queue_summary(cast.project, reviewer=cast.reviewer).n_open == 1


def test_a_review_is_given_to_whoever_reviewed_the_document_before(cast: Cast, look: ReviewTask) -> None:
    """A rerun asks anew; only second looks must come from somebody else."""
    ReviewTask.objects.filter(pk=look.pk).update(state=TaskState.CANCELLED)
    again = factories.make_task(look.document, look.run)
    assert not has_seen_before(again, cast.reviewer)
    assert list(waiting_tasks(cast.project, cast.reviewer)) == [again]


@pytest.mark.parametrize("kind", [TaskKind.SECOND_REVIEW, TaskKind.SEEDED])
def test_a_blind_task_is_a_review_to_reviewers_whatever_happens(
    cast: Cast, second: User, look: ReviewTask, kind: TaskKind
) -> None:
    look.kind = kind
    for state in TaskState:
        look.state = state
        for holder in (None, second, cast.reviewer):
            look.lease_holder = holder
            assert shown_kind(look, viewer=second, is_manager=False) == TaskKind.REVIEW


def test_a_manager_is_told_the_kind_once_it_blinds_nobody(cast: Cast, second: User, look: ReviewTask) -> None:
    assert shown_kind(look, viewer=cast.manager, is_manager=True) == TaskKind.REVIEW
    assert shown_kind(held(look, cast.manager), viewer=cast.manager, is_manager=True) == TaskKind.REVIEW
    assert shown_kind(held(look, second), viewer=cast.manager, is_manager=True) == TaskKind.SECOND_REVIEW
    look.state = TaskState.DONE
    assert shown_kind(look, viewer=cast.manager, is_manager=True) == TaskKind.SECOND_REVIEW


@pytest.mark.parametrize("is_manager", [True, False])
def test_an_adjudication_says_what_it_is(cast: Cast, second: User, is_manager: bool) -> None:
    draw_all(cast)
    _, adjudication = dispute(cast, cast.reviewer, second)
    assert shown_kind(adjudication, viewer=cast.admin, is_manager=is_manager) == TaskKind.ADJUDICATION


def test_only_active_members_who_may_review_are_other_reviewers(cast: Cast) -> None:
    assert has_other_reviewer(cast.project, cast.reviewer)
    cast.project.memberships.exclude(user__in=[cast.reviewer, cast.viewer]).delete()
    assert not has_other_reviewer(cast.project, cast.reviewer)
    other = factories.make_member(cast.project, Role.REVIEWER)
    assert has_other_reviewer(cast.project, cast.reviewer)
    other.is_active = False
    other.save()
    assert not has_other_reviewer(cast.project, cast.reviewer)


def test_seeds_are_settled_documents_of_the_same_type_that_the_person_never_touched(
    cast: Cast, second: User, look: ReviewTask
) -> None:
    waiting = make_first_task(cast)
    assert list(seeds_for(cast.admin, waiting)) == []
    answer(second, look, COMPANY, TOTAL)
    assert list(seeds_for(cast.admin, waiting)) == [look.first_task]
    assert list(seeds_for(cast.reviewer, waiting)) == list(seeds_for(second, waiting)) == []
    of_other_type = factories.make_routed(factories.make_document_type(cast.project, "bill")).review_tasks.get()
    assert list(seeds_for(cast.admin, of_other_type)) == []
    factories.make_task(look.document, look.run)
    assert list(seeds_for(cast.admin, waiting)) == []


def test_a_seed_in_dispute_comes_back_once_it_is_settled(cast: Cast, second: User) -> None:
    draw_all(cast)
    _, adjudication = dispute(cast, cast.reviewer, second)
    waiting = make_first_task(cast)
    newcomer = factories.make_member(cast.project, Role.REVIEWER)
    assert list(seeds_for(newcomer, waiting)) == []
    answer(cast.admin, adjudication, OTHER_TOTAL)
    assert len(seeds_for(newcomer, waiting)) == 1


def label(cast: Cast, document: Document, **truth: str) -> None:
    """Put the document's file into a regression set."""
    RegressionItem.objects.create(
        regression_set=RegressionSet.objects.create(
            project=cast.project, document_type=cast.document_type, name=f"set {document.pk}", digest="d"
        ),
        name="a.jpg",
        sha256=document.sha256,
        truth={f"/{name}": value for name, value in truth.items()},
    )


def test_a_reviewed_document_with_labels_is_a_seed_without_any_second_review(cast: Cast, second: User) -> None:
    task, waiting = make_first_task(cast), make_first_task(cast)
    label(cast, task.document, total="RM 8.00")
    # Not before it was reviewed: a seeded task asks what a review asked.
    assert list(seeds_for(second, waiting)) == []
    answer(cast.reviewer, task, COMPANY, TOTAL)
    assert list(seeds_for(second, waiting)) == [task]
    assert list(seeds_for(cast.reviewer, waiting)) == []
    other_type = factories.make_document_type(cast.project, "bill")
    RegressionSet.objects.update(document_type=other_type)
    assert list(seeds_for(second, waiting)) == []


def test_a_document_that_is_known_twice_is_one_seed_and_what_is_agreed_counts(
    cast: Cast, second: User, look: ReviewTask
) -> None:
    answer(second, look, COMPANY, TOTAL)
    label(cast, look.document, total="9.99", date="25/12/2018")
    assert list(seeds_for(cast.admin, make_first_task(cast))) == [look.first_task]
    assert known_values(look.document) == {"/company": "BOOK TA K", "/total": "8.00", "/date": "25/12/2018"}


def test_nothing_is_known_of_a_document_that_nobody_looked_at(cast: Cast) -> None:
    assert known_values(make_first_task(cast).document) == {}


def test_a_seeded_task_is_for_one_person(cast: Cast, second: User, look: ReviewTask) -> None:
    waiting = make_first_task(cast)
    seeded = factories.make_task(factories.make_routed(cast.document_type, is_selected=False), look.run)
    ReviewTask.objects.filter(pk=seeded.pk).update(
        kind=TaskKind.SEEDED, first_task=look.first_task, before_task=waiting, assignee=second
    )
    seeded.refresh_from_db()
    assert was_preceded(waiting.pk, second)
    assert not was_preceded(waiting.pk, cast.admin)
    assert is_hidden_from(seeded, cast.admin)
    assert not is_hidden_from(seeded, second)
    ReviewTask.objects.filter(pk=seeded.pk).update(assignee=None)
    assert not is_hidden_from(seeded, cast.admin)
