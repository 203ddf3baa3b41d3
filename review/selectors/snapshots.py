"""Snapshots: which records one may hold, and each record of one with all that a data set says of it."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from inference.types import PageReading, Word
from review.models import (
    DatasetExport,
    FieldReview,
    Holding,
    Page,
    PageRead,
    Personal,
    Project,
    Reading,
    Record,
    SchemaVersion,
    Snapshot,
    SnapshotItem,
    TaskKind,
)
from review.selectors.exports import BATCH_SIZE, ExportItem, export_counts, export_items, records_to_export

MODEL = "model"
LINES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class PageWords:
    """One page of a document as it was read for the record: its row, the id of the reading, its words in order."""

    page: Page
    reading_id: int | None
    words: tuple[Word, ...]

    def frozen(self) -> dict[str, Any]:
        """Return what a snapshot keeps of it."""
        return {
            "page_number": self.page.page_number,
            "width": self.page.width,
            "height": self.page.height,
            "content_hash": self.page.content_hash,
            "image": str(self.page.image.name),
            "image_sha256": self.page.image_sha256,
            "reading": self.reading_id,
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """One record that a snapshot may hold, with what decides whether and where it stands."""

    item: ExportItem
    pages: tuple[PageWords, ...]
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FrozenPage:
    """One page of a record of a snapshot: its raster in storage, its size in pixels, its words in reading order.

    `image_sha256` is over the file of the raster, empty where nobody knows.
    """

    page_number: int
    image: str
    width: int
    height: int
    words: tuple[Word, ...]
    image_sha256: str = ""


@dataclass(frozen=True, slots=True)
class FrozenRecord:
    """One record of a taken snapshot: its line of JSON as it was frozen, and its pages."""

    line: str
    pages: tuple[FrozenPage, ...]


def snapshots_for(project: Project) -> QuerySet[Snapshot]:
    """Return the snapshots of a project, newest first."""
    return Snapshot.objects.select_related("requested_by").defer("manifest").filter(project=project).order_by("-id")


def any_snapshot(snapshot_id: int) -> Snapshot | None:
    """Return a snapshot of any project, for whoever has the machine's command line."""
    return Snapshot.objects.select_related("project").filter(pk=snapshot_id).first()


def exports_of(snapshot: Snapshot) -> QuerySet[DatasetExport]:
    """Return the files written of a snapshot, newest first."""
    return snapshot.exports.select_related("requested_by").order_by("-id")


def is_settled(values: Mapping[str, Any], provenance: Mapping[str, Any]) -> bool:
    """Whether a person stands behind every value of a record that has any."""
    filled = [path for path, value in values.items() if value is not None]
    return bool(filled) and all(provenance.get(path, {}).get("source") == "person" for path in filled)


def is_held(record: Record, holding: str) -> bool:
    """Whether a snapshot of that kind holds the record, by whose word its values are."""
    if holding == Holding.EVERYTHING:
        return True
    if holding == Holding.SETTLED:
        return is_settled(record.values, record.provenance)
    return any(source.get("source") == "person" for source in record.provenance.values())


def records_of_moment(snapshot: Snapshot) -> QuerySet[Record]:
    """Return the records that counted when the snapshot was asked for."""
    return records_to_export(snapshot.project, snapshot_at=snapshot.taken_at)


def candidates_of(
    snapshot: Snapshot, *, is_first_look: bool, batch_size: int = BATCH_SIZE
) -> Iterator[list[Candidate]]:
    """Yield the records of the moment in batches, oldest first, no more than one batch in memory.

    What each look has no use for is not asked for, since reading it is most of the work: the first has the words of
    the pages and no labels, decisions or states; the second has those and no words. Predictions are in the first only
    where the snapshot must know where personal values stand.
    """
    records = records_of_moment(snapshot).select_related("document", "run__engine_version", "reviewer")
    records = records.defer("run__engine_version__spec").order_by("id")
    versions: dict[int, SchemaVersion] = {}
    last_id = 0
    while batch := list(records.filter(id__gt=last_id)[:batch_size]):
        _share_versions(batch, versions)
        pages = _pages(batch, with_words=is_first_look)
        if is_first_look and snapshot.personal == Personal.KEPT:
            items = [ExportItem(record, None, {}, {}, is_held_out=False) for record in batch]
        else:
            labels = FieldReview.objects.filter(
                document__in=[record.document_id for record in batch], created_at__lte=snapshot.taken_at
            ).exclude(task__kind=TaskKind.SEEDED)
            items = export_items(snapshot.project, batch, labels)
        yield [Candidate(item, pages[item.record.run_id], {} if is_first_look else states_of(item)) for item in items]
        last_id = batch[-1].pk


