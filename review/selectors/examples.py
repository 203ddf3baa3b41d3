"""Documents that people have reviewed, as far as a language model may be shown them (R3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inference.types import PageReading
from review.models import (
    ExtractionRun,
    FieldPrediction,
    Page,
    PageRead,
    Record,
)
from review.selectors.held_out import held_out_digests

CONSIDERED = 60
"""So many of the newest reviewed documents are looked at."""


@dataclass(frozen=True, slots=True)
class ReviewedPage:
    """A reviewed document of one page: its page, its words, and its values by field path, as printed where known."""

    page: Page
    reading: PageReading
    values: Mapping[str, Any]


def first_page(run: ExtractionRun) -> Page | None:
    """Return the first page of a run's document."""
    return Page.objects.filter(document=run.document_id).order_by("page_number").first()


def reviewed_pages(run: ExtractionRun) -> list[ReviewedPage]:
    """Return the newest documents of one page of which people settled every value, under the run's schema.

    Of the run's project, without the run's own document, without what belongs to a regression set.
    """
    records = Record.objects.filter(
        is_current=True,
        reviewer__isnull=False,
        project=run.document.project_id,
        run__schema_version=run.schema_version_id,
        document__n_pages=1,
    )
    records = records.exclude(document=run.document_id).exclude(document__sha256=run.document.sha256)
    newest = list(records.select_related("document").order_by("-pk")[:CONSIDERED])
    held_out = held_out_digests(run.document.project, [record.document.sha256 for record in newest])
    kept = {
        record.run_id: record
        for record in newest
        if record.document.sha256 not in held_out and _is_all_confirmed(record)
    }
    reads = PageRead.objects.filter(run__in=kept, reading__isnull=False).select_related("page", "reading")
    raw = _raw_texts(list(kept))
    return [
        ReviewedPage(read.page, PageReading.from_json(read.reading.payload), _values(kept[read.run_id], raw))
        for read in reads.order_by("-run_id")
        if read.reading is not None
    ]


def _is_all_confirmed(record: Record) -> bool:
    """Whether a person stands behind every value: what is shown as right must be right."""
    values = [path for path, value in record.values.items() if value is not None]
    return bool(values) and all(record.provenance.get(path, {}).get("source") == "person" for path in values)


def _raw_texts(run_ids: Sequence[int]) -> dict[tuple[int, str], tuple[Any, str | None]]:
    predictions = FieldPrediction.objects.filter(run__in=run_ids)
    rows = predictions.values_list("run_id", "field_path", "value", "raw_text")
    return {(run_id, path): (value, text) for run_id, path, value, text in rows}


def _values(record: Record, raw: Mapping[tuple[int, str], tuple[Any, str | None]]) -> dict[str, Any]:
    """Return the accepted values, each as it is printed where it is what was read."""
    values = {}
    for path, value in record.values.items():
        read, text = raw.get((record.run_id, path), (None, None))
        values[path] = text if text is not None and value is not None and read == value else value
    return values


def pages_by_id(ids: Sequence[int]) -> dict[int, Page]:
    """Return pages by their ids."""
    return Page.objects.in_bulk(ids)
