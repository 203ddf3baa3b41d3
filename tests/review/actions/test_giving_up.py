"""A task is skipped, or its document given up: once, with the reason, and what was saved stays."""

import pytest

from review.actions._records import store_record
from review.actions.leasing import Lease, lease_next_task, lease_task
from review.actions.submitting import mark_unusable, skip_task, submit_task
from review.exceptions import InvalidInputError, LeaseLostError
from review.models import (
    AuditEntry,
    Document,
    DocumentStatus,
    FieldReview,
    Record,
    ReviewTask,
    TaskSkip,
    TaskState,
)
from review.selectors.records import current_record
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor, announced, audited, task_of
from tests.review.actions.submitting_room import TOTAL, save, submit


def test_a_skipped_task_goes_to_others_and_keeps_what_was_saved(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    save(cast, lease, "/total", "corrected", "8.00")
    skip_task(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason=" handwriting ")
    task.refresh_from_db()
    assert (task.lease_token, task.lease_holder, task.n_skips, task.state) == ("", None, 1, TaskState.OPEN)
    assert (TaskSkip.objects.get().reviewer, TaskSkip.objects.get().reason) == (cast.reviewer, "handwriting")
    assert announced(task)[-1] == ("review_task.skipped", "")
    assert lease_next_task(actor=actor(cast.reviewer), project=cast.project) is None
    theirs = lease_next_task(actor=actor(cast.manager), project=cast.project)
    assert theirs is not None
    record = submit_task(actor=actor(cast.manager), task=task, lease_token=theirs.token, verdicts=[])
    assert record.values["/total"] == "8.00"


def test_skipping_twice_is_skipping_once(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    for _ in range(2):
        skip_task(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason="handwriting")
    assert TaskSkip.objects.count() == 1
    assert audited(task).count("review_task.skipped") == 1


def test_a_second_skip_after_taking_the_task_again_keeps_the_newer_reason(cast: Cast, task: ReviewTask) -> None:
    for reason in ("handwriting", "still handwriting"):
        lease = lease_task(actor=actor(cast.reviewer), task=task)
        skip_task(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason=reason)
    assert TaskSkip.objects.get().reason == "still handwriting"


def test_a_task_that_is_not_held_cannot_be_skipped_or_given_up(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    for act in (skip_task, mark_unusable):
        with pytest.raises(LeaseLostError):
            act(actor=actor(cast.manager), task=task, lease_token=lease.token, reason="no")
        with pytest.raises(InvalidInputError):
            act(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason=" ")
    task.refresh_from_db()
    assert (task.state, task.lease_holder) == (TaskState.OPEN, cast.reviewer)


def test_an_unusable_document_ends_unreadable_with_the_reason_in_the_trail(
    cast: Cast, lease: Lease, task: ReviewTask
) -> None:
    mark_unusable(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason="a photo of a cat")
    task.refresh_from_db()
    document = Document.objects.get(pk=task.document_id)
    assert (task.state, task.finished_by) == (TaskState.UNUSABLE, cast.reviewer)
    assert (document.status, document.reasons) == (DocumentStatus.UNREADABLE, ["unusable"])
    assert AuditEntry.objects.get(action="review_task.unusable").detail == {"reason": "a photo of a cat"}
    assert announced(task)[-1] == ("review_task.unusable", "")
    assert not Record.objects.exists()
    assert not FieldReview.objects.exists()


def test_marking_twice_is_marking_once(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    for _ in range(2):
        mark_unusable(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason="blank")
    assert audited(task).count("review_task.unusable") == 1
    with pytest.raises(LeaseLostError):
        submit(cast, lease, TOTAL)


def test_what_was_stored_unseen_of_an_unusable_document_no_longer_counts(cast: Cast) -> None:
    document = factories.make_routed(cast.document_type, band="auto")
    store_record(document, run=document.runs.get(), values={"/total": "9.00"}, provenance={})
    lease = lease_task(actor=actor(cast.reviewer), task=task_of(document))
    mark_unusable(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, reason="not a receipt")
    assert current_record(document) is None
    assert document.records.count() == 1
