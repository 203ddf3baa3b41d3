"""From a received file to pages that can be read."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from review.actions._audit import record_audit
from review.actions._claims import is_of_dead_process, new_claim_token
from review.actions._documents import note_wait, publish_document, settle_document
from review.actions._enqueue import READ_PAGE, enqueue
from review.actions._pages import EngineIdentity, StoredPage, ensure_engine_version, plan_page_reads, replace_pages
from review.actions._storing import keep_bytes
from review.models import Document, DocumentStatus, ExtractionRun, PageRead, SchemaVersion
from review.selectors.access import Actor

__all__ = [
    "EngineIdentity",
    "StoredPage",
    "begin_opening",
    "fail_opening",
    "keep_opening",
    "keep_page_image",
    "postpone_opening",
    "record_opened",
]

ENGINE_FAILED = "engine_failed"


def begin_opening(*, actor: Actor, document_id: int) -> Document | None:
    """Count an attempt to open a received document and return it, or None when there is nothing to do.

    The attempt is on record before the risky work begins: a file that kills its worker each time ends, after
    STET_MAX_ATTEMPTS, as unreadable. What another worker began lately is left to it, while it lives.
    """
    documents = Document.objects.select_related("project__engine_version", "document_type__active_version")
    document = documents.filter(pk=document_id, status=DocumentStatus.RECEIVED, duplicate_of=None).first()
    if document is None:
        return None
    now = timezone.now()
    is_late = document.touched_at <= now - timedelta(seconds=settings.STET_CLAIM_SECONDS)
    if document.claim_token and not is_late and not is_of_dead_process(document.claim_token):
        return None
    if document.n_attempts >= settings.STET_MAX_ATTEMPTS:
        fail_opening(actor=actor, document=document, code=ENGINE_FAILED)
        return None
    token = new_claim_token()
    with transaction.atomic(durable=True):
        # Compare-and-set: of two deliveries at once, one goes on.
        unchanged = _attempt(document).filter(touched_at=document.touched_at)
        mine = unchanged.update(n_attempts=F("n_attempts") + 1, claim_token=token, touched_at=now)
    document.n_attempts, document.claim_token, document.touched_at = document.n_attempts + 1, token, now
    return document if mine else None


def keep_opening(*, document: Document) -> None:
    """Say that a long opening is still under way, so that nobody else begins it."""
    with transaction.atomic(durable=True):
        _attempt(document).update(touched_at=timezone.now())


def postpone_opening(*, document: Document, code: str) -> None:
    """Give an attempt back that came to nothing through no fault of the file (no engine, no space); `code` says why."""
    with transaction.atomic(durable=True):
        if _attempt(document).update(n_attempts=F("n_attempts") - 1, claim_token=""):
            note_wait(document.pk, DocumentStatus.RECEIVED, code)


def _attempt(document: Document) -> QuerySet[Document]:
    """Return the document as long as it waits to be opened and this attempt at it, if it is one, is the latest."""
    received = Document.objects.filter(pk=document.pk, status=DocumentStatus.RECEIVED)
    return received.filter(claim_token=document.claim_token, n_attempts=document.n_attempts)


def keep_page_image(project_id: int, data: bytes) -> tuple[str, str]:
    """Store a page's JPEG and return its name and its SHA-256; the same bytes are stored once.

    Named by its bytes and not by its pixels, which a newer encoder would store as others: a page keeps the file that
    it was opened into. Writes no row: a page counts from `record_opened` on. Raises StorageFullError.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    name = f"projects/{project_id}/pages/{sha256}.jpg"
    keep_bytes(name, data)
    return name, sha256


def record_opened(
    *,
    actor: Actor,
    document: Document,
    pages: Sequence[StoredPage],
    engine: EngineIdentity,
    is_read_at_once: bool = True,
) -> list[PageRead] | None:
    """Write down the pages of a document and the work of reading them; None when somebody else has done so.

    Returns the page reads in order. More than one are queued, one task each; a single one is the caller's to go on
    with at once, which saves a round through the queue. A caller that has no time left for it says so
    (`is_read_at_once` false): then that one is queued as well.
    """
    with transaction.atomic(durable=True):
        now = timezone.now()
        schema_version = document.document_type.active_version
        changes: dict[str, Any] = {"status": DocumentStatus.PROCESSING, "n_pages": len(pages), "touched_at": now}
        changes |= {"n_pages_read": 0, "reasons": [], "claim_token": ""}
        # Of the type as it was when this attempt began: whoever was that late must not read it under the old schema.
        received = _attempt(document).filter(document_type=document.document_type_id)
        mine = received.update(schema_version=schema_version, **changes)
        if not mine or schema_version is None:
            return None
        run = _start_run(document, engine, schema_version)
        page_reads = plan_page_reads(run, replace_pages(document, pages))
        for name, value in changes.items():
            setattr(document, name, value)
        if len(page_reads) > 1 or not is_read_at_once:
            for page_read in page_reads:
                enqueue(READ_PAGE, page_read.pk)
        detail = {"run": run.pk, "engine": engine.name, "n_pages": len(pages)}
        record_audit(actor, "document.opened", document, project=document.project_id, detail=detail)
        publish_document(document, "document.opened")
    return page_reads


def _start_run(document: Document, engine: EngineIdentity, schema_version: SchemaVersion) -> ExtractionRun:
    ExtractionRun.objects.filter(document=document, is_current=True).update(is_current=False)
    return ExtractionRun.objects.create(
        document=document,
        engine_version=ensure_engine_version(engine),
        schema_version=schema_version,
    )


def fail_opening(*, actor: Actor, document: Document, code: str) -> bool:
    """Settle a document that cannot become pages as unreadable, once; `code` says why."""
    with transaction.atomic(durable=True):
        # A write first, so that the row is ours until the end.
        mine = _attempt(document).update(claim_token="")
        if mine:
            settle_document(document, "document.failed", status=DocumentStatus.UNREADABLE, band="", reasons=[code])
            detail = {"reason": code, "n_attempts": document.n_attempts}
            record_audit(actor, "document.failed", document, project=document.project_id, detail=detail)
    return bool(mine)
