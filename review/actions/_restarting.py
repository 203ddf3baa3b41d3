"""A document goes back to the beginning; whoever was to look at it is not asked any more."""

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._documents import settle_document
from review.actions._enqueue import enqueue_opening
from review.exceptions import ConflictError
from review.live.events import TaskEvent, publish
from review.models import Document, DocumentStatus, FieldEdit, ReviewTask, TaskState, User


def reset_document(document: Document) -> None:
    """Put a document back to the beginning and queue it, within the caller's transaction."""
    Document.objects.filter(pk=document.pk).update(n_attempts=0, n_pages_read=0, claim_token="")
    document.n_attempts, document.n_pages_read = 0, 0
    settle_document(document, "document.received", status=DocumentStatus.RECEIVED, band="", reasons=[])
    enqueue_opening(document.pk, document.n_pages)


def hold_open_tasks(document_id: int) -> None:
    """Let nobody finish, take or save in a document's open tasks until the caller's transaction ends.

    To be called before the document's own row is locked: whoever submits has the task first, and then the document.
    """
    tasks = ReviewTask.objects.select_for_update(no_key=True).filter(document=document_id, state=TaskState.OPEN)
    list(tasks.order_by("pk").values_list("pk"))


def cancel_task(task: ReviewTask, holder: User | None = None) -> None:
    """Ask nobody any more; raise ConflictError where a reviewer has begun, unless that is `holder`, who asks for it.

    What was saved in the task stays with it.
    """
    now = timezone.now()
    edits = FieldEdit.objects.filter(task=task)
    is_begun = (edits if holder is None else edits.exclude(author=holder)).exists()
    is_held = task.lease_expires_at is not None and task.lease_expires_at > now
    is_theirs = holder is not None and task.lease_holder_id == holder.pk
    unchanged = ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_token=task.lease_token)
    if is_begun or (is_held and not is_theirs) or not unchanged.update(state=TaskState.CANCELLED, finished_at=now):
        raise ConflictError(_("A reviewer has begun on this document. Let the review be finished first."))
    publish(TaskEvent("review_task.cancelled", task.project_id, task.pk, task.document_id))
