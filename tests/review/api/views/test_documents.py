"""Sending documents, finding them, and reading all that is known of one."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from review.models import Document, DocumentStatus, Record, WorkerHeartbeat
from tests import factories
from tests.access_matrix.world import SAMPLE, World
from tests.conftest import Cast

DOCUMENTS = "/api/v1/projects/receipts/documents/"


def send(client: APIClient, content: bytes = b"", name: str = "a.jpg", **values: Any) -> tuple[int, dict[str, Any]]:
    form = {"document_type": "receipt", "file": SimpleUploadedFile(name, content or SAMPLE.read_bytes())} | values
    answer = client.post(DOCUMENTS, form)
    return answer.status_code, answer.json()


def listed(client: APIClient, **query: Any) -> list[int]:
    answer = client.get(DOCUMENTS, query)
    assert answer.status_code == 200, answer.json()
    return [found["id"] for found in answer.json()["results"]]


def start_worker() -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="w", n_workers=2, started_at=now, seen_at=now)


def test_a_sent_document_is_received_kept_and_polled_by_its_id(cast: Cast, as_reviewer: APIClient) -> None:
    start_worker()
    status, body = send(as_reviewer, name="March receipt.jpg", priority="7")
    assert status == 201
    assert body["status"] == "received"
    assert (body["band"], body["reasons"], body["is_duplicate"], body["duplicate_of"]) == (None, [], False, None)
    assert (body["filename"], body["media_type"], body["priority"]) == ("March receipt.jpg", "image/jpeg", 7)
    assert body["n_bytes"] == SAMPLE.stat().st_size
    document = Document.objects.get(pk=body["id"])
    assert document.uploaded_by == cast.reviewer
    with document.original.open("rb") as kept:
        assert kept.read() == SAMPLE.read_bytes()
    polled = as_reviewer.get(f"{DOCUMENTS}{body['id']}/").json()
    assert {name: polled[name] for name in body if name != "is_duplicate"} == {
        name: value for name, value in body.items() if name != "is_duplicate"
    }
    assert (polled["pages"], polled["fields"], polled["record"]) == ([], [], None)


def png_of(width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"just text", 415, "unknown_type"),
        (b"\xff\xd8\xff\xe0 no jpeg", 422, None),
        (SAMPLE.read_bytes()[:4000], 422, None),
        (b"%PDF-1.4 broken", 422, None),
    ],
    ids=["text", "not-a-jpeg", "truncated", "broken-pdf"],
)
def test_a_refused_file_says_why_and_leaves_nothing(
    cast: Cast, as_reviewer: APIClient, content: bytes, status: int, code: str | None
) -> None:
    found, body = send(as_reviewer, content)
    assert found == status
    assert code in {None, body["code"]}
    assert body["detail"]
    assert not Document.objects.exists()


def test_an_empty_file_is_refused_by_name(cast: Cast, as_reviewer: APIClient) -> None:
    answer = as_reviewer.post(DOCUMENTS, {"document_type": "receipt", "file": SimpleUploadedFile("a.jpg", b"")})
    assert (answer.status_code, answer.json()["code"]) == (422, "empty_file")


def test_too_many_pixels_are_refused(cast: Cast, as_reviewer: APIClient, settings: Settings) -> None:
    settings.STET_MAX_PIXELS = 10_000
    status, body = send(as_reviewer, png_of(101, 100), name="a.png")
    assert (status, body["code"]) == (422, "too_many_pixels")


def test_the_name_does_not_decide_what_a_file_is(cast: Cast, as_reviewer: APIClient) -> None:
    status, body = send(as_reviewer, png_of(40, 40), name="invoice.pdf")
    assert (status, body["media_type"]) == (201, "image/png")


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"document_type": ""}, "/document_type"),
        ({"document_type": "nothing"}, "/document_type"),
        ({"document_type": "a b"}, "/document_type"),
        ({"file": "text"}, "/file"),
        ({"priority": "101"}, "/priority"),
        ({"priority": "high"}, "/priority"),
        ({"prioritiy": "1"}, "/prioritiy"),
    ],
)
def test_a_wrong_form_is_pointed_at(cast: Cast, as_reviewer: APIClient, values: dict[str, Any], pointer: str) -> None:
    status, body = send(as_reviewer, **values)
    assert status == 400
    assert [problem["pointer"] for problem in body["problems"]] == [pointer]
    assert not Document.objects.exists()


def test_a_type_of_another_project_is_no_type_here(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_document_type(cast.other_project, "secret")
    missing, foreign = send(as_reviewer, document_type="nothing")[1], send(as_reviewer, document_type="secret")[1]
    assert missing["problems"] == foreign["problems"]


def test_without_a_worker_a_document_waits_and_says_so(cast: Cast, as_viewer: APIClient) -> None:
    document = factories.make_document(cast.document_type)
    assert as_viewer.get(DOCUMENTS).json()["results"][0]["status"] == "waiting"
    assert as_viewer.get(f"{DOCUMENTS}{document.pk}/").json()["status"] == "waiting"
    assert listed(as_viewer, status="waiting") == [document.pk]
    assert listed(as_viewer, status="received") == []
    start_worker()
    assert as_viewer.get(DOCUMENTS).json()["results"][0]["status"] == "received"
    assert listed(as_viewer, status="waiting") == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"status": "stored"}, "stored"),
        ({"status": "review"}, "review"),
        ({"band": "auto"}, "stored"),
        ({"document_type": "invoice"}, "invoice"),
        ({"filename": "MARCH"}, "invoice"),
        ({"sha256": "f" * 64}, "invoice"),
        ({"received_before": "2020-02-01T00:00:00Z"}, "review"),
        ({"received_after": "2020-02-01T00:00:00+08:00", "received_before": "2021-01-01T00:00:00Z"}, "stored"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
def test_a_list_is_filtered(cast: Cast, as_viewer: APIClient, query: dict[str, str], expected: str) -> None:
    start_worker()
    invoice = factories.make_document_type(cast.project, "invoice")
    documents = {
        "review": factories.make_document(cast.document_type, status=DocumentStatus.REVIEW, band="review"),
        "stored": factories.make_document(cast.document_type, status=DocumentStatus.STORED, band="auto"),
        "invoice": factories.make_document(invoice, filename="march.pdf", sha256="f" * 64),
    }
    factories.make_document(cast.other_document_type, status=DocumentStatus.STORED, band="auto", sha256="f" * 64)
    for name, moment in {
        "review": datetime(2020, 1, 1, tzinfo=UTC),
        "stored": datetime(2020, 6, 1, tzinfo=UTC),
    }.items():
        Document.objects.filter(pk=documents[name].pk).update(received_at=moment)
    assert listed(as_viewer, **query) == [documents[expected].pk]


@pytest.mark.parametrize(
    "query",
    [
        {"status": "lost"},
        {"band": "x"},
        {"received_after": "yesterday"},
        {"received_after": "0001-01-01T00:00:00+23:59"},
        {"received_before": "9999-12-31T23:59:59-23:59"},
        {"filename": "a\0b"},
        {"document_type": "x" * 51},
        {"document_type": "no-such"},
        {"suggested_type": "no-such"},
        {"statsu": "stored"},
        {"project": "elsewhere"},
    ],
    ids="-".join,
)
def test_a_filter_that_cannot_be_is_refused(cast: Cast, as_viewer: APIClient, query: dict[str, str]) -> None:
    answer = as_viewer.get(DOCUMENTS, query)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == [f"/{name}" for name in query]


def test_a_document_tells_all_that_is_known_of_it(cast: Cast, as_viewer: APIClient) -> None:
    world = World(cast, None)
    body = as_viewer.get(f"{DOCUMENTS}{world.document.pk}/").json()
    assert (body["status"], body["band"], body["n_pages"]) == ("review", "review", 1)
    assert (body["engine"], body["schema_version"], body["policy"]) == ("scripted", 1, 1)
    assert body["original"] == f"http://testserver{DOCUMENTS}{world.document.pk}/original/"
    assert body["pages"][0]["image"] == f"http://testserver{DOCUMENTS}{world.document.pk}/pages/1/image/"
    assert (body["pages"][0]["width"], body["pages"][0]["height"]) == (800, 1600)
    total = next(field for field in body["fields"] if field["field_path"] == "/total")
    assert (total["value"], total["accepted"], total["confidence"], total["band"]) == ("9.00", "9.00", 0.4, "review")
    assert (total["reasons"], total["is_to_examine"], total["bbox"]) == (["low_confidence"], True, [0.1, 0.1, 0.4, 0.2])
    assert total["provenance"] == {"source": "model"}
    assert (total["is_required"], total["value_type"]) == (True, "amount")
    assert body["record"]["values"] == {"/total": "9.00"}


def test_every_revision_of_a_record_is_kept_newest_first(cast: Cast, as_viewer: APIClient) -> None:
    world = World(cast, None)
    first = world.record
    Record.objects.update(is_current=False)
    second = Record.objects.create(
        project=cast.project,
        document=world.document,
        revision=2,
        run=first.run,
        values={"/total": "8.00"},
        provenance={},
        reviewer=cast.reviewer,
    )
    results = as_viewer.get(f"{DOCUMENTS}{world.document.pk}/records/").json()["results"]
    assert [(found["id"], found["is_current"], found["reviewer"]) for found in results] == [
        (second.pk, True, "rui"),
        (first.pk, False, None),
    ]


def test_a_document_is_read_again_on_demand(cast: Cast, as_manager: APIClient) -> None:
    start_worker()
    document = factories.make_routed(cast.document_type)
    answer = as_manager.post(f"{DOCUMENTS}{document.pk}/rerun/")
    assert (answer.status_code, answer.json()["status"]) == (202, "received")
    again = as_manager.post(f"{DOCUMENTS}{document.pk}/rerun/")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("number", ["0", "x", "-1", "1.0", "9" * 18, "9" * 40, "%00", "٣"])
def test_an_id_that_is_none_is_not_found(cast: Cast, as_viewer: APIClient, number: str) -> None:
    assert as_viewer.get(f"{DOCUMENTS}{number}/").status_code == 404


def test_a_document_of_another_project_looks_like_none(cast: Cast, as_viewer: APIClient) -> None:
    foreign = factories.make_document(cast.other_document_type)
    answers = [as_viewer.get(f"{DOCUMENTS}{number}/").json() for number in (foreign.pk, foreign.pk + 1000)]
    assert len({(answer["status"], answer["code"], answer["detail"]) for answer in answers}) == 1


@pytest.mark.parametrize("n_documents", [1, 25])
def test_a_list_costs_as_many_queries_however_long_it_is(
    cast: Cast, as_viewer: APIClient, n_documents: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(n_documents):
        factories.make_document(cast.document_type, uploaded_by=cast.reviewer)
    as_viewer.get(DOCUMENTS)
    # Token, project, membership; whether a worker is there; the documents.
    with django_assert_num_queries(4):
        assert len(listed(as_viewer)) == n_documents


@pytest.mark.parametrize("n_fields", [1, 40])
def test_a_document_costs_as_many_queries_however_much_is_known_of_it(
    cast: Cast, as_viewer: APIClient, n_fields: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    plans = {f"/line_items/{row}/amount": factories.FieldPlan() for row in range(n_fields)}
    document = factories.make_routed(cast.document_type, plans)
    as_viewer.get(f"{DOCUMENTS}{document.pk}/")
    with django_assert_num_queries(10):
        assert len(as_viewer.get(f"{DOCUMENTS}{document.pk}/").json()["fields"]) == n_fields


def test_times_are_utc(cast: Cast, as_viewer: APIClient) -> None:
    factories.make_document(cast.document_type)
    received = as_viewer.get(DOCUMENTS).json()["results"][0]["received_at"]
    assert received.endswith("Z")
    assert timezone.now() - datetime.fromisoformat(received) < timedelta(minutes=5)


def test_a_form_with_two_files_is_refused_so_that_neither_is_lost(cast: Cast, as_reviewer: APIClient) -> None:
    files = [SimpleUploadedFile("a.jpg", SAMPLE.read_bytes()), SimpleUploadedFile("b.jpg", SAMPLE.read_bytes())]
    answer = as_reviewer.post(DOCUMENTS, {"document_type": "receipt", "file": files})
    assert answer.status_code == 400
    assert "one by one" in answer.json()["detail"]
    assert not Document.objects.exists()


def test_a_reader_of_the_api_learns_why_a_document_is_unusable(
    cast: Cast, as_reviewer: APIClient, as_manager: APIClient
) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    lease = as_reviewer.post(f"/api/v1/projects/receipts/review-tasks/{task.pk}/lease/").json()
    answer = as_reviewer.post(
        f"/api/v1/projects/receipts/review-tasks/{task.pk}/unusable/",
        {"lease_token": lease["lease_token"], "reason": "Somebody spilled coffee."},
        format="json",
    )
    assert answer.status_code in {200, 204}, answer.json()
    address = f"{DOCUMENTS}{task.document_id}/"
    assert as_reviewer.get(address).json()["unusable_reason"] == "Somebody spilled coffee."
    refused = as_manager.post(f"{address}rerun/")
    assert (refused.status_code, refused.json()["code"]) == (409, "marked_unusable")
    assert as_manager.post(f"{address}rerun/", {"reopen": True}, format="json").status_code == 202
    assert as_reviewer.get(address).json()["unusable_reason"] is None


def test_a_rerun_refuses_what_it_does_not_know(cast: Cast, as_manager: APIClient) -> None:
    document = factories.make_document(cast.document_type, status="stored")
    answer = as_manager.post(f"{DOCUMENTS}{document.pk}/rerun/", {"engine": "best"}, format="json")
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (400, "/engine")


@pytest.mark.parametrize("path", ["", "{id}/", "{id}/rerun/"])
def test_no_operation_takes_a_parameter_it_does_not_know(cast: Cast, as_manager: APIClient, path: str) -> None:
    document = factories.make_document(cast.document_type, status="stored")
    ask = as_manager.post if path.endswith("rerun/") else as_manager.get
    answer = ask(f"{DOCUMENTS}{path.format(id=document.pk)}?dry_run=1")
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (400, "/dry_run")


@pytest.mark.parametrize("path", ["documents", "records", "review-tasks"])
def test_a_list_of_a_type_that_is_not_there_is_refused(cast: Cast, as_reviewer: APIClient, path: str) -> None:
    answer = as_reviewer.get(f"/api/v1/projects/receipts/{path}/", {"document_type": "reciept"})
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (400, "/document_type")
    assert as_reviewer.get(f"/api/v1/projects/receipts/{path}/", {"document_type": "receipt"}).status_code == 200
