import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from django_q.models import OrmQ
from django_q.signing import SignedPackage
from pytest_django import Settings

from review.actions.exports import (
    FORMAT_NAMES,
    cancel_export,
    claim_export,
    fail_export,
    finish_export,
    media_type_of,
    note_export_progress,
    request_export,
)
from review.actions.recovery import requeue_work
from review.exceptions import ConflictError, InvalidInputError
from review.exports.formats import Written
from review.models import AuditEntry, DatasetExport, Event, WorkState
from review.selectors.access import Actor
from tests.conftest import Cast
from tests.review.labels import add_record


def request(cast: Cast, **values: Any) -> DatasetExport:
    return request_export(actor=Actor(cast.manager), project=cast.project, **({"format": "jsonl"} | values))


def queued() -> list[dict[str, Any]]:
    return [SignedPackage.loads(row.payload) for row in OrmQ.objects.order_by("pk")]


def claim(export: DatasetExport) -> DatasetExport:
    claimed = claim_export(export_id=export.pk)
    assert claimed is not None
    return claimed


def silence(export: DatasetExport, seconds: int) -> None:
    """Nothing has been heard of the export for so long."""
    touched_at = timezone.now() - dt.timedelta(seconds=seconds)
    DatasetExport.objects.filter(pk=export.pk).update(touched_at=touched_at)


def events(export: DatasetExport) -> list[tuple[str, str]]:
    rows = Event.objects.filter(name__startswith="export.", payload__export_id=export.pk).order_by("pk")
    return [(row.name, row.payload["state"]) for row in rows]


