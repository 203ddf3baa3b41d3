"""Two submits, two saves, a save or a submit and a takeover at the same moment."""

import functools
from collections.abc import Callable

import pytest

from review.actions import submitting as submitting_module
from review.actions.document_types import change_document_type
from review.actions.leasing import Lease, lease_task
from review.actions.reading import rerun_document
from review.actions.saving import save_field
from review.actions.submitting import FieldVerdict, mark_unusable, skip_task, submit_task
from review.exceptions import ConflictError, LeaseLostError
from review.models import (
    Document,
    DocumentStatus,
    DocumentType,
    FieldEdit,
    FieldReview,
    Record,
    ReviewTask,
    TaskSkip,
    TaskState,
    User,
)
from review.selectors.access import SYSTEM
from tests import factories
from tests.races.threads import Halfway, all_at_once
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task

TOTAL = FieldVerdict("/total", "corrected", "8.00")


@pytest.fixture
def task(document_type: DocumentType) -> ReviewTask:
    return make_open_task(document_type)


@pytest.fixture
def lease(task: ReviewTask, reviewers: list[User]) -> Lease:
    return lease_task(actor=actor(reviewers[0]), task=task)


def saving(lease: Lease, holder: User, value: str) -> functools.partial[FieldEdit]:
    return functools.partial(
        save_field,
        actor=actor(holder),
        task=lease.task,
        lease_token=lease.token,
        field_path="/total",
        verdict="corrected",
        value=value,
        base_version=0,
    )


def submitting(lease: Lease, holder: User) -> functools.partial[Record]:
    return functools.partial(
        submit_task, actor=actor(holder), task=lease.task, lease_token=lease.token, verdicts=[TOTAL]
    )


def test_eight_submits_of_one_person_make_one_record(lease: Lease, reviewers: list[User]) -> None:
    records = all_at_once([submitting(lease, reviewers[0])] * 8)
    assert {record.pk for record in records if isinstance(record, Record)} == {Record.objects.get().pk}
    assert not any(isinstance(record, Exception) for record in records)
    assert FieldReview.objects.count() == 1


def test_a_submit_and_a_verdict_of_unusable_finish_the_task_once(lease: Lease, reviewers: list[User]) -> None:
    giving_up = functools.partial(
        mark_unusable, actor=actor(reviewers[0]), task=lease.task, lease_token=lease.token, reason="blank"
    )
    submitted, given_up = all_at_once([submitting(lease, reviewers[0]), giving_up])
    assert isinstance(submitted, LeaseLostError) != isinstance(given_up, LeaseLostError)
    is_stored = isinstance(submitted, Record)
    assert ReviewTask.objects.get().state == (TaskState.DONE if is_stored else TaskState.UNUSABLE)
    assert Record.objects.count() == int(is_stored)
    assert Document.objects.get().status == (DocumentStatus.STORED if is_stored else DocumentStatus.UNREADABLE)


def test_eight_different_saves_on_one_version_make_one_edit_and_seven_conflicts(
    lease: Lease, reviewers: list[User]
) -> None:
    answers = all_at_once([saving(lease, reviewers[0], f"{number}.50") for number in range(8)])
    saved = [answer for answer in answers if isinstance(answer, FieldEdit)]
    conflicts = [answer for answer in answers if isinstance(answer, ConflictError)]
    assert (len(saved), len(conflicts)) == (1, 7)
    assert {error.details["current"]["value"] for error in conflicts} == {saved[0].value}
    assert len({error.details["yours"]["value"] for error in conflicts} | {saved[0].value}) == 8


def test_eight_equal_saves_make_one_edit(lease: Lease, reviewers: list[User]) -> None:
    answers = all_at_once([saving(lease, reviewers[0], "8.00")] * 8)
    assert {answer.pk for answer in answers if isinstance(answer, FieldEdit)} == {FieldEdit.objects.get().pk}
    assert not any(isinstance(answer, Exception) for answer in answers)


@pytest.mark.parametrize("round_number", range(5))
def test_a_save_and_a_takeover_keep_the_value_or_hand_it_back(
    lease: Lease, reviewers: list[User], round_number: int
) -> None:
    holder, other = reviewers[:2]
    let_lease_lapse(lease.task)
    taking = functools.partial(lease_task, actor=actor(other), task=lease.task)
    saved, taken = all_at_once([saving(lease, holder, "8.00"), taking])
    task = ReviewTask.objects.get()
    if isinstance(saved, FieldEdit):
        assert isinstance(taken, ConflictError)
        assert (task.lease_holder, FieldEdit.objects.get().value) == (holder, "8.00")
    else:
        assert isinstance(saved, LeaseLostError)
        assert saved.details["yours"]["value"] == "8.00"
        assert (task.lease_holder, FieldEdit.objects.count()) == (other, 0)
        assert isinstance(taken, Lease)


@pytest.mark.parametrize("round_number", range(5))
def test_a_submit_and_a_takeover_have_one_winner(lease: Lease, reviewers: list[User], round_number: int) -> None:
    holder, other = reviewers[:2]
    let_lease_lapse(lease.task)
    taking = functools.partial(lease_task, actor=actor(other), task=lease.task)
    submitted, taken = all_at_once([submitting(lease, holder), taking])
    if isinstance(submitted, Record):
        assert isinstance(taken, ConflictError)
        assert taken.code == "task_finished"
    else:
        assert isinstance(submitted, LeaseLostError)
        assert isinstance(taken, Lease)
        assert not Record.objects.exists()


def test_a_skip_sent_twice_at_once_counts_once(lease: Lease, reviewers: list[User]) -> None:
    skipping = functools.partial(
        skip_task, actor=actor(reviewers[0]), task=lease.task, lease_token=lease.token, reason="upside down"
    )
    assert all_at_once([skipping] * 4) == [None] * 4
    assert TaskSkip.objects.count() == 1
    assert ReviewTask.objects.get().n_skips == 1


def reading_again(document: Document) -> functools.partial[Document]:
    return functools.partial(rerun_document, actor=SYSTEM, document=document)


def moving(document: Document) -> functools.partial[Document]:
    other = factories.make_document_type(document.project, "invoice")
    return functools.partial(change_document_type, actor=SYSTEM, document=document, document_type=other)


@pytest.mark.parametrize("restart", [reading_again, moving])
def test_a_late_submit_and_a_restart_of_its_document_wait_for_each_other(
    lease: Lease,
    reviewers: list[User],
    monkeypatch: pytest.MonkeyPatch,
    restart: Callable[[Document], Callable[[], Document]],
) -> None:
    """The lease has lapsed and nothing was saved in it, so that the restart may cancel the task."""
    let_lease_lapse(lease.task)
    halfway = Halfway(monkeypatch, submitting_module, "task_detail")
    again = restart(lease.task.document)
    submitted, restarted = all_at_once([submitting(lease, reviewers[0]), halfway.then(again)])
    assert isinstance(submitted, Record)
    # Read again it may be, with what was confirmed kept; to another type it may not be moved any more.
    assert isinstance(restarted, Document if restart is reading_again else ConflictError)
    assert ReviewTask.objects.get().state == TaskState.DONE
