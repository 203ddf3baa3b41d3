"""Who answers again has not seen the first answers: not on the document's page, not in its records."""

import pytest
from pytest_django import DjangoAssertNumQueries

from review.models import Record, ReviewTask, Role, User
from review.selectors.blindness import is_withheld, looks_open_to, mark_withheld
from review.selectors.documents import document_detail
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    SAME_TOTAL,
    TOTAL,
    answer,
    dispute,
    draw_all,
    make_first_task,
    second_of,
)


@pytest.fixture
def other(cast: Cast) -> User:
    return factories.make_member(cast.project, Role.REVIEWER, "ana")


@pytest.fixture
def first(cast: Cast, other: User) -> ReviewTask:
    """A review that rui answered; ana may be asked next."""
    draw_all(cast)
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    return task


def values_for(viewer: User | None) -> list[tuple[bool, object]]:
    records = mark_withheld(Record.objects.order_by("id"), viewer)
    return [(vars(record)["is_withheld"], record.values["/total"]) for record in records]


def test_the_first_answers_are_withheld_from_whoever_may_answer_again(first: ReviewTask, other: User) -> None:
    assert is_withheld(first.document, other)
    assert values_for(other) == [(True, "8.00")]
    detail = document_detail(first.document, other)
    assert (detail.is_withheld, detail.record) == (True, None)
    assert {(field.accepted, field.provenance) for field in detail.fields} == {(None, None)}


@pytest.mark.parametrize("who", ["reviewer", "manager", "viewer"])
def test_who_answered_who_manages_and_who_only_reads_sees_them(cast: Cast, first: ReviewTask, who: str) -> None:
    viewer = getattr(cast, who)
    assert not is_withheld(first.document, viewer)
    assert values_for(viewer) == [(False, "8.00")]
    detail = document_detail(first.document, viewer)
    assert detail.record is not None
    assert not detail.is_withheld


def test_nothing_is_withheld_from_stet_itself(first: ReviewTask) -> None:
    assert values_for(None) == [(False, "8.00")]
    assert document_detail(first.document).record is not None


def test_what_is_agreed_is_told(cast: Cast, first: ReviewTask, other: User) -> None:
    third = factories.make_member(cast.project, Role.REVIEWER, "eve")
    answer(other, second_of(first), COMPANY, SAME_TOTAL)
    assert not is_withheld(first.document, other)
    assert not is_withheld(first.document, third)


def test_an_adjudication_is_blind_for_those_who_may_decide_it(cast: Cast, other: User) -> None:
    draw_all(cast)
    third = factories.make_member(cast.project, Role.REVIEWER, "eve")
    task, _adjudication = dispute(cast, cast.reviewer, other)
    assert is_withheld(task.document, third)
    # Both have had their say, and are not asked to decide.
    assert not is_withheld(task.document, other)
    assert not is_withheld(task.document, cast.reviewer)


def test_a_copy_of_the_document_gives_nothing_away(cast: Cast, first: ReviewTask, other: User) -> None:
    copy = factories.make_document(cast.document_type, duplicate_of=first.document)
    assert is_withheld(copy, other)
    assert document_detail(copy, other).record is None


def test_a_first_review_withholds_nothing(cast: Cast, other: User) -> None:
    task = make_first_task(cast)
    assert not is_withheld(task.document, other)
    assert not looks_open_to(other).exists()


def test_a_seeded_document_is_withheld_from_the_one_it_is_given_to(cast: Cast, first: ReviewTask, other: User) -> None:
    answer(other, second_of(first), COMPANY, SAME_TOTAL)
    third, fourth = (factories.make_member(cast.project, Role.REVIEWER, name) for name in ("eve", "noa"))
    ReviewTask.objects.create(
        project=first.project,
        document_type=first.document_type,
        document=first.document,
        run=first.run,
        kind="seeded",
        first_task=first,
        assignee=third,
    )
    assert is_withheld(first.document, third)
    assert not is_withheld(first.document, fourth)


def test_a_stranger_is_asked_nothing(first: ReviewTask, cast: Cast) -> None:
    assert not looks_open_to(cast.stranger).exists()


def test_a_list_of_records_costs_one_query_however_long(
    cast: Cast, other: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    draw_all(cast)
    for _ in range(3):
        answer(cast.reviewer, make_first_task(cast), COMPANY, OTHER_TOTAL)
    with django_assert_num_queries(1):
        assert values_for(other) == [(True, "8.80")] * 3
    assert actor(other).user == other
