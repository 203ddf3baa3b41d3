"""The words to pick from are those of the newest reading of the page."""

from typing import Any

from review.models import Document, ExtractionRun, Page, PageRead, PageReadState, Reading
from review.selectors.page_words import page_words
from tests import factories
from tests.conftest import Cast


def read(page: Page, *lines: str, name: str = "scripted", state: str = PageReadState.READ) -> PageRead:
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


def test_lines_come_apart_in_reading_order(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    made = read(page, "TOTAL RM", "9.00")
    found = page_words(page)
    assert [word.text for word in found.words] == ["TOTAL", "RM", "9.00"]
    assert found.reading_id == made.reading_id
    assert found.words[2].bbox == (0.1, 0.1, 0.5, 0.15000000000000002)


def test_the_newest_reading_counts(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    read(page, "old")
    read(page, "new", name="other")
    assert [word.text for word in page_words(page).words] == ["new"]


def test_while_a_page_is_read_again_the_earlier_words_stay(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    read(page, "old")
    for name, state in (("second", PageReadState.PENDING), ("third", PageReadState.FAILED)):
        read(page, "never", name=name, state=state)
    assert [word.text for word in page_words(page).words] == ["old"]


def test_a_page_that_nothing_has_read_has_no_words(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    found = page_words(page)
    assert (found.reading_id, found.words) == (None, ())


def test_another_page_keeps_its_words_to_itself(cast: Cast) -> None:
    page, other = (factories.make_routed(cast.document_type).pages.get() for _ in range(2))
    read(other, "theirs")
    assert page_words(page).words == ()
