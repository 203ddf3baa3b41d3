import datetime as dt
import time
from typing import Any

import pytest
from django.core.signing import TimestampSigner
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from review.exceptions import NotFoundError
from review.models import DatasetExport, ExtractionRun, Record, ReviewTask, TaskState, WorkState
from review.selectors.exports import (
    export_for_download,
    exports_for,
    items_to_export,
    records_to_export,
    sign_download,
)
from tests import factories
from tests.conftest import Cast
from tests.review.labels import add_record

NOON = dt.datetime(2026, 4, 1, 12, tzinfo=dt.UTC)


def at(hour: int) -> dt.datetime:
    return NOON.replace(hour=hour)


def revise(record: Record, when: dt.datetime, **values: Any) -> Record:
    """A later revision of a record, made at that time."""
    Record.objects.filter(document=record.document).update(is_current=False)
    revision = Record.objects.create(
        project=record.project,
        document=record.document,
        revision=record.revision + 1,
        run=record.run,
        values=values,
        provenance={},
    )
    return made(revision, when)


def made(record: Record, when: dt.datetime) -> Record:
    Record.objects.filter(pk=record.pk).update(created_at=when)
    return record


def exported(cast: Cast, **when: Any) -> list[int]:
    return list(records_to_export(cast.project, **when).order_by("pk").values_list("pk", flat=True))


def test_the_snapshot_holds_the_revision_that_counted_then(cast: Cast) -> None:
    first = made(add_record(cast.document_type), at(8))
    second = revise(first, at(10))
    assert exported(cast, snapshot_at=at(7)) == []
    assert exported(cast, snapshot_at=at(9)) == [first.pk]
    assert exported(cast, snapshot_at=at(10)) == [second.pk]
    assert exported(cast, snapshot_at=at(20)) == [second.pk]


def test_the_snapshot_stays_the_same_whatever_happens_later(cast: Cast) -> None:
    records = [made(add_record(cast.document_type), at(8)) for _ in range(3)]
    before = exported(cast, snapshot_at=at(9))
    revise(records[0], at(10))
    give_up(records[1], at(11))
    made(add_record(cast.document_type), at(12))
    assert exported(cast, snapshot_at=at(9)) == before == [record.pk for record in records]


def give_up(record: Record, when: dt.datetime) -> None:
    """A person declares the document unusable."""
    task = factories.make_task(record.document, record.run)
    ReviewTask.objects.filter(pk=task.pk).update(state=TaskState.UNUSABLE, finished_at=when)
    Record.objects.filter(document=record.document).update(is_current=False)


def test_an_unusable_document_is_left_out_until_it_has_a_new_record(cast: Cast) -> None:
    first = made(add_record(cast.document_type), at(8))
    give_up(first, at(10))
    assert exported(cast, snapshot_at=at(9)) == [first.pk]
    assert exported(cast, snapshot_at=at(11)) == []
    again = revise(first, at(12))
    assert exported(cast, snapshot_at=at(13)) == [again.pk]


def test_what_was_read_again_as_another_type_is_left_out_from_then_on(cast: Cast) -> None:
    record = made(add_record(cast.document_type), at(8))
    invoice = factories.make_document_type(cast.project, "invoice")
    again = ExtractionRun.objects.create(
        document=record.document,
        engine_version=record.run.engine_version,
        schema_version=invoice.schema_versions.get(),
        is_current=False,
    )
    ExtractionRun.objects.filter(pk=again.pk).update(started_at=at(10))
    assert exported(cast, snapshot_at=at(9)) == [record.pk]
    assert exported(cast, snapshot_at=at(11)) == []
    stored = revise(record, at(12))
    Record.objects.filter(pk=stored.pk).update(run=again)
    assert exported(cast, snapshot_at=at(13)) == [stored.pk]


@pytest.mark.parametrize("role", ["main", "shadow"])
def test_reading_it_again_leaves_a_record_where_it_was(cast: Cast, role: str) -> None:
    record = made(add_record(cast.document_type), at(8))
    other = factories.make_document_type(cast.project, "invoice") if role == "shadow" else cast.document_type
    ExtractionRun.objects.create(
        document=record.document,
        engine_version=record.run.engine_version,
        schema_version=other.schema_versions.get(),
        role=role,
        is_current=False,
    )
    assert exported(cast, snapshot_at=timezone.now()) == [record.pk]


