"""The same POST sent twice is done once and answered twice."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from review.models import ApiToken, DatasetExport, Document, DocumentType, IdempotencyKey, Role
from tests import factories
from tests.access_matrix.world import SAMPLE
from tests.conftest import Cast
from tests.review.api.conftest import bearer

PROJECT = "/api/v1/projects/receipts/"
REPLAYED = "Idempotent-Replayed"


def upload(
    client: APIClient, key: str, content: bytes = SAMPLE.read_bytes(), name: str = "a.jpg", **values: Any
) -> tuple[int, dict[str, Any]]:
    form = {"document_type": "receipt", "file": SimpleUploadedFile(name, content), **values}
    answer = client.post(f"{PROJECT}documents/", form, HTTP_IDEMPOTENCY_KEY=key)
    return answer.status_code, answer.json()


def test_an_upload_sent_twice_is_one_document(cast: Cast, as_reviewer: APIClient) -> None:
    first = upload(as_reviewer, "scan-17")
    second = upload(as_reviewer, "scan-17")
    assert first[0] == 201
    assert first == second
    assert Document.objects.count() == 1


def test_without_a_key_the_second_copy_is_a_linked_duplicate(cast: Cast, as_reviewer: APIClient) -> None:
    def form() -> dict[str, Any]:
        return {"document_type": "receipt", "file": SimpleUploadedFile("a.jpg", SAMPLE.read_bytes())}

    first = as_reviewer.post(f"{PROJECT}documents/", form()).json()
    second = as_reviewer.post(f"{PROJECT}documents/", form()).json()
    assert (first["is_duplicate"], second["is_duplicate"]) == (False, True)
    assert second["duplicate_of"] == first["id"]


@pytest.mark.parametrize(
    "other",
    [{"content": SAMPLE.read_bytes() + b"\0"}, {"name": "b.jpg"}, {"priority": 5}],
    ids=["content", "name", "priority"],
)
def test_another_upload_under_the_same_key_is_refused(
    cast: Cast, as_reviewer: APIClient, other: dict[str, Any]
) -> None:
    upload(as_reviewer, "scan-17")
    status, body = upload(as_reviewer, "scan-17", **other)
    assert (status, body["code"]) == (422, "idempotency_key_reused")
    assert Document.objects.count() == 1


def test_the_order_of_members_makes_no_other_request(cast: Cast, as_manager: APIClient) -> None:
    def send(text: str) -> Any:
        return as_manager.generic("POST", f"{PROJECT}exports/", text, "application/json", HTTP_IDEMPOTENCY_KEY="e")

    first = send('{"format": "csv", "since": null}')
    second = send('{ "since": null,\n "format": "csv" }')
    assert first.json() == second.json()
    assert REPLAYED not in first.headers
    assert second.headers[REPLAYED] == "true"
    assert DatasetExport.objects.count() == 1


def test_a_request_that_failed_may_be_corrected_under_its_key(cast: Cast, as_manager: APIClient) -> None:
    path = f"{PROJECT}document-types/"
    wrong = as_manager.post(path, {"slug": "invoice", "schema": {}}, format="json", HTTP_IDEMPOTENCY_KEY="t")
    assert wrong.status_code == 400
    body = {"slug": "invoice", "schema": factories.SCHEMA}
    assert as_manager.post(path, body, format="json", HTTP_IDEMPOTENCY_KEY="t").status_code == 201
    assert as_manager.post(path, body, format="json", HTTP_IDEMPOTENCY_KEY="t").status_code == 201
    assert as_manager.post(path, body, format="json").status_code == 409
    assert DocumentType.objects.filter(slug="invoice").count() == 1


def test_a_secret_is_never_kept(cast: Cast, as_admin: APIClient) -> None:
    body = {"username": "vik", "role": "viewer"}
    n_before = ApiToken.objects.count()
    answers = [
        as_admin.post(f"{PROJECT}tokens/", body, format="json", HTTP_IDEMPOTENCY_KEY="s").json() for _ in range(2)
    ]
    assert answers[0]["secret"].startswith("stet_")
    assert answers[1] == answers[0] | {"secret": None}
    assert ApiToken.objects.count() == n_before + 1
    assert answers[0]["secret"] not in str(IdempotencyKey.objects.values_list("response_body", flat=True))


def test_a_kept_answer_is_for_those_who_may_still_ask(cast: Cast, as_manager: APIClient) -> None:
    as_manager.post(f"{PROJECT}exports/", {"format": "csv"}, format="json", HTTP_IDEMPOTENCY_KEY="e")
    lesser = bearer(cast.manager, cast.project, Role.VIEWER)
    again = lesser.post(f"{PROJECT}exports/", {"format": "csv"}, format="json", HTTP_IDEMPOTENCY_KEY="e")
    assert again.status_code == 403


def test_a_crash_between_act_and_answer_leaves_the_key_taken_for_a_while(
    cast: Cast, as_manager: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerCutError(BaseException):
        """Nothing catches it."""

    def cut(**_: object) -> None:
        raise PowerCutError

    def send() -> Any:
        return as_manager.post(f"{PROJECT}exports/", {"format": "csv"}, format="json", HTTP_IDEMPOTENCY_KEY="e")

    with monkeypatch.context() as patched:
        patched.setattr("review.api.idempotency.keep_answer", cut)
        with pytest.raises(PowerCutError):
            send()
    answer = send()
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")


@pytest.mark.parametrize("key", ["", " ", "a b", "ключ", "x" * 101, "a\tb"])
def test_a_malformed_key_is_refused(cast: Cast, as_manager: APIClient, key: str) -> None:
    answer = as_manager.post(f"{PROJECT}exports/", {"format": "csv"}, format="json", HTTP_IDEMPOTENCY_KEY=key)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/Idempotency-Key"
    assert not DatasetExport.objects.exists()
