"""From a scan to an exported, trusted record, by nothing but the API and the workers."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from review.models import WorkerHeartbeat
from review.tasks_exports import write_export
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off

PROJECT = "/api/v1/projects/receipts/"


@pytest.fixture(autouse=True)
def _worker(db: None, script: Script) -> None:
    moment = timezone.now()
    WorkerHeartbeat.objects.create(name="w", n_workers=1, started_at=moment, seen_at=moment + timedelta(hours=1))


def get(client: APIClient, path: str, **query: Any) -> Any:
    answer = client.get(f"{PROJECT}{path}", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def post(client: APIClient, path: str, **body: Any) -> Any:
    answer = client.post(f"{PROJECT}{path}", body, format="json")
    assert answer.status_code < 300, answer.content
    return answer.json() if answer.content else None


def send(client: APIClient, data: bytes) -> Any:
    form = {"document_type": "receipt", "file": SimpleUploadedFile("scan.jpg", data)}
    answer = client.post(f"{PROJECT}documents/", form)
    assert answer.status_code == 201, answer.content
    return answer.json()


def always_review(client: APIClient) -> None:
    rules = {"default": {"auto": None, "review": 1}}
    number = post(client, "document-types/receipt/policies/", rules=rules)["number"]
    post(client, f"document-types/receipt/policies/{number}/activate/")


def test_a_doubtful_scan_becomes_a_record_that_a_person_stands_for(
    cast: Cast, as_manager: APIClient, as_reviewer: APIClient, as_viewer: APIClient
) -> None:
    always_review(as_manager)
    document = send(as_reviewer, picture())
    assert document["status"] == "received"
    work_off()

    read = get(as_viewer, f"documents/{document['id']}/")
    assert (read["status"], read["band"], read["n_pages"], read["record"]) == ("review", "review", 1, None)
    fields = {field["field_path"]: field for field in read["fields"]}
    assert fields["/total"]["value"] == "9.00"
    assert fields["/total"]["bbox"] is not None
    image: Any = as_viewer.get(read["pages"][0]["image"])
    assert b"".join(image.streaming_content)

    given = post(as_reviewer, "review-tasks/lease/")
    task, token = given["task"], given["lease_token"]
    assert task["document"] == document["id"]
    saved = as_reviewer.patch(
        f"{PROJECT}review-tasks/{task['id']}/fields/",
        {
            "lease_token": token,
            "field_path": "/total",
            "verdict": "corrected",
            "value": "19.00",
            "base_version": 0,
        },
        format="json",
    )
    assert saved.status_code == 200
    verdicts = [
        {"field_path": field["field_path"], "verdict": "confirmed"}
        for field in task["fields"]
        if field["field_path"] != "/total"
    ]
    record = post(as_reviewer, f"review-tasks/{task['id']}/submit/", lease_token=token, verdicts=verdicts)
    assert record["values"]["/total"] == "19.00"
    assert record["provenance"]["/total"]["source"] == "person"

    (listed,) = get(as_viewer, "records/", status="stored", reviewer="rui")["results"]
    assert listed["id"] == record["id"]
    assert get(as_viewer, f"documents/{document['id']}/")["status"] == "stored"
    assert post(as_reviewer, "review-tasks/lease/")["reason"] == "nothing_waits"


def test_what_a_person_said_survives_another_reading(
    cast: Cast, as_manager: APIClient, as_reviewer: APIClient, as_viewer: APIClient
) -> None:
    always_review(as_manager)
    document = send(as_reviewer, picture())
    work_off()
    given = post(as_reviewer, "review-tasks/lease/")
    verdicts = [{"field_path": "/total", "verdict": "corrected", "value": "19.00"}] + [
        {"field_path": field["field_path"], "verdict": "confirmed"}
        for field in given["task"]["fields"]
        if field["field_path"] != "/total"
    ]
    path = f"review-tasks/{given['task']['id']}/submit/"
    post(as_reviewer, path, lease_token=given["lease_token"], verdicts=verdicts)
    post(as_manager, f"documents/{document['id']}/rerun/")
    work_off()
    again = get(as_viewer, f"documents/{document['id']}/")
    total = next(field for field in again["fields"] if field["field_path"] == "/total")
    assert (total["value"], total["accepted"]) == ("9.00", "19.00")
    assert total["provenance"]["source"] == "person"


def test_a_second_copy_is_linked_and_shows_what_the_first_one_shows(
    cast: Cast, as_reviewer: APIClient, as_viewer: APIClient
) -> None:
    first = send(as_reviewer, picture())
    work_off()
    second = send(as_reviewer, picture())
    assert (second["is_duplicate"], second["duplicate_of"]) == (True, first["id"])
    assert work_off() == []
    one, other = (get(as_viewer, f"documents/{found['id']}/") for found in (first, second))
    assert (one["status"], one["band"], one["fields"]) == (other["status"], other["band"], other["fields"])
    assert other["reasons"][0] == "duplicate"


def test_records_leave_by_an_export(
    cast: Cast, as_manager: APIClient, as_reviewer: APIClient, as_viewer: APIClient
) -> None:
    always_review(as_manager)
    document = send(as_reviewer, picture())
    work_off()
    given = post(as_reviewer, "review-tasks/lease/")
    verdicts = [{"field_path": field["field_path"], "verdict": "confirmed"} for field in given["task"]["fields"]]
    path = f"review-tasks/{given['task']['id']}/submit/"
    post(as_reviewer, path, lease_token=given["lease_token"], verdicts=verdicts)
    export = post(as_manager, "exports/", format="jsonl")
    write_export(export["id"])
    done = get(as_manager, f"exports/{export['id']}/")
    assert (done["state"], done["n_records"], done["n_written"]) == ("done", 1, 1)
    answer: Any = APIClient().get(done["download_url"])
    (line,) = b"".join(answer.streaming_content).decode().splitlines()
    assert "9.00" in line
    assert str(document["id"]) in json.dumps(json.loads(line))