def test_since_leaves_older_revisions_out(cast: Cast) -> None:
    old, new = made(add_record(cast.document_type), at(8)), made(add_record(cast.document_type), at(10))
    assert exported(cast, snapshot_at=at(12), since=at(9)) == [new.pk]
    assert exported(cast, snapshot_at=at(12), since=at(8)) == [old.pk, new.pk]
    changed = revise(old, at(11))
    assert exported(cast, snapshot_at=at(12), since=at(9)) == [new.pk, changed.pk]


def test_another_projects_records_are_left_out(cast: Cast) -> None:
    add_record(cast.other_document_type)
    assert exported(cast, snapshot_at=timezone.now()) == []


@pytest.mark.parametrize("batch_size", [1, 2, 5, 100])
def test_batches_hold_every_record_once_and_in_order(cast: Cast, batch_size: int) -> None:
    records = [add_record(cast.document_type) for _ in range(5)]
    batches = list(items_to_export(cast.project, snapshot_at=timezone.now(), batch_size=batch_size))
    assert all(len(batch) <= batch_size for batch in batches)
    assert [item.record.pk for batch in batches for item in batch] == [record.pk for record in records]
    assert all(item.predictions.keys() == {"/company", "/date", "/total"} for batch in batches for item in batch)


def test_a_batch_costs_the_same_queries_whatever_its_size(cast: Cast) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            for batch in items_to_export(cast.project, snapshot_at=timezone.now()):
                assert all(item.record.run.schema_version.number for item in batch)
        return len(captured)

    add_record(cast.document_type)
    few = n_queries()
    for _ in range(12):
        add_record(cast.document_type)
    assert n_queries() == few <= 8


def test_labels_given_after_the_snapshot_are_left_out(cast: Cast) -> None:
    record = add_record(cast.document_type)
    task = factories.make_task(record.document, record.run)
    task.field_reviews.create(
        document=record.document,
        field_path="/total",
        verdict="confirmed",
        is_correct=True,
        is_in_sample=True,
        inclusion_probability=1.0,
        project=record.project,
        document_type=record.document.document_type,
        engine_version=record.run.engine_version,
        band="auto",
    )
    moment = record.created_at
    ((item,),) = items_to_export(cast.project, snapshot_at=moment)
    assert item.labels == {}
    ((item,),) = items_to_export(cast.project, snapshot_at=timezone.now())
    assert [label.verdict for label in item.labels["/total"]] == ["confirmed"]


def make_export(cast: Cast, state: WorkState = WorkState.DONE) -> DatasetExport:
    return DatasetExport.objects.create(project=cast.project, format="jsonl", state=state, requested_by=cast.manager)


def test_exports_are_listed_newest_first_and_by_project(cast: Cast) -> None:
    exports = [make_export(cast) for _ in range(3)]
    assert [found.pk for found in exports_for(cast.project)] == [export.pk for export in reversed(exports)]
    assert not exports_for(cast.other_project).exists()


def test_a_signed_link_opens_its_export_and_no_other(cast: Cast) -> None:
    first, second = make_export(cast), make_export(cast)
    assert export_for_download(sign_download(first)) == first
    assert export_for_download(sign_download(second)) == second


@pytest.mark.parametrize(
    "change", [lambda token: token + "x", lambda token: "9" + token, lambda _: "", lambda _: "1:2:3"]
)
def test_a_link_that_was_tampered_with_opens_nothing(cast: Cast, change: Any) -> None:
    with pytest.raises(NotFoundError):
        export_for_download(change(sign_download(make_export(cast))))


def test_a_link_ends(cast: Cast, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STET_DOWNLOAD_SECONDS = 60
    token, now = sign_download(make_export(cast)), time.time()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + 59)
    assert export_for_download(token)
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + 62)
    with pytest.raises(NotFoundError):
        export_for_download(token)


@pytest.mark.parametrize("state", [state for state in WorkState if state != WorkState.DONE])
def test_only_a_finished_export_can_be_downloaded(cast: Cast, state: WorkState) -> None:
    with pytest.raises(NotFoundError):
        export_for_download(sign_download(make_export(cast, state)))


def test_a_token_signed_for_something_else_opens_nothing(cast: Cast) -> None:
    with pytest.raises(NotFoundError):
        export_for_download(TimestampSigner(salt="other").sign(str(make_export(cast).pk)))
