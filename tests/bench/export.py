"""What a data set costs: taking a snapshot, and streaming 100,000 records of one as JSON lines, in constant memory."""

import argparse
import hashlib
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase

from django.conf import settings
from django.core.management import call_command

from inference.types import BBox, PageReading, Word
from review.exports.snapshot_formats import write_snapshot
from review.models import (
    Document,
    ExtractionRun,
    FieldPrediction,
    FieldReview,
    Page,
    PageRead,
    PageReadState,
    Project,
    Reading,
    Record,
    ReviewTask,
    Snapshot,
    SnapshotItem,
    Split,
    WorkState,
)
from review.tasks_snapshots import take_snapshot
from tests import factories
from tests.bench.report import Budget, finish, ratio
from tests.review.snapshots import add_reviewed

LEAST_RECORDS_PER_SECOND = 20_000
MOST_GROWTH_MB = 30.0
FEW = 10
"""The memory of a tenth of the records is what that of all of them is compared with."""
N_VENDORS = 997
N_WORDS = 40
_AT_ONCE = 2_000
_OF_A_LABEL = (
    *("field_path", "verdict", "value", "predicted_value", "is_correct", "is_in_sample", "inclusion_probability"),
    *("project_id", "document_type_id", "engine_version_id", "confidence", "band"),
)


@dataclass(frozen=True)
class Spent:
    """What writing so many records took; `cpu_seconds` of this process, `peak_mb` since it began."""

    n_records: int
    n_bytes: int
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float

    @property
    def per_cpu_second(self) -> float:
        """Records a second of CPU."""
        return ratio(self.n_records, self.cpu_seconds)

    def row(self, name: str) -> tuple[object, ...]:
        """Return a row of the table."""
        megabytes = self.n_bytes / 1e6
        wall = ratio(self.n_records, self.wall_seconds)
        return name, self.n_records, megabytes, self.per_cpu_second, wall, self.peak_mb


HEADER = ("what", "records", "MB", "records/CPU s", "records/s", "peak MB")


def spent(n_records: int, work: Callable[[], int]) -> Spent:
    """Do the work, which returns how many bytes it wrote."""
    cpu, wall = time.process_time(), time.perf_counter()
    n_bytes = work()
    return Spent(
        n_records,
        n_bytes,
        time.process_time() - cpu,
        time.perf_counter() - wall,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def plant(project: Project, first: Record, n: int) -> None:
    """Add n records like the first, each of a document and a run of its own, as a person would have settled them.

    Each has a page of its own look with the words of its vendor's layout, and a label for each of its values.
    """
    predictions = list(FieldPrediction.objects.filter(run=first.run_id))
    n_there = Document.objects.count()
    for start in range(n_there, n_there + n, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, n_there + n))
        documents = Document.objects.bulk_create(_document(first.document, number) for number in numbers)
        runs = ExtractionRun.objects.bulk_create(
            ExtractionRun(
                document=one,
                engine_version_id=first.run.engine_version_id,
                schema_version_id=first.run.schema_version_id,
                state=first.run.state,
            )
            for one in documents
        )
        FieldPrediction.objects.bulk_create(_copies(predictions, runs))
        _plant_pages(first, numbers, runs)
        _plant_labels(first, runs)
        Record.objects.bulk_create(
            Record(
                project=project,
                document=one,
                revision=1,
                run=run,
                values=first.values | {"/company": f"Vendor {number % N_VENDORS}"},
                provenance=first.provenance,
                reviewer_id=first.reviewer_id,
            )
            for number, one, run in zip(numbers, documents, runs, strict=True)
        )


def _plant_pages(first: Record, numbers: Sequence[int], runs: Sequence[ExtractionRun]) -> None:
    pages = Page.objects.bulk_create(
        Page(
            document_id=run.document_id,
            page_number=1,
            image=f"{number}.jpg",
            width=1000,
            height=1600,
            content_hash=f"{number:064x}",
            perceptual_hash=hashlib.sha256(str(number).encode()).hexdigest()[:16],
        )
        for number, run in zip(numbers, runs, strict=True)
    )
    readings = Reading.objects.bulk_create(
        Reading(
            project_id=first.project_id,
            engine_version_id=first.run.engine_version_id,
            content_hash=page.content_hash,
            payload=PageReading(1000, 1600, tuple(_words(number)), 1.0).as_json(),
            cpu_seconds=1.0,
        )
        for number, page in zip(numbers, pages, strict=True)
    )
    PageRead.objects.bulk_create(
        PageRead(run=run, page=page, state=PageReadState.READ, reading=reading)
        for run, page, reading in zip(runs, pages, readings, strict=True)
    )


def _words(number: int) -> Iterator[Word]:
    """The lines of a receipt: where they stand and half of what they say is the vendor's, the rest is the receipt's."""
    chance = random.Random(number % N_VENDORS)
    for line in range(N_WORDS):
        x, y = chance.uniform(0.05, 0.6), 0.02 + line * 0.96 / N_WORDS
        own = "".join(chance.choices(ascii_lowercase, k=7))
        text = f"{own} {own[::-1]}" if line % 2 else f"{number * 31 + line * 7}.{line:02}"
        yield Word(text, BBox(x, y, x + 0.3, y + 0.015), 0.98)


