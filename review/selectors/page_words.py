"""The words that were read on a page, for a person to pick from."""

from dataclasses import dataclass

from inference.types import PageReading, Word
from review.models import Page, PageRead, PageReadState


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of one page in reading order, split at white space. `reading_id` is None while it was not read."""

    page: Page
    reading_id: int | None
    words: tuple[Word, ...]


def page_words(page: Page) -> PageWords:
    """Return what was read last on the page: while a document is read again, what was read before."""
    # A page that failed may have its words all the same.
    finished = (PageReadState.READ, PageReadState.FAILED)
    reads = PageRead.objects.filter(page=page, state__in=finished, reading__isnull=False).select_related("reading")
    read = reads.order_by("-run_id").first()
    if read is None or read.reading is None:
        return PageWords(page, None, ())
    lines = PageReading.from_json(read.reading.payload).words
    return PageWords(page, read.reading.pk, tuple(word for line in lines for word in line.parts()))
