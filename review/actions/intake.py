"""Files come in: looked at, kept byte for byte, and queued for reading."""

import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.utils.translation import gettext as _

from inference.errors import EngineUnavailableError, UnreadableFileError
from inference.imaging.inspection import identify_file, inspect_file
from inference.imaging.limits import Limits
from review.actions._audit import record_audit
from review.actions._documents import follow_original, publish_document
from review.actions._enqueue import enqueue_opening
from review.actions._foreign import ForeignPredictions, keep_predictions, parse_predictions
from review.actions._refusals import refusal
from review.actions._storing import StagedFile, keep_file, minding_space, staged
from review.exceptions import InvalidInputError
from review.models import Document, DocumentType, Project
from review.selectors.access import Actor
from review.selectors.documents import copies_of

__all__ = [
    "ForeignPredictions",
    "ReceivedDocument",
    "file_limits",
    "original_name",
    "parse_predictions",
    "receive_document",
]


@dataclass(frozen=True, slots=True)
class ReceivedDocument:
    """A document that was accepted; a duplicate repeats an earlier one and is not read again."""

    document: Document
    is_duplicate: bool


def file_limits() -> Limits:
    """Return how much of a file this installation is willing to open."""
    return Limits(
        max_bytes=settings.STET_MAX_BYTES,
        max_pixels=settings.STET_MAX_PIXELS,
        max_pages=settings.STET_MAX_PAGES,
        pdf_memory_bytes=settings.STET_PDF_MEMORY_BYTES,
        pdf_seconds=settings.STET_PDF_SECONDS,
    )


def original_name(project_id: int, sha256: str) -> str:
    """Return where an original lies in storage: one place for the same bytes in a project."""
    return f"projects/{project_id}/originals/{sha256[:2]}/{sha256}"


def receive_document(
    *,
    actor: Actor,
    project: Project,
    document_type: DocumentType,
    file: File,  # type: ignore[type-arg]
    filename: str,
    priority: int = 0,
    predictions: ForeignPredictions | None = None,
) -> ReceivedDocument:
    """Accept one file and queue it for reading.

    Raise RefusedFileError for a file that cannot become pages, StorageFullError when there is no room for it; then
    nothing is left behind. `priority` is from -100 to 100, higher is sooner for the reviewers. `predictions` are what
    another engine read; with a duplicate they are not kept, for it is not read and follows the first.
    """
    if not -100 <= priority <= 100:
        raise InvalidInputError.at("/priority", _("The priority must be a whole number from -100 to 100."))
    if document_type.active_version_id is None:
        raise InvalidInputError.at("/document_type", _("This document type has no schema yet. Publish one first."))
    limits = file_limits()
    with minding_space():
        try:
            with staged(file, limits.max_bytes) as upload:
                media_type, n_pages = _look_over(project, document_type, upload, limits)
                name = original_name(project.pk, upload.sha256)
                keep_file(name, upload.path, upload.n_bytes)
        except UnreadableFileError as error:
            raise refusal(error, limits) from None
        with transaction.atomic(durable=True):
            # One at a time for each type: of two identical uploads at once, the second sees the first. (SQLite has
            # one writer at a time anyway.)
            DocumentType.objects.select_for_update(no_key=True).only("pk").get(pk=document_type.pk)
            original = _first_copy(project, document_type, upload.sha256, is_locked=True)
            document = Document.objects.create(
                project=project,
                document_type=document_type,
                uploaded_by=actor.user,
                filename=_clean(filename),
                media_type=media_type,
                n_bytes=upload.n_bytes,
                n_pages=n_pages,
                sha256=upload.sha256,
                original=name,
                priority=priority,
                duplicate_of=original,
            )
            if original is None:
                if predictions is not None:
                    keep_predictions(document, predictions)
                enqueue_opening(document.pk, n_pages)
            else:
                follow_original(document, original)
            detail = {"sha256": upload.sha256, "duplicate_of": document.duplicate_of_id}
            record_audit(actor, "document.received", document, project=project, detail=detail)
            publish_document(document, "document.received")
    return ReceivedDocument(document, is_duplicate=original is not None)


def _look_over(project: Project, document_type: DocumentType, upload: StagedFile, limits: Limits) -> tuple[str, int]:
    """Return the file's media type and number of pages (0: not known yet), unless it must be refused.

    Bytes that passed before pass again without a look.
    """
    known = _first_copy(project, document_type, upload.sha256)
    if known is not None:
        return known.media_type, known.n_pages
    try:
        inspection = inspect_file(upload.path, limits)
    except EngineUnavailableError:
        # PDFs cannot be looked into at this moment; the worker will, and its verdict stands on the document.
        return identify_file(upload.path, limits), 0
    return inspection.media_type, inspection.n_pages


def _first_copy(
    project: Project, document_type: DocumentType, sha256: str, *, is_locked: bool = False
) -> Document | None:
    """Return the document that these bytes would repeat. One that could not be read is not repeated but read anew."""
    # The type is compared here and the first is chosen here: with either in the query, SQLite may walk through all
    # documents of the type instead of looking the hash up.
    copies = copies_of(project, sha256)
    if is_locked:
        # Whoever settles the original waits for us, and then finds its new duplicate.
        copies = copies.select_for_update(no_key=True)
    same_type = [copy for copy in copies if copy.document_type_id == document_type.pk]
    return min(same_type, key=lambda copy: copy.pk, default=None)


def _clean(filename: str) -> str:
    """Return the last part of a name that a client sent, without control characters, at most 255 characters."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    name = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C").strip()
    stem, dot, extension = name.rpartition(".")
    if len(name) > 255 and dot and len(extension) <= 10:
        return f"{stem[: 254 - len(extension)]}.{extension}"
    return name[:255] or _("unnamed")
