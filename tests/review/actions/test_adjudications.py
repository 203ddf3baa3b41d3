"""Where two differ a third one decides: what that makes true, and whom it judges."""

import pytest

from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.actions.leasing import lease_next_task, lease_task
from review.actions.submitting import mark_unusable
from review.exceptions import ConflictError
from review.models import (
    AccuracyRollup,
    DocumentStatus,
    FieldReview,
    ReviewTask,
    TaskKind,
    User,
)
from review.selectors.records import current_record
from review.selectors.review_tasks import task_detail
from tests.conftest import Cast
from tests.review.actions.review_room import actor
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    TOTAL,
    answer,
    checks,
    dispute,
    draw_all,
    look_at,
    second_of,
    truth,
)

# Disagreement


def test_two_who_differ_make_an_adjudication_of_what_they_differ_on(
    cast: Cast, second: User, drawn: ReviewTask
) -> None:
    draw_all(cast)
    first, adjudication = dispute(cast, cast.reviewer, second)
    assert adjudication.disputed_paths == ["/total"]
    fields = {field.path: field for field in task_detail(adjudication).fields}
    assert [path for path, field in fields.items() if field.is_to_examine] == ["/total"]
    given = fields["/total"].answers
    assert [one.label for one in given] == ["one", "other"]
    assert {(one.verdict, one.value) for one in given} == {("corrected", "8.00"), ("corrected", "8.80")}
    assert fields["/company"].answers == ()
    assert checks(first) == {"/company": (True, None), "/total": (False, None)}
    assert truth(first.document) == {"/company": ("BOOK TA K", "agreed")}


def test_the_order_of_the_two_answers_is_drawn_and_stays(cast: Cast, second: User) -> None:
    draw_all(cast)
    orders = set()
    for _ in range(12):
        _, adjudication = dispute(cast, cast.reviewer, second)
        shown = [task_detail(adjudication).fields[2].answers for _ in range(2)]
        assert shown[0] == shown[1]
        orders.add(tuple(one.value for one in shown[0]))
    assert orders == {("8.00", "8.80"), ("8.80", "8.00")}


def test_the_record_stands_until_the_dispute_is_settled(cast: Cast, second: User) -> None:
    draw_all(cast)
    task, _ = dispute(cast, cast.reviewer, second)
    record = current_record(task.document)
    assert record is not None
    assert (record.revision, record.values["/total"], record.reviewer) == (1, "8.00", cast.reviewer)
    task.document.refresh_from_db()
    assert task.document.status == DocumentStatus.STORED


