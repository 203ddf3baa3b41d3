"""Second reviews, adjudications and seeded tasks, from the submit that they follow from to what is known then."""

import pytest
from django.conf import settings

from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.actions.leasing import Lease, lease_next_task, lease_task, release_task
from review.actions.reading import rerun_document
from review.actions.saving import save_field
from review.actions.submitting import mark_unusable, skip_task, submit_task
from review.exceptions import ConflictError, InvalidInputError
from review.models import (
    AccuracyRollup,
    Document,
    DocumentStatus,
    FieldReview,
    GroundTruth,
    Membership,
    Record,
    RegressionItem,
    RegressionSet,
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
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor, audited
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    SAME_TOTAL,
    TOTAL,
    answer,
    dispute,
    draw_all,
    finish,
    look_at,
    make_first_task,
    second_of,
)


@pytest.fixture
def second(cast: Cast) -> User:
    return factories.make_member(cast.project, Role.REVIEWER, "sei")


@pytest.fixture
def third(cast: Cast) -> User:
    return factories.make_member(cast.project, Role.REVIEWER, "tom")


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    draw_all(cast)
    return make_first_task(cast)


def checks(task: ReviewTask) -> dict[str, tuple[bool | None, bool | None]]:
    found = ReviewerCheck.objects.filter(task=task)
    return {check.field_path: (check.is_agreed, check.is_right) for check in found}


def truth(document: Document) -> dict[str, tuple[object, str]]:
    return {one.field_path: (one.value, one.origin) for one in GroundTruth.objects.filter(document=document)}


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


def test_where_nobody_else_may_review_there_is_no_second_review(cast: Cast, task: ReviewTask) -> None:
    Membership.objects.filter(project=cast.project, role__in=[Role.MANAGER, Role.ADMIN]).delete()
    answer(cast.reviewer, task, COMPANY, TOTAL)
    assert ReviewTask.objects.count() == 1


def test_a_document_that_was_given_up_gets_no_second_review(cast: Cast, second: User, task: ReviewTask) -> None:
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    mark_unusable(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason="blank")
    assert ReviewTask.objects.count() == 1


# Blindness


