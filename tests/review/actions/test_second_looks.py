"""Second reviews, from the submit that they follow from to what two who agree make true."""

import pytest
from django.conf import settings

from review.actions.accuracy import roll_up_reviews
from review.actions.leasing import lease_next_task, lease_task
from review.actions.reading import rerun_document
from review.actions.saving import save_field
from review.actions.submitting import mark_unusable, skip_task, submit_task
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AccuracyRollup,
    DocumentStatus,
    FieldReview,
    Membership,
    Record,
    ReviewerCheck,
    ReviewTask,
    Role,
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
    SAME_TOTAL,
    TOTAL,
    answer,
    checks,
    draw_all,
    look_at,
    make_first_task,
    second_of,
    truth,
)

# The draw


def test_without_a_share_nobody_looks_twice(cast: Cast, second: User) -> None:
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    assert not ReviewTask.objects.exclude(kind=TaskKind.REVIEW).exists()


def test_a_drawn_review_is_asked_of_a_second_person_with_its_chance(cast: Cast, second: User) -> None:
    draw_all(cast, second=0.999_999)
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    look = second_of(task)
    assert (look.state, look.run, look.document, look.priority) == (TaskState.OPEN, task.run, task.document, 0)
    assert (look.inclusion_probability, look.lease_holder) == (0.999_999, None)


def test_the_hash_decides_and_nothing_else(cast: Cast, second: User) -> None:
    draw_all(cast, second=0.5)
    tasks = [make_first_task(cast) for _ in range(12)]
    for task in tasks:
        answer(cast.reviewer, task, COMPANY, TOTAL)
    drawn = {
        task.pk
        for task in tasks
        if draw(str(task.document_id), str(task.run_id), settings.SECRET_KEY, Purpose.SECOND_REVIEW) < 0.5
    }
    found = ReviewTask.objects.filter(kind=TaskKind.SECOND_REVIEW).values_list("first_task_id", flat=True)
    assert set(found) == drawn


def test_where_nobody_else_may_review_there_is_no_second_review(cast: Cast, drawn: ReviewTask) -> None:
    Membership.objects.filter(project=cast.project, role__in=[Role.MANAGER, Role.ADMIN]).delete()
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    assert ReviewTask.objects.count() == 1


def test_a_document_that_was_given_up_gets_no_second_review(cast: Cast, second: User, drawn: ReviewTask) -> None:
    lease = lease_task(actor=actor(cast.reviewer), task=drawn)
    mark_unusable(actor=actor(cast.reviewer), task=drawn, lease_token=lease.token, reason="blank")
    assert ReviewTask.objects.count() == 1


# Blindness


def test_the_first_reviewer_never_gets_the_second_review(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    with pytest.raises(ConflictError) as caught:
        lease_task(actor=actor(cast.reviewer), task=second_of(drawn))
    assert caught.value.code == "task_not_for_you"


def test_nor_does_a_manager_who_did_the_first(cast: Cast, drawn: ReviewTask) -> None:
    answer(cast.manager, drawn, COMPANY, TOTAL)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None
    with pytest.raises(ConflictError):
        lease_task(actor=actor(cast.manager), task=second_of(drawn))


def test_nor_does_anybody_who_had_saved_a_field_of_the_first(cast: Cast, second: User, drawn: ReviewTask) -> None:
    lease = lease_task(actor=actor(second), task=drawn)
    save_field(
        actor=actor(second),
        task=drawn,
        lease_token=lease.token,
        field_path="/total",
        verdict="corrected",
        value="8.00",
        base_version=0,
    )
    skip_task(actor=actor(second), task=drawn, lease_token=lease.token, reason="lunch")
    answer(cast.reviewer, drawn, COMPANY)
    assert lease_next_task(actor=actor(second), project=cast.project) is None


def test_another_person_is_given_it_and_sees_no_answer(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    lease = lease_next_task(actor=actor(second), project=cast.project)
    assert lease is not None
    assert lease.task == second_of(drawn)
    detail = task_detail(lease.task)
    assert [field.edit for field in detail.fields] == [None, None, None]
    assert [field.answers for field in detail.fields] == [(), (), ()]
    assert [field.is_to_examine for field in detail.fields] == [True, False, True]
    prediction = detail.fields[2].prediction
    assert prediction is not None
    assert prediction.value == "9.00"


def test_what_a_second_reviewer_is_answered_is_their_own_and_changes_nothing(
    cast: Cast, second: User, drawn: ReviewTask
) -> None:
    kept = answer(cast.reviewer, drawn, COMPANY, TOTAL)
    told = answer(second, second_of(drawn), COMPANY, OTHER_TOTAL)
    assert told.values == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "8.80"}
    assert (told.reviewer, told.pk, told.revision) == (second, kept.pk, kept.revision)
    assert told.provenance["/total"]["reviewer"] == "sei"
    assert "adjudicated" not in told.provenance["/total"]
    assert current_record(drawn.document) == kept
    assert Record.objects.get().values["/total"] == "8.00"


def test_submitting_a_second_review_twice_is_answered_alike(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    look = second_of(drawn)
    told = answer(second, look, COMPANY, OTHER_TOTAL)
    look.refresh_from_db()
    again = submit_task(actor=actor(second), task=look, lease_token=look.lease_token)
    assert (again.values, again.provenance, again.reviewer) == (told.values, told.provenance, second)
    assert ReviewerCheck.objects.count() == 4


def test_a_second_review_must_answer_what_the_first_was_asked(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    with pytest.raises(InvalidInputError) as caught:
        answer(second, second_of(drawn), COMPANY)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]


def test_a_second_review_leaves_the_same_traces_as_a_first(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, TOTAL)
    assert audited(second_of(drawn)) == audited(drawn) == ["review_task.leased", "review_task.submitted"]


# Agreement


@pytest.mark.parametrize("same", [TOTAL, SAME_TOTAL])
def test_two_who_agree_make_the_value_true(
    cast: Cast, second: User, drawn: ReviewTask, same: tuple[str, str, object]
) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, same)
    assert truth(drawn.document) == {"/company": ("BOOK TA K", "agreed"), "/total": ("8.00", "agreed")}
    assert checks(drawn) == checks(second_of(drawn)) == {"/company": (True, True), "/total": (True, True)}
    assert not ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION).exists()
    by = dict(ReviewerCheck.objects.values_list("task_id", "reviewer__username"))
    assert by == {drawn.pk: "rui", second_of(drawn).pk: "sei"}


