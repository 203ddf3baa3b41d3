import errno
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from pytest_django import Settings

from review import tasks_exports
from review.actions.exports import cancel_export, claim_export, request_export
from review.actions.recovery import requeue_work
from review.exceptions import StorageFullError
from review.exports.formats import write_records
from review.models import DatasetExport, Event, Record, WorkState
from review.selectors.access import SYSTEM, Actor
from review.tasks import TaskFailedError
from review.tasks_exports import write_export, write_file
from tests.conftest import Cast
from tests.review.labels import add_record


@pytest.fixture(autouse=True)
def scratch(settings: Settings, tmp_path: Path) -> Path:
    """Where half-written files lie."""
    folder = tmp_path / "incoming"
    folder.mkdir()
    settings.FILE_UPLOAD_TEMP_DIR = folder
    return folder


@pytest.fixture
def export(cast: Cast) -> DatasetExport:
    for _ in range(3):
        add_record(cast.document_type)
    return request_export(actor=Actor(cast.manager), project=cast.project, format="jsonl")


def content(export: DatasetExport) -> bytes:
    with export.file.open() as file:
        return bytes(file.read())


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("format_name", ["jsonl", "csv"])
def test_an_export_is_written_and_kept(cast: Cast, scratch: Path, format_name: str) -> None:
    add_record(cast.document_type)
    export = request_export(actor=SYSTEM, project=cast.project, format=format_name)
    write_export(export.pk)
    export.refresh_from_db()
    data = content(export)
    assert (export.state, export.n_records, export.n_written) == (WorkState.DONE, 1, 1)
    assert export.sha256 == hashlib.sha256(data).hexdigest()
    assert str(export.file.name).endswith(f".{format_name}")
    assert list(scratch.iterdir()) == []


def test_records_that_came_after_the_request_are_left_out(cast: Cast, export: DatasetExport) -> None:
    add_record(cast.document_type)
    write_export(export.pk)
    export.refresh_from_db()
    known = list(Record.objects.order_by("pk").values_list("pk", flat=True))
    assert [row["record_id"] for row in lines(content(export))] == known[:3]


def test_a_task_delivered_again_writes_nothing_again(export: DatasetExport) -> None:
    write_export(export.pk)
    before = DatasetExport.objects.get()
    write_export(export.pk)
    after = DatasetExport.objects.get()
    assert (after.finished_at, after.n_attempts, after.file.name) == (before.finished_at, 1, before.file.name)


def test_an_export_whose_writer_was_killed_is_written_from_the_beginning(
    export: DatasetExport, scratch: Path, settings: Settings
) -> None:
    claimed = claim_export(export_id=export.pk)
    assert claimed is not None
    (scratch / f"export-{export.pk}-1.part").write_bytes(b"half a li")
    settings.STET_CLAIM_SECONDS = 0
    assert requeue_work() == {"datasetexport": 1}
    write_export(export.pk)
    export.refresh_from_db()
    assert (export.state, export.n_attempts) == (WorkState.DONE, 2)
    assert len(lines(content(export))) == 3
    assert list(scratch.iterdir()) == []


def test_the_file_of_another_export_is_left_alone(export: DatasetExport, scratch: Path) -> None:
    other = scratch / f"export-{export.pk}1-1.part"
    other.write_bytes(b"being written")
    write_export(export.pk)
    assert other.read_bytes() == b"being written"


def filled(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_a_failure_that_says_so(
    export: DatasetExport, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", filled)
    write_export(export.pk)
    export.refresh_from_db()
    assert (export.state, export.error_code, export.file.name) == (WorkState.FAILED, "storage_full", "")
    assert list(scratch.iterdir()) == []


def test_an_unforeseen_error_ends_the_export_and_keeps_its_message_to_itself(
    export: DatasetExport, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Iterator[None]:
        raise RuntimeError("TOTAL 9.00")
        yield

    monkeypatch.setattr(tasks_exports, "write_records", broken)
    with pytest.raises(TaskFailedError) as raised:
        write_export(export.pk)
    assert "9.00" not in str(raised.value)
    export.refresh_from_db()
    assert (export.state, export.error_code) == (WorkState.FAILED, "export_failed")
    assert list(scratch.iterdir()) == []


def one_by_one(monkeypatch: pytest.MonkeyPatch, before_each: Any) -> None:
    """Batches of one record, told of at once; `before_each` is done before each is looked at."""
    write = write_records

    def slow(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for written in write(*args, **kwargs):
            before_each(written.n_records)
            yield written

    monkeypatch.setattr("review.selectors.exports.items_to_export.__kwdefaults__", {"since": None, "batch_size": 1})
    monkeypatch.setattr(tasks_exports, "write_records", slow)
    monkeypatch.setattr(tasks_exports, "PROGRESS_SECONDS", 0.0)


def test_progress_is_told_as_it_goes(export: DatasetExport, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one(monkeypatch, lambda _: None)
    write_export(export.pk)
    told = [row.payload for row in Event.objects.filter(name="export.progressed").order_by("pk")]
    assert [row["n_written"] for row in told] == [0, 1, 2, 3, 3]
    assert {row["n_records"] for row in told} == {3}


def test_progress_is_not_told_more_than_once_a_second(export: DatasetExport, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one(monkeypatch, lambda _: None)
    monkeypatch.setattr(tasks_exports, "PROGRESS_SECONDS", 3600.0)
    write_export(export.pk)
    assert Event.objects.filter(name="export.progressed").count() == 1


def test_an_export_cancelled_half_way_stops_and_leaves_nothing(
    cast: Cast, export: DatasetExport, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def cancel(n_written: int) -> None:
        seen.append(n_written)
        if n_written == 2:
            cancel_export(actor=Actor(cast.manager), export=export)

    one_by_one(monkeypatch, cancel)
    write_export(export.pk)
    assert seen == [1, 2]
    assert DatasetExport.objects.get().state == WorkState.CANCELLED
    assert list(scratch.iterdir()) == []
    assert not default_storage.exists(f"projects/{cast.project.pk}/exports")


def test_a_file_is_written_whole_under_its_name(cast: Cast, tmp_path: Path) -> None:
    add_record(cast.document_type)
    path = tmp_path / "out.jsonl"
    path.write_text("yesterday's")
    written = write_file(cast.project, "jsonl", path)
    data = path.read_bytes()
    assert (written.n_records, written.n_bytes) == (1, len(data))
    assert written.sha256 == hashlib.sha256(data).hexdigest()
    assert [found.name for found in tmp_path.iterdir() if found.is_file()] == ["out.jsonl"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("yesterday's")
    monkeypatch.setattr("os.fsync", filled)
    with pytest.raises(StorageFullError):
        write_file(cast.project, "jsonl", path)
    assert path.read_text() == "yesterday's"
    assert [found.name for found in tmp_path.iterdir() if found.is_file()] == ["out.jsonl"]
