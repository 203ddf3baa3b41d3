"""Error rates of reviewers: who counts, what counts, in how many queries."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.accuracy.intervals import clopper_pearson
from review.models import CheckSource, Membership, ReviewerCheck, ReviewTask, Role, User
from review.selectors.reviewers import N_DAYS, ReviewerQuality, reviewers_page
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import task_of
from tests.review.reviewer_checks import check

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    return task_of(factories.make_routed(cast.document_type))


def of(cast: Cast, user: User) -> ReviewerQuality:
    return next(one for one in reviewers_page(cast.project).reviewers if one.username == user.username)


def test_everybody_who_may_review_is_listed_and_nothing_is_known_of_them(cast: Cast) -> None:
    page = reviewers_page(cast.project)
    assert [one.username for one in page.reviewers] == ["ada", "mia", "rui"]
    assert {(one.error.point, one.seeded_error.point, one.agreement.point) for one in page.reviewers} == {
        (None, None, None)
    }
    assert (page.n_second_reviews, page.n_adjudications, page.n_known_documents) == (0, 0, 0)


def test_with_one_share_the_rate_is_the_plain_one_with_its_exact_interval(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 37, is_right=True)
    check(task, cast.reviewer, 3, is_right=False, is_agreed=False)
    error, exact = of(cast, cast.reviewer).error, clopper_pearson(3, 40)
    assert error.n == 40
    assert (error.point, error.lower, error.upper) == pytest.approx((exact.point, exact.lower, exact.upper))


def test_answers_checked_at_another_share_count_for_what_they_stand_for(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 10, is_right=False, inclusion_probability=1.0)
    check(task, cast.reviewer, 10, is_right=True, inclusion_probability=0.1)
    assert of(cast, cast.reviewer).error.point == pytest.approx(10 / 110)


def test_what_is_not_settled_counts_for_agreement_only(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 6, is_right=None)
    check(task, cast.reviewer, 2, is_right=None, is_agreed=False)
    quality = of(cast, cast.reviewer)
    assert (quality.error.n, quality.error.point, quality.n_compared) == (0, None, 8)
    assert quality.agreement.point == 0.75


def test_seeded_tasks_stand_apart(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 9, is_right=True, is_agreed=None, source=CheckSource.SEEDED, inclusion_probability=1)
    check(task, cast.reviewer, 1, is_right=False, is_agreed=None, source=CheckSource.SEEDED, inclusion_probability=1)
    quality = of(cast, cast.reviewer)
    assert quality.seeded_error == clopper_pearson(1, 10)
    assert (quality.error.n, quality.n_compared) == (0, 0)


def test_everybody_together_is_the_sum(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 5, is_right=True)
    check(task, cast.manager, 5, is_right=False, is_agreed=False)
    everybody = reviewers_page(cast.project).everybody
    assert (everybody.error.n, everybody.n_compared) == (10, 10)
    assert everybody.error.point == pytest.approx(0.5)
    assert everybody.agreement.point == 0.5


def test_whoever_left_is_still_listed_with_what_is_known(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 2, is_right=True)
    Membership.objects.filter(user=cast.reviewer).delete()
    assert of(cast, cast.reviewer).error.n == 2


def test_old_checks_are_forgotten(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 2, is_right=False)
    ReviewerCheck.objects.update(created_at=timezone.now() - timedelta(days=N_DAYS, minutes=1))
    assert of(cast, cast.reviewer).error.n == 0


def test_another_projects_checks_are_not_counted(cast: Cast) -> None:
    check(task_of(factories.make_routed(cast.other_document_type)), cast.reviewer, 4, is_right=False)
    assert of(cast, cast.reviewer).error.n == 0


def test_more_reviewers_and_checks_cost_no_more_queries(
    cast: Cast, task: ReviewTask, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    check(task, cast.reviewer, 1, is_right=True)
    with django_assert_num_queries(4):
        reviewers_page(cast.project)
    for number in range(5):
        check(task, factories.make_member(cast.project, Role.REVIEWER), number, is_right=True)
    with django_assert_num_queries(4):
        reviewers_page(cast.project)
