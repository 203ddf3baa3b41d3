"""Pages that were read, as rows, without an engine."""

from typing import Any

from review.models import Document, ExtractionRun, Page, PageRead, PageReadState, Reading
from tests import factories


def read_as(page: Page, *lines: str, name: str = "scripted", state: str = PageReadState.READ) -> PageRead:
    """Another run over the page's document, in which the page was read as these lines."""
    ExtractionRun.objects.filter(document=page.document, is_current=True).update(is_current=False)
    document: Document = page.document
    assert document.schema_version is not None
    version = factories.make_engine_version(name)
    run = ExtractionRun.objects.create(
        document=document, engine_version=version, schema_version=document.schema_version
    )
    payload: dict[str, Any] = {
        "width": page.width,
        "height": page.height,
        "words": [[line, 0.1, 0.1 * number, 0.5, 0.1 * number + 0.05, 0.9] for number, line in enumerate(lines)],
        "cpu_seconds": 1.0,
        "quality": {},
    }
    reading = Reading.objects.create(
        project=document.project,
        engine_version=version,
        content_hash=page.content_hash,
        payload=payload,
        cpu_seconds=1.0,
    )
    is_read = state == PageReadState.READ
    return PageRead.objects.create(run=run, page=page, state=state, reading=reading if is_read else None)
