"""Error rates as marks on one scale, and as a plain table."""

import pytest

from review.models import ReviewTask
from review.web.reviewers_view import PLAIN_COLUMNS, WIDTH, plain_rows, reviewers_view
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import task_of
from tests.review.reviewer_checks import check

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    return task_of(factories.make_routed(cast.document_type))


def test_nothing_checked_is_no_mark_and_the_scale_stays_whole(cast: Cast) -> None:
    view = reviewers_view(cast.project)
    assert [(row.error, row.seeded_error, row.agreement) for row in view.rows] == [(None, None, None)] * 3
    assert view.scale_to == pytest.approx(0.05)


def test_marks_lie_where_their_shares_do(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 95, is_right=True)
    check(task, cast.reviewer, 5, is_right=False, is_agreed=False)
    view = reviewers_view(cast.project)
    mark = view.rows[2].error
    assert mark is not None
    assert mark.share == pytest.approx(0.05)
    assert mark.n == 100
    assert view.scale_to == pytest.approx(0.15)  # the upper limit, 11.3 %, rounded up to a step
    assert mark.point == pytest.approx(WIDTH * 0.05 / 0.15, abs=0.1)
    assert mark.left + mark.length == pytest.approx(WIDTH * mark.upper / 0.15, abs=0.11)
    assert 0 <= mark.left < mark.point < mark.left + mark.length <= WIDTH


def test_everything_wrong_ends_at_the_end_of_the_scale(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 3, is_right=False, is_agreed=False)
    view = reviewers_view(cast.project)
    mark = view.rows[2].error
    assert mark is not None
    assert view.scale_to == pytest.approx(1.0)
    assert (mark.point, mark.left + mark.length) == (WIDTH, WIDTH)


def test_what_waits_for_a_decision_is_told(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 4, is_right=None)
    check(task, cast.reviewer, 1, is_right=True)
    row = reviewers_view(cast.project).rows[2]
    assert (row.n_compared, row.n_unsettled) == (5, 4)


def test_the_plain_table_has_a_cell_for_each_column(cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 1, is_right=True)
    rows = {row[0]: row for row in plain_rows(reviewers_view(cast.project).page)}
    assert {len(row) for row in rows.values()} == {len(PLAIN_COLUMNS)}
    named = dict(zip(PLAIN_COLUMNS, rows["rui"], strict=True))
    assert (named["wrong"], named["wrong_n"], named["agreed"], named["agreed_n"]) == (0.0, 1, 1.0, 1)
    assert (named["wrong_on_known"], named["wrong_on_known_n"]) == (None, 0)
    assert set(rows["mia"][1:]) == {None, 0}
