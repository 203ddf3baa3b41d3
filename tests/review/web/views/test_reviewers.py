"""The page about reviewers: the answer first, nobody measured by guesswork, the shares set by managers."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.models import ReviewTask, Role
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import task_of
from tests.review.actions.second_room import dispute, draw_all
from tests.review.reviewer_checks import check

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    return task_of(factories.make_routed(cast.document_type))


def address(cast: Cast) -> str:
    return reverse("reviewers", args=[cast.project.slug])


def page(client: Client, cast: Cast) -> str:
    return client.get(address(cast)).content.decode()


def test_without_second_reviews_it_says_how_to_get_some(manager: Client, cast: Cast) -> None:
    assert "Set a share below" in page(manager, cast)
    draw_all(cast, second=0.05)
    assert "No second review is done yet" in page(manager, cast)


def test_the_first_line_is_the_answer_with_its_interval(manager: Client, cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 195, is_right=True)
    check(task, cast.reviewer, 5, is_right=False, is_agreed=False)
    html = page(manager, cast)
    assert "<strong>2.5 %</strong>" in html
    assert "(0.8–5.7, 200 answers)" in html
    assert "same answer on 97.5 % of the fields" in html
    assert html.index('class="answer"') < html.index("<dl") < html.index("<table")


def test_nothing_settled_is_no_figure(manager: Client, cast: Cast) -> None:
    draw_all(cast)
    dispute(cast, cast.reviewer, factories.make_member(cast.project, Role.REVIEWER, "sei"))
    html = page(manager, cast)
    assert "nothing is settled yet" in html
    assert "0.0 %" not in html.split("</p>")[0]
    assert "<dt>disagreements to settle</dt><dd>1</dd>" in html


def test_every_reviewer_has_a_row_and_nobody_unchecked_a_figure(manager: Client, cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 10, is_right=True)
    html = page(manager, cast)
    for name in ("ada", "mia", "rui"):
        assert f'<th scope="row">{name}</th>' in html
    assert "vik" not in html
    assert html.count("not known: nothing checked yet") == 5


def test_a_manager_sets_the_shares_in_percent(manager: Client, cast: Cast) -> None:
    answer = manager.post(address(cast), {"second_review_share": "7.5", "seeded_share": "1"})
    assert (answer.status_code, answer["Location"]) == (302, address(cast))
    cast.project.refresh_from_db()
    assert (cast.project.second_review_share, cast.project.seeded_share) == (0.075, 0.01)
    html = page(manager, cast)
    assert 'value="7.5"' in html
    assert "from now on" in html


@pytest.mark.parametrize("wrong", ["", "101", "-1", "many", "nan"])
def test_a_wrong_share_is_said_where_it_stands_and_nothing_is_kept(manager: Client, cast: Cast, wrong: str) -> None:
    answer = manager.post(address(cast), {"second_review_share": "5", "seeded_share": wrong})
    assert answer.status_code == 400
    assert answer.content.decode().count('role="alert"') >= 1
    cast.project.refresh_from_db()
    assert cast.project.second_review_share == 0


def test_the_table_comes_as_a_file(manager: Client, cast: Cast, task: ReviewTask) -> None:
    check(task, cast.reviewer, 1, is_right=True)
    answer = manager.get(address(cast), {"format": "csv"})
    assert answer["Content-Type"].startswith("text/csv")
    lines = answer.content.decode("utf-8-sig").split("\r\n")
    assert lines[0].startswith("reviewer,wrong,wrong_lower")
    assert lines[3].startswith("rui,0.0,0.0,")


def test_in_chinese_it_is_chinese(manager: Client, cast: Cast, task: ReviewTask, chinese: None) -> None:
    check(task, cast.reviewer, 10, is_right=True)
    manager.cookies["django_language"] = "zh-hans"
    html = manager.get(address(cast), headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "<h1>审核员</h1>" in html
    assert "个答案" in html


def test_more_reviewers_cost_no_more_queries(
    manager: Client, cast: Cast, task: ReviewTask, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    page(manager, cast)
    with django_assert_num_queries(8) as few:
        page(manager, cast)
    for number in range(4):
        check(task, factories.make_member(cast.project, Role.REVIEWER), number + 1, is_right=True)
    with django_assert_num_queries(len(few)):
        page(manager, cast)