def test_a_requested_export_is_queued_and_told(cast: Cast) -> None:
    since = timezone.now() - dt.timedelta(days=1)
    export = request(cast, since=since)
    assert (export.state, export.requested_by, export.since) == (WorkState.QUEUED, cast.manager, since)
    (package,) = queued()
    assert (package["func"], package["args"]) == ("review.tasks_exports.write_export", (export.pk,))
    assert package["timeout"] > 3600
    assert events(export) == [("export.requested", "queued")]
    entry = AuditEntry.objects.get(action="export.requested")
    assert (entry.actor, entry.detail) == (cast.manager, {"format": "jsonl", "since": since.isoformat()})


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [({"format": "xml"}, "/format"), ({"since": dt.datetime(2026, 1, 1)}, "/since")],  # noqa: DTZ001
)
def test_a_wrong_request_is_refused_where_it_is_wrong(cast: Cast, wrong: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        request(cast, **wrong)
    assert [problem["pointer"] for problem in raised.value.details["problems"]] == [pointer]
    assert not DatasetExport.objects.exists()
    assert queued() == []


def test_every_format_has_a_media_type(cast: Cast) -> None:
    types = [media_type_of(request(cast, format=name)) for name in FORMAT_NAMES]
    assert types == ["application/jsonl", "text/csv; charset=utf-8"]


def test_a_claim_counts_what_is_to_be_written(cast: Cast) -> None:
    add_record(cast.document_type)
    export = request(cast)
    add_record(cast.document_type)
    claimed = claim(export)
    assert (claimed.n_attempts, claimed.state, claimed.n_records) == (1, WorkState.RUNNING, 1)
    assert events(export)[-1] == ("export.progressed", "running")


def test_the_same_task_delivered_twice_claims_once(cast: Cast) -> None:
    export = request(cast)
    claim(export)
    assert claim_export(export_id=export.pk) is None


def test_a_claim_lost_to_another_process_is_none(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    export = request(cast)

    class Counted:
        def count(self) -> int:
            DatasetExport.objects.filter(pk=export.pk).update(n_attempts=1, state=WorkState.RUNNING)
            return 0

    monkeypatch.setattr("review.actions.exports.records_to_export", lambda *_, **__: Counted())
    assert claim_export(export_id=export.pk) is None


def test_a_writer_that_fell_silent_is_taken_over_and_finds_out(cast: Cast, settings: Settings) -> None:
    export = request(cast)
    first = claim(export)
    silence(export, settings.STET_CLAIM_SECONDS + 1)
    second = claim(export)
    assert second.n_attempts == 2
    assert not note_export_progress(claim=first, n_written=5)
    assert not fail_export(claim=first, code="export_failed")
    assert note_export_progress(claim=second, n_written=7)
    assert DatasetExport.objects.get().n_written == 7


def test_an_export_that_ends_each_of_its_writers_fails(cast: Cast, settings: Settings) -> None:
    export = request(cast)
    for _ in range(settings.STET_MAX_ATTEMPTS):
        claim(export)
        silence(export, settings.STET_CLAIM_SECONDS + 1)
    assert claim_export(export_id=export.pk) is None
    export.refresh_from_db()
    assert (export.state, export.error_code) == (WorkState.FAILED, "gave_up")
    assert events(export)[-1] == ("export.failed", "failed")


@pytest.mark.parametrize("state", [WorkState.DONE, WorkState.FAILED, WorkState.CANCELLED])
def test_what_is_over_is_not_claimed(cast: Cast, state: WorkState) -> None:
    export = request(cast)
    DatasetExport.objects.update(state=state)
    assert claim_export(export_id=export.pk) is None


def test_an_unknown_export_is_not_claimed(cast: Cast) -> None:
    assert claim_export(export_id=4711) is None


def test_a_cancelled_export_stops_its_writer(cast: Cast) -> None:
    export = request(cast)
    claimed = claim(export)
    cancelled = cancel_export(actor=Actor(cast.manager), export=export)
    assert cancelled.state == WorkState.CANCELLED
    assert cancelled.finished_at is not None
    assert not note_export_progress(claim=claimed, n_written=1)
    assert claim_export(export_id=export.pk) is None
    assert events(export)[-1] == ("export.cancelled", "cancelled")
    assert AuditEntry.objects.filter(action="export.cancelled").count() == 1


def test_cancelling_twice_is_cancelling_once(cast: Cast) -> None:
    export = request(cast)
    for _ in range(2):
        cancel_export(actor=Actor(cast.manager), export=export)
    assert AuditEntry.objects.filter(action="export.cancelled").count() == 1


@pytest.mark.parametrize("state", [WorkState.DONE, WorkState.FAILED])
def test_a_finished_export_cannot_be_cancelled(cast: Cast, state: WorkState) -> None:
    export = request(cast)
    DatasetExport.objects.update(state=state)
    with pytest.raises(ConflictError):
        cancel_export(actor=Actor(cast.manager), export=export)
    assert DatasetExport.objects.get().state == state


def finish(claimed: DatasetExport, folder: Path, data: bytes = b"{}\n") -> bool:
    path = folder / f"{claimed.n_attempts}.part"
    path.write_bytes(data)
    return finish_export(claim=claimed, path=path, written=Written(1, 0, len(data), "ab" * 32))


def test_a_finished_export_has_its_file(cast: Cast, tmp_path: Path) -> None:
    export = request(cast)
    assert finish(claim(export), tmp_path)
    export.refresh_from_db()
    assert (export.state, export.n_records, export.n_written) == (WorkState.DONE, 1, 1)
    assert export.sha256 == "ab" * 32
    with export.file.open() as file:
        assert file.read() == b"{}\n"
    assert events(export)[-1] == ("export.done", "done")
    assert AuditEntry.objects.get(action="export.done").detail["sha256"] == "ab" * 32


def test_finishing_what_was_cancelled_changes_nothing(cast: Cast, tmp_path: Path) -> None:
    export = request(cast)
    claimed = claim(export)
    cancel_export(actor=Actor(cast.manager), export=export)
    assert not finish(claimed, tmp_path)
    assert DatasetExport.objects.get().state == WorkState.CANCELLED
    assert default_storage.listdir(f"projects/{cast.project.pk}/exports")[1] == []


@pytest.mark.parametrize("is_first_faster", [True, False])
def test_two_writers_leave_the_file_of_the_one_that_counts(
    cast: Cast, tmp_path: Path, settings: Settings, is_first_faster: bool
) -> None:
    export = request(cast)
    first = claim(export)
    silence(export, settings.STET_CLAIM_SECONDS + 1)
    second = claim(export)
    for claimed in (first, second) if is_first_faster else (second, first):
        assert finish(claimed, tmp_path) is (claimed is second)
    export.refresh_from_db()
    (kept,) = default_storage.listdir(f"projects/{cast.project.pk}/exports")[1]
    assert str(export.file.name).endswith(kept)


def test_a_failed_export_says_why(cast: Cast) -> None:
    export = request(cast)
    assert fail_export(claim=claim(export), code="storage_full")
    export.refresh_from_db()
    assert (export.state, export.error_code) == (WorkState.FAILED, "storage_full")
    assert AuditEntry.objects.get(action="export.failed").detail == {"error": "storage_full"}


@pytest.mark.parametrize("is_running", [False, True])
def test_the_sweep_queues_again_what_stands_still(cast: Cast, settings: Settings, is_running: bool) -> None:
    export = request(cast)
    if is_running:
        claim(export)
    OrmQ.objects.all().delete()
    assert requeue_work() == {}
    silence(export, settings.STET_CLAIM_SECONDS + 1)
    assert requeue_work() == {"datasetexport": 1}
    (package,) = queued()
    assert package["args"] == (export.pk,)
    assert package["timeout"] > 3600
    assert requeue_work() == {}
    assert claim(export).n_attempts == 1 + is_running


def test_what_still_waits_in_a_long_queue_is_not_queued_twice(cast: Cast, settings: Settings) -> None:
    export = request(cast)
    since = settings.STET_CLAIM_SECONDS + 100
    silence(export, since)
    OrmQ.objects.update(lock=timezone.now() - dt.timedelta(seconds=since))
    assert requeue_work() == {}
    OrmQ.objects.update(lock=timezone.now() - dt.timedelta(seconds=1))
    assert requeue_work() == {"datasetexport": 1}, "what waits now was queued after it"
