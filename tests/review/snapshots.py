"""Reviewed documents with real pictures, and snapshots of them, for tests of whatever is written of them."""

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile

from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page
from inference.types import BBox, PageReading, Word
from review.actions.snapshots import request_snapshot
from review.exports.snapshot_formats import write_snapshot
from review.models import (
    DocumentType,
    FieldReview,
    PageRead,
    PageReadState,
    Project,
    Reading,
    Record,
    ReviewTask,
    Snapshot,
    TaskState,
)
from review.selectors.access import SYSTEM
from review.tasks_snapshots import take_snapshot
from tests import factories
from tests.review.conftest import picture

SIZE = (200, 300)
WORDS = (
    Word("BOOK TA K", BBox(0.1, 0.05, 0.6, 0.1), 0.99),
    Word("25/12/2018", BBox(0.1, 0.2, 0.5, 0.25), 0.98),
    Word("TOTAL", BBox(0.1, 0.6, 0.3, 0.65), 0.97),
    Word("9.00", BBox(0.7, 0.6, 0.8, 0.65), 0.96),
)
BOXES = {"/company": [0.1, 0.05, 0.6, 0.1], "/date": [0.1, 0.2, 0.5, 0.25], "/total": [0.7, 0.6, 0.8, 0.65]}


def add_reviewed(
    document_type: DocumentType,
    name: str,
    *,
    verdicts: Mapping[str, tuple[str, Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    words: Sequence[Word] = WORDS,
    n_pages: int = 1,
) -> Record:
    """A document of `name`d pictures whose fields were read as `values`; `verdicts` are (verdict, value) by path.

    Without verdicts a person confirmed every field.
    """
    values = values or {"/company": f"BOOK {name}", "/date": "2018-12-25", "/total": "9.00"}
    plans = {path: factories.FieldPlan(value=value) for path, value in values.items()}
    document = factories.make_routed(document_type, plans, band="auto", is_selected=False, filename=f"{name}.jpg")
    run = document.runs.get()
    run.predictions.all().delete()
    for path, value in values.items():
        run.predictions.create(
            field_path=path, value=value, raw_text=value, confidence=0.9, page_number=1, bbox=BOXES[path]
        )
    document.pages.all().delete()
    for number in range(1, n_pages + 1):
        _add_page(document, run, f"{name} {number}", number, words)
    said = verdicts if verdicts is not None else {path: ("confirmed", value) for path, value in values.items()}
    document.n_pages = n_pages
    document.save()
    return _reviewed(document, run, said, values)


def _add_page(document: Any, run: Any, text: str, number: int, words: Sequence[Word]) -> None:
    data = picture(text, size=SIZE)
    image = decode_page(data)
    page = document.pages.create(
        page_number=number,
        image=ContentFile(data, name=f"{document.pk}-{number}.jpg"),
        image_sha256=hashlib.sha256(data).hexdigest(),
        width=SIZE[0],
        height=SIZE[1],
        content_hash=content_hash(image),
        # Of its own: such small pictures look much the same.
        perceptual_hash=hashlib.sha256(text.encode()).hexdigest()[:16],
    )
    reading = Reading.objects.create(
        project=document.project,
        engine_version=run.engine_version,
        content_hash=f"{document.pk}-{number}",
        payload=PageReading(*SIZE, tuple(words), 0.1).as_json(),
        cpu_seconds=0.1,
    )
    PageRead.objects.create(run=run, page=page, state=PageReadState.READ, reading=reading)


def _reviewed(document: Any, run: Any, verdicts: Mapping[str, tuple[str, Any]], values: Mapping[str, Any]) -> Record:
    task = ReviewTask.objects.create(
        project=document.project, document_type=document.document_type, document=document, run=run, state=TaskState.DONE
    )
    for path, (verdict, value) in verdicts.items():
        FieldReview.objects.create(
            task=task,
            document=document,
            field_path=path,
            verdict=verdict,
            value=value,
            predicted_value=values.get(path),
            is_correct=verdict == "confirmed",
            is_in_sample=True,
            inclusion_probability=0.5,
            project=document.project,
            document_type=document.document_type,
            engine_version=run.engine_version,
            confidence=0.9,
            band="auto",
        )
    accepted = {**values, **{path: value for path, (_, value) in verdicts.items()}}
    return Record.objects.create(
        project=document.project,
        document=document,
        revision=1,
        run=run,
        values=accepted,
        provenance={path: {"source": "person" if path in verdicts else "model"} for path in accepted},
        reviewer=factories.make_user() if verdicts else None,
    )


def taken(project: Project, **wishes: Any) -> Snapshot:
    """A snapshot of the project, taken; everything is for training unless `wishes` say otherwise."""
    shares = {"validation_share": 0.0, "test_share": 0.0}
    snapshot = request_snapshot(actor=SYSTEM, project=project, is_queued=False, **(shares | wishes))
    take_snapshot(snapshot.pk)
    snapshot.refresh_from_db()
    return snapshot


def written(snapshot: Snapshot, format_name: str, folder: Path, *, archive: str = "zip") -> bytes:
    """The archive of a snapshot in one format."""
    target = io.BytesIO()
    for _ in write_snapshot(target, snapshot, format_name, scratch=folder, archive_kind=archive):
        pass
    return target.getvalue()


def unpacked(snapshot: Snapshot, format_name: str, folder: Path, *, archive: str = "zip") -> Path:
    """The folder that whoever unpacks the archive has."""
    data = written(snapshot, format_name, folder, archive=archive)
    target = folder / f"{format_name}-{archive}"
    if archive == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            file.extractall(target)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as file:
            file.extractall(target, filter="data")
    return target


def json_lines(path: Path) -> list[Any]:
    """The lines of a file of JSON."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
