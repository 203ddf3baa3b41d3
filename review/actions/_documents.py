"""How a document's status moves: one place, so that duplicates and open pages always follow."""

from django.utils import timezone

from review.live.events import DocumentEvent, DocumentEventName, publish
from review.models import UNFINISHED_STATUSES, Document, DocumentStatus


def settle_document(
    document: Document, name: DocumentEventName, *, status: DocumentStatus, band: str, reasons: list[str]
) -> None:
    """Set status, band and reasons of a document and of its duplicates; publish one event for each.

    The caller holds the transaction and has made sure, by a compare-and-set, that it is the one who may.
    """
    now = timezone.now()
    finished_at = None if status in UNFINISHED_STATUSES or status == DocumentStatus.REVIEW else now
    document.status, document.band, document.reasons = status, band, reasons
    document.touched_at, document.finished_at = now, finished_at
    document.save(update_fields=["status", "band", "reasons", "touched_at", "finished_at"])
    publish_document(document, name)
    for duplicate in document.duplicates.all():
        follow_original(duplicate, document)
        publish_document(duplicate, name)


def note_wait(document_id: int, status: DocumentStatus, code: str) -> None:
    """Say on a document that stands in `status` what it waits for, within the caller's transaction.

    When it was last touched stays as it is: the sweep goes by that, and nothing has moved.
    """
    Document.objects.filter(pk=document_id, status=status).update(reasons=[code])


def follow_original(duplicate: Document, original: Document) -> None:
    """Give a duplicate the standing of the document it repeats."""
    duplicate.status, duplicate.band = original.status, original.band
    duplicate.reasons = ["duplicate", *original.reasons]
    duplicate.n_pages, duplicate.n_pages_read = original.n_pages, original.n_pages_read
    duplicate.schema_version_id = original.schema_version_id
    duplicate.touched_at, duplicate.finished_at = timezone.now(), original.finished_at
    duplicate.save(
        update_fields=[
            "status", "band", "reasons", "n_pages", "n_pages_read", "schema_version", "touched_at", "finished_at",
        ]
    )  # fmt: skip


def publish_document(document: Document, name: DocumentEventName) -> None:
    """Tell open pages how the document stands now."""
    publish(
        DocumentEvent(
            name=name,
            project_id=document.project_id,
            document_id=document.pk,
            status=document.status,
            band=document.band,
            n_pages=document.n_pages,
            n_pages_read=document.n_pages_read,
        )
    )
