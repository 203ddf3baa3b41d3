"""Exports: asked for, watched, fetched and cancelled by managers."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from review.actions.exports import FORMAT_NAMES
from review.models import DatasetExport, DocumentStatus, Record, WorkState
from review.web.forms import EXPORT_FORMATS
from tests import factories
from tests.conftest import Cast
from tests.review.labels import add_record

pytestmark = pytest.mark.django_db


def page(client: Client, cast: Cast) -> str:
    return client.get(reverse("exports", args=[cast.project.slug])).content.decode()


def make(cast: Cast, **values: object) -> DatasetExport:
    return DatasetExport.objects.create(project=cast.project, **({"format": "jsonl"} | values))


def test_every_format_that_can_be_written_can_be_chosen() -> None:
    assert tuple(name for name, _ in EXPORT_FORMATS) == FORMAT_NAMES


def test_an_empty_list_says_what_to_do(manager: Client, cast: Cast) -> None:
    assert "write the first" in page(manager, cast)


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_an_export_is_asked_for_and_queued(manager: Client, cast: Cast, format_name: str) -> None:
    response = manager.post(
        reverse("exports", args=[cast.project.slug]), {"format": format_name, "since": "2026-01-31"}
    )
    export = DatasetExport.objects.get()
    assert response.status_code == 302
    assert (export.format, export.state, export.requested_by) == (format_name, WorkState.QUEUED, cast.manager)
    assert export.since == datetime(2026, 1, 31, tzinfo=UTC)
    assert "queued" in page(manager, cast)


@pytest.mark.parametrize("body", [{"format": "xls"}, {"format": "csv", "since": "yesterday"}, {}])
def test_what_cannot_be_written_is_refused_beside_its_field(manager: Client, cast: Cast, body: dict[str, str]) -> None:
    response = manager.post(reverse("exports", args=[cast.project.slug]), body)
    assert response.status_code == (400 if body else 200)
    assert ('role="alert"' in response.content.decode()) is bool(body)
    assert not DatasetExport.objects.exists()


def test_a_running_export_shows_how_far_it_is(manager: Client, cast: Cast) -> None:
    make(cast, state=WorkState.RUNNING, n_records=500, n_written=170)
    html = page(manager, cast)
    assert '<progress max="500" value="170"' in html
    assert "170 / 500" in html


def test_a_failed_export_says_why(manager: Client, cast: Cast) -> None:
    make(cast, state=WorkState.FAILED, error_code="storage_full")
    html = page(manager, cast)
    assert "the storage is full; free some space and ask again" in html
    assert "storage_full" not in html


def test_an_empty_export_is_called_empty(manager: Client, cast: Cast) -> None:
    make(cast, state=WorkState.DONE)
    assert "It is empty" in page(manager, cast)


def test_a_finished_export_is_downloaded(manager: Client, cast: Cast) -> None:
    export = make(cast, state=WorkState.DONE, n_records=1, sha256="f" * 64)
    export.file.save("x.jsonl", ContentFile(b'{"id": 1}\n'))
    address = reverse("download_export", args=[cast.project.slug, export.pk])
    assert address in page(manager, cast)
    response = manager.get(address)
    assert b"".join(response.streaming_content) == b'{"id": 1}\n'  # type: ignore[attr-defined]
    assert f'filename="{cast.project.slug}-{export.pk}.jsonl"' in response["Content-Disposition"]


@pytest.mark.parametrize("state", [WorkState.QUEUED, WorkState.RUNNING, WorkState.FAILED, WorkState.CANCELLED])
def test_an_unfinished_export_has_no_file(manager: Client, cast: Cast, state: WorkState) -> None:
    export = make(cast, state=state)
    address = reverse("download_export", args=[cast.project.slug, export.pk])
    assert address not in page(manager, cast)
    assert manager.get(address).status_code == 404


def test_an_export_is_cancelled(manager: Client, cast: Cast) -> None:
    export = make(cast)
    manager.post(reverse("cancel_export", args=[cast.project.slug, export.pk]))
    export.refresh_from_db()
    assert export.state == WorkState.CANCELLED


def test_a_finished_export_cannot_be_cancelled_and_says_so(manager: Client, cast: Cast) -> None:
    export = make(cast, state=WorkState.DONE)
    response = manager.post(reverse("cancel_export", args=[cast.project.slug, export.pk]), follow=True)
    assert "finished already" in response.content.decode()


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("reviewer", 403), ("stranger", 404), ("nobody", 302)])
def test_only_managers_ask_fetch_or_cancel(clients: dict[str, Client], cast: Cast, who: str, status: int) -> None:
    export = make(cast, state=WorkState.DONE)
    slug = cast.project.slug
    assert clients[who].post(reverse("exports", args=[slug]), {"format": "csv"}).status_code == status
    assert clients[who].get(reverse("download_export", args=[slug, export.pk])).status_code == status
    assert clients[who].post(reverse("cancel_export", args=[slug, export.pk])).status_code == status
    assert DatasetExport.objects.count() == 1


def test_an_export_of_another_project_is_not_found(manager: Client, cast: Cast) -> None:
    foreign = DatasetExport.objects.create(project=cast.other_project, format="csv", state=WorkState.DONE)
    assert manager.get(reverse("download_export", args=[cast.project.slug, foreign.pk])).status_code == 404


def test_what_an_export_would_hold_is_said_before_it_is_asked_for(manager: Client, cast: Cast) -> None:
    add_record(cast.document_type)
    add_record(cast.document_type, reviewer=cast.reviewer)
    factories.make_routed(cast.document_type)
    factories.make_document(cast.document_type, status=DocumentStatus.UNREADABLE)
    html = page(manager, cast)
    assert "An export asked for now holds <strong>2</strong> records" in html
    assert "1 as the reader gave them, 1 decided by people" in html
    assert "1 in review, 0 on their way, 1 unreadable, 0 copies of others" in html
    assert html.index('id="export-counts"') < html.index('id="new-export"')


def test_an_export_that_would_be_empty_is_said_so_before_it_is_asked_for(manager: Client, cast: Cast) -> None:
    assert "would be <strong>empty</strong>" in page(manager, cast)


def test_the_counts_follow_the_day_that_is_tried(manager: Client, cast: Cast) -> None:
    add_record(cast.document_type)
    Record.objects.update(created_at=timezone.now() - timedelta(days=3))
    address = reverse("exports", args=[cast.project.slug])
    today, before = timezone.now().date(), (timezone.now() - timedelta(days=5)).date()
    assert "would be <strong>empty</strong>" in manager.get(f"{address}?since={today}").content.decode()
    html = manager.get(f"{address}?since={before}").content.decode()
    assert "holds <strong>1</strong> record:" in html
    assert f'value="{before}"' in html
    assert "holds <strong>1</strong> record:" in manager.get(f"{address}?since=nonsense").content.decode()


def test_a_finished_export_shows_its_checksum(manager: Client, cast: Cast) -> None:
    make(cast, state=WorkState.DONE, sha256="ab" * 32, n_records=1)
    html = page(manager, cast)
    assert f'title="SHA-256 {"ab" * 32}"' in html
    assert "abababababab…" in html