def test_two_who_both_find_a_field_illegible_agree_and_leave_no_truth(
    cast: Cast, second: User, drawn: ReviewTask
) -> None:
    illegible = ("/total", "illegible", None)
    answer(cast.reviewer, drawn, COMPANY, illegible)
    answer(second, second_of(drawn), COMPANY, illegible)
    assert checks(drawn)["/total"] == (True, None)
    assert set(truth(drawn.document)) == {"/company"}


def test_two_who_agree_that_nothing_stands_there_make_that_true(cast: Cast, second: User, drawn: ReviewTask) -> None:
    spurious = ("/total", "spurious", None)
    answer(cast.reviewer, drawn, COMPANY, spurious)
    answer(second, second_of(drawn), COMPANY, spurious)
    assert truth(drawn.document)["/total"] == (None, "agreed")


def test_a_second_answer_is_a_label_but_never_counts_twice(cast: Cast, second: User, drawn: ReviewTask) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    answer(second, second_of(drawn), COMPANY, TOTAL)
    assert set(FieldReview.objects.filter(task=drawn).values_list("is_in_sample", flat=True)) == {True}
    assert set(FieldReview.objects.filter(task=second_of(drawn)).values_list("is_in_sample", flat=True)) == {False}
    roll_up_reviews()
    assert set(AccuracyRollup.objects.values_list("n", flat=True)) == {1}


def test_to_call_the_document_unusable_is_an_answer_not_an_act(
    cast: Cast, second: User, third: User, drawn: ReviewTask
) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    look = second_of(drawn)
    lease = lease_task(actor=actor(second), task=look)
    mark_unusable(actor=actor(second), task=look, lease_token=lease.token, reason="too dark")
    drawn.document.refresh_from_db()
    assert drawn.document.status == DocumentStatus.STORED
    assert current_record(drawn.document) is not None
    adjudication = look_at(drawn, TaskKind.ADJUDICATION)
    assert adjudication.disputed_paths == ["/company", "/total"]
    shown = {(one.verdict, one.value) for one in task_detail(adjudication).fields[2].answers}
    assert shown == {("corrected", "8.00"), ("illegible", None)}
    answer(third, adjudication, COMPANY, TOTAL)
    assert {right for _, right in checks(drawn).values()} == {True}
    assert {right for _, right in checks(look).values()} == {False}


def test_reading_the_document_again_cancels_a_second_review_that_nobody_began(
    cast: Cast, second: User, drawn: ReviewTask
) -> None:
    answer(cast.reviewer, drawn, COMPANY, TOTAL)
    rerun_document(actor=actor(cast.manager), document=drawn.document)
    assert second_of(drawn).state == TaskState.CANCELLED
