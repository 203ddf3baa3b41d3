import csv
import hashlib
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from django.utils import timezone

from review.exports.formats import FORMATS, Written, write_records
from review.models import Project, Record
from tests.conftest import Cast
from tests.review.labels import add_record


def write(project: Project, name: str) -> tuple[bytes, Written]:
    target = io.BytesIO()
    *_, written = write_records(target, project, FORMATS[name], snapshot_at=timezone.now())
    return target.getvalue(), written


def test_a_json_export_holds_what_the_database_holds(cast: Cast) -> None:
    records = [add_record(cast.document_type, values={"/total": f"{number}.00"}) for number in range(7)]
    data, written = write(cast.project, "jsonl")
    rows = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    assert [row["record_id"] for row in rows] == [record.pk for record in records]
    for row, record in zip(rows, records, strict=True):
        values = {field["field_path"]: field["value"] for field in row["fields"] if field["provenance"]}
        assert values == {"/company": None, "/date": None} | record.values
    assert (written.n_records, written.n_bytes) == (7, len(data))
    assert written.sha256 == hashlib.sha256(data).hexdigest()


def test_a_csv_export_holds_what_the_database_holds(cast: Cast) -> None:
    records = {record.pk: record for record in (add_record(cast.document_type) for _ in range(3))}
    data, written = write(cast.project, "csv")
    lines = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert len(lines) == 9
    for line in lines:
        record = records[int(line["record_id"])]
        assert line["value"] == record.values[line["field_path"]]
        assert line["document_sha256"] == record.document.sha256
    assert written.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_of_nothing_is_a_whole_file(cast: Cast, name: str) -> None:
    data, written = write(cast.project, name)
    assert data == FORMATS[name].header
    assert (written.n_records, written.n_labels, written.sha256) == (0, 0, hashlib.sha256(data).hexdigest())


def add_copies(record: Record, n: int) -> None:
    """n more records that differ in nothing but their documents, written in bulk."""
    document, run = record.document, record.run
    n_before = type(document).objects.count()
    documents = type(document).objects.bulk_create(
        type(document)(
            project_id=document.project_id,
            document_type_id=document.document_type_id,
            filename=f"{n_before + number}.jpg",
            media_type="image/jpeg",
            n_bytes=1,
            sha256=f"{n_before + number:064x}",
            original="x",
        )
        for number in range(n)
    )
    runs = type(run).objects.bulk_create(
        type(run)(document=one, engine_version_id=run.engine_version_id, schema_version_id=run.schema_version_id)
        for one in documents
    )
    Record.objects.bulk_create(
        Record(
            project_id=record.project_id,
            document=one,
            revision=1,
            run=its_run,
            values=record.values,
            provenance=record.provenance,
        )
        for one, its_run in zip(documents, runs, strict=True)
    )


def peak_bytes(project: Project, path: Path) -> tuple[int, int]:
    """How much memory writing took at most, and how many lines were written."""
    tracemalloc.start()
    try:
        with path.open("wb") as target:
            for _ in write_records(target, project, FORMATS["csv"], snapshot_at=timezone.now()):
                pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    with path.open("rb") as lines:
        return peak, sum(1 for _ in lines) - 1


def test_ten_times_the_lines_take_no_more_memory(cast: Cast, tmp_path: Path) -> None:
    record = add_record(cast.document_type)
    path = tmp_path / "export.csv"
    peak_bytes(cast.project, path)
    add_copies(record, 699)
    small, n_small = peak_bytes(cast.project, path)
    add_copies(record, 6_300)
    large, n_large = peak_bytes(cast.project, path)
    assert (n_small, n_large) == (2_100, 21_000)
    assert large < small * 1.25
