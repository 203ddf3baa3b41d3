"""What may be sent: bounded JSON that a database can keep, and whole forms."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings
from rest_framework.test import APIClient

from tests.conftest import Cast

TYPES = "/api/v1/projects/receipts/document-types/"
DOCUMENTS = "/api/v1/projects/receipts/documents/"


def send(client: APIClient, path: str, body: bytes, content_type: str) -> Any:
    generic: Any = client.generic  # the stub knows no bytes
    return generic("POST", path, body, content_type)


def sent(client: APIClient, text: str | bytes, content_type: str = "application/json") -> tuple[int, dict[str, Any]]:
    answer = send(client, TYPES, text if isinstance(text, bytes) else text.encode(), content_type)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nonsense",
        '{"slug": NaN}',
        '{"slug": Infinity}',
        '{"slug": 1e999}',
        '{"slug": ' + "1" * 5000 + "}",
        '{"slug": "a\\u0000b"}',
        '{"slug": "\\ud800"}',
        '{"\\u0000": 1}',
        '{"schema": ' + "[" * 100 + "]" * 100 + "}",
        "[" * 200_000,
        b'{"slug": "\xff"}',
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_is_no_storable_json_is_refused_in_words_of_ours(
    cast: Cast, as_manager: APIClient, text: str | bytes
) -> None:
    status, body = sent(as_manager, text)
    assert status == 400
    assert "char" not in body["detail"].replace("characters", "")
    assert "Traceback" not in json.dumps(body)


@pytest.mark.parametrize("text", ["[]", '"x"', "1", "null", "true"])
def test_a_body_that_is_no_object_is_refused(cast: Cast, as_manager: APIClient, text: str) -> None:
    assert sent(as_manager, text)[0] == 400


def test_depth_that_is_needed_is_allowed(cast: Cast, as_manager: APIClient) -> None:
    status, body = sent(as_manager, json.dumps({"slug": "x", "schema": {"a": {"b": [[[{"c": 1}]]]}}}))
    assert (status, body["code"]) == (400, "invalid_document_type")


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded"])
def test_another_kind_of_body_is_refused(cast: Cast, as_manager: APIClient, content_type: str) -> None:
    assert sent(as_manager, "{}", content_type)[0] == 415


def test_a_charset_that_is_none_is_refused(cast: Cast, as_manager: APIClient) -> None:
    assert sent(as_manager, "{}", "application/json; charset=bz2")[0] == 400


def test_a_body_that_is_too_large_is_refused_before_it_is_parsed(
    cast: Cast, as_manager: APIClient, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    status, body = sent(as_manager, json.dumps({"slug": "x" * 200}))
    assert (status, body["code"]) == (413, "body_too_large")


def test_a_body_without_a_length_is_asked_for_it(cast: Cast, as_manager: APIClient) -> None:
    answer = as_manager.generic("POST", TYPES, "", HTTP_TRANSFER_ENCODING="chunked")
    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")


def test_an_upload_may_be_as_large_as_a_document_and_no_larger(
    cast: Cast, as_reviewer: APIClient, settings: Settings
) -> None:
    settings.STET_MAX_BYTES = 1000
    form = {"document_type": "receipt", "file": SimpleUploadedFile("a.jpg", b"x" * 2000)}
    answer = as_reviewer.post(DOCUMENTS, form)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_bytes")
    form = {"document_type": "receipt", "file": SimpleUploadedFile("a.jpg", b"x" * 1_100_000)}
    answer = as_reviewer.post(DOCUMENTS, form)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(
    "body",
    [b"", b"--b", b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf', b"\0" * 50],
)
def test_a_form_that_was_cut_off_is_refused(cast: Cast, as_reviewer: APIClient, body: bytes) -> None:
    answer = send(as_reviewer, DOCUMENTS, body, "multipart/form-data; boundary=b")
    assert answer.status_code == 400


def test_a_form_without_a_boundary_is_refused(cast: Cast, as_reviewer: APIClient) -> None:
    answer = send(as_reviewer, DOCUMENTS, b"x", "multipart/form-data")
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


def test_a_form_is_no_body_for_json(cast: Cast, as_manager: APIClient) -> None:
    assert as_manager.post(TYPES, {"slug": "x"}).status_code == 415


def test_a_member_that_does_not_exist_is_pointed_out(cast: Cast, as_manager: APIClient) -> None:
    status, body = sent(as_manager, '{"slug": "x", "schema": {}, "shcema": 1}')
    assert status == 400
    assert [problem["pointer"] for problem in body["problems"]] == ["/shcema"]
