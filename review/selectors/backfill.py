"""What is still to be read when a language model goes through an archive."""

from collections.abc import Iterator

from review.models import UNFINISHED_STATUSES, Document, DocumentType, PageRead, PageReadState, Project
from review.selectors.rollouts import version_for

AT_ONCE = 200


def unread_documents(project: Project, document_type: DocumentType | None = None) -> Iterator[Document]:
    """Yield the documents that nobody has read to the end, the oldest first."""
    yield from _oldest_first(project, document_type, status__in=UNFINISHED_STATUSES)


def documents_of_other_versions(project: Project, document_type: DocumentType | None = None) -> Iterator[Document]:
    """Yield the finished documents that were read by another version than would read them now, the oldest first.

    Without those whose file cannot be read.
    """
    for document in _oldest_first(project, document_type, runs__is_current=True):
        run = document.runs.get(is_current=True)
        if document.status in UNFINISHED_STATUSES:
            continue
        version = version_for(document)
        if version is None or run.engine_version_id != version.pk:
            yield document


def _oldest_first(project: Project, document_type: DocumentType | None, **what: object) -> Iterator[Document]:
    documents = Document.objects.select_related("project__engine_version").filter(
        project=project, duplicate_of=None, **what
    )
    if document_type is not None:
        documents = documents.filter(document_type=document_type)
    last = 0
    while batch := list(documents.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        yield from batch
        last = batch[-1].pk


def pages_to_read(document_ids: list[int]) -> list[PageRead]:
    """Return the unread pages of documents that are open, with all that reading them needs."""
    reads = PageRead.objects.select_related(
        "page", "run__document__project__engine_version", "run__engine_version__base", "run__schema_version"
    )
    unread = reads.filter(run__document__in=document_ids, run__is_current=True, state=PageReadState.PENDING)
    return list(unread.order_by("run__document_id", "page__page_number"))