def test_the_first_reviewer_never_gets_the_second_review(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    with pytest.raises(ConflictError) as caught:
        lease_task(actor=actor(cast.reviewer), task=second_of(task))
    assert caught.value.code == "task_not_for_you"


def test_nor_does_a_manager_who_did_the_first(cast: Cast, task: ReviewTask) -> None:
    answer(cast.manager, task, COMPANY, TOTAL)
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None
    with pytest.raises(ConflictError):
        lease_task(actor=actor(cast.manager), task=second_of(task))


def test_nor_does_anybody_who_had_saved_a_field_of_the_first(cast: Cast, second: User, task: ReviewTask) -> None:
    lease = lease_task(actor=actor(second), task=task)
    save_field(
        actor=actor(second),
        task=task,
        lease_token=lease.token,
        field_path="/total",
        verdict="corrected",
        value="8.00",
        base_version=0,
    )
    skip_task(actor=actor(second), task=task, lease_token=lease.token, reason="lunch")
    answer(cast.reviewer, task, COMPANY)
    assert lease_next_task(actor=actor(second), project=cast.project) is None


def test_another_person_is_given_it_and_sees_no_answer(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    lease = lease_next_task(actor=actor(second), project=cast.project)
    assert lease is not None
    assert lease.task == second_of(task)
    detail = task_detail(lease.task)
    assert [field.edit for field in detail.fields] == [None, None, None]
    assert [field.answers for field in detail.fields] == [(), (), ()]
    assert [field.is_to_examine for field in detail.fields] == [True, False, True]
    prediction = detail.fields[2].prediction
    assert prediction is not None
    assert prediction.value == "9.00"


def test_what_a_second_reviewer_is_answered_is_their_own_and_changes_nothing(
    cast: Cast, second: User, task: ReviewTask
) -> None:
    kept = answer(cast.reviewer, task, COMPANY, TOTAL)
    told = answer(second, second_of(task), COMPANY, OTHER_TOTAL)
    assert told.values == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "8.80"}
    assert (told.reviewer, told.pk, told.revision) == (second, kept.pk, kept.revision)
    assert told.provenance["/total"]["reviewer"] == "sei"
    assert "adjudicated" not in told.provenance["/total"]
    assert current_record(task.document) == kept
    assert Record.objects.get().values["/total"] == "8.00"


def test_submitting_a_second_review_twice_is_answered_alike(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    look = second_of(task)
    told = answer(second, look, COMPANY, OTHER_TOTAL)
    look.refresh_from_db()
    again = submit_task(actor=actor(second), task=look, lease_token=look.lease_token)
    assert (again.values, again.provenance, again.reviewer) == (told.values, told.provenance, second)
    assert ReviewerCheck.objects.count() == 4


def test_a_second_review_must_answer_what_the_first_was_asked(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    with pytest.raises(InvalidInputError) as caught:
        answer(second, second_of(task), COMPANY)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]


def test_a_second_review_leaves_the_same_traces_as_a_first(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, TOTAL)
    assert audited(second_of(task)) == audited(task) == ["review_task.leased", "review_task.submitted"]


# Agreement


@pytest.mark.parametrize("same", [TOTAL, SAME_TOTAL])
def test_two_who_agree_make_the_value_true(
    cast: Cast, second: User, task: ReviewTask, same: tuple[str, str, object]
) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, same)
    assert truth(task.document) == {"/company": ("BOOK TA K", "agreed"), "/total": ("8.00", "agreed")}
    assert checks(task) == checks(second_of(task)) == {"/company": (True, True), "/total": (True, True)}
    assert not ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION).exists()
    by = dict(ReviewerCheck.objects.values_list("task_id", "reviewer__username"))
    assert by == {task.pk: "rui", second_of(task).pk: "sei"}


def test_two_who_both_find_a_field_illegible_agree_and_leave_no_truth(
    cast: Cast, second: User, task: ReviewTask
) -> None:
    illegible = ("/total", "illegible", None)
    answer(cast.reviewer, task, COMPANY, illegible)
    answer(second, second_of(task), COMPANY, illegible)
    assert checks(task)["/total"] == (True, None)
    assert set(truth(task.document)) == {"/company"}


def test_two_who_agree_that_nothing_stands_there_make_that_true(cast: Cast, second: User, task: ReviewTask) -> None:
    spurious = ("/total", "spurious", None)
    answer(cast.reviewer, task, COMPANY, spurious)
    answer(second, second_of(task), COMPANY, spurious)
    assert truth(task.document)["/total"] == (None, "agreed")


def test_a_second_answer_is_a_label_but_never_counts_twice(cast: Cast, second: User, task: ReviewTask) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, TOTAL)
    assert set(FieldReview.objects.filter(task=task).values_list("is_in_sample", flat=True)) == {True}
    assert set(FieldReview.objects.filter(task=second_of(task)).values_list("is_in_sample", flat=True)) == {False}
    roll_up_reviews()
    assert set(AccuracyRollup.objects.values_list("n", flat=True)) == {1}


# Disagreement


def test_two_who_differ_make_an_adjudication_of_what_they_differ_on(cast: Cast, second: User, task: ReviewTask) -> None:
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
    cast: Cast, second: User, third: User, task: ReviewTask
) -> None:
    date = ("/date", "corrected", "2018-12-24")
    answer(cast.reviewer, task, COMPANY, TOTAL, date)
    answer(second, second_of(task), COMPANY, TOTAL, ("/date", "confirmed", None))
    adjudication = look_at(task, TaskKind.ADJUDICATION)
    assert adjudication.disputed_paths == ["/date"]
    answer(third, adjudication, date)
    assert FieldReview.objects.get(task=adjudication).is_in_sample is False


