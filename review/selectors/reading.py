"""What the tasks that read need to know."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.db.models import Min

from inference.types import PageReading, page_digest
from review.models import (
    UNFINISHED_STATUSES,
    Document,
    DocumentStatus,
    ExtractionRun,
    Page,
    PageRead,
    PageReadState,
    Reading,
    RunState,
)
from review.selectors.engines import base_id_of


@dataclass(frozen=True, slots=True)
class RunToRoute:
    """A run whose pages are all read or failed. `readings` are in page order; `failures` are codes, as of the pages.

    A failed page has a reading with the words that were found on it, if any were.
    """

    run: ExtractionRun
    readings: Sequence[PageReading]
    failures: tuple[str, ...]
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class ReadingKey:
    """What makes two reads of a page the same read: these pixels, this engine version, this request.

    Within one project, so that no tenant learns from timing what another has had read.
    """

    project_id: int
    engine_version_id: int
    content_hash: str
    request_digest: str = ""


def key_of(run: ExtractionRun, page: Page) -> ReadingKey:
    """Return under what a run's reading of a page is kept, once it is settled what the run asks."""
    asked = page_digest(run.request_digest, page.page_number)
    return ReadingKey(run.document.project_id, base_id_of(run.engine_version), page.content_hash, asked)


def cached_reading_id(key: ReadingKey) -> int | None:
    """Return the id of what was read before under this key."""
    return Reading.objects.filter(**asdict(key)).values_list("pk", flat=True).first()


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A kept reading among which near duplicates are looked for, and what its page looks like."""

    reading_id: int
    content_hash: str
    perceptual_hash: str


def newest_readings(key: ReadingKey, limit: int) -> list[LookedUp]:
    """Return the newest readings of the key's project, engine version and request whose pages' looks are known."""
    readings = Reading.objects.filter(
        project_id=key.project_id, engine_version_id=key.engine_version_id, request_digest=key.request_digest
    )
    rows = readings.order_by("-pk").values_list("pk", "content_hash", "perceptual_hash")[:limit]
    return [LookedUp(*row) for row in rows if row[2]]


def page_with_content(project_id: int, content_hash: str) -> Page | None:
    """Return a page of the project that has these pixels."""
    return Page.objects.filter(content_hash=content_hash, document__project=project_id).first()


def reading_by_id(reading_id: int) -> PageReading:
    """Return a kept reading."""
    return PageReading.from_json(Reading.objects.values_list("payload", flat=True).get(pk=reading_id))


def unread_page_ids(document_id: int) -> list[int]:
    """Return the page reads that are still to be done for a document that is being read, in page order."""
    reads = PageRead.objects.filter(
        run__document_id=document_id,
        run__is_current=True,
        run__state=RunState.READING,
        run__document__status=DocumentStatus.PROCESSING,
        state=PageReadState.PENDING,
    )
    return list(reads.order_by("page__page_number").values_list("pk", flat=True))


def run_being_read(run_id: int) -> ExtractionRun | None:
    """Return a run that is the current one of its document and not routed yet, with all that routing it needs."""
    runs = ExtractionRun.objects.select_related("schema_version", "document__document_type", "engine_version__base")
    return runs.filter(pk=run_id, state=RunState.READING, is_current=True).first()


def run_to_route(run_id: int) -> RunToRoute | None:
    """Return a run with all its readings; None while pages are unread, or when it was routed already."""
    run = run_being_read(run_id)
    if run is None:
        return None
    reads = list(PageRead.objects.filter(run=run).select_related("page", "reading").order_by("page__page_number"))
    if not reads or any(read.state in (PageReadState.PENDING, PageReadState.CLAIMED) for read in reads):
        return None
    return RunToRoute(
        run=run,
        readings=[_reading(read) for read in reads],
        failures=tuple(read.error_code for read in reads if read.state == PageReadState.FAILED),
        cpu_seconds=sum(read.reading.cpu_seconds for read in reads if read.reading and not read.is_cached),
    )


def _reading(read: PageRead) -> PageReading:
    if read.reading is None:
        # It keeps the numbers of the pages after it right.
        return PageReading(width=read.page.width, height=read.page.height, words=(), cpu_seconds=0.0)
    return PageReading.from_json(read.reading.payload)


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How a batch stands: documents from `first_id` on, of which `n_waiting` are still to be read."""

    first_id: int
    n_documents: int
    n_waiting: int

    @property
    def n_read(self) -> int:
        """How many have been read, or were found unreadable."""
        return self.n_documents - self.n_waiting


def reading_progress(before: ReadingProgress | None = None) -> ReadingProgress | None:
    """Return how the batch at work stands, or None when nothing waits and nothing did `before`.

    A batch begins with the first document that waits and ends when none does. Reads no more rows than it has.
    """
    originals = Document.objects.filter(duplicate_of=None)
    unfinished = originals.filter(status__in=UNFINISHED_STATUSES)
    first_id = before.first_id if before is not None else unfinished.aggregate(first=Min("pk"))["first"]
    if first_id is None:
        return None
    return ReadingProgress(first_id, originals.filter(pk__gte=first_id).count(), unfinished.count())


def reading_ids_of(run: ExtractionRun) -> list[int]:
    """Return the ids of the readings of a run's pages, in their order; pages without one are left out."""
    reads = PageRead.objects.filter(run=run, reading__isnull=False).order_by("page__page_number")
    return [pk for pk in reads.values_list("reading_id", flat=True) if pk is not None]
