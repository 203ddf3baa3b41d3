"""Accepted values: the current ones of a project, and how they came about."""

from datetime import datetime

from django.db.models import QuerySet

from review.models import Document, DocumentType, Project, Record
from review.routing.bands import Band


def records_for(
    project: Project,
    *,
    document_type: DocumentType | None = None,
    band: Band | str | None = None,
    status: str | None = None,
    reviewer: str | None = None,
    created_from: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[Record]:
    """Return the current revisions of a project's records, newest first; each filter given narrows them.

    `band` and `status` are the document's; `reviewer` is the user name of whoever submitted the revision; the times
    bound the revision's own, `created_from` included, `created_before` not.
    """
    records = Record.objects.select_related("document", "document__document_type", "reviewer")
    records = records.filter(project=project, is_current=True).order_by("-id")
    given = {
        "document__document_type": document_type,
        "document__band": band,
        "document__status": status,
        "reviewer__username": reviewer,
        "created_at__gte": created_from,
        "created_at__lt": created_before,
    }
    return records.filter(**{lookup: value for lookup, value in given.items() if value is not None})


def current_record(document: Document) -> Record | None:
    """Return the record that counts for a document, None before there is one; a duplicate has its original's."""
    return record_history(document).filter(is_current=True).first()


def record_history(document: Document) -> QuerySet[Record]:
    """Return every revision of a document's record, newest first; a duplicate has its original's."""
    records = Record.objects.select_related("reviewer", "run__engine_version")
    return records.filter(document_id=document.duplicate_of_id or document.pk).order_by("-revision")
