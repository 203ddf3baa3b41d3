"""Snapshots: taken, watched, cancelled, and written for trainers."""

import hashlib
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from review.models import DatasetExport, Snapshot, WorkState
from tests.conftest import Cast
from tests.review.queueing import work_off
from tests.review.snapshots import add_reviewed, taken

SNAPSHOTS = "/api/v1/projects/receipts/snapshots/"


def make(cast: Cast, **values: Any) -> Snapshot:
    shares = {"seed": "x", "validation_share": 0.1, "test_share": 0.1}
    return Snapshot.objects.create(project=cast.project, **(shares | values))


def test_a_snapshot_is_queued_and_polled_until_its_manifest_is_there(cast: Cast, as_manager: APIClient) -> None:
    add_reviewed(cast.document_type, "a")
    answer = as_manager.post(SNAPSHOTS, {"seed": "2026", "test_share": 0.2}, format="json")
    body = answer.json()
    assert answer.status_code == 201
    assert (body["state"], body["seed"], body["test_share"], body["holding"]) == ("queued", "2026", 0.2, "reviewed")
    assert body["requested_by"] == "mia"
    work_off()
    polled = as_manager.get(f"{SNAPSHOTS}{body['id']}/").json()
    assert (polled["state"], polled["n_records"], polled["manifest"]["counts"]["documents"]) == ("done", 1, 1)
    assert "manifest" not in as_manager.get(SNAPSHOTS).json()["results"][0]


@pytest.mark.parametrize(
    ("values", "pointer"),
    [({"holding": "all"}, "/holding"), ({"test_share": 2}, "/test_share"), ({"since": "2026-01-01"}, "/since")],
)
def test_a_snapshot_that_cannot_be_is_refused(
    cast: Cast, as_manager: APIClient, values: dict[str, Any], pointer: str
) -> None:
    answer = as_manager.post(SNAPSHOTS, values, format="json")
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == pointer


def test_an_archive_is_written_and_downloaded(cast: Cast, as_manager: APIClient) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = taken(cast.project)
    exports = f"{SNAPSHOTS}{snapshot.pk}/exports/"
    answer = as_manager.post(exports, {"format": "coco", "archive": "tar"}, format="json")
    assert answer.status_code == 201
    work_off()
    (listed,) = as_manager.get(exports).json()["results"]
    assert (listed["state"], listed["n_records"], listed["format"]) == ("done", 1, "coco")
    assert as_manager.get(f"/api/v1/projects/receipts/exports/{listed['id']}/").json()["sha256"] == listed["sha256"]
    file: Any = APIClient().get(listed["download_url"])
    assert (file.status_code, file["Content-Type"]) == (200, "application/x-tar")
    assert file["Content-Disposition"].endswith('.tar"')
    assert hashlib.sha256(b"".join(file.streaming_content)).hexdigest() == listed["sha256"]
    file.close()


def test_an_archive_of_a_snapshot_that_is_not_taken_is_refused(cast: Cast, as_manager: APIClient) -> None:
    answer = as_manager.post(f"{SNAPSHOTS}{make(cast).pk}/exports/", {"format": "coco"}, format="json")
    assert answer.status_code == 409


def test_an_unknown_format_is_refused(cast: Cast, as_manager: APIClient) -> None:
    snapshot = make(cast, state=WorkState.DONE)
    answer = as_manager.post(f"{SNAPSHOTS}{snapshot.pk}/exports/", {"format": "xml"}, format="json")
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (400, "/format")


def test_a_taken_snapshot_cannot_be_cancelled(cast: Cast, as_manager: APIClient) -> None:
    queued, done = make(cast), make(cast, state=WorkState.DONE)
    assert as_manager.delete(f"{SNAPSHOTS}{queued.pk}/").status_code == 204
    assert as_manager.delete(f"{SNAPSHOTS}{done.pk}/").status_code == 409


def test_snapshots_of_other_projects_do_not_exist(cast: Cast, as_stranger: APIClient) -> None:
    snapshot = make(cast)
    elsewhere = "/api/v1/projects/elsewhere/snapshots/"
    assert as_stranger.get(elsewhere).json()["results"] == []
    for path in ("", "exports/"):
        assert as_stranger.get(f"{elsewhere}{snapshot.pk}/{path}").status_code == 404


def test_exports_of_snapshots_are_not_among_those_of_the_records(cast: Cast, as_manager: APIClient) -> None:
    DatasetExport.objects.create(project=cast.project, snapshot=make(cast), format="coco", archive="zip")
    assert as_manager.get("/api/v1/projects/receipts/exports/").json()["results"] == []


@pytest.mark.parametrize("path", ["", "{id}/exports/"])
def test_a_list_costs_the_same_queries_however_long_it_is(cast: Cast, as_manager: APIClient, path: str) -> None:
    snapshot = make(cast, state=WorkState.DONE)
    counts = []
    as_manager.get(SNAPSHOTS)
    for n in (1, 10):
        for _ in range(n):
            make(cast, requested_by=cast.manager)
            DatasetExport.objects.create(
                project=cast.project, snapshot=snapshot, format="coco", archive="zip", requested_by=cast.manager
            )
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert as_manager.get(SNAPSHOTS + path.format(id=snapshot.pk)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_list_does_not_load_manifests(cast: Cast, as_manager: APIClient) -> None:
    make(cast)
    with CaptureQueriesContext(connection) as queries:
        as_manager.get(SNAPSHOTS)
    assert not [one for one in queries if '"review_snapshot"."manifest"' in one["sql"]]
