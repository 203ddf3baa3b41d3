"""Every error has one shape, tells a person what to do, and keeps what documents say to itself."""

import errno
import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404
from django.test import RequestFactory
from django.utils import translation
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIClient, APIRequestFactory

from inference.errors import UnreadableFileError
from review.api.problems import CONTENT_TYPE, TITLES, exception_handler, plain_problem, problem_body
from review.exceptions import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    LeaseLostError,
    NotFoundError,
    RefusedFileError,
    StetError,
    StorageFullError,
)
from tests.conftest import Cast

SECRET = "TOTAL 9.00 OF A DOCUMENT"


def handled(error: Exception) -> tuple[int, dict[str, Any], Mapping[str, str]]:
    request = APIRequestFactory().get("/api/v1/projects/")
    response = exception_handler(error, {"request": request})
    assert response.content_type == CONTENT_TYPE
    return response.status_code, json.loads(JSONRenderer().render(response.data)), response.headers


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFoundError(), 404, "not_found"),
        (ForbiddenError(), 403, "forbidden"),
        (InvalidInputError(), 400, "invalid_input"),
        (ConflictError(), 409, "conflict"),
        (ConflictError(code="task_held"), 409, "task_held"),
        (LeaseLostError(), 409, "lease_lost"),
        (RefusedFileError(code="damaged"), 422, "damaged"),
        (RefusedFileError(code="too_many_bytes"), 413, "too_many_bytes"),
        (RefusedFileError(code="unknown_type"), 415, "unknown_type"),
        (StorageFullError(), 507, "storage_full"),
        (InvalidInputError(code="idempotency_key_reused"), 422, "idempotency_key_reused"),
        (InvalidInputError(code="length_required"), 411, "length_required"),
        (StetError(), 500, "error"),
        (Http404(SECRET), 404, "not_found"),
        (PermissionDenied(SECRET), 403, "forbidden"),
        (drf.NotFound(SECRET), 404, "not_found"),
        (drf.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (drf.NotAcceptable(), 406, "not_acceptable"),
        (drf.UnsupportedMediaType(SECRET), 415, "unsupported_media_type"),
        (drf.ParseError("in words of ours"), 400, "parse_error"),
        (drf.Throttled(wait=7), 429, "throttled"),
        (RequestDataTooBig(SECRET), 413, "body_too_large"),
        (SuspiciousOperation(SECRET), 400, "bad_request"),
        (BadRequest(SECRET), 400, "bad_request"),
        (OperationalError(SECRET), 503, "busy"),
        (OSError(errno.ENOSPC, SECRET), 507, "storage_full"),
        (OSError(errno.EDQUOT, SECRET), 507, "storage_full"),
        (OSError(errno.EIO, SECRET), 500, "error"),
        (RuntimeError(SECRET), 500, "error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_becomes_a_problem_that_says_nothing_but_our_own_words(
    error: Exception, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        found, body, _ = handled(error)
    assert found == body["status"] == status
    assert body["code"] == code
    assert body["type"] == f"urn:stet:problem:{code}"
    assert body["title"] == str(TITLES[status])
    assert body["detail"]
    assert body["instance"] == "/api/v1/projects/"
    assert SECRET not in json.dumps(body)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("code", UnreadableFileError.REASONS)
def test_a_refused_file_is_the_senders_fault_whatever_the_reason(code: str) -> None:
    assert handled(RefusedFileError(code=code))[0] in {413, 415, 422}


def test_an_unexpected_error_is_logged_with_its_place_and_kind(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise LookupError(SECRET)
    except LookupError as error:
        handled(error)
    record = next(one for one in caplog.records if "api.unexpected_error" in one.getMessage())
    assert record.levelno == logging.ERROR
    assert "LookupError" in record.getMessage()
    assert "test_problems.py" in record.getMessage()


def test_waiting_times_travel_in_a_header() -> None:
    assert handled(drf.Throttled(wait=7))[2]["Retry-After"] == "7"
    assert handled(OperationalError())[2]["Retry-After"] == "2"


def test_a_conflict_carries_both_values() -> None:
    details = {"current": {"version": 3, "value": "9.00"}, "yours": {"value": "8.00"}}
    _, body, _ = handled(ConflictError(details=details))
    assert {name: body[name] for name in details} == details


def test_details_never_take_the_place_of_a_members_meaning() -> None:
    _, body, _ = handled(ConflictError(details={"status": 200, "type": "about:blank", "holder": "rui"}))
    assert (body["status"], body["type"], body["holder"]) == (409, "urn:stet:problem:conflict", "rui")


def test_nested_errors_become_places() -> None:
    error = drf.ValidationError(
        {
            "file": ["Missing."],
            "verdicts": [{}, {"value": ["Wrong.", "Very wrong."]}],
            "a/b~c": ["Escaped."],
            "non_field_errors": ["All of it."],
        }
    )
    _, body, _ = handled(error)
    places = [(problem["pointer"], problem["message"]) for problem in body["problems"]]
    assert places == [
        ("/file", "Missing."),
        ("/verdicts/1/value", "Wrong."),
        ("/verdicts/1/value", "Very wrong."),
        ("/a~1b~0c", "Escaped."),
        ("", "All of it."),
    ]


def test_problems_of_an_action_are_passed_on() -> None:
    _, body, _ = handled(InvalidInputError.at("/rules/salt", "must be a text"))
    assert body["problems"] == [{"pointer": "/rules/salt", "message": "must be a text"}]


def test_texts_follow_the_language_of_the_request() -> None:
    english = handled(NotFoundError())[1]["title"]
    with translation.override("zh-hans"):
        body = problem_body(404, "not_found", NotFoundError.message, path="/")
        assert str(body["title"]) == translation.gettext(english)


def test_a_plain_problem_is_the_same_outside_of_views() -> None:
    response = plain_problem(RequestFactory().get("/api/x"), 404, "not_found", NotFoundError.message)
    assert response["Content-Type"] == CONTENT_TYPE
    assert json.loads(response.content)["instance"] == "/api/x"


def test_a_problem_names_the_request_in_body_and_header(cast: Cast, as_viewer: APIClient) -> None:
    answer = as_viewer.get("/api/v1/projects/receipts/documents/999/", HTTP_X_REQUEST_ID="trace-12345678")
    assert answer.status_code == 404
    assert answer["Content-Type"] == CONTENT_TYPE
    assert answer.json()["request_id"] == answer["X-Request-ID"] == "trace-12345678"


@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize(
    "path",
    ["/api", "/api/", "/api/v2/", "/api/v1/projects/receipts/nothing/", "/api/v1/%00/", "/api/v1/a%0Ab/", "/api/%0A"],
)
def test_unknown_paths_are_problems_for_everybody_and_every_method(method: str, path: str) -> None:
    answer = getattr(APIClient(enforce_csrf_checks=True), method)(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, CONTENT_TYPE)


def test_a_forgotten_slash_is_pointed_out() -> None:
    assert "slash" in APIClient().get("/api/v1/projects").json()["detail"]


def test_an_error_inside_a_view_is_a_problem_too(
    cast: Cast, as_viewer: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(project: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("review.api.views.records.records_for", fail)
    answer = as_viewer.get("/api/v1/projects/receipts/records/")
    assert (answer.status_code, answer["Content-Type"]) == (500, CONTENT_TYPE)
    assert SECRET not in answer.content.decode()