def _plant_labels(first: Record, runs: Sequence[ExtractionRun]) -> None:
    (task,) = ReviewTask.objects.filter(document=first.document_id)
    labels = list(FieldReview.objects.filter(document=first.document_id))
    tasks = ReviewTask.objects.bulk_create(
        ReviewTask(
            project_id=task.project_id,
            document_type_id=task.document_type_id,
            document_id=run.document_id,
            run=run,
            state=task.state,
        )
        for run in runs
    )
    FieldReview.objects.bulk_create(
        FieldReview(**{name: getattr(label, name) for name in _OF_A_LABEL}, task=own, document_id=run.document_id)
        for run, own in zip(runs, tasks, strict=True)
        for label in labels
    )


def _document(like: Document, number: int) -> Document:
    return Document(
        project_id=like.project_id,
        document_type_id=like.document_type_id,
        schema_version_id=like.schema_version_id,
        filename=f"{number}.jpg",
        media_type=like.media_type,
        n_bytes=like.n_bytes,
        n_pages=1,
        sha256=f"{number:064x}",
        original=like.original.name,
        status=like.status,
        band=like.band,
    )


def _copies(predictions: Sequence[FieldPrediction], runs: Sequence[ExtractionRun]) -> Iterator[FieldPrediction]:
    for run in runs:
        for one in predictions:
            yield FieldPrediction(
                run=run,
                field_path=one.field_path,
                value=one.value,
                raw_text=one.raw_text,
                confidence=one.confidence,
                page_number=one.page_number,
                bbox=one.bbox,
            )


def grown(snapshot: Snapshot, project: Project, first: Record, n: int) -> Snapshot:
    """Return a snapshot of n records whose lines are those of a taken one, again and again."""
    rows = list(snapshot.items.values_list("row", "group")[:_AT_ONCE])
    n_more = n - Record.objects.count()
    if n_more > 0:
        plant(project, first, n_more)
    lines = [rows[at % len(rows)] for at in range(n)]
    digest = hashlib.sha256()
    for row, _ in lines:
        digest.update(row.encode() + b"\n")
    sides = {side: {"sha256": hashlib.sha256().hexdigest()} for side in Split.values}
    large = Snapshot.objects.create(
        project=project,
        seed="bench",
        validation_share=0,
        test_share=0,
        state=WorkState.DONE,
        n_records=n,
        manifest={"split": {"sides": sides | {Split.TRAIN.value: {"sha256": digest.hexdigest()}}}},
    )
    ids = list(Record.objects.order_by("id").values_list("id", flat=True)[:n])
    for start in range(0, n, _AT_ONCE):
        SnapshotItem.objects.bulk_create(
            SnapshotItem(snapshot=large, record_id=pk, split=Split.TRAIN, group=group, row=row)
            for pk, (row, group) in zip(ids[start : start + _AT_ONCE], lines[start : start + _AT_ONCE], strict=True)
        )
    return large


def write_lines(snapshot: Snapshot, folder: Path, *, limit: int | None = None) -> int:
    """Write a snapshot as JSON lines, or about its first records; return the size of the archive."""
    path = folder / "out.zip"
    with path.open("wb") as target:
        for n_written in write_snapshot(target, snapshot, "jsonl", scratch=folder):
            if limit is not None and n_written >= limit:
                break
    return path.stat().st_size


def _taken(snapshot: Snapshot) -> int:
    take_snapshot(snapshot.pk)
    return 0


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 when a budget is missed."""
    parser = argparse.ArgumentParser(prog="tests.bench export")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument(
        "--taken", type=int, default=5_000, help="take a snapshot of so many; as many as --records: write that one"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="stet-bench-export-") as name:
        return _measured(Path(name), options.records, options.taken)


def _measured(folder: Path, n_records: int, n_taken: int) -> int:
    settings.FILE_UPLOAD_TEMP_DIR = folder
    call_command("migrate", verbosity=0)
    project = factories.make_project("bench")
    first = add_reviewed(factories.make_document_type(project), "first")
    plant(project, first, n_taken - 1)
    snapshot = Snapshot.objects.create(project=project, seed="bench", validation_share=0.1, test_share=0.1)
    taking = spent(n_taken, lambda: _taken(snapshot))
    snapshot.refresh_from_db()
    if snapshot.state != WorkState.DONE:
        sys.stderr.write(f"the snapshot was not taken: {snapshot.error_code}\n")
        return 1
    large = snapshot if n_taken == n_records else grown(snapshot, project, first, n_records)
    n_few = n_records // FEW
    few = spent(n_few, lambda: write_lines(large, folder, limit=n_few))
    all_of_them = spent(n_records, lambda: write_lines(large, folder))
    return finish(
        "export",
        HEADER,
        [taking.row("snapshot taken"), few.row("JSON lines, a tenth"), all_of_them.row("JSON lines")],
        [
            Budget("records a CPU second", all_of_them.per_cpu_second, LEAST_RECORDS_PER_SECOND, is_floor=True),
            Budget("MB more for ten times the records", all_of_them.peak_mb - few.peak_mb, MOST_GROWTH_MB),
        ],
        {
            "records": n_records,
            "taken_per_cpu_second": round(taking.per_cpu_second),
            "groups": {side: of["groups"] for side, of in snapshot.manifest["split"]["sides"].items()},
        },
    )
