"""What the tests of leasing, saving and submitting share: a reviewer's desk with one task on it."""

from datetime import timedelta

from django.utils import timezone

from review.models import AuditEntry, Document, DocumentType, Event, ReviewTask, User
from review.selectors.access import Actor
from tests import factories


def make_open_task(document_type: DocumentType, *, priority: int = 0, band: str = "review") -> ReviewTask:
    """An open task of a routed receipt: /total is to be examined, /company and /date are not."""
    return task_of(factories.make_routed(document_type, band=band, priority=priority))


def task_of(document: Document) -> ReviewTask:
    """The one task of a document."""
    return ReviewTask.objects.get(document=document)


def actor(user: User) -> Actor:
    """The user in a browser."""
    return Actor(user)


def let_lease_lapse(task: ReviewTask) -> None:
    """Time goes by: the lease of this task is over."""
    ReviewTask.objects.filter(pk=task.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def audited(task: ReviewTask) -> list[str]:
    """The audit's actions on the task, in order."""
    entries = AuditEntry.objects.filter(object_type="reviewtask", object_id=str(task.pk)).order_by("id")
    return list(entries.values_list("action", flat=True))


def announced(task: ReviewTask) -> list[tuple[str, str]]:
    """The events of the task, in order, each with who held it then."""
    events = Event.objects.filter(name__startswith="review_task.", payload__task_id=task.pk).order_by("id")
    return [(event.name, event.payload["holder"]) for event in events]