def test_what_only_the_second_one_found_wrong_is_adjudicated_but_judges_nobody(
    cast: Cast, second: User, third: User, task: ReviewTask
) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, TOTAL, ("/date", "corrected", "2018-12-24"))
    adjudication = look_at(task, TaskKind.ADJUDICATION)
    given = {(one.verdict, one.value) for one in task_detail(adjudication).fields[1].answers}
    assert given == {("confirmed", "2018-12-25"), ("corrected", "2018-12-24")}
    record = answer(third, adjudication, ("/date", "corrected", "2018-12-24"))
    assert record.values["/date"] == "2018-12-24"
    assert set(checks(task)) == set(checks(second_of(task))) == {"/company", "/total"}
    assert {right for _, right in checks(task).values()} == {True}


def test_what_only_the_second_one_looked_at_and_found_right_asks_nobody(
    cast: Cast, second: User, task: ReviewTask
) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, TOTAL, ("/date", "confirmed", None))
    assert not ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION).exists()


def test_to_call_the_document_unusable_is_an_answer_not_an_act(
    cast: Cast, second: User, third: User, task: ReviewTask
) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    look = second_of(task)
    lease = lease_task(actor=actor(second), task=look)
    mark_unusable(actor=actor(second), task=look, lease_token=lease.token, reason="too dark")
    task.document.refresh_from_db()
    assert task.document.status == DocumentStatus.STORED
    assert current_record(task.document) is not None
    adjudication = look_at(task, TaskKind.ADJUDICATION)
    assert adjudication.disputed_paths == ["/company", "/total"]
    shown = {(one.verdict, one.value) for one in task_detail(adjudication).fields[2].answers}
    assert shown == {("corrected", "8.00"), ("illegible", None)}
    answer(third, adjudication, COMPANY, TOTAL)
    assert {right for _, right in checks(task).values()} == {True}
    assert {right for _, right in checks(look).values()} == {False}


def test_an_adjudicator_may_give_the_document_up(cast: Cast, second: User, third: User) -> None:
    draw_all(cast)
    task, adjudication = dispute(cast, cast.reviewer, second)
    lease = lease_task(actor=actor(third), task=adjudication)
    mark_unusable(actor=actor(third), task=adjudication, lease_token=lease.token, reason="torn")
    task.document.refresh_from_db()
    assert task.document.status == DocumentStatus.UNREADABLE
    assert current_record(task.document) is None
    assert checks(task)["/total"] == (False, None)


def test_reading_the_document_again_cancels_a_second_review_that_nobody_began(
    cast: Cast, second: User, task: ReviewTask
) -> None:
    answer(cast.reviewer, task, COMPANY, TOTAL)
    rerun_document(actor=actor(cast.manager), document=task.document)
    assert second_of(task).state == TaskState.CANCELLED


# Seeded tasks


@pytest.fixture
def seed(cast: Cast, second: User, task: ReviewTask) -> ReviewTask:
    """A document whose values are agreed, and one more that waits; every task is preceded by a seeded one."""
    answer(cast.reviewer, task, COMPANY, TOTAL)
    answer(second, second_of(task), COMPANY, TOTAL)
    draw_all(cast, second=0.0, seeded=1.0)
    return task


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


def test_labels_of_a_regression_set_judge_by_value_not_by_spelling(cast: Cast, task: ReviewTask, third: User) -> None:
    draw_all(cast, second=0.0, seeded=0.0)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    regression_set = RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name="labelled", digest="d"
    )
    labels = {"/company": "BOOK TA K", "/total": "RM 8.80"}
    RegressionItem.objects.create(
        regression_set=regression_set, name="a.jpg", sha256=task.document.sha256, truth=labels
    )
    draw_all(cast, second=0.0, seeded=1.0)
    make_first_task(cast)
    lease = next_task(third, cast)
    assert lease.task.document == task.document
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