def test_neither_of_the_two_is_given_the_adjudication(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    _, adjudication = dispute(cast, cast.reviewer, second)
    for user in (cast.reviewer, second):
        assert lease_next_task(actor=actor(user), project=cast.project) is None
        with pytest.raises(ConflictError):
            lease_task(actor=actor(user), task=adjudication)
    lease = lease_next_task(actor=actor(third), project=cast.project)
    assert lease is not None
    assert lease.task == adjudication


def test_a_manager_may_adjudicate_a_dispute_of_their_own_when_asked_for_it(cast: Cast, second: User) -> None:
    draw_all(cast)
    _, adjudication = dispute(cast, cast.manager, second)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None
    assert lease_task(actor=actor(cast.manager), task=adjudication).task == adjudication


def test_an_adjudication_makes_a_new_revision_that_says_so(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    record = answer(third, adjudication, OTHER_TOTAL)
    assert (record.revision, record.is_current, record.reviewer) == (2, True, third)
    assert record.values == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "8.80"}
    assert record.provenance["/total"] == {
        "source": "person",
        "reviewer": "tom",
        "verdict": "corrected",
        "task": adjudication.pk,
        "adjudicated": True,
    }
    assert record.provenance["/company"]["reviewer"] == "rui"
    assert "adjudicated" not in record.provenance["/company"]
    assert record.provenance["/date"]["source"] == "model"
    assert current_record(task.document) == record


@pytest.mark.parametrize(
    ("decided", "first_right", "second_right"),
    [
        (TOTAL, True, False),
        (OTHER_TOTAL, False, True),
        (("/total", "confirmed", None), False, False),
        (("/total", "illegible", None), None, None),
    ],
)
def test_an_adjudication_judges_both(
    cast: Cast,
    second: User,
    third: User,
    decided: tuple[str, str, object],
    first_right: bool | None,
    second_right: bool | None,
) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    answer(third, adjudication, decided)
    assert checks(task) == {"/company": (True, True), "/total": (False, first_right)}
    assert checks(second_of(task)) == {"/company": (True, True), "/total": (False, second_right)}


def test_what_was_adjudicated_is_true(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    answer(third, adjudication, OTHER_TOTAL)
    assert truth(task.document) == {"/company": ("BOOK TA K", "agreed"), "/total": ("8.80", "adjudicated")}


@pytest.mark.parametrize("is_rolled_up_before", [True, False])
def test_the_adjudicated_verdict_takes_the_place_of_the_first_in_the_estimates(
    cast: Cast, second: User, third: User, is_rolled_up_before: bool
) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    if is_rolled_up_before:
        roll_up_reviews()
        assert AccuracyRollup.objects.get(field_path="/total", day=None).n_correct == 0
    answer(third, adjudication, ("/total", "confirmed", None))
    roll_up_reviews()
    total = AccuracyRollup.objects.get(field_path="/total", day=None)
    assert (total.n, total.n_correct, total.sum_w, total.sum_wy) == (1, 1, 1.0, 1.0)
    assert FieldReview.objects.get(task=task, field_path="/total").is_in_sample is False
    assert FieldReview.objects.get(task=adjudication).is_in_sample is True
    assert rebuild_rollups(actor=actor(cast.manager), project=cast.project) == []


def test_an_adjudicated_field_that_nobody_asked_about_stays_out_of_the_sample(
    cast: Cast, second: User, third: User, drawn: ReviewTask
) -> None:
    date = ("/date", "corrected", "2018-12-24")
    answer(cast.reviewer, drawn, COMPANY, TOTAL, date)
    answer(second, second_of(drawn), COMPANY, TOTAL, ("/date", "confirmed", None))
    adjudication = look_at(drawn, TaskKind.ADJUDICATION)
    assert adjudication.disputed_paths == ["/date"]
    answer(third, adjudication, date)
    assert FieldReview.objects.get(task=adjudication).is_in_sample is False


def test_what_only_the_second_one_found_wrong_is_adjudicated_but_judges_nobody(
    cast: Cast, second: User, third: User, drawn: ReviewTask
) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, TOTAL, ("/date", "corrected", "2018-12-24"))
    adjudication = look_at(drawn, TaskKind.ADJUDICATION)
    given = {(one.verdict, one.value) for one in task_detail(adjudication).fields[1].answers}
    assert given == {("confirmed", "2018-12-25"), ("corrected", "2018-12-24")}
    record = answer(third, adjudication, ("/date", "corrected", "2018-12-24"))
    assert record.values["/date"] == "2018-12-24"
    assert set(checks(drawn)) == set(checks(second_of(drawn))) == {"/company", "/total"}
    assert {right for _, right in checks(drawn).values()} == {True}


def test_what_only_the_second_one_looked_at_and_found_right_asks_nobody(
    cast: Cast, second: User, drawn: ReviewTask
) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, TOTAL, ("/date", "confirmed", None))
    assert not ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION).exists()


def test_an_adjudicator_may_give_the_document_up(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    lease = lease_task(actor=actor(third), task=adjudication)
    mark_unusable(actor=actor(third), task=adjudication, lease_token=lease.token, reason="torn")
    task.document.refresh_from_db()
    assert task.document.status == DocumentStatus.UNREADABLE
    assert current_record(task.document) is None
    assert checks(task)["/total"] == (False, None)
