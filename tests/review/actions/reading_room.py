"""Documents that are opened, read and routed by the actions alone."""

from collections.abc import Sequence
from typing import Any

from inference.types import (
    BBox,
    DocumentTypeSpec,
    FieldReading,
    PageReading,
    Word,
    parse_document_type,
)
from review.actions.opening import EngineIdentity, StoredPage, begin_opening, record_opened
from review.actions.reading import (
    ClaimedPage,
    claim_page,
    complete_run,
    record_page_read,
)
from review.models import (
    Document,
    DocumentType,
    ExtractionRun,
)
from review.selectors.access import SYSTEM
from tests import factories

SPEC = parse_document_type(factories.SCHEMA)


WORDS = (Word("9.00", BBox(0.1, 0.1, 0.2, 0.2), 0.9),)


ENGINE = EngineIdentity("scripted", "d" * 64)


def page_reading(**values: Any) -> PageReading:
    defaults: dict[str, Any] = {"width": 100, "height": 200, "words": WORDS, "cpu_seconds": 1.5}
    return PageReading(**{**defaults, **values})


def opened(document_type: DocumentType, n_pages: int = 1, **values: Any) -> tuple[Document, list[int]]:
    """A document that is being read, and the ids of its page reads."""
    document = begin_opening(actor=SYSTEM, document_id=factories.make_document(document_type, **values).pk)
    assert document is not None
    pages = [
        StoredPage(number, f"{document.pk}-{number}.jpg", 100, 200, f"{document.pk}-{number}")
        for number in range(1, n_pages + 1)
    ]
    reads = record_opened(actor=SYSTEM, document=document, pages=pages, engine=ENGINE)
    assert reads is not None
    return document, [read.pk for read in reads]


def claim(page_read_id: int) -> ClaimedPage:
    claimed = claim_page(page_read_id=page_read_id)
    assert claimed is not None
    return claimed


def read(page_read_id: int) -> bool:
    return record_page_read(actor=SYSTEM, claim=claim(page_read_id), reading=page_reading())


def field(path: str, value: str | None = "9.00", confidence: float | None = 0.99, **values: Any) -> FieldReading:
    more = {"raw_text": value, "evidence": {"ocr_score": 0.9}, "page_number": 1, "bbox": BBox(0, 0, 1, 1)} | values
    return FieldReading(field_path=path, value=value, confidence=confidence, **more)


SURE = (field("/company", "BOOK TA K"), field("/date", "2018-12-25"), field("/total", "9.00"))


UNSURE = (field("/company", "BOOK TA K"), field("/date", "2018-12-25"), field("/total", "8.00", 0.1))


def routed(
    document_type: DocumentType,
    fields: Sequence[FieldReading] = SURE,
    *,
    failures: Sequence[str] = (),
    spec: DocumentTypeSpec = SPEC,
    **values: Any,
) -> Document:
    document, (page_read_id,) = opened(document_type, **values)
    read(page_read_id)
    complete(document, fields, failures=failures, spec=spec)
    document.refresh_from_db()
    return document


def complete(
    document: Document,
    fields: Sequence[FieldReading] = SURE,
    *,
    failures: Sequence[str] = (),
    spec: DocumentTypeSpec = SPEC,
) -> bool:
    run = ExtractionRun.objects.select_related("schema_version", "document__document_type").get(
        document=document, is_current=True
    )
    return complete_run(actor=SYSTEM, run=run, spec=spec, fields=fields, failures=failures, cpu_seconds=1.5)


def never_audited(document_type: DocumentType) -> None:
    policy = document_type.policies.get()
    policy.rules = policy.rules | {"audit_auto_share": 1e-9, "audit_sampled_share": 1e-9}
    policy.save()


def read_again(document: Document, fields: Sequence[FieldReading] = SURE) -> None:
    begun = begin_opening(actor=SYSTEM, document_id=document.pk)
    assert begun is not None
    pages = [StoredPage(1, "new.jpg", 100, 200, "new")]
    reads = record_opened(actor=SYSTEM, document=begun, pages=pages, engine=EngineIdentity("better", "e" * 64))
    assert reads is not None
    read(reads[0].pk)
    complete(document, fields)
    document.refresh_from_db()
