"""Exports: asked for, watched, cancelled, and downloaded by whoever holds the signed link."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings
from rest_framework.test import APIClient

from review.models import DatasetExport, WorkState
from review.selectors.exports import sign_download
from tests.conftest import Cast

EXPORTS = "/api/v1/projects/receipts/exports/"
DOWNLOAD = "/api/v1/exports/download/"


def finished(cast: Cast, format: str = "csv") -> DatasetExport:  # noqa: A002 - the name it has in the API
    return DatasetExport.objects.create(
        project=cast.project,
        format=format,
        state=WorkState.DONE,
        n_records=1,
        n_written=1,
        sha256="a" * 64,
        file=ContentFile(b"document,total\n1,9.00\n", name=f"export.{format}"),
    )


@pytest.mark.parametrize("since", ["2026-01-31T08:00:00+08:00", "2026-01-31T00:00:00Z", "2026-01-31"])
def test_an_export_is_queued_and_polled(cast: Cast, as_manager: APIClient, since: str) -> None:
    answer = as_manager.post(EXPORTS, {"format": "jsonl", "since": since}, format="json")
    body = answer.json()
    assert answer.status_code == 201
    assert (body["format"], body["state"], body["requested_by"]) == ("jsonl", "queued", "mia")
    assert body["since"] == "2026-01-31T00:00:00Z"
    assert (body["download_url"], body["n_records"]) == (None, 0)
    assert DatasetExport.objects.get().since == datetime(2026, 1, 31, tzinfo=UTC)
    assert as_manager.get(f"{EXPORTS}{body['id']}/").json() == body
    assert as_manager.get(EXPORTS).json()["results"] == [body]


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"format": "xml"}, "/format"),
        ({"format": None}, "/format"),
        ({}, "/format"),
        ({"format": "csv", "since": "yesterday"}, "/since"),
        ({"format": "csv", "since": "9999-12-31T23:59:59-23:59"}, "/since"),
        ({"format": "csv", "until": "2026-01-31"}, "/until"),
    ],
)
def test_an_export_that_cannot_be_is_refused(
    cast: Cast, as_manager: APIClient, values: dict[str, Any], pointer: str
) -> None:
    answer = as_manager.post(EXPORTS, values, format="json")
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]][:1] == [pointer]
    assert not DatasetExport.objects.exists()


def test_a_cancelled_export_stays_cancelled(cast: Cast, as_manager: APIClient) -> None:
    export = DatasetExport.objects.create(project=cast.project, format="csv")
    for _ in range(2):
        assert as_manager.delete(f"{EXPORTS}{export.pk}/").status_code == 204
    assert as_manager.get(f"{EXPORTS}{export.pk}/").json()["state"] == "cancelled"


def test_a_finished_export_cannot_be_cancelled(cast: Cast, as_manager: APIClient) -> None:
    assert as_manager.delete(f"{EXPORTS}{finished(cast).pk}/").status_code == 409


def test_the_link_needs_no_credentials(cast: Cast, as_manager: APIClient) -> None:
    url = as_manager.get(f"{EXPORTS}{finished(cast).pk}/").json()["download_url"]
    answer: Any = APIClient().get(url)
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content) == b"document,total\n1,9.00\n"
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="receipts-')
    assert answer["Content-Disposition"].endswith('.csv"')


def test_a_false_link_opens_nothing(cast: Cast) -> None:
    token = sign_download(finished(cast))
    other = sign_download(DatasetExport(pk=finished(cast).pk + 1))
    for false in (token[:-1], token.replace(token[0], "9", 1), "x", "1:2:3", "%00", other):
        answer = APIClient().get(f"{DOWNLOAD}{false}/")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_link_expires(cast: Cast, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    token = sign_download(finished(cast))
    later = time.time() + settings.STET_DOWNLOAD_SECONDS + 1
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    assert APIClient().get(f"{DOWNLOAD}{token}/").status_code == 404


def test_a_link_to_an_unfinished_export_opens_nothing(cast: Cast) -> None:
    export = DatasetExport.objects.create(project=cast.project, format="csv")
    assert APIClient().get(f"{DOWNLOAD}{sign_download(export)}/").status_code == 404


def test_exports_of_other_projects_are_not_listed(cast: Cast, as_stranger: APIClient) -> None:
    export = finished(cast)
    assert as_stranger.get("/api/v1/projects/elsewhere/exports/").json()["results"] == []
    assert as_stranger.get(f"/api/v1/projects/elsewhere/exports/{export.pk}/").status_code == 404
