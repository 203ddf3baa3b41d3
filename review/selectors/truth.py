"""What people know of a document, value by value: the truth that readers are measured by."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from review.models import Document, DocumentType, GroundTruth, Record, Verdict


def truths_of(document_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return field_path to value for each document of which something is known; None says that the page shows none.

    What two people agreed on or a third decided, else what one person said; what nobody looked at, or nobody could
    read, is not known.
    """
    known: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    records = Record.objects.filter(document__in=document_ids, is_current=True)
    for document_id, values, provenance in records.values_list("document_id", "values", "provenance"):
        for path, source in provenance.items():
            if source.get("source") == "person" and source.get("verdict") != Verdict.ILLEGIBLE:
                known[document_id][path] = values.get(path)
    agreed = GroundTruth.objects.filter(document__in=document_ids)
    for document_id, path, value in agreed.values_list("document_id", "field_path", "value"):
        known[document_id][path] = value
    return dict(known)


def reviewed_documents(document_type: DocumentType) -> QuerySet[Document]:
    """Return the documents of a type whose record a person made, newest first."""
    records = Record.objects.filter(document=OuterRef("pk"), is_current=True, reviewer__isnull=False)
    documents = Document.objects.filter(Exists(records), document_type=document_type, duplicate_of=None)
    return documents.order_by("-pk")