def lines_of(snapshot: Snapshot, split: str, *, batch_size: int = LINES_AT_ONCE) -> Iterator[list[str]]:
    """Yield the frozen lines of one side in batches, in the order in which they were frozen."""
    items = SnapshotItem.objects.filter(snapshot=snapshot, split=split).order_by("id").values_list("id", "row")
    last_id = 0
    while batch := list(items.filter(id__gt=last_id)[:batch_size]):
        yield [row for _, row in batch]
        last_id = batch[-1][0]


def records_of(snapshot: Snapshot, split: str, *, batch_size: int = BATCH_SIZE) -> Iterator[list[FrozenRecord]]:
    """Yield one side with pages and words in batches, in the order in which it was frozen."""
    items = SnapshotItem.objects.filter(snapshot=snapshot, split=split).order_by("id").values_list("id", "row", "pages")
    last_id = 0
    while batch := list(items.filter(id__gt=last_id)[:batch_size]):
        readings = Reading.objects.only("payload").in_bulk(
            {page["reading"] for _, _, pages in batch for page in pages if page["reading"] is not None}
        )
        yield [FrozenRecord(row, tuple(_frozen(page, readings) for page in pages)) for _, row, pages in batch]
        last_id = batch[-1][0]


def _frozen(page: Mapping[str, Any], readings: Mapping[int, Reading]) -> FrozenPage:
    reading = readings.get(page["reading"])
    words = PageReading.from_json(reading.payload).words if reading is not None else ()
    digest = page.get("image_sha256", "")
    return FrozenPage(page["page_number"], page["image"], page["width"], page["height"], words, digest)


def states_of(item: ExportItem) -> dict[str, str]:
    """Return for each field the last verdict that people gave on it, or that there is only the model's word."""
    paths = dict.fromkeys([*item.predictions, *item.record.values, *item.labels])
    return {path: str(labels[-1].verdict) if (labels := item.labels.get(path)) else MODEL for path in paths}


def _share_versions(records: Sequence[Record], versions: dict[int, SchemaVersion]) -> None:
    """Give each run its schema version, of which there are few: the schema is loaded once, not with every record."""
    wanted = {record.run.schema_version_id for record in records} - versions.keys()
    versions.update(SchemaVersion.objects.select_related("document_type").in_bulk(wanted))
    for record in records:
        record.run.schema_version = versions[record.run.schema_version_id]


def _pages(records: Sequence[Record], *, with_words: bool) -> dict[int, tuple[PageWords, ...]]:
    """Return by run the pages, with their words where they are wanted; what failed to be read has none."""
    runs = [record.run_id for record in records]
    reads = PageRead.objects.filter(run__in=runs).order_by("run_id", "page__page_number")
    reads = reads.select_related("page", "reading") if with_words else reads.select_related("page")
    pages: dict[int, list[PageWords]] = defaultdict(list)
    for read in reads:
        words = PageReading.from_json(read.reading.payload).words if with_words and read.reading is not None else ()
        pages[read.run_id].append(PageWords(read.page, read.reading_id, words))
    missing = {record.document_id: record.run_id for record in records if record.run_id not in pages}
    for page in Page.objects.filter(document__in=missing).order_by("document_id", "page_number"):
        pages[missing[page.document_id]].append(PageWords(page, None, ()))
    return defaultdict(tuple, {run: tuple(found) for run, found in pages.items()})


def left_out_before(snapshot: Snapshot) -> dict[str, int]:
    """Return how many documents have no record to hold, by why."""
    counts = export_counts(snapshot.project)
    return {
        "in_review": counts.n_in_review,
        "on_their_way": counts.n_on_their_way,
        "unreadable": counts.n_unreadable,
        "copies": counts.n_copies,
    }


def words_of_first_pages(snapshot: Snapshot, digests: Collection[str]) -> dict[str, tuple[Word, ...]]:
    """Return the words of the first pages of documents by their SHA-256; what was not read has none."""
    reads = PageRead.objects.filter(
        run__document__project=snapshot.project,
        run__document__sha256__in=digests,
        run__is_current=True,
        page__page_number=1,
        reading__isnull=False,
    ).values_list("run__document__sha256", "reading__payload")
    return {digest: PageReading.from_json(payload).words for digest, payload in reads}
