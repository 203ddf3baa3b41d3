"""Finishing a task: as a record, by passing it on, or as unusable."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from review.accuracy.agreement import Answer
from review.actions._answers import all_illegible, answer_of
from review.actions._audit import record_audit
from review.actions._documents import settle_document
from review.actions._leases import FREE, change_held, lease_lost, person, publish_task
from review.actions._monitors import recount, watch_labels
from review.actions._outcomes import Outcome, blind_record, examined_fields, field_reviews, record_content
from review.actions._records import store_record
from review.actions._rollups import withdraw_labels
from review.actions._second_looks import check_seeded, compare_second_review, draw_second_review, settle_dispute
from review.actions._verdicts import FieldVerdict, Settled, reason_text
from review.exceptions import ConflictError
from review.models import (
    Document,
    DocumentStatus,
    FieldReview,
    Record,
    ReviewTask,
    TaskKind,
    TaskSkip,
    TaskState,
    User,
    Verdict,
)
from review.selectors.access import Actor
from review.selectors.review_tasks import task_detail
from review.selectors.second_looks import BLIND_KINDS, labels_of

__all__ = ["FieldVerdict", "mark_unusable", "skip_task", "submit_task"]


def submit_task(*, actor: Actor, task: ReviewTask, lease_token: str, verdicts: Sequence[FieldVerdict] = ()) -> Record:
    """Finish a task: verdicts become labels, the values a new record revision, the document stored.

    What was saved counts; `verdicts` add to it and win over it. Every field that is to be examined needs a verdict.
    Submitting twice with the same token returns the record of the first time.

    A second review or a seeded task changes neither record nor document; what is returned is not stored, but reads as
    if it were. An adjudication makes a further revision.

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
            outcome = Outcome(detail, Document.objects.get(pk=task.document_id), user, examined)
            is_blind = task.kind in BLIND_KINDS
            record = _hold_against(outcome) if is_blind else _accept(outcome)
            counts: dict[str, object] = {"n_examined": len(examined)}
            counts |= {"kind": task.kind} if is_blind else {"revision": record.revision}
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
    # A seeded task was made for this person: nobody else would be given it.
    end = {"state": TaskState.CANCELLED, "finished_at": timezone.now()} if task.kind == TaskKind.SEEDED else {}
    with transaction.atomic(durable=True):
        if not change_held(task, user, lease_token, {**FREE, **end, "n_skips": F("n_skips") + 1}):
            if TaskSkip.objects.filter(task=task, reviewer=user).exists():
                return
            raise lease_lost(task)
        TaskSkip.objects.update_or_create(task=task, reviewer=user, defaults={"reason": text})
        record_audit(actor, "review_task.skipped", task, project=task.project_id, detail={"reason": text})
        publish_task(task, "review_task.skipped")


def mark_unusable(*, actor: Actor, task: ReviewTask, lease_token: str, reason: str) -> None:
    """Finish a task without a record: nobody can use this document. The document becomes unreadable ("unusable").

    A record that was stored unseen no longer counts; its revisions are kept. In a second review or a seeded task this
    is only an answer: every field is illegible. Marking twice is marking once. Raise InvalidInputError at /reason,
    LeaseLostError.
    """
    user, text = person(actor), reason_text(reason)
    with transaction.atomic(durable=True):
        if not _finish(task, user, lease_token, TaskState.UNUSABLE):
            if _is_finished_by(task, user, lease_token, TaskState.UNUSABLE):
                return
            raise lease_lost(task)
        if task.kind in BLIND_KINDS:
            _hold_unusable_against(task, user)
        else:
            _give_up(Document.objects.get(pk=task.document_id))
        record_audit(actor, "review_task.unusable", task, project=task.project_id, detail={"reason": text})
        publish_task(task, "review_task.unusable")


def _accept(outcome: Outcome) -> Record:
    """Make labels, a revision of the record and a stored document of a review or an adjudication."""
    task, document = outcome.detail.task, outcome.document
    first_id = task.first_task_id if outcome.is_adjudicated else None
    withdrawn = withdraw_labels(task.project_id, first_id, outcome.examined) if first_id is not None else {}
    counted = outcome.counted if first_id is None else withdrawn.keys()
    labels = FieldReview.objects.bulk_create(field_reviews(outcome, counted))
    values, provenance = record_content(outcome)
    run, reviewer = outcome.detail.run, outcome.reviewer
    record = store_record(document, run=run, values=values, provenance=provenance, reviewer=reviewer)
    settle_document(
        document, "document.reviewed", status=DocumentStatus.STORED, band=document.band, reasons=document.reasons
    )
    if outcome.is_adjudicated:
        settle_dispute(outcome.detail, _answers(outcome), labels)
        # To count anew goes through all audits of a field, while others wait: only where the count is another.
        decided = {label.field_path: label.is_correct for label in labels}
        recount(outcome.detail, [path for path, said in withdrawn.items() if said != decided[path]])
    elif task.kind == TaskKind.REVIEW:
        watch_labels(outcome.detail, document.sha256, labels)
        draw_second_review(outcome.detail, reviewer)
    return record


def _hold_against(outcome: Outcome) -> Record:
    """Keep the labels of a second review or a seeded task, and compare; return what the reviewer is answered."""
    FieldReview.objects.bulk_create(field_reviews(outcome, counted=()))
    compare = compare_second_review if outcome.detail.task.kind == TaskKind.SECOND_REVIEW else check_seeded
    compare(outcome.detail, outcome.reviewer, _answers(outcome))
    return blind_record(outcome)


def _hold_unusable_against(task: ReviewTask, user: User) -> None:
    detail = task_detail(task)
    if task.kind == TaskKind.SECOND_REVIEW:
        compare_second_review(detail, user, all_illegible(labels_of(task.first_task_id or 0)))
    else:
        check_seeded(detail, user, all_illegible(field.path for field in detail.fields))


def _give_up(document: Document) -> None:
    document.records.filter(is_current=True).update(is_current=False)
    settle_document(
        document, "document.reviewed", status=DocumentStatus.UNREADABLE, band=document.band, reasons=["unusable"]
    )


def _answers(outcome: Outcome) -> dict[str, Answer]:
    return {
        path: answer_of(settled.verdict, settled.value, field.spec)
        for path, (field, settled) in outcome.examined.items()
    }


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
        if task.kind in BLIND_KINDS:
            return _blind_record_of(task, user)
        record = Record.objects.filter(
            document_id=task.document_id,
            run_id=task.run_id,
            reviewer=user,
            created_at__gte=ReviewTask.objects.filter(pk=task.pk).values("finished_at"),
        )
        if (first := record.order_by("revision").first()) is not None:
            return first
    raise lease_lost(task)


def _blind_record_of(task: ReviewTask, user: User) -> Record:
    task = ReviewTask.objects.select_related("document").get(pk=task.pk)
    detail = task_detail(task)
    examined = {
        path: (field, Settled(Verdict(label.verdict), label.value))
        for path, label in labels_of(task.pk).items()
        if (field := detail.field_at(path)) is not None
    }
    return blind_record(Outcome(detail, task.document, user, examined))
