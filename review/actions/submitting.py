"""Finishing a task: as a record, by passing it on, or as unusable."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from review.actions._audit import record_audit
from review.actions._documents import settle_document
from review.actions._leases import FREE, change_held, lease_lost, person, publish_task
from review.actions._outcomes import Outcome, examined_fields, field_reviews, record_content
from review.actions._records import store_record
from review.actions._verdicts import FieldVerdict, reason_text
from review.exceptions import ConflictError
from review.models import Document, DocumentStatus, FieldReview, Record, ReviewTask, TaskSkip, TaskState, User
from review.selectors.access import Actor
from review.selectors.review_tasks import task_detail

__all__ = ["FieldVerdict", "mark_unusable", "skip_task", "submit_task"]


def submit_task(*, actor: Actor, task: ReviewTask, lease_token: str, verdicts: Sequence[FieldVerdict] = ()) -> Record:
    """Finish a task: verdicts become labels, the values a new record revision, the document stored.

    What was saved counts; `verdicts` add to it and win over it. Every field that is to be examined needs a verdict.
    Submitting twice with the same token returns the record of the first time.

    Raise InvalidInputError with every problem, each at its field path; LeaseLostError when the task was taken over
    or finished by somebody else; ConflictError when the document was read again at this very moment.
    """
    user = person(actor)
    try:
        with transaction.atomic(durable=True):
            if not _finish(task, user, lease_token, TaskState.DONE):
                return _record_of(task, user, lease_token)
            detail = task_detail(task)
            examined = examined_fields(detail, verdicts)
            document = Document.objects.get(pk=task.document_id)
            outcome = Outcome(detail, document, user, examined)
            FieldReview.objects.bulk_create(field_reviews(outcome))
            values, provenance = record_content(outcome)
            record = store_record(document, run=detail.run, values=values, provenance=provenance, reviewer=user)
            settle_document(
                document,
                "document.reviewed",
                status=DocumentStatus.STORED,
                band=document.band,
                reasons=document.reasons,
            )
            counts = {"revision": record.revision, "n_examined": len(examined)}
            record_audit(actor, "review_task.submitted", task, project=task.project_id, detail=counts)
            publish_task(task, "review_task.submitted")
    except IntegrityError:
        raise ConflictError from None
    return record


def skip_task(*, actor: Actor, task: ReviewTask, lease_token: str, reason: str) -> None:
    """Pass a task on to others, with a reason; the actor is not offered it again. What was saved in it stays.

    Skipping twice is skipping once. Raise InvalidInputError at /reason, LeaseLostError.
    """
    user, text = person(actor), reason_text(reason)
    with transaction.atomic(durable=True):
        if not change_held(task, user, lease_token, {**FREE, "n_skips": F("n_skips") + 1}):
            if TaskSkip.objects.filter(task=task, reviewer=user).exists():
                return
            raise lease_lost(task)
        TaskSkip.objects.update_or_create(task=task, reviewer=user, defaults={"reason": text})
        record_audit(actor, "review_task.skipped", task, project=task.project_id, detail={"reason": text})
        publish_task(task, "review_task.skipped")


def mark_unusable(*, actor: Actor, task: ReviewTask, lease_token: str, reason: str) -> None:
    """Finish a task without a record: nobody can use this document. The document becomes unreadable ("unusable").

    A record that was stored unseen no longer counts; its revisions are kept. Marking twice is marking once. Raise
    InvalidInputError at /reason, LeaseLostError.
    """
    user, text = person(actor), reason_text(reason)
    with transaction.atomic(durable=True):
        if not _finish(task, user, lease_token, TaskState.UNUSABLE):
            if _is_finished_by(task, user, lease_token, TaskState.UNUSABLE):
                return
            raise lease_lost(task)
        document = Document.objects.get(pk=task.document_id)
        document.records.filter(is_current=True).update(is_current=False)
        settle_document(
            document, "document.reviewed", status=DocumentStatus.UNREADABLE, band=document.band, reasons=["unusable"]
        )
        record_audit(actor, "review_task.unusable", task, project=task.project_id, detail={"reason": text})
        publish_task(task, "review_task.unusable")


def _finish(task: ReviewTask, user: User, lease_token: str, state: TaskState) -> bool:
    # The token stays on the finished task: it is how a repeated request is recognised.
    finished = {"state": state, "finished_at": timezone.now(), "finished_by": user, "lease_expires_at": None}
    return change_held(task, user, lease_token, finished)


def _is_finished_by(task: ReviewTask, user: User, lease_token: str, state: TaskState) -> bool:
    if not lease_token:
        return False
    return ReviewTask.objects.filter(pk=task.pk, state=state, finished_by=user, lease_token=lease_token).exists()


def _record_of(task: ReviewTask, user: User, lease_token: str) -> Record:
    """Return the record that this person's submit of this task made; raise LeaseLostError where there is none."""
    if _is_finished_by(task, user, lease_token, TaskState.DONE):
        record = Record.objects.filter(
            document_id=task.document_id,
            run_id=task.run_id,
            reviewer=user,
            created_at__gte=ReviewTask.objects.filter(pk=task.pk).values("finished_at"),
        )
        if (first := record.order_by("revision").first()) is not None:
            return first
    raise lease_lost(task)
